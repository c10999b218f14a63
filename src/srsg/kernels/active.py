"""The active coordinates of a problem: those that Algorithm 1 starts with, and those it lets in."""

from collections import namedtuple

import numpy as np

from srsg.kernels.codes import residual
from srsg.kernels.compiled import helper, kernel
from srsg.kernels.linalg import dot
from srsg.kernels.rows import row_count, row_dot, row_length
from srsg.kernels.votes import (
    coefficient,
    insertion_sort,
    position,
    smallest_positive_coefficient,
)

# Points have unit norm up to the rounding of float32.
NORM_MARGIN = 1.0 + 1e-5

# Allowance for the rounding of absolute correlations, where a bound is compared with them.
ROUNDING = 1e-12

PointsInReach = namedtuple("PointsInReach", "floor starts index strength")
"""For each row, all points whose correlation with its residual is at least ``floor`` in absolute
value. Those of row p are ``index[starts[p]:starts[p + 1]]``, sorted; ``strength`` has the absolute
correlations. The floor is infinite where nothing is known."""


@helper()
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


@helper()
def with_entrants(coded, before, task, active, settings, run, reached):
    """The active coordinates, and those that Algorithm 1 on all coordinates might move.

    The gradient of coordinate t at ``m^(k)`` has magnitude ``2 |x_t' r|``, with r the residual
    there. Since ``x_t`` has unit norm, this is at most twice the residual's norm, which settles
    nearly every point at once. It is also at most its value at the start plus twice the distance
    travelled from there.

    Also returns the correlation down to which points have to be known if they are not at hand; it
    is infinite where nothing is missing.
    """
    # ``s |grad_t| <= sqrt(2 s gamma c_t)``, divided by s. Coordinates with ``c_t <= 0`` are active
    # from the start, so the smallest positive c gives the bound that all others obey.
    bound = np.sqrt(2 * settings.gamma / settings.step)
    least = bound * np.sqrt(smallest_positive_coefficient(task.votes))
    if 2 * run.residual_norm * NORM_MARGIN <= least:
        return active, np.inf
    if row_count(coded.points) > 0:
        index, strength = all_correlations(coded, before, task)
    else:
        # A point whose correlation is below this cannot enter, whatever its coefficient is.
        needed = least / 2 - run.radius * NORM_MARGIN - ROUNDING
        # Points between the two floors have not been looked for: the list may miss an entrant.
        if reached.floor[task.row] > needed:
            return active, needed
        start, end = reached.starts[task.row], reached.starts[task.row + 1]
        index, strength = reached.index[start:end], reached.strength[start:end]
    return merge_entrants(active, task, index, strength, bound, run.radius), np.inf


@helper()
def all_correlations(coded, before, task):
    """The absolute correlation of every point with the residual at the start of the run."""
    # One product with all points, the only step of a sweep that costs O(dn). Few points need it.
    resid = np.empty(row_length(coded.points))
    residual(coded.points, coded.targets, before, task.row, resid)
    index = np.empty(row_count(coded.points), np.int64)
    strength = np.empty(index.shape[0])
    for t in range(index.shape[0]):
        index[t] = t
        strength[t] = abs(row_dot(coded.points, t, resid))
    return index, strength


@helper()
def merge_entrants(active, task, index, strength, bound, radius):
    """Merge the active coordinates with those of ``index`` that may move; both lists are sorted.

    So is the result, because problems are compared and looked up coordinate by coordinate, and
    because the order of the coordinates is the order of the sums in Algorithm 1.
    """
    more = np.empty(active.shape[0] + index.shape[0], np.int64)
    size = 0
    k = 0
    for a in range(index.shape[0]):
        t = index[a]
        while k < active.shape[0] and active[k] <= t:
            more[size] = active[k]
            size += 1
            k += 1
        if (k == 0 or active[k - 1] != t) and t != task.own:
            # Here ``c_t > 0``: all others are active already, so the root is a real number.
            gradient = 2 * strength[a] + 2 * radius * NORM_MARGIN
            if gradient > bound * np.sqrt(coefficient(task.votes, t)):
                more[size] = t
                size += 1
    while k < active.shape[0]:
        more[size] = active[k]
        size += 1
        k += 1
    return more[:size]


@kernel()
def points_in_reach(points, first, resid, correlations, error, floor):
    """The points of a shard whose correlation with each residual is at least the floor.

    Correlations in float32 rule out most points; float64 decides on the rest, so the lists do not
    depend on how the correlations were rounded, nor on the shards and blocks.
    """
    # The first pass counts what float32 cannot rule out, to know how much room the lists need. The
    # error bound is for unit vectors, so it is multiplied by the length of the residual.
    starts = np.zeros(floor.shape[0] + 1, np.int64)
    for p in range(floor.shape[0]):
        cut = floor[p] - error * np.sqrt(dot(resid[p], resid[p]))
        starts[p + 1] = starts[p]
        for value in correlations[p]:
            starts[p + 1] += abs(value) >= cut
    index = np.empty(starts[-1], np.int64)
    strength = np.empty(starts[-1])
    # The second pass decides. Rows are packed without gaps, so what it drops moves all later rows
    # to the left.
    count = 0
    for p in range(floor.shape[0]):
        cut = floor[p] - error * np.sqrt(dot(resid[p], resid[p]))
        starts[p] = count
        for t in range(correlations.shape[1]):
            if abs(correlations[p, t]) >= cut:
                exact = abs(row_dot(points, t, resid[p]))
                if exact >= floor[p]:
                    index[count] = t + first
                    strength[count] = exact
                    count += 1
    starts[-1] = count
    return PointsInReach(floor, starts, index[:count], strength[:count])
