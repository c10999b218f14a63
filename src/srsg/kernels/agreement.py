"""What the neighbours of two vertices share."""

import numpy as np

from srsg.kernels.compiled import helper, kernel


@helper()
def walks_to(starts, columns, weights, j, reached):
    """Weight of the walks of two steps that end in vertex j, given the first steps."""
    total = 0.0
    for k in range(starts[j], starts[j + 1]):
        total += weights[k] * reached[columns[k]]
    return total


@kernel()
def walks_along_edges(starts, columns, weights, first, last, walks):
    """``(N^2)_ij`` for every edge of the vertices i from ``first`` to ``last - 1``.

    N is a symmetric matrix in CSR form; its indices are unsigned, see
    :func:`srsg.graph.normalization.unsigned_indices`.
    """
    reached = np.zeros(starts.shape[0] - 1)
    origin = starts[first]
    for i in range(first, last):
        for k in range(starts[i], starts[i + 1]):
            reached[columns[k]] = weights[k]
        for k in range(starts[i], starts[i + 1]):
            walks[k - origin] = walks_to(starts, columns, weights, columns[k], reached)
        for k in range(starts[i], starts[i + 1]):
            reached[columns[k]] = 0.0
