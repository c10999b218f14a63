"""Polynomials of a sparse symmetric matrix."""

import numpy as np

from srsg.kernels.compiled import kernel


@kernel()
def chebyshev(starts, columns, weights, before, current, n_steps, center, half_width):
    """Steps of ``T_m+1 = 2 (A - center) / half_width T_m - T_m-1`` for a matrix A in CSR form.

    ``before`` and ``current`` are T_0 and T_1 times some vectors, which are the columns; both are
    overwritten. Indices are unsigned, see :func:`srsg.graph.weights.unsigned_indices`.
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
            # Row i of T_m-1 is needed for row i of T_m+1 only, so the new row can replace it.
            for c in range(width):
                before[i, c] = scale * (total[c] - center * current[i, c]) - before[i, c]
        before, current = current, before
    return current
