"""Candidates of a point: the nearest of them, and those that its l1 code should use."""

import numpy as np

from srsg.kernels.compiled import ZERO, helper, kernel
from srsg.kernels.correlations import insert_sorted
from srsg.kernels.linalg import assign
from srsg.kernels.rows import dense_row, row_count, row_distance, row_dot

JOINING_LIMIT = 12
"""How many candidates may join a working set at once; half its size, if that is more. The more
join, the fewer rounds there are, but the larger is each problem."""

ROUNDING = 1e-12
"""How far above ``half_lam`` a correlation must be to be a violation and not rounding."""


@helper()
def contains(index, size, t):
    # A plain search: lists are short, and they must stay in the order of joining.
    for k in range(size):
        if index[k] == t:
            return True
    return False


@kernel()
def nearest_candidates(points, targets, candidates, neighbors):
    """The nearest of the candidates of each target, nearest first, ties by index."""
    keys = np.empty(neighbors.shape[1])
    ids = np.empty(neighbors.shape[1], np.int64)
    for p in range(row_count(targets)):
        own = dense_row(targets, p)
        # The index ranked the candidates in half precision, so distances are computed again here.
        count = ZERO
        for t in candidates[p]:
            if t >= 0:
                distance = row_distance(points, t, own, None)
                count = insert_sorted(keys, ids, count, distance, t)
        assign(neighbors[p], ids)


@kernel()
def worst_candidates(points, resid, candidates, codes, half_lam):
    """The candidates that violate the optimality conditions of each code most, worst first, and
    how many these are.

    Negative indices mark empty places. Points in the working set do not count, even if rounding
    leaves them a violation.
    """
    n_rows, width = candidates.shape
    worst, count = np.zeros((n_rows, width), np.int64), np.zeros(n_rows, np.int64)
    keys = np.empty(width)
    for p in range(n_rows):
        most = max(JOINING_LIMIT, codes.size[p] // 2)
        for t in candidates[p]:
            if t >= 0 and not contains(codes.index[p], codes.size[p], t):
                strength = abs(row_dot(points, t, resid[p]))
                if strength > half_lam + ROUNDING:
                    count[p] = insert_sorted(keys[:most], worst[p, :most], count[p], -strength, t)
    return worst, count
