"""The small l1 problems of the working sets, solved to rounding.

Every problem here is eq. (1) of the paper restricted to few points and divided by two,
``1/2 z' G z - b' z + half_lam * |z|_1`` with ``G`` their Gram matrix and ``b`` their
correlations with the point that is coded.
"""

import numpy as np

from srsg.kernels.codes import keep_sorted_support, residual
from srsg.kernels.compiled import ZERO, helper, kernel
from srsg.kernels.linalg import (
    assign,
    backward_solve,
    cholesky,
    dot,
    forward_solve,
    gather,
    gram_matrix,
    in_float64,
    multiply,
)

SWEEPS_BEFORE_DIRECT_STEP = 2
MAX_ROUNDS = 5000
ROUNDING = 1e-13


@helper()
def coordinate_sweep(gram, half_lam, z, gradient):
    """One cyclic pass of coordinate descent; ``gradient`` is ``b - G z``, kept up to date."""
    size = z.shape[0]
    for k in range(size):
        curvature = gram[k, k]
        target = gradient[k] + curvature * z[k]
        if target > half_lam:
            new = (target - half_lam) / curvature
        elif target < -half_lam:
            new = (target + half_lam) / curvature
        else:
            new = 0.0
        change = new - z[k]
        if change != 0.0:
            z[k] = new
            for j in range(size):
                gradient[j] -= change * gram[k, j]


@helper()
def signed_minimiser(gram, b, half_lam, z, support, factor, target):
    """The minimiser with the signs of ``z``, in ``target`` for the coordinates of ``support``.

    Returns the size of the support and the number of its points that are independent: if fewer,
    ``target`` is not set and ``factor`` is that of :func:`~srsg.kernels.linalg.cholesky`.
    """
    count = ZERO
    for k in range(z.shape[0]):
        if z[k] != 0.0:
            support[count] = k
            target[count] = b[k] - half_lam * np.sign(z[k])
            count += 1
    independent = cholesky(gram, support, count, factor)
    if independent == count:
        forward_solve(factor, count, target)
        backward_solve(factor, count, target)
    return count, independent


@helper()
def direct_step(gram, b, half_lam, z, support, factor, direction):
    """Move towards the minimiser with the present signs, at most to the first sign change.

    Where points of the support depend on each other there are many minimisers: the move is
    then along one that changes nothing but the l1 norm, which it does not raise, until a
    coordinate is zero. Returns whether the minimiser was reached.
    """
    count, independent = signed_minimiser(gram, b, half_lam, z, support, factor, direction)
    farthest = 1.0
    if independent == count:
        for a in range(count):
            direction[a] -= z[support[a]]
    else:
        # The last row of the factor is L^-1 g, with g the products with the dependent point.
        count = independent + 1
        farthest = np.inf
        for a in range(independent):
            direction[a] = -factor[independent, a]
        backward_solve(factor, independent, direction)
        direction[independent] = 1.0
        slope = 0.0
        for a in range(count):
            slope += direction[a] * np.sign(z[support[a]])
        if slope > 0.0:
            for a in range(count):
                direction[a] = -direction[a]
    length = farthest
    blocking = -1
    for a in range(count):
        here = z[support[a]]
        if direction[a] * here < 0.0 and -here / direction[a] <= length:
            length = -here / direction[a]
            blocking = a
    for a in range(count):
        z[support[a]] += length * direction[a]
    if blocking >= 0:
        z[support[blocking]] = 0.0
    return blocking < 0


@helper()
def worst_violation(half_lam, z, gradient):
    """Largest violation of the optimality conditions; ``gradient`` is ``b - G z``."""
    worst = 0.0
    for k in range(z.shape[0]):
        if z[k] == 0.0:
            worst = max(worst, abs(gradient[k]) - half_lam)
        else:
            worst = max(worst, abs(gradient[k] - half_lam * np.sign(z[k])))
    return worst


@helper()
def solve_lasso(gram, b, half_lam, z):
    """Minimise over ``z`` in place, from the given ``z``.

    Coordinate descent finds the support, a direct solve finishes on it. Both only ever lower
    the objective and there are finitely many sign patterns, so this ends in the minimiser.
    """
    size = z.shape[0]
    gradient = np.empty(size)
    support = np.empty(size, np.int64)
    factor = np.empty((size, size))
    direction = np.empty(size)
    for k in range(size):
        gradient[k] = b[k] - dot(gram[k], z)
    for _ in range(MAX_ROUNDS):
        for _ in range(SWEEPS_BEFORE_DIRECT_STEP):
            coordinate_sweep(gram, half_lam, z, gradient)
        while not direct_step(gram, b, half_lam, z, support, factor, direction):
            pass  # a coordinate became zero: the support is smaller now
        weight = 1.0
        for k in range(size):
            gradient[k] = b[k] - dot(gram[k], z)
            weight += abs(z[k])
        if worst_violation(half_lam, z, gradient) <= ROUNDING * weight:
            break


@kernel()
def solve_working_sets(points, rows, codes, half_lam):
    """Code each point over its working set, from the code it has."""
    for p in range(rows.shape[0]):
        size = codes.size[p]
        atoms = gather(points, codes.index[p], size)
        own = in_float64(points[rows[p]])
        b = np.empty(size)
        multiply(atoms, own, b)
        solve_lasso(gram_matrix(atoms), b, half_lam, codes.value[p, :size])


@kernel()
def close_codes(points, rows, codes, half_lam, outside, violation, gap):
    """Final codes on their sorted supports, with their certificates.

    A direct solve on the sorted support makes a code depend on its support alone, not on the
    path that led there: the same bits for any block size and any number of threads.
    ``outside`` are the largest correlations of the residuals with points outside the working
    sets; ``violation`` and ``gap`` become the largest violation of the optimality conditions
    of eq. (1) and its duality gap.
    """
    resid = np.empty(points.shape[1])
    for p in range(rows.shape[0]):
        keep_sorted_support(codes, p)
        size = codes.size[p]
        atoms = gather(points, codes.index[p], size)
        own = in_float64(points[rows[p]])
        z = codes.value[p, :size]
        gradient = np.empty(size)
        multiply(atoms, own, gradient)
        close(gram_matrix(atoms), gradient, half_lam, z)
        residual(points, rows[p], codes, p, resid)
        multiply(atoms, resid, gradient)
        worst = worst_violation(half_lam, z, gradient)
        worst = max(worst, outside[p] - half_lam)
        violation[p] = 2 * worst
        gap[p] = duality_gap(own, resid, z, half_lam, half_lam + worst)


@helper()
def close(gram, b, half_lam, z):
    """Replace ``z``, all non-zero, by the exact minimiser with its signs, if it has them."""
    size = z.shape[0]
    support = np.empty(size, np.int64)
    target = np.empty(size)
    count, independent = signed_minimiser(
        gram, b, half_lam, z, support, np.empty((size, size)), target
    )
    same_signs = independent == count
    for k in range(size):
        same_signs &= target[k] * z[k] > 0.0
    if same_signs:
        assign(z, target)


@helper()
def duality_gap(own, resid, z, half_lam, largest):
    """Gap of eq. (1); the dual point is the residual, scaled until ``|2 X' u| <= lam``.

    ``largest`` is the largest correlation of the residual with another point.
    """
    power = dot(resid, resid)
    penalty = 0.0
    for k in range(z.shape[0]):
        penalty += 2 * half_lam * abs(z[k])
    if power == 0.0:
        return penalty
    inner = dot(resid, own)
    scale = min(inner / power, half_lam / largest)
    return max(0.0, power + penalty - 2 * scale * inner + scale * scale * power)
