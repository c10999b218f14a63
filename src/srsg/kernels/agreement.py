"""What the neighbours of two vertices share."""

import numpy as np

from srsg.kernels.compiled import helper, kernel
from srsg.kernels.linalg import fill


@helper()
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
    :func:`srsg.graph.weights.unsigned_indices`.
    """
    # Row i spread out over all vertices: each walk then needs one lookup per step, where two
    # sparse rows would have to be merged. Only the entries that were set are cleared.
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
