"""The problems of the Laplacian-regularised l1-graph, and what a scan tells about them."""

import numpy as np

from srsg.kernels.compiled import ZERO, helper, kernel
from srsg.kernels.correlations import insert_sorted
from srsg.kernels.linalg import dot

AHEAD = 0.002
"""After a scan a working set takes in every point that would be a violator if its correlation with
the residual were larger by this fraction."""


@kernel()
def pulled_sets(codes, rows, starts, neighbors, weights, sets, pull):
    """The points that each point's code uses, together with those that its neighbours use.

    The pull on point t is the sum of the neighbours' codes at t, each times the weight of its
    edge; the weights are a CSR matrix. Row p of ``sets`` and ``pull`` has room for all entries of
    row ``rows[p]`` of ``codes`` and of the rows of its neighbours.
    """
    # The place of each point in the set being made. The table has all points and is cleared only
    # where it was used, so a lookup is one read and a row costs no more than its entries.
    place = np.full(codes.size.shape[0], -1, np.int64)
    for p in range(rows.shape[0]):
        i = rows[p]
        size = codes.size[i]
        for k in range(size):
            sets.index[p, k] = codes.index[i, k]
            sets.value[p, k] = codes.value[i, k]
            pull[p, k] = 0.0
            place[codes.index[i, k]] = k
        # Neighbours in the order of the CSR matrix: then every pull is summed in a fixed order.
        for e in range(starts[i], starts[i + 1]):
            j = neighbors[e]
            for k in range(codes.size[j]):
                t = codes.index[j, k]
                if codes.value[j, k] == 0.0 or t == i:  # no point codes itself
                    continue
                if place[t] < 0:
                    place[t] = size
                    sets.index[p, size] = t
                    sets.value[p, size] = 0.0
                    pull[p, size] = 0.0
                    size += 1
                pull[p, place[t]] += weights[e] * codes.value[j, k]
        sets.size[p] = size
        for k in range(size):
            place[sets.index[p, k]] = -1


@kernel()
def norm_and_distances(codes, starts, neighbors, weights):
    """The l1 norm of all codes, and ``sum_ij S_ij |z_i - z_j|^2``, with S a CSR matrix."""
    n = codes.size.shape[0]
    squares = np.empty(n)
    l1_norm = 0.0
    for i in range(n):
        values = codes.value[i, : codes.size[i]]
        squares[i] = dot(values, values)
        for value in values:
            l1_norm += abs(value)
    # One code at a time as a full vector, which is cleared only where it was used.
    full = np.zeros(n)
    distances = 0.0
    for i in range(n):
        for k in range(codes.size[i]):
            full[codes.index[i, k]] = codes.value[i, k]
        for e in range(starts[i], starts[i + 1]):
            j = neighbors[e]
            inner = 0.0
            for k in range(codes.size[j]):
                inner += codes.value[j, k] * full[codes.index[j, k]]
            distances += weights[e] * (squares[i] + squares[j] - 2 * inner)
        for k in range(codes.size[i]):
            full[codes.index[i, k]] = 0.0
    return l1_norm, distances


@helper()
def put_in_row(codes, penalty, p, k, index, value, pull):
    """Set entry k of a row."""
    codes.index[p, k] = index
    codes.value[p, k] = value
    penalty.pull[p, k] = pull


@helper()
def sort_working_set(codes, penalty, p):
    """Put the points of a working set in rising order."""
    size = codes.size[p]
    order = np.argsort(codes.index[p, :size])
    codes.index[p, :size] = codes.index[p, :size][order]
    codes.value[p, :size] = codes.value[p, :size][order]
    penalty.pull[p, :size] = penalty.pull[p, :size][order]


@helper()
def join(codes, penalty, p, index):
    """Let a point join the working set; the first point behind the set moves to the end."""
    size, listed = codes.size[p], penalty.listed[p]
    put_in_row(codes, penalty, p, listed, codes.index[p, size], 0.0, penalty.pull[p, size])
    put_in_row(codes, penalty, p, size, index, 0.0, 0.0)
    codes.size[p] = size + 1
    penalty.listed[p] = listed + 1


@helper()
def renew_listed(points, resid, row, codes, penalty, p, least, slack):
    """Of the points that are listed, keep in the working set those that are used or close to it.

    Points with a pull that are not in the set stand behind it: their conditions differ from those
    of all other points, so that the next scan has to look at them one by one. What is neither in
    the set nor pulled on leaves. The row has NaN, which fails every comparison, where it was read.
    Returns the largest absolute gradient at a point that is not used, and at one that was not in
    the set before.
    """
    before, listed = codes.size[p], penalty.listed[p]
    pulled = np.empty(listed, np.int64)
    pulls = np.empty(listed)
    size = ZERO
    n_pulled = ZERO
    worst = 0.0
    new = 0.0
    for k in range(listed):
        t, value, pull = codes.index[p, k], codes.value[p, k], penalty.pull[p, k]
        stays = value != 0.0
        if not stays and abs(row[t] + pull) > least - slack:
            strength = abs(dot(points[t], resid) + pull)
            stays = strength > least
            worst = max(worst, strength)
            if k >= before:
                new = max(new, strength)
        row[t] = np.nan
        if stays:
            put_in_row(codes, penalty, p, size, t, value, pull)
            size += 1
        elif pull != 0.0:
            pulled[n_pulled] = t
            pulls[n_pulled] = pull
            n_pulled += 1
    for k in range(n_pulled):
        put_in_row(codes, penalty, p, size + k, pulled[k], 0.0, pulls[k])
    codes.size[p] = size
    penalty.listed[p] = size + n_pulled
    return worst, new


@helper()
def join_strongest(points, resid, row, codes, penalty, p, least, slack, most):
    """Let points join that are not listed, the strongest of those above ``least``.

    Returns the absolute gradient at the strongest; zero if none joins.
    """
    keys = np.empty(most)
    ids = np.empty(most, np.int64)
    count = ZERO
    for t in range(points.shape[0]):
        if abs(row[t]) > least - slack:
            strength = abs(dot(points[t], resid))
            if strength > least:
                count = insert_sorted(keys, ids, count, -strength, t)
                # Once the list is full, only stronger points matter.
                if count == most:
                    least = -keys[count - 1]
    for k in range(count):
        join(codes, penalty, p, ids[k])
    return -keys[0] if count > 0 else 0.0


@kernel()
def renew_working_sets(
    points, chosen, rows, resid, correlations, codes, penalty, reached, error, most, outside
):
    """Renew the working sets after a scan: violators join, and points that are nearly violators.

    At most ``most[p]`` points join that no neighbour pulls on. ``outside[p]`` becomes the largest
    violation by a point that the code does not use. Row q of the correlations belongs to row
    ``chosen[q]`` of everything else; they are overwritten. Float64 decides about every point, so
    that nothing depends on the rounding of the scan.

    Returns the chosen rows whose working sets took in a point that violates the conditions by more
    than ``reached[p]``.
    """
    grown = np.empty(chosen.shape[0], np.int64)
    n_grown = ZERO
    for q in range(chosen.shape[0]):
        p = chosen[q]
        row = correlations[q]
        half_lam = penalty.half_lam[p]
        least = half_lam / (1.0 + AHEAD)
        # The error bound is for unit vectors; it grows with the length of the residual.
        slack = error * np.sqrt(dot(resid[p], resid[p]))
        row[rows[p]] = np.nan
        worst, new = renew_listed(points, resid[p], row, codes, penalty, p, least, slack)
        joined = join_strongest(points, resid[p], row, codes, penalty, p, least, slack, most[p])
        sort_working_set(codes, penalty, p)
        outside[p] = max(0.0, max(worst, joined) - half_lam)
        if max(new, joined) - half_lam > reached[p]:
            grown[n_grown] = p
            n_grown += 1
    return grown[:n_grown]
