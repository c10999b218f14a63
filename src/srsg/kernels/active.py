"""The active coordinates of a problem: those that Algorithm 1 starts with, and those it lets in."""

import numpy as np

from srsg.kernels.codes import residual
from srsg.kernels.compiled import inlined
from srsg.kernels.rows import row_count, row_dot, row_length
from srsg.kernels.votes import (
    coefficient,
    insertion_sort,
    position,
    smallest_positive_coefficient,
)

NORM_MARGIN = 1.0 + 1e-5
"""Points have unit norm up to the rounding of float32."""


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
