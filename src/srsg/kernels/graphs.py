"""Loops over the edges of graphs: walks, polynomials, levels and layouts."""

import numpy as np

from srsg.kernels.compiled import helper, inlined, kernel
from srsg.kernels.linalg import fill

LARGEST_MOVE = 4.0
"""No single pull or push moves a point farther than this, in either coordinate: otherwise a few
points that nearly coincide would be thrown far out."""

NEGATIVES = 4
"""Random points that push a point away for every edge that pulls it."""


@inlined()
def walks_to(starts, columns, weights, j, reached):
    """Weight of the two-step walks that end in vertex j; ``reached`` weighs their first steps."""
    total = 0.0
    for k in range(starts[j], starts[j + 1]):
        total += weights[k] * reached[columns[k]]
    return total


@kernel()
def walks_along_edges(starts, columns, weights, first, last, walks):
    """``(N^2)_ij`` for every edge of the vertices i from ``first`` to ``last - 1``.

    N is a symmetric matrix in CSR form; its indices are unsigned, see
    :func:`srsg.cutting.eigenvectors.unsigned_indices`.
    """
    # Row i is spread out over all vertices, so a step of a walk is one lookup, and no two sparse
    # rows have to be merged. Afterwards, only the entries that were set are cleared.
    reached = np.empty(starts.shape[0] - 1)
    fill(reached, 0.0)
    origin = starts[first]
    for i in range(first, last):
        for k in range(starts[i], starts[i + 1]):
            reached[columns[k]] = weights[k]
        for k in range(starts[i], starts[i + 1]):
            walks[k - origin] = walks_to(starts, columns, weights, columns[k], reached)
        for k in range(starts[i], starts[i + 1]):
            reached[columns[k]] = 0.0


@kernel()
def chebyshev(starts, columns, weights, before, current, n_steps, center, half_width):
    """Steps of ``T_m+1 = 2 (A - center) / half_width T_m - T_m-1`` for a matrix A in CSR form.

    ``before`` and ``current`` are T_0 and T_1 times some vectors, which are the columns; both are
    overwritten. Indices are unsigned, see :func:`srsg.cutting.eigenvectors.unsigned_indices`.
    """
    size, width = current.shape
    total = np.empty(width)
    scale = 2.0 / half_width
    for _ in range(n_steps):
        for i in range(size):
            # Each entry of A is read once for all vectors. The inner loops run over numbers that
            # lie side by side in memory, so the processor handles several at a time.
            total[:] = 0.0
            for k in range(starts[i], starts[i + 1]):
                neighbor, weight = columns[k], weights[k]
                for c in range(width):
                    total[c] += weight * current[neighbor, c]
            # Row i of T_m-1 is needed only for row i of T_m+1, so the new row can replace it.
            for c in range(width):
                before[i, c] = scale * (total[c] - center * current[i, c]) - before[i, c]
        before, current = current, before
    return current


@kernel()
def dependency_levels(starts, neighbors, group, level):
    """Level of every point: above those of its neighbours that come before it in other groups, and
    no lower than those of its neighbours that come before it in its own group.

    ``starts`` and ``neighbors`` are an adjacency matrix in CSR form. A point waits for those of
    its neighbours that come before it in the order 0..n-1, and for no others. So the groups of a
    level can be solved at the same time, each in rising order.
    """
    # In rising order, so that the levels of all earlier points are known.
    for i in range(level.shape[0]):
        level[i] = 0
        for k in range(starts[i], starts[i + 1]):
            j = neighbors[k]
            if j < i:
                level[i] = max(level[i], level[j] + (group[j] != group[i]))


@helper()
def limited(move):
    return min(max(move, -LARGEST_MOVE), LARGEST_MOVE)


@kernel()
def spread_out(position, source, target, period, n_epochs, seed):
    """Move the points in place: edges pull, random pairs push, less with every epoch.

    An edge pulls every ``period`` epochs, so heavy ones pull more often (McInnes, Healy and
    Melville, 2018, with the Cauchy kernel ``1 / (1 + d^2)``).
    """
    n_points = len(position)
    due = period.copy()
    state = np.uint64(seed) * np.uint64(2862933555777941757) + np.uint64(3037000493)
    for epoch in range(n_epochs):
        rate = 1.0 - epoch / n_epochs
        for e in range(len(source)):
            if due[e] > epoch:
                continue
            due[e] += period[e]
            # Both ends move, one edge after the other. The order is fixed, so the layout is too.
            i, j = source[e], target[e]
            dx, dy = position[i, 0] - position[j, 0], position[i, 1] - position[j, 1]
            pull = -2.0 / (1.0 + dx * dx + dy * dy)
            mx, my = rate * limited(pull * dx), rate * limited(pull * dy)
            position[i, 0] += mx
            position[i, 1] += my
            position[j, 0] -= mx
            position[j, 1] -= my
            for _ in range(NEGATIVES):
                # Xorshift instead of numba's generator: the same layout on every machine.
                state ^= state << np.uint64(13)
                state ^= state >> np.uint64(7)
                state ^= state << np.uint64(17)
                other = np.int64(state % np.uint64(n_points))
                dx, dy = position[i, 0] - position[other, 0], position[i, 1] - position[other, 1]
                squared = dx * dx + dy * dy
                if other == i or squared == 0.0:
                    continue
                # The small number keeps the push finite where two points nearly coincide.
                push = 2.0 / ((0.001 + squared) * (1.0 + squared))
                position[i, 0] += rate * limited(push * dx)
                position[i, 1] += rate * limited(push * dy)
