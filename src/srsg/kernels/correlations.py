"""Reading blocks of correlations: nearest neighbours and violators of the l1 conditions.

Correlations arrive in float32 with a known error; whatever the error could decide wrongly is
computed again in float64, so the outcome is exact.
"""

from collections import namedtuple

import numpy as np

from srsg.kernels.compiled import ZERO, helper, kernel
from srsg.kernels.linalg import dot, squared_distance

Scan = namedtuple("Scan", "first tol error")
"""A look at some of the points: the index of the first; a point violates the conditions beyond
``half_lam + tol``; correlations of unit vectors are known up to ``error``."""

Found = namedtuple("Found", "index key size")
"""A bounded list a row, of which the first ``size`` entries count: indices of points, smallest
key first, ties by index."""


@helper()
def insert_sorted(keys, ids, count, key, index):
    """Insert into the first ``count`` entries, smallest key first, ties by index.

    The arrays are a bounded list: when full, the largest key falls out. Returns the new count.
    """
    if count < keys.shape[0]:
        place = count
        count += 1
    else:
        place = count - 1
        if key > keys[place] or (key == keys[place] and index > ids[place]):
            return count
    while place > 0 and (
        keys[place - 1] > key or (keys[place - 1] == key and ids[place - 1] > index)
    ):
        keys[place] = keys[place - 1]
        ids[place] = ids[place - 1]
        place -= 1
    keys[place] = key
    ids[place] = index
    return count


@kernel()
def nearest(points, targets, own, correlations, scan, found):
    """The nearest points of each unit-norm target but ``own[p]``, by squared distance.

    Here and below ``own`` is the index of each target among all points, or -1 for one that is
    none of them.
    """
    n_points = points.shape[0]
    for p in range(targets.shape[0]):
        row = correlations[p]
        itself = own[p] - scan.first
        keys = found.key[p]
        ids = found.index[p]
        count = ZERO
        worst = -np.inf
        for t in range(n_points):
            if row[t] > worst and t != itself:
                count = insert_sorted(keys, ids, count, -np.float64(row[t]), t)
                if count == keys.shape[0]:
                    worst = -keys[count - 1]
        cut = worst - 2 * scan.error
        count = ZERO
        for t in range(n_points):
            if row[t] >= cut and t != itself:
                distance = squared_distance(targets[p], points[t])
                count = insert_sorted(keys, ids, count, distance, t)
        found.size[p] = count
        for k in range(count):
            ids[k] += scan.first


@kernel()
def merge(parts, found):
    """The best entries of several lists a row, ``parts.index[part, row]`` and so on."""
    for p in range(found.size.shape[0]):
        count = ZERO
        for part in range(parts.size.shape[0]):
            for k in range(parts.size[part, p]):
                key = parts.key[part, p, k]
                index = parts.index[part, p, k]
                count = insert_sorted(found.key[p], found.index[p], count, key, index)
        found.size[p] = count


@kernel()
def violators(points, own, resid, correlations, codes, half_lam, scan, most, found, outside):
    """The worst violators of each code, worst first: at most ``most[p]`` of them.

    Their keys are the correlations with the residual, in absolute value, less than zero. Float64
    decides which they are, so they depend on the residual alone. ``outside[p]`` becomes the largest
    such correlation of a point outside the working set, where it is beyond ``half_lam``.
    ``correlations`` are used up.
    """
    for p in range(own.shape[0]):
        row = correlations[p]
        leave_out(row, own[p] - scan.first)
        for k in range(codes.size[p]):
            leave_out(row, codes.index[p, k] - scan.first)
        slack = scan.error * np.sqrt(dot(resid[p], resid[p]))
        bound = half_lam[p] + scan.tol
        keys = found.key[p, : most[p]]
        ids = found.index[p, : most[p]]
        count = ZERO
        weakest = np.float32(bound - slack)
        for t in range(row.shape[0]):
            if abs(row[t]) > weakest:
                count = insert_sorted(keys, ids, count, -np.float64(abs(row[t])), t)
                if count == most[p]:
                    weakest = np.float32(-keys[count - 1])
        cut = half_lam[p] - slack
        if count == most[p]:
            cut = max(cut, -keys[count - 1] - 2 * slack)
        count = ZERO
        largest = 0.0
        for t in range(row.shape[0]):
            if abs(row[t]) >= cut:
                strength = abs(dot(points[t], resid[p]))
                largest = max(largest, strength)
                if strength > bound:
                    count = insert_sorted(keys, ids, count, -strength, t)
        outside[p] = largest
        found.size[p] = count
        for k in range(count):
            ids[k] += scan.first


@helper()
def leave_out(row, place):
    """Make an entry smaller and larger than nothing."""
    if 0 <= place < row.shape[0]:
        row[place] = np.nan


@kernel()
def strongest(points, own, resid, correlations, codes, error, index, strength):
    """The point most correlated with each residual, those in the codes aside; ties by index."""
    for p in range(own.shape[0]):
        row = correlations[p]
        for taken in codes.index[p, : codes.size[p]]:
            row[taken] = 0.0
        if own[p] >= 0:
            row[own[p]] = 0.0
        most = 0.0
        for t in range(points.shape[0]):
            most = max(most, np.float64(abs(row[t])))
        cut = most - 2 * error * np.sqrt(dot(resid[p], resid[p]))
        index[p] = -1
        strength[p] = 0.0
        for t in range(points.shape[0]):
            if row[t] != 0.0 and abs(row[t]) >= cut:
                exact = abs(dot(points[t], resid[p]))
                if exact > strength[p]:
                    strength[p] = exact
                    index[p] = t
