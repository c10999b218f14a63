"""Which points the neighbours of a point use: the coefficients c of eq. (6), and the coordinates of
a problem that are active because of them."""

from collections import namedtuple

import numpy as np

from srsg.kernels.codes import residual
from srsg.kernels.compiled import helper, inlined
from srsg.kernels.linalg import position
from srsg.kernels.rows import row_count, row_dot, row_length

NORM_MARGIN = 1.0 + 1e-5
"""Points have unit norm up to the rounding of float32."""

Votes = namedtuple("Votes", "index count voters")
"""How many of the ``voters`` (a point's neighbours) use each index, sorted by index; indices that
no neighbour uses are left out. So a list is as long as a few supports, not as long as the data."""


@helper()
def insertion_sort(a):
    # By insertion: lists are short, and they consist of a few sorted pieces.
    for k in range(1, a.shape[0]):
        item = a[k]
        j = k
        while j > 0 and a[j - 1] > item:
            a[j] = a[j - 1]
            j -= 1
        a[j] = item


@inlined()
def count_votes(before, codes, i, neighbors):
    """Count how many neighbours of point i use each index.

    Neighbours that come before point i in a sweep vote with their new codes, the others with the
    codes that they had ``before`` the sweep. New points have ``i = -1``: for them all are "others".
    """
    # Threads may be writing the new codes of later points at this moment. They are not read here,
    # so the votes are the same on any number of threads.
    total = 0
    for j in neighbors:
        total += codes.size[j] if j < i else before.size[j]
    index = np.empty(total, np.int64)
    total = 0
    for j in neighbors:
        support = codes.index[j, : codes.size[j]] if j < i else before.index[j, : before.size[j]]
        for t in support:
            index[total] = t
            total += 1
    insertion_sort(index)
    # Equal indices now stand side by side: each run of them becomes one entry and its length.
    count = np.empty(total, np.int64)
    n_unique = 0
    for k in range(total):
        if n_unique == 0 or index[k] != index[n_unique - 1]:
            index[n_unique] = index[k]
            count[n_unique] = 0
            n_unique += 1
        count[n_unique - 1] += 1
    return Votes(index[:n_unique], count[:n_unique], neighbors.shape[0])


@helper()
def coefficient(votes, t):
    """``c_t`` of eq. (6): how many neighbours do not use t, minus how many do."""
    place = position(votes.index, t)
    return votes.voters if place < 0 else votes.voters - 2 * votes.count[place]


@inlined()
def smallest_positive_coefficient(votes):
    """The smallest ``c_t > 0`` of any t."""
    # For the points that no neighbour uses, nearly all of them, ``c_t`` is the number of voters.
    smallest = votes.voters
    for count in votes.count:
        c = votes.voters - 2 * count
        if 0 < c < smallest:
            smallest = c
    return smallest


@inlined()
def active_coordinates(codes, task):
    """The coordinates that Algorithm 1 starts with, sorted: the support of z^(0), and where
    ``c_t <= 0``."""
    votes = task.votes
    size = codes.size[task.row]
    support = codes.index[task.row, :size]
    active = np.empty(size + votes.index.shape[0], np.int64)
    for k in range(size):
        active[k] = support[k]
    # Only points that a neighbour uses can have ``c_t <= 0``, so only these are looked at. The
    # point itself never takes part: the diagonal of Z is zero.
    for k in range(votes.index.shape[0]):
        t = votes.index[k]
        if 2 * votes.count[k] >= votes.voters and t != task.own and position(support, t) < 0:
            active[size] = t
            size += 1
    insertion_sort(active[:size])
    return active[:size]


@inlined()
def with_entrants(coded, before, task, active, settings, run):
    """The active coordinates, and those that Algorithm 1 on all coordinates might move, sorted.

    The gradient of coordinate t at ``m^(k)`` has magnitude ``2 |x_t' r|``, with r the residual
    there. Since ``x_t`` has unit norm, this is at most twice the residual's norm, which settles
    nearly every point at once. It is also at most its value at the start plus twice the distance
    travelled from there.
    """
    # ``s |grad_t| <= sqrt(2 s gamma c_t)``, divided by s. Coordinates with ``c_t <= 0`` are active
    # from the start, so the smallest positive c gives the bound that all others obey.
    bound = np.sqrt(2 * settings.gamma / settings.step)
    least = bound * np.sqrt(smallest_positive_coefficient(task.votes))
    if 2 * run.residual_norm * NORM_MARGIN <= least:
        return active
    # One product with all points, the only step of a sweep that costs O(dn). Few points need it.
    resid = np.empty(row_length(coded.points))
    residual(coded.points, coded.targets, before, task.row, resid)
    more = np.empty(row_count(coded.points), np.int64)
    size = 0
    k = 0
    # In rising order, because kept problems are looked up coordinate by coordinate, and because the
    # order of the coordinates is the order of the sums in Algorithm 1.
    for t in range(more.shape[0]):
        enters = k < active.shape[0] and active[k] == t
        if enters:
            k += 1
        elif t != task.own:
            # Here ``c_t > 0``: all others are active already, so the root is a real number.
            gradient = 2 * abs(row_dot(coded.points, t, resid)) + 2 * run.radius * NORM_MARGIN
            enters = gradient > bound * np.sqrt(coefficient(task.votes, t))
        if enters:
            more[size] = t
            size += 1
    return more[:size]
