"""Small dense linear algebra shared by the other kernels."""

import numpy as np

from srsg.kernels.compiled import VECTORISED, helper


@helper(fastmath=VECTORISED)
def dot(u, v):
    """Inner product in float64, whatever the operands are."""
    total = 0.0
    for j in range(u.shape[0]):
        total += np.float64(u[j]) * np.float64(v[j])
    return total


@helper(fastmath=VECTORISED)
def squared_distance(u, v):
    """Squared Euclidean distance in float64: exactly zero for equal points."""
    total = 0.0
    for j in range(u.shape[0]):
        difference = np.float64(u[j]) - np.float64(v[j])
        total += difference * difference
    return total


@helper()
def assign(target, source):
    """``target[:] = source``, which numba compiles a hundred times faster as a loop."""
    for j in range(target.shape[0]):
        target[j] = source[j]


@helper()
def in_float64(point):
    """A copy of one point in float64."""
    copy = np.empty(point.shape[0])
    assign(copy, point)
    return copy


@helper()
def gather(points, index, size):
    """Rows ``index[:size]`` of the points as one contiguous float64 matrix."""
    rows = np.empty((size, points.shape[1]))
    for k in range(size):
        assign(rows[k], points[index[k]])
    return rows


@helper()
def cholesky(gram, support, size, factor):
    """Factor ``gram[support][:, support]`` into ``factor``; False if it is singular."""
    for a in range(size):
        for b in range(a + 1):
            entry = gram[support[a], support[b]] - dot(factor[a, :b], factor[b, :b])
            if a == b:
                # A pivot this small is rounding: the point depends on those before it.
                if entry <= 1e-12 * gram[support[a], support[a]]:
                    return False
                factor[a, a] = np.sqrt(entry)
            else:
                factor[a, b] = entry / factor[b, b]
    return True


@helper()
def cholesky_solve(factor, size, rhs):
    """Solve in place, in ``rhs[:size]``, with the factor of :func:`cholesky`."""
    for a in range(size):
        rhs[a] = (rhs[a] - dot(factor[a, :a], rhs[:a])) / factor[a, a]
    for a in range(size - 1, -1, -1):
        total = rhs[a]
        for b in range(a + 1, size):
            total -= factor[b, a] * rhs[b]
        rhs[a] = total / factor[a, a]


@helper()
def multiply(matrix, vector, out):
    """Matrix times vector."""
    for k in range(out.shape[0]):
        out[k] = dot(matrix[k], vector)
