"""Polynomials of a sparse symmetric matrix."""

import numpy as np

from srsg.kernels.compiled import helper, kernel


@helper()
def sparse_dot(columns, weights, start, stop, x):
    total = 0.0
    for k in range(start, stop):
        total += weights[k] * x[columns[k]]
    return total


@kernel()
def chebyshev(starts, columns, weights, x, degree, center, half_width):
    """``T_degree((A - center) / half_width) x`` for a matrix A in CSR form, degree 1 or more.

    The polynomial is at most 1 in absolute value on the interval, and grows fast beyond it.
    Indices are unsigned, see :func:`srsg.graph.normalization.unsigned_indices`.
    """
    size = x.shape[0]
    previous = x.copy()
    current = np.empty(size)
    for i in range(size):
        product = sparse_dot(columns, weights, starts[i], starts[i + 1], x)
        current[i] = (product - center * x[i]) / half_width
    for _ in range(1, degree):
        for i in range(size):
            product = sparse_dot(columns, weights, starts[i], starts[i + 1], current)
            # Entry i of the one before is needed for entry i of the next only.
            previous[i] = 2 * (product - center * current[i]) / half_width - previous[i]
        previous, current = current, previous
    return current
