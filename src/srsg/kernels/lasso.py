"""The small l1 problems of the working sets, solved to rounding.

Every problem here is eq. (1) of the paper restricted to few points and divided by two,
``1/2 z' G z - b' z + half_lam * |z|_1`` with ``G`` their Gram matrix and ``b`` their
correlations with the point that is coded.
"""

import numpy as np

from srsg.kernels.codes import keep_sorted_support, residual
from srsg.kernels.compiled import helper, kernel
from srsg.kernels.linalg import (
    assign,
    cholesky,
    cholesky_solve,
    dot,
    gather,
    in_float64,
    multiply,
)

SWEEPS_BEFORE_DIRECT_STEP = 4
MAX_ROUNDS = 5000
ROUNDING = 1e-14


@helper()
def coordinate_sweep(gram, size, half_lam, z, gradient):
    """One cyclic pass of coordinate descent; ``gradient`` is ``b - G z``, kept up to date."""
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
def direct_step(gram, size, half_lam, b, z, support, factor, target):
    """Move towards the minimiser with the present signs, at most to the first sign change.

    Returns 1 if the minimiser was reached, 0 if a coordinate became zero on the way and -1
    if the points of the support depend on each other.
    """
    count = 0
    for k in range(size):
        if z[k] != 0.0:
            support[count] = k
            target[count] = b[k] - half_lam * np.sign(z[k])
            count += 1
    if not cholesky(gram, support, count, factor):
        return -1
    cholesky_solve(factor, count, target)
    length = 1.0
    for a in range(count):
        if target[a] * z[support[a]] <= 0.0:
            length = min(length, z[support[a]] / (z[support[a]] - target[a]))
    for a in range(count):
        k = support[a]
        here = z[k]
        z[k] = target[a] if length == 1.0 else here + length * (target[a] - here)
        if target[a] * here <= 0.0 and here / (here - target[a]) <= length:
            z[k] = 0.0
    return 1 if length == 1.0 else 0


@helper()
def worst_violation(size, half_lam, z, gradient):
    """Largest violation of the optimality conditions among the first ``size`` coordinates."""
    worst = 0.0
    for k in range(size):
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
    target = np.empty(size)
    for k in range(size):
        gradient[k] = b[k] - dot(gram[k], z)
    for _ in range(MAX_ROUNDS):
        for _ in range(SWEEPS_BEFORE_DIRECT_STEP):
            coordinate_sweep(gram, size, half_lam, z, gradient)
        state = direct_step(gram, size, half_lam, b, z, support, factor, target)
        if state >= 0:
            for k in range(size):
                gradient[k] = b[k] - dot(gram[k], z)
        if state != 0 and worst_violation(size, half_lam, z, gradient) <= ROUNDING:
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
        solve_lasso(np.dot(atoms, atoms.T), b, half_lam, codes.value[p, :size])


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
        close(np.dot(atoms, atoms.T), gradient, half_lam, z)
        residual(points, rows[p], codes, p, resid)
        multiply(atoms, resid, gradient)
        worst = worst_violation(size, half_lam, z, gradient)
        worst = max(worst, outside[p] - half_lam)
        violation[p] = 2 * worst
        gap[p] = duality_gap(own, resid, z, half_lam, half_lam + worst)


@helper()
def close(gram, b, half_lam, z):
    """Replace ``z``, all non-zero, by the exact minimiser with its signs, if it has them."""
    size = z.shape[0]
    support = np.empty(size, np.int64)
    solved = in_float64(z)
    factor = np.empty((size, size))
    if direct_step(gram, size, half_lam, b, solved, support, factor, np.empty(size)) == 1:
        assign(z, solved)


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
