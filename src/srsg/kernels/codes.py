"""Sparse codes: as the kernels hold them, as a matrix and as a graph."""

import numpy as np

from srsg.kernels.arrays import Codes
from srsg.kernels.compiled import helper, inlined, kernel
from srsg.kernels.linalg import assign
from srsg.kernels.rows import row_count, row_length, subtract_row, write_row


@helper()
def residual(points, targets, codes, p, out):
    """``x - sum_t z_t x_t`` for the target and the code in row p, in float64."""
    write_row(targets, p, out)
    for k in range(codes.size[p]):
        z = codes.value[p, k]
        # Working sets hold many points that the code does not use. Subtracting each of them zero
        # times would cost as much as subtracting one that it uses.
        if z != 0.0:
            subtract_row(points, codes.index[p, k], z, out)


@kernel()
def residuals(points, targets, codes):
    """The residuals of all codes; row p of the codes belongs to ``targets[p]``."""
    resid = np.empty((row_count(targets), row_length(targets)))
    for p in range(row_count(targets)):
        residual(points, targets, codes, p, resid[p])
    return resid


@helper()
def keep_sorted_support(codes, p):
    """Drop the zeros of one code and sort it by index, in place."""
    count = 0
    for k in range(codes.size[p]):
        value = codes.value[p, k]
        if value != 0.0:
            index = codes.index[p, k]
            # By insertion: codes are short, and mostly sorted already. Entries move to the left or
            # stay, so nothing is overwritten before it is read.
            place = count
            while place > 0 and codes.index[p, place - 1] > index:
                codes.index[p, place] = codes.index[p, place - 1]
                codes.value[p, place] = codes.value[p, place - 1]
                place -= 1
            codes.index[p, place] = index
            codes.value[p, place] = value
            count += 1
    codes.size[p] = count


@kernel()
def renew(codes, joining, count):
    """New codes: without the zeros, each with ``count[p]`` points of ``joining[p]`` added.

    A code that no point joins is done: it is sorted by index, while the others stay in the order of
    joining.
    """
    width = 0
    for p in range(count.shape[0]):
        width = max(width, codes.size[p] + count[p])
    shape = (count.shape[0], width)
    new = Codes(np.zeros(shape, np.int64), np.zeros(shape), np.zeros(count.shape[0], np.int64))
    kept = min(new.value.shape[1], codes.value.shape[1])
    for p in range(codes.size.shape[0]):
        # A point that joins starts from whatever value the old row has at its place: every start
        # leads to a minimiser.
        assign(new.value[p, :kept], codes.value[p])
        size = 0
        for k in range(codes.size[p]):
            if codes.value[p, k] != 0.0:
                new.index[p, size] = codes.index[p, k]
                new.value[p, size] = codes.value[p, k]
                size += 1
        for k in range(count[p]):
            new.index[p, size] = joining[p, k]
            size += 1
        new.size[p] = size
        if count[p] == 0:
            keep_sorted_support(new, p)
    return new


@inlined()
def neighbors_of(neighbors, i):
    return neighbors.index[neighbors.starts[i] : neighbors.starts[i + 1]]


@kernel()
def support_distances(codes, neighbors):
    """``R_S(Z)`` of eq. (3): the support distances (4), summed over all pairs of neighbours."""
    # A count of integers: unlike a sum of floats, it is the same in any order.
    total = 0
    for i in range(neighbors.starts.shape[0] - 1):
        for j in neighbors_of(neighbors, i):
            # Both supports are sorted, so one walk along the two finds where they differ. Eq. (4)
            # leaves out the indices i and j: that a point cannot use itself is no difference.
            a = 0
            b = 0
            while a < codes.size[i] or b < codes.size[j]:
                if b == codes.size[j] or (
                    a < codes.size[i] and codes.index[i, a] < codes.index[j, b]
                ):
                    total += codes.index[i, a] != j
                    a += 1
                elif a == codes.size[i] or codes.index[j, b] < codes.index[i, a]:
                    total += codes.index[j, b] != i
                    b += 1
                else:
                    a += 1
                    b += 1
    return total
