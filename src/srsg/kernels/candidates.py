"""Candidates of a point: the nearest of them, and the l1 code over them alone."""

import numpy as np

from srsg.kernels.codes import residual
from srsg.kernels.compiled import ZERO, helper, inlined, kernel
from srsg.kernels.correlations import insert_sorted
from srsg.kernels.lasso import solve_lasso
from srsg.kernels.linalg import assign, dot
from srsg.kernels.rows import (
    dense_row,
    row_count,
    row_distance,
    row_dot,
    row_length,
    write_row,
)

JOINING_LIMIT = 12
"""How many candidates may join a working set at once; half its size, if that is more. The more
join, the fewer rounds there are, but the larger is each problem."""

ROUNDING = 1e-13
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
def add_candidates(codes, found, most):
    """Add the points found to each code that does not have them, with the value zero.

    A code takes up to ``most`` points; negative indices mark empty places.
    """
    for p in range(found.shape[0]):
        size = codes.size[p]
        for t in found[p]:
            if size < most and t >= 0 and not contains(codes.index[p], size, t):
                codes.index[p, size] = t
                codes.value[p, size] = 0.0
                size += 1
        codes.size[p] = size


@kernel()
def solve_over_candidates(points, targets, codes, half_lam):
    """Code each target over the points of its code, starting from the values it has.

    Codes use few of their candidates, so a working set grows among these, just as the scans let one
    grow among all points.
    """
    # Room for the largest problem, used by all targets in turn.
    most = codes.index.shape[1]
    atoms = np.empty((most, row_length(points)))
    products = np.empty((most, most))
    b = np.empty(most)
    place = np.empty(most, np.int64)
    resid = np.empty(row_length(points))
    for p in range(row_count(targets)):
        own = dense_row(targets, p)
        # Start with what the code already uses.
        size = ZERO
        for k in range(codes.size[p]):
            if codes.value[p, k] != 0.0:
                place[size] = k
                size += 1
        known = ZERO
        # Nothing leaves a working set here. So there are at most as many rounds as candidates, and
        # inner products are computed only once, when a point joins.
        while True:
            for a in range(known, size):
                write_row(points, codes.index[p, place[a]], atoms[a])
                b[a] = dot(atoms[a], own)
                for c in range(a + 1):
                    products[a, c] = products[c, a] = dot(atoms[a], atoms[c])
            known = size
            solve_working_set(products, b, half_lam, codes, p, place, size)
            # Computed afresh, not updated, so that rounding does not add up over the rounds.
            residual(points, targets, codes, p, resid)
            size = add_worst(points, resid, codes, p, half_lam, place, size)
            if size == known:
                break


@inlined()
def solve_working_set(products, b, half_lam, codes, p, place, size):
    """Solve over the candidates at ``place[:size]``."""
    # Copied, because the solver takes matrices without gaps between their rows.
    gram = np.empty((size, size))
    z = np.empty(size)
    for a in range(size):
        assign(gram[a], products[a])
        z[a] = codes.value[p, place[a]]
    solve_lasso(gram, b[:size], half_lam, z)
    for a in range(size):
        codes.value[p, place[a]] = z[a]


@inlined()
def add_worst(points, resid, codes, p, half_lam, place, size):
    """Let the candidates that violate the conditions most into the working set, worst first."""
    most = max(JOINING_LIMIT, size // 2)
    keys = np.empty(most)
    ids = np.empty(most, np.int64)
    count = ZERO
    for k in range(codes.size[p]):
        # Points in the working set do not count, even if rounding leaves them a violation.
        if codes.value[p, k] == 0.0:
            strength = abs(row_dot(points, codes.index[p, k], resid))
            if strength > half_lam + ROUNDING and not contains(place, size, k):
                count = insert_sorted(keys, ids, count, -strength, k)
    for k in range(count):
        place[size + k] = ids[k]
    return size + count
