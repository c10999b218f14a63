"""The problems of the Laplacian-regularised l1-graph, and what a scan tells about them."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from srsg.kernels.compiled import ZERO, helper, kernel
from srsg.kernels.correlations import insert_sorted
from srsg.kernels.linalg import assign, dot
from srsg.types import FloatArray


class LastScan(NamedTuple):
    """What the last scan of each point showed about the points outside its working set.

    The residual at that scan; the largest absolute correlation with it that a point outside can
    have; and how far below ``half_lam`` a point's correlation could be for it to join.
    """

    resid: FloatArray
    bound: FloatArray
    radius: FloatArray


@kernel()
def pulled_sets(codes, rows, starts, neighbors, weights, sets, pull):
    """Each point's own working set, together with the points that its neighbours use.

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
def sort_sets(chosen, codes, pull):
    """Put the points of the chosen working sets in rising order."""
    for p in chosen:
        size = codes.size[p]
        order = np.argsort(codes.index[p, :size])
        codes.index[p, :size] = codes.index[p, :size][order]
        codes.value[p, :size] = codes.value[p, :size][order]
        pull[p, :size] = pull[p, :size][order]


@helper()
def keep_pulled(codes, penalty, p):
    """Drop from a working set the points that are neither used nor pulled."""
    # A point with a pull has a condition of its own, which the scan outside does not check: it has
    # to stay in the working set.
    count = ZERO
    for k in range(codes.size[p]):
        if codes.value[p, k] != 0.0 or penalty.pull[p, k] != 0.0:
            codes.index[p, count] = codes.index[p, k]
            codes.value[p, count] = codes.value[p, k]
            penalty.pull[p, count] = penalty.pull[p, k]
            count += 1
    codes.size[p] = count


@kernel()
def renew_working_sets(
    points,
    chosen,
    rows,
    resid,
    correlations,
    codes,
    penalty,
    error,
    most,
    last_scan,
    outside,
):
    """Renew the working sets after a scan: violators join, and points that are nearly violators.

    ``most[p]`` is how many may join; ``outside[p]`` becomes the largest violation by a point that
    was not in the working set. Row q of the correlations belongs to row ``chosen[q]`` of everything
    else. Float64 decides about every point, so that nothing depends on the rounding of the scan.
    """
    for q in range(chosen.shape[0]):
        p = chosen[q]
        row = correlations[q]
        keep_pulled(codes, penalty, p)
        size = codes.size[p]
        for k in range(size):
            row[codes.index[p, k]] = np.nan  # fails every comparison
        row[rows[p]] = np.nan
        # The error bound is for unit vectors; it grows with the length of the residual.
        slack = error * np.sqrt(dot(resid[p], resid[p]))
        # Those that are nearly violators join now, which may save the next scan.
        least = penalty.half_lam[p] - last_scan.radius[p]
        cut = least - slack
        keys = np.empty(most[p])
        ids = np.empty(most[p], np.int64)
        count = ZERO
        for t in range(points.shape[0]):
            if abs(row[t]) > cut:
                strength = abs(dot(points[t], resid[p]))
                if strength > least:
                    count = insert_sorted(keys, ids, count, -strength, t)
                    # Once the list is full, only stronger points matter: for the rest of this scan,
                    # and for the bound on the points that stay outside.
                    if count == most[p]:
                        least = -keys[count - 1]
                        cut = least - slack
        for k in range(count):
            codes.index[p, size + k] = ids[k]
            codes.value[p, size + k] = 0.0
            penalty.pull[p, size + k] = 0.0
        codes.size[p] = size + count
        # A correlation changes by no more than the residual moves. So while later residuals stay
        # close to this one, the bound shows without a scan that no point outside violates.
        assign(last_scan.resid[p], resid[p])
        last_scan.bound[p] = least
        outside[p] = max(0.0, -keys[0] - penalty.half_lam[p]) if count > 0 else 0.0
