"""Candidates of a point: the nearest of them, and those that its l1 code should use."""

import numpy as np

from srsg.kernels.arrays import Codes
from srsg.kernels.codes import keep_sorted_support
from srsg.kernels.compiled import ZERO, helper, kernel
from srsg.kernels.correlations import insert_sorted
from srsg.kernels.lasso import polish, solve_lasso, sorted_support
from srsg.kernels.linalg import assign, dot
from srsg.kernels.rows import (
    dense_row,
    row_count,
    row_distance,
    row_dot,
    row_length,
    subtract_row,
    write_row,
)

MAX_ROUNDS = 100
"""A limit on the rounds; a few are enough, unless rounding makes the same points join and leave."""

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
def code_over_candidates(points, targets, start, candidates, half_lam):
    """Code each target over the entries of its code at the start and over its candidates.

    Codes use few of their candidates, so a working set grows among these, just as the scans let one
    grow among all points. Negative indices mark empty places. Returns the codes, sorted by index,
    their residuals, and the share of their weight at points that were not in them at the start.
    """
    n_rows, width = candidates.shape
    most_members, n_features = width, row_length(targets)
    for size in start.size:
        most_members = max(most_members, size + width)
    codes = Codes(
        np.zeros((n_rows, most_members), np.int64),
        np.zeros((n_rows, most_members)),
        np.zeros(n_rows, np.int64),
    )
    resid, joined = np.empty((n_rows, n_features)), np.zeros(n_rows)
    atoms, b = np.empty((most_members, n_features)), np.empty(most_members)
    keys, places = np.empty(width), np.empty(width, np.int64)
    for p in range(n_rows):
        own, index, value = dense_row(targets, p), codes.index[p], codes.value[p]
        waiting, loud = candidates[p].copy(), np.ones(width, np.bool_)
        size, known = start.size[p], ZERO
        assign(index[:size], start.index[p])
        assign(value[:size], start.value[p])
        for place in range(width):
            if contains(index, size, waiting[place]):
                waiting[place] = -1
        gram = np.empty((0, 0))
        for number in range(MAX_ROUNDS):
            # The Gram matrix grows with the working set; what is known of it is kept.
            larger = np.empty((size, size))
            for a in range(known):
                assign(larger[a, :known], gram[a])
            for a in range(known, size):
                write_row(points, index[a], atoms[a])
                b[a] = dot(atoms[a], own)
                for c in range(a + 1):
                    larger[a, c] = larger[c, a] = dot(atoms[a], atoms[c])
            gram, known, z = larger, size, value[:size]
            solve_lasso(gram, b[:size], half_lam, z)
            support = sorted_support(index, z)
            polish(gram, b[:size], half_lam, z, support)
            assign(resid[p], own)
            for k in support:
                subtract_row(atoms, k, z[k], resid[p])
            # The worst of those that violate the optimality conditions join. Only those that did
            # so before are looked at, and all of them once more at the end.
            most, count = max(JOINING_LIMIT, size // 2), ZERO
            for every in (False, True):
                for place in range(width if number < MAX_ROUNDS - 1 else 0):
                    if waiting[place] >= 0 and loud[place] != every:
                        strength = abs(row_dot(points, waiting[place], resid[p]))
                        loud[place] = strength > half_lam + ROUNDING
                        if loud[place]:
                            count = insert_sorted(
                                keys[:most], places[:most], count, -strength, place
                            )
                if count > 0:
                    break
            if count == 0:
                break
            for place in places[:count]:
                index[size], waiting[place] = waiting[place], -1
                size += 1
        codes.size[p] = size
        total = 0.0
        for k in range(size):
            total += abs(value[k])
            if k >= start.size[p]:
                joined[p] += abs(value[k])
        joined[p] /= max(total, ROUNDING)
        keep_sorted_support(codes, p)
    return codes, resid, joined
