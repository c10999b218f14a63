"""The problems of the Laplacian-regularised l1-graph, solved with the Gram matrix of all points.

Where that matrix fits into memory, this takes a fraction of the time of :mod:`srsg.kernels.pulled`:
nearly every pair of points meets in many problems, and its inner product is computed only once.
"""

import numpy as np

from srsg.kernels.compiled import ZERO, helper, kernel
from srsg.kernels.direct import to_first_zero
from srsg.kernels.lasso import coordinate_sweep, worst_violation
from srsg.kernels.linalg import assign, dot, fill, in_float64, multiply
from srsg.kernels.pulled import (
    FIRST_REDUCTION,
    MAX_ROUNDS,
    ROUNDING,
    changes_sign,
    renew_residual,
)

PASSES = 2
"""Most passes of coordinate descent before conjugate gradients: the signs settle in a few."""


@helper()
def fetch(gram, index, ridge, inner):
    """Copy the inner products of a working set into a small matrix, and add the ridge."""
    # Their places are scattered in the large matrix, which takes most of the time. Half of them are
    # enough, because the matrix is symmetric.
    for a in range(index.shape[0]):
        row = gram[index[a]]
        for c in range(a):
            inner[a, c] = row[index[c]]
        inner[a, a] = row[index[a]] + ridge
    for a in range(index.shape[0]):
        for c in range(a):
            inner[c, a] = inner[a, c]


@helper()
def gradient_by_rows(gram, b, z, gradient):
    """Set ``gradient`` to ``b - G z``, the negative gradient of the smooth part."""
    # The matrix is symmetric, so the rows of points that the code uses are enough: half of those
    # that :func:`srsg.kernels.lasso.compute_gradient` reads.
    assign(gradient, b)
    for k in range(z.shape[0]):
        if z[k] != 0.0:
            for j in range(z.shape[0]):
                gradient[j] -= z[k] * gram[k, j]


@helper()
def solve_by_gram(gram, b, half_lam, z, reached):
    """Minimise ``1/2 z' G z - b' z + half_lam |z|_1`` in place, from the given z."""
    gradient = np.empty(z.shape[0])
    gradient_by_rows(gram, b, z, gradient)
    for _ in range(MAX_ROUNDS):
        if worst_violation(half_lam, z, gradient) <= reached:
            break
        # Coordinate descent finds the signs, conjugate gradients the values.
        for _ in range(PASSES):
            if not coordinate_sweep(gram, half_lam, z, gradient):
                break
        descend_on_support(gram, half_lam, z, gradient, reached)
        # Computed afresh, so that the rounding errors of the updates do not add up.
        gradient_by_rows(gram, b, z, gradient)


@helper()
def descend_on_support(gram, half_lam, z, gradient, reached):
    """Move towards the minimiser with the signs of z by conjugate gradients.

    Coordinates that would change their sign become zero: all of them at once if that lowers the
    objective, otherwise only the first one on the straight line.
    """
    support = np.empty(z.shape[0], np.int64)
    count = ZERO
    for k in range(z.shape[0]):
        if z[k] != 0.0:
            support[count] = k
            count += 1
    # With the signs fixed the l1 norm is linear: the minimiser solves ``G step = left``.
    inner = np.empty((count, count))
    left = np.empty(count)
    for a in range(count):
        row = gram[support[a]]
        for c in range(count):
            inner[a, c] = row[support[c]]
        left[a] = gradient[support[a]] - half_lam * np.sign(z[support[a]])
    step = np.empty(count)
    # Half of the tolerance for this solve, so that the other half is left for rounding.
    conjugate_gradients(inner, in_float64(left), z, support, reached / 2, step)
    # The usual case: the step ends in the minimiser itself, so there is nothing to check.
    if not changes_sign(z, support, count, step):
        for a in range(count):
            z[support[a]] += step[a]
        return
    shorter = np.empty(count)
    for a in range(count):
        here = z[support[a]]
        shorter[a] = step[a] if (here + step[a]) * here > 0.0 else -here
    curved = np.empty(count)
    multiply(inner, shorter, curved)
    # The objective changes by ``1/2 s' G s - left' s``, since no sign changes on the way. If it
    # does not fall, too many became zero at once. Stopping at the first zero always lowers it.
    if 0.5 * dot(shorter, curved) < dot(left, shorter):
        for a in range(count):
            # Exactly zero where it becomes zero: rounding must not leave a little there.
            k = support[a]
            z[k] = z[k] + step[a] if (z[k] + step[a]) * z[k] > 0.0 else 0.0
    else:
        to_first_zero(z, support, count, step, 1.0)


@helper()
def conjugate_gradients(gram, left, z, support, tol, step):
    """Solve ``G step = left``; ends early if the step, once it is roughly known, changes a sign."""
    # As in :func:`srsg.kernels.pulled.conjugate_gradients`, where products go through the points.
    count = step.shape[0]
    direction = in_float64(left)
    curved = np.empty(count)
    fill(step, 0.0)
    power = dot(left, left)
    rough = power * FIRST_REDUCTION**2
    # In exact arithmetic ``count`` steps suffice; with rounding it may take some more.
    for _ in range(2 * count + 20):
        if power <= tol * tol:
            break
        multiply(gram, direction, curved)
        length = power / dot(direction, curved)
        for a in range(count):
            step[a] += length * direction[a]
            left[a] -= length * curved[a]
        before, power = power, dot(left, left)
        if before > rough >= power and changes_sign(z, support, count, step):
            break
        for a in range(count):
            direction[a] = left[a] + power / before * direction[a]


@kernel()
def solve_pulled_by_gram(gram, points, chosen, rows, codes, penalty, tol, resids):
    """The same as :func:`srsg.kernels.pulled.solve_pulled`, given all inner products.

    Residuals are computed from the points themselves: scans and certificates must not trust the
    numbers that the solver worked with.
    """
    # One piece of memory for all problems: getting new memory for each would take time.
    largest = ZERO
    for p in chosen:
        largest = max(largest, codes.size[p])
    room = np.empty(largest * largest)
    for p in chosen:
        own = in_float64(points[rows[p]])
        size = codes.size[p]
        index = codes.index[p, :size]
        z = codes.value[p, :size]
        # The pull is linear in the code, so it adds to the correlations with the point.
        b = np.empty(size)
        for k in range(size):
            b[k] = gram[rows[p], index[k]] + penalty.pull[p, k]
        inner = room[: size * size].reshape((size, size))
        fetch(gram, index, penalty.ridge[p], inner)
        # Half of what may be left, so that the rounding of the inner products does not matter.
        reached = max(tol, ROUNDING * penalty.ridge[p])
        solve_by_gram(inner, b, penalty.half_lam[p], z, reached / 2)
        renew_residual(points, own, index, z, resids[p])
