"""The small l1 problems of the working sets, solved to rounding.

For one point, ``||x - X z||^2 + lam |z|_1 + ridge |z|^2 - 2 q' z``: eq. (1) of the paper, with a
ridge for the elastic net and a pull q towards given codes for the Laplacian-regularised graph.
Restricted to few points and divided by two it is ``1/2 z' G z - b' z + half_lam |z|_1``, with
``G`` their Gram matrix plus the ridge, ``b`` their correlations with x plus the pull.
"""

from collections import namedtuple

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

Penalty = namedtuple("Penalty", "half_lam ridge pull")
"""Of every row: half of lam, the ridge, and the pull on each point of the working set."""

Certificate = namedtuple("Certificate", "violation gap")
"""Of every row: largest violation of the optimality conditions, and duality gap."""

MAX_ROUNDS = 5000
ROUNDING = 1e-13


@helper()
def coordinate_sweep(gram, half_lam, z, gradient):
    """One cyclic pass of coordinate descent; ``gradient`` is ``b - G z``, kept up to date.

    Returns whether the sign of a coordinate changed.
    """
    changed = False
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
            changed |= np.sign(new) != np.sign(z[k])
            z[k] = new
            for j in range(size):
                gradient[j] -= change * gram[k, j]
    return changed


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
def direct_step(gram, b, half_lam, z, support, factor, target):
    """Move to the minimiser with the present signs, or at least to a smaller support.

    Coordinates that would change their sign become zero, all at once if that lowers the
    objective, else the first on the straight way. Where points of the support depend on each
    other there are many minimisers: the move is then along those, without raising the l1 norm,
    until a coordinate is zero. Returns whether the minimiser was reached.
    """
    count, independent = signed_minimiser(gram, b, half_lam, z, support, factor, target)
    if independent < count:
        # The last row of the factor is L^-1 g, with g the products with the dependent point.
        for a in range(independent):
            target[a] = -factor[independent, a]
        backward_solve(factor, independent, target)
        target[independent] = 1.0
        slope = 0.0
        for a in range(independent + 1):
            slope += target[a] * np.sign(z[support[a]])
        for a in range(independent + 1):
            target[a] = -target[a] if slope > 0.0 else target[a]
        to_first_zero(z, support, independent + 1, target, np.inf)
        return False
    before = objective(gram, b, half_lam, z)
    start = in_float64(z)
    reached = True
    for a in range(count):
        k = support[a]
        same_sign = target[a] * z[k] > 0.0
        z[k] = target[a] if same_sign else 0.0
        reached &= same_sign
    if not reached and objective(gram, b, half_lam, z) >= before:
        for a in range(count):
            z[support[a]] = start[support[a]]
            target[a] -= z[support[a]]
        to_first_zero(z, support, count, target, 1.0)
    return reached


@helper()
def to_first_zero(z, support, count, direction, farthest):
    """Go along ``direction`` on the support, at most ``farthest`` times it, to the first zero."""
    length = farthest
    blocking = -1
    for a in range(count):
        here = z[support[a]]
        if direction[a] * here < 0.0 and -here / direction[a] <= length:
            length = -here / direction[a]
            blocking = a
    for a in range(count):
        z[support[a]] += length * direction[a]
    z[support[blocking]] = 0.0


@helper()
def objective(gram, b, half_lam, z):
    total = 0.0
    for k in range(z.shape[0]):
        if z[k] != 0.0:
            total += z[k] * (0.5 * dot(gram[k], z) - b[k]) + half_lam * abs(z[k])
    return total


@helper()
def descent(gram, b, z, gradient):
    """``b - G z``, the negative gradient of the smooth part."""
    for k in range(z.shape[0]):
        gradient[k] = b[k] - dot(gram[k], z)


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
    target = np.empty(size)
    descent(gram, b, z, gradient)
    for _ in range(MAX_ROUNDS):
        # A sweep costs size^2, a direct step size^3: the larger, the longer it pays to wait
        # for the signs to settle.
        for _ in range(2 + size // 4):
            if not coordinate_sweep(gram, half_lam, z, gradient):
                break
        while not direct_step(gram, b, half_lam, z, support, factor, target):
            pass  # a coordinate became zero: the support is smaller now
        descent(gram, b, z, gradient)
        weight = 1.0
        for k in range(size):
            weight += abs(z[k])
        if worst_violation(half_lam, z, gradient) <= ROUNDING * weight:
            break


@kernel()
def solve_working_sets(points, targets, codes, penalty):
    """Code each target over its working set, from the code it has."""
    for p in range(targets.shape[0]):
        size = codes.size[p]
        atoms = gather(points, codes.index[p], size)
        b = np.empty(size)
        gram = small_problem(atoms, in_float64(targets[p]), penalty, p, b)
        solve_lasso(gram, b, penalty.half_lam[p], codes.value[p, :size])


@helper()
def small_problem(atoms, own, penalty, p, b):
    """``G``, returned, and ``b`` of row p."""
    gram = gram_matrix(atoms)
    multiply(atoms, own, b)
    for k in range(b.shape[0]):
        gram[k, k] += penalty.ridge[p]
        b[k] += penalty.pull[p, k]
    return gram


@kernel()
def close_codes(points, targets, codes, penalty, outside, certificate):
    """Final codes on their sorted supports, with their certificates.

    A direct solve on the sorted support makes a code depend on its support alone, not on the
    path that led there: the same bits for any block size and any number of threads.
    ``outside`` are the largest correlations of the residuals with points outside the working
    sets.
    """
    resid = np.empty(points.shape[1])
    for p in range(targets.shape[0]):
        half_lam = penalty.half_lam[p]
        residual(points, targets[p], codes, p, resid)
        largest = outside[p]
        unused_pull = 0.0
        for k in range(codes.size[p]):
            if codes.value[p, k] == 0.0:
                pull = penalty.pull[p, k]
                largest = max(largest, abs(dot(points[codes.index[p, k]], resid) + pull))
                unused_pull += pull * pull
        keep_sorted_support(codes, penalty.pull, p)

        size = codes.size[p]
        own = in_float64(targets[p])
        atoms = gather(points, codes.index[p], size)
        b = np.empty(size)
        z = codes.value[p, :size]
        close(small_problem(atoms, own, penalty, p, b), b, half_lam, z)
        residual(points, targets[p], codes, p, resid)
        worst = max(0.0, largest - half_lam)
        for k in range(size):
            gradient = dot(atoms[k], resid) + penalty.pull[p, k] - penalty.ridge[p] * z[k]
            worst = max(worst, abs(gradient - half_lam * np.sign(z[k])))
        certificate.violation[p] = 2 * worst
        certificate.gap[p] = duality_gap(own, resid, z, penalty, p, unused_pull, worst)


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
def duality_gap(own, resid, z, penalty, p, unused_pull, worst):
    """The gap, with the residual scaled into the feasible set as the dual point.

    Ridge and pull make a plain l1 problem of longer vectors: the residual gets the further
    entries ``(q - ridge z) / sqrt(ridge)``, the point ``q / sqrt(ridge)``. ``unused_pull`` is
    the squared pull of the coordinates that are zero.
    """
    half_lam = penalty.half_lam[p]
    ridge = penalty.ridge[p]
    power = dot(resid, resid)
    inner = dot(resid, own)
    l1_norm = 0.0
    if ridge > 0.0:
        power += unused_pull / ridge
        inner += unused_pull / ridge
    for k in range(z.shape[0]):
        l1_norm += abs(z[k])
        if ridge > 0.0:
            pull = penalty.pull[p, k]
            power += (pull - ridge * z[k]) ** 2 / ridge
            inner += pull * (pull - ridge * z[k]) / ridge
    if power == 0.0:
        return 2 * half_lam * l1_norm
    scale = min(inner / power, half_lam / (half_lam + worst))
    return max(0.0, power + 2 * half_lam * l1_norm - 2 * scale * inner + scale * scale * power)
