"""Polynomials of a sparse symmetric matrix."""

import numpy as np

from srsg.kernels.compiled import kernel


@kernel()
def chebyshev(starts, columns, weights, before, current, n_steps, center, half_width):
    """Steps of ``T_m+1 = 2 (A - center) / half_width T_m - T_m-1`` for a matrix A in CSR form.

    ``before`` and ``current`` are T_0 and T_1 times some vectors, the columns, and are written
    over. Indices are unsigned, see :func:`srsg.graph.normalization.unsigned_indices`.
    """
    size, width = current.shape
    total = np.empty(width)
    scale = 2.0 / half_width
    for _ in range(n_steps):
        for i in range(size):
            # An entry of A is read once for all vectors, and the inner loops run over numbers
            # that lie side by side, several at once.
            total[:] = 0.0
            for k in range(starts[i], starts[i + 1]):
                neighbor, weight = columns[k], weights[k]
                for c in range(width):
                    total[c] += weight * current[neighbor, c]
            # Row i of the one before is needed for row i of the next only, so it can hold it.
            for c in range(width):
                before[i, c] = scale * (total[c] - center * current[i, c]) - before[i, c]
        before, current = current, before
    return current
