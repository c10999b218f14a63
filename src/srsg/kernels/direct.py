"""Direct steps of the small l1 problems: to the minimiser with given signs, by a Cholesky factor.

The problem is ``1/2 z' G z - b' z + half_lam |z|_1``. With the signs of ``z`` fixed, its minimiser
solves a system of linear equations on the support of ``z``. Where the solution has other signs, the
support shrinks and the factor is updated. This costs the square of its size; a new factor would
cost the cube.
"""

import numpy as np

from srsg.kernels import linalg
from srsg.kernels.compiled import ZERO, helper, inlined

POINTS_PER_UPDATE = 8
"""A factor is updated if at most one in this many of its points leaves; otherwise, making a new one
is faster."""


@inlined()
def minimise_on_support(gram, b, half_lam, z, support, factor, target):
    """Shrink the support of ``z`` until the minimiser with its signs is reached.

    Where points of the support are linearly dependent, there are many codes of equal fit. The move
    is then along these, without raising the l1 norm, until a coordinate is zero. ``support``,
    ``factor`` and ``target`` are room to work in.
    """
    count = linalg.find_nonzeros(z, support)
    # How many rows of the factor are there already.
    known = ZERO
    # A step that does not reach the minimiser leaves a smaller support, so this ends.
    for _ in range(z.shape[0] + 1):
        known = linalg.more_cholesky(gram, support, known, count, factor)
        if known < count:
            move_to_smaller_support(z, support, known, factor, target)
        else:
            # The gradient with these signs is zero where ``G z = b - half_lam sign(z)``.
            for a in range(count):
                target[a] = b[support[a]] - half_lam * np.sign(z[support[a]])
            linalg.cholesky_solve(factor, count, target)
            if move_towards(gram, b, half_lam, z, support, count, target):
                return
        count, known = drop_zeros(z, support, count, known, factor)


@inlined()
def move_to_smaller_support(z, support, independent, factor, direction):
    """Move along codes of equal fit, without raising the l1 norm, until a coordinate is zero."""
    # The signs are the gradient of the l1 norm.
    signs = np.empty(independent + 1)
    for a in range(independent + 1):
        signs[a] = np.sign(z[support[a]])
    linalg.null_direction(factor, independent, signs, direction)
    to_first_zero(z, support, independent + 1, direction, np.inf)


@helper()
def move_towards(gram, b, half_lam, z, support, count, target):
    """Move to the ``target`` on the support, or at least to a zero; returns whether it was reached.

    Coordinates that would change their sign become zero: all at once if that lowers the objective,
    otherwise only the first one on the straight line.
    """
    before = objective(gram, b, half_lam, z)
    start = linalg.in_float64(z)
    reached = True
    for a in range(count):
        k = support[a]
        same_sign = target[a] * z[k] > 0.0
        z[k] = target[a] if same_sign else 0.0
        reached &= same_sign
    if not reached and objective(gram, b, half_lam, z) >= before:
        # Too many became zero at once. Stopping at the first zero always lowers the objective,
        # which is convex along the line, but takes more steps.
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
    if blocking < 0:
        # Only if numbers overflowed or underflowed. The last coordinate is dropped, so that the
        # support shrinks in every case and the caller's loop ends.
        z[support[count - 1]] = 0.0
        return
    for a in range(count):
        z[support[a]] += length * direction[a]
    # Exactly zero: rounding may have left a little there.
    z[support[blocking]] = 0.0


@inlined()
def drop_zeros(z, support, count, known, factor):
    """Take the coordinates that became zero out of the support, and out of the factor's known rows.

    Returns the size of the support and the number of rows of the factor that are still known.
    """
    # Only the first ``known`` rows have been factored; a zero after them costs nothing.
    first = known
    zeros = ZERO
    for place in range(known - 1, -1, -1):
        if z[support[place]] == 0.0:
            first = place
            zeros += 1
    if zeros * POINTS_PER_UPDATE > known:
        # Rows of a factor depend only on the rows before them, so those before the first zero stay.
        known = first
    for place in range(known - 1, first - 1, -1):
        # From the last to the first, so that removing one does not move those still to be removed.
        if z[support[place]] == 0.0:
            linalg.remove_row(factor, place, known)
            known -= 1
    kept = first
    for place in range(first, count):
        if z[support[place]] != 0.0:
            support[kept] = support[place]
            kept += 1
    return kept, known


@helper()
def objective(gram, b, half_lam, z):
    """``1/2 z' G z - b' z + half_lam |z|_1``; zeros of z add nothing, so they are skipped."""
    total = 0.0
    for k in range(z.shape[0]):
        if z[k] != 0.0:
            total += z[k] * (0.5 * linalg.dot(gram[k], z) - b[k]) + half_lam * abs(z[k])
    return total
