"""The largest entries of dense codes, which are never formed."""

import numpy as np

from srsg.kernels.arrays import Codes
from srsg.kernels.compiled import ZERO, kernel
from srsg.kernels.correlations import insert_sorted
from srsg.kernels.linalg import dot
from srsg.kernels.rows import row_dot


@kernel()
def keep_largest(points, own, vectors, correlations, error, most):
    """Codes with the entries ``x_j' v_p`` of largest magnitude, at most ``most`` each.

    ``correlations`` are these products in float32, known up to ``error`` times the length of the
    vector. They only select candidates: float64 decides which entries are largest, so the choice
    does not depend on how the product was computed. Entries are sorted by index.
    """
    n_points = correlations.shape[1]
    n_rows = vectors.shape[0]
    index, value = np.zeros((n_rows, most), np.int64), np.zeros((n_rows, most))
    size = np.zeros(n_rows, np.int64)
    keys = np.empty(most)
    ids = np.empty(most, np.int64)
    for p in range(n_rows if most else 0):
        row = correlations[p]
        # First pass: the magnitude of the smallest entry that would be kept, in float32.
        count = ZERO
        weakest = np.float32(-1.0)
        for t in range(n_points):
            if abs(row[t]) > weakest and t != own[p]:
                count = insert_sorted(keys, ids, count, -np.float64(abs(row[t])), t)
                if count == most:
                    weakest = np.float32(-keys[count - 1])
        # Second pass: whatever the error could have ranked wrongly is computed again. Twice the
        # error, because both an entry and the one it is compared with may be off.
        cut = -1.0
        if count == most:
            cut = -keys[count - 1] - 2 * error * np.sqrt(dot(vectors[p], vectors[p]))
        count = ZERO
        for t in range(n_points):
            if abs(row[t]) >= cut and t != own[p]:
                exact = abs(row_dot(points, t, vectors[p]))
                count = insert_sorted(keys, ids, count, -exact, t)
        size[p] = count
        # Sorted by index, as rows of a CSR matrix should be; the list was sorted by magnitude.
        index[p, :count] = np.sort(ids[:count])
        for k in range(count):
            value[p, k] = row_dot(points, index[p, k], vectors[p])
    return Codes(index, value, size)
