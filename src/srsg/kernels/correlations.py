"""Reading blocks of correlations: nearest neighbours and violators of the l1 conditions.

Correlations arrive in float32 with a known error; whatever the error could decide wrongly is
computed again in float64, so the outcome is exact.
"""

from collections import namedtuple

import numpy as np

from srsg.kernels.compiled import ZERO, helper, kernel
from srsg.kernels.linalg import assign, dot, squared_distance

Scan = namedtuple("Scan", "tol error most_taken")
"""A point violates the conditions beyond ``half_lam + tol``; correlations of unit vectors are
known up to ``error``; at most ``most_taken`` violators join a working set."""


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
def nearest(points, targets, own, correlations, error, neighbors):
    """The nearest points of each unit-norm target but ``own[p]``, nearest first, ties by index.

    Here and below ``own`` is the index of each target among the points, or -1 for one that is
    none of them.
    """
    n_points = points.shape[0]
    n_neighbors = neighbors.shape[1]
    keys = np.empty(n_neighbors)
    ids = np.empty(n_neighbors, np.int64)
    for p in range(targets.shape[0]):
        row = correlations[p]
        count = ZERO
        worst = -np.inf
        for t in range(n_points):
            if row[t] > worst and t != own[p]:
                count = insert_sorted(keys, ids, count, -np.float64(row[t]), t)
                if count == n_neighbors:
                    worst = -keys[count - 1]
        cut = worst - 2 * error
        count = ZERO
        for t in range(n_points):
            if row[t] >= cut and t != own[p]:
                distance = squared_distance(targets[p], points[t])
                count = insert_sorted(keys, ids, count, distance, t)
        assign(neighbors[p], ids)


@helper()
def contains(index, size, t):
    for k in range(size):
        if index[k] == t:
            return True
    return False


@kernel()
def add_violators(points, own, resid, correlations, codes, half_lam, scan, outside):
    """Take into each working set its worst violators, worst first.

    ``outside[p]`` becomes the largest correlation, in absolute value, of the residual with a
    point outside the working set; zero where it is certainly below ``half_lam``.
    """
    keys = np.empty(scan.most_taken)
    ids = np.empty(scan.most_taken, np.int64)
    for p in range(own.shape[0]):
        row = correlations[p]
        slack = scan.error * np.sqrt(dot(resid[p], resid[p]))
        bound = half_lam[p] + scan.tol
        cut = half_lam[p] - slack
        count = ZERO
        largest = 0.0
        for t in range(points.shape[0]):
            strength = np.float64(abs(row[t]))
            if strength <= cut or t == own[p] or contains(codes.index[p], codes.size[p], t):
                continue
            if strength <= bound + slack:
                strength = abs(dot(points[t], resid[p]))
            largest = max(largest, strength)
            if strength > bound:
                count = insert_sorted(keys, ids, count, -strength, t)
                if count == scan.most_taken:
                    cut = max(cut, -keys[count - 1])
        outside[p] = largest
        for k in range(count):
            codes.index[p, codes.size[p] + k] = ids[k]
        codes.size[p] += count


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
