"""Refitting the codes of orthogonal matching pursuit."""

import numpy as np

from srsg.kernels.compiled import kernel
from srsg.kernels.linalg import assign, cholesky, cholesky_solve
from srsg.kernels.rows import dense_row, gather_rows, gram_of_rows, row_count, row_dot


@kernel()
def add_and_refit(points, targets, codes, chosen, ended):
    """Add the chosen point to each target's code and fit the coefficients by least squares.

    A point that depends on those before it cannot lower the residual: that row has ended.
    """
    for p in range(row_count(targets)):
        if ended[p]:
            continue
        size = codes.size[p] + 1
        codes.index[p, size - 1] = chosen[p]
        # A new factor in every step: codes have a handful of points, and an updated factor would
        # carry the rounding of all earlier steps.
        support = np.arange(size)
        atoms = gather_rows(points, codes.index[p], size)
        factor = np.empty((size, size))
        # In this case the code keeps its old size, so the point written above does not count.
        if cholesky(gram_of_rows(atoms), support, size, factor) < size:
            ended[p] = True
            continue
        own = dense_row(targets, p)
        fitted = np.empty(size)
        for k in range(size):
            fitted[k] = row_dot(atoms, k, own)
        cholesky_solve(factor, size, fitted)
        assign(codes.value[p, :size], fitted)
        codes.size[p] = size
