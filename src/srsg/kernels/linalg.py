"""Small dense linear algebra shared by the other kernels."""

import numpy as np

from srsg.kernels.compiled import VECTORISED, ZERO, helper, inlined

PIVOT_ROUNDING = 1e-14
"""A pivot below this fraction of the diagonal entry is rounding: the point is a combination of
those before it."""


@helper(fastmath=VECTORISED)
def dot(u, v):
    """Inner product in float64, whatever the operands are."""
    # Converted before they are multiplied: the product of two float32 numbers is exact in float64.
    total = 0.0
    for j in range(u.shape[0]):
        total += np.float64(u[j]) * np.float64(v[j])
    return total


@helper(fastmath=VECTORISED)
def start_dot(u, v, length):
    """Inner product of the first ``length`` entries."""
    total = 0.0
    for j in range(length):
        total += u[j] * v[j]
    return total


@helper(fastmath=VECTORISED)
def squared_distance(u, v):
    """Squared Euclidean distance in float64: exactly zero for equal points."""
    # Not ``|u|^2 - 2 u' v + |v|^2``, which loses all digits where the points are close.
    total = 0.0
    for j in range(u.shape[0]):
        difference = np.float64(u[j]) - np.float64(v[j])
        total += difference * difference
    return total


@helper()
def assign(target, source):
    """``target[:] = source``, as a loop, which numba compiles a hundred times as fast."""
    for j in range(target.shape[0]):
        target[j] = source[j]


@helper()
def fill(target, value):
    """``target[:] = value``, as a loop for the same reason."""
    for j in range(target.shape[0]):
        target[j] = value


@helper()
def find_nonzeros(vector, places):
    """Write the places where a vector is not zero; returns their number."""
    count = ZERO
    for j in range(vector.shape[0]):
        if vector[j] != 0.0:
            places[count] = j
            count += 1
    return count


@helper()
def position(index, t):
    """The place of t in a sorted array, or -1."""
    low, high = 0, index.shape[0]
    while low < high:
        middle = (low + high) // 2
        if index[middle] < t:
            low = middle + 1
        else:
            high = middle
    return low if low < index.shape[0] and index[low] == t else -1


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
def gram_matrix(atoms):
    """Inner products of the rows with each other.

    This is half the work of a general product, and every entry depends on its two rows alone. The
    blocked sums of a BLAS do not guarantee that.
    """
    size = atoms.shape[0]
    gram = np.empty((size, size))
    for a in range(size):
        for b in range(a + 1):
            # Both triangles are filled, so that readers can go along rows as they lie in memory.
            gram[a, b] = gram[b, a] = dot(atoms[a], atoms[b])
    return gram


@helper()
def cholesky(gram, support, size, factor):
    """Factor ``gram[support][:, support]`` into ``factor``.

    Returns the number of rows factored: ``size``, or the place of the first point that depends
    on those before it. The row of that point is filled up to the diagonal.
    """
    return more_cholesky(gram, support, ZERO, size, factor)


@helper()
def more_cholesky(gram, support, known, size, factor):
    """:func:`cholesky` where the first ``known`` rows of the factor are there already."""
    # Row by row, so that each row needs only those above it, and the factor can be extended.
    for a in range(known, size):
        for b in range(a + 1):
            entry = gram[support[a], support[b]] - start_dot(factor[a], factor[b], b)
            if a == b:
                # What is left of the point's squared length outside the span of those before it:
                # nothing but rounding, if it depends on them.
                if entry <= PIVOT_ROUNDING * gram[support[a], support[a]]:
                    return a
                factor[a, a] = np.sqrt(entry)
            else:
                factor[a, b] = entry / factor[b, b]
    return size


@helper(fastmath=VECTORISED)
def remove_row(factor, place, size):
    """Turn the factor of ``size`` points into that of all but the point at ``place``.

    The rows after it move up by one. Each then has an entry beyond the diagonal, which a rotation
    of two columns makes zero. This takes the square of the size in steps; a new factor takes the
    cube.
    """
    cosines = np.empty(size)
    sines = np.empty(size)
    for i in range(place, size - 1):
        old = factor[i + 1]
        new = factor[i]
        for j in range(place):
            new[j] = old[j]
        # Row by row, as they lie in memory: first the rotations of the rows above, then its own.
        left = old[place]
        for a in range(place, i):
            right = old[a + 1]
            new[a] = cosines[a] * left + sines[a] * right
            left = cosines[a] * right - sines[a] * left
        right = old[i + 1]
        # Positive, as all pivots of a factor are.
        length = np.sqrt(left * left + right * right)
        new[i] = length
        cosines[i] = left / length
        sines[i] = right / length


@helper()
def forward_solve(factor, size, rhs):
    """Solve ``L y = rhs`` in place."""
    for a in range(size):
        rhs[a] = (rhs[a] - start_dot(factor[a], rhs, a)) / factor[a, a]


@helper()
def backward_solve(factor, size, rhs):
    """Solve ``L' y = rhs`` in place."""
    # Down the columns of L, since its transpose is not stored.
    for a in range(size - 1, -1, -1):
        total = rhs[a]
        for b in range(a + 1, size):
            total -= factor[b, a] * rhs[b]
        rhs[a] = total / factor[a, a]


@helper()
def cholesky_solve(factor, size, rhs):
    """Solve ``L L' y = rhs`` in place."""
    forward_solve(factor, size, rhs)
    backward_solve(factor, size, rhs)


@inlined()
def null_direction(factor, independent, gradient, direction):
    """A direction along which the fit stays the same and a function does not rise.

    It changes the coefficients of the first dependent point and of those before it. ``factor``
    comes from :func:`cholesky`, so its last row is ``L^-1 g`` with the inner products ``g`` with
    the dependent point; ``gradient`` is that of the function.
    """
    # With the coefficient of the dependent point raised by one, L' y = -L^-1 g gives the changes y
    # of the others that keep the fit.
    for a in range(independent):
        direction[a] = -factor[independent, a]
    backward_solve(factor, independent, direction)
    direction[independent] = 1.0
    # Both ways along the direction keep the fit; the function does not rise in one of them.
    slope = 0.0
    for a in range(independent + 1):
        slope += gradient[a] * direction[a]
    if slope > 0.0:
        for a in range(independent + 1):
            direction[a] = -direction[a]


@helper()
def multiply(matrix, vector, out):
    """Matrix times vector."""
    for k in range(out.shape[0]):
        out[k] = dot(matrix[k], vector)
