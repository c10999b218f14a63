"""Polynomials of a sparse symmetric matrix."""

import numpy as np

from srsg.kernels.compiled import helper, kernel


@helper()
def row_times(columns, weights, start, stop, x, total):
    """One row of a sparse matrix times all columns of x.

    An entry of the matrix is read once for all of them, and the inner loop runs over numbers
    that lie side by side.
    """
    total[:] = 0.0
    for k in range(start, stop):
        neighbor, weight = columns[k], weights[k]
        for c in range(total.shape[0]):
            total[c] += weight * x[neighbor, c]


@kernel()
def chebyshev(starts, columns, weights, x, degree, center, half_width):
    """``T_degree((A - center) / half_width) x`` for a matrix A in CSR form, degree 1 or more.

    The polynomial is at most 1 in absolute value on the interval, and grows fast beyond it.
    Indices are unsigned, see :func:`srsg.graph.normalization.unsigned_indices`.
    """
    size, width = x.shape
    before = x.copy()
    current = np.empty((size, width))
    total = np.empty(width)
    scale = 1.0 / half_width
    for i in range(size):
        row_times(columns, weights, starts[i], starts[i + 1], x, total)
        for c in range(width):
            current[i, c] = (total[c] - center * x[i, c]) * scale
    for _ in range(1, degree):
        for i in range(size):
            row_times(columns, weights, starts[i], starts[i + 1], current, total)
            # Row i of the one before is needed for row i of the next only, so it can hold it.
            for c in range(width):
                before[i, c] = 2 * scale * (total[c] - center * current[i, c]) - before[i, c]
        before, current = current, before
    return current
