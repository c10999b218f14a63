"""The small l1 problems of the working sets, solved to rounding.

For one point, minimise ``||x - X z||^2 + lam |z|_1 + ridge |z|^2``: eq. (1) of the paper, with a
ridge term for the elastic net. Restricted to a few points and divided by two, this is
``1/2 z' G z - b' z + half_lam |z|_1`` up to a constant, with ``G`` their Gram matrix plus the ridge
on its diagonal, and ``b`` their correlations with x.
"""

import numpy as np

from srsg.kernels import rows
from srsg.kernels.arrays import Certificate, Codes, InsideTerms
from srsg.kernels.compiled import helper, inlined, kernel
from srsg.kernels.direct import minimise_on_support
from srsg.kernels.linalg import assign, cholesky, cholesky_solve, dot

MAX_ROUNDS = 500
"""A limit on the rounds. A few dozen are enough, unless rounding keeps them from ending."""

ROUNDING = 1e-13
"""Violations below this, for each unit of the code's l1 norm, are rounding."""


@inlined()
def coordinate_sweep(gram, half_lam, z, gradient):
    """One cyclic pass of coordinate descent; ``gradient`` is ``b - G z``, kept up to date.

    Returns whether the sign of a coordinate changed. If none did, the support is likely to be
    right, and a direct solve is faster than more sweeps.
    """
    changed = False
    size = z.shape[0]
    for k in range(size):
        # Soft thresholding: the exact minimiser along one coordinate. The curvature is one plus the
        # ridge, up to rounding, so it is never zero.
        curvature = gram[k, k]
        target = gradient[k] + curvature * z[k]
        if target > half_lam:
            new = (target - half_lam) / curvature
        elif target < -half_lam:
            new = (target + half_lam) / curvature
        else:
            new = 0.0
        change = new - z[k]
        # Most coordinates are zero and stay so: they cost nothing beyond this line.
        if change != 0.0:
            changed |= np.sign(new) != np.sign(z[k])
            z[k] = new
            for j in range(size):
                gradient[j] -= change * gram[k, j]
    return changed


@helper()
def compute_gradient(gram, b, z, gradient):
    """Set ``gradient`` to ``b - G z``, the negative gradient of the smooth part."""
    for k in range(z.shape[0]):
        gradient[k] = b[k] - dot(gram[k], z)


@helper()
def violation_at(half_lam, z, gradient):
    """How far one coordinate is from its optimality condition; zero or less if it is met."""
    # At zero, any gradient between -half_lam and half_lam is optimal; elsewhere only
    # ``half_lam sign(z)`` is.
    if z == 0.0:
        return abs(gradient) - half_lam
    return abs(gradient - half_lam * np.sign(z))


@inlined()
def worst_violation(half_lam, z, gradient):
    """Largest violation of the optimality conditions; ``gradient`` is ``b - G z``."""
    worst = 0.0
    for k in range(z.shape[0]):
        worst = max(worst, violation_at(half_lam, z[k], gradient[k]))
    return worst


@inlined()
def solve_lasso(gram, b, half_lam, z):
    """Minimise over ``z`` in place, from the given ``z``.

    Coordinate descent finds the support, and a direct solve finishes on it. Neither ever raises
    the objective and there are finitely many sign patterns, so this ends in the minimiser.
    """
    size = z.shape[0]
    gradient = np.empty(size)
    support = np.empty(size, np.int64)
    factor = np.empty((size, size))
    target = np.empty(size)
    compute_gradient(gram, b, z, gradient)
    for _ in range(MAX_ROUNDS):
        # A sweep costs size^2 and a direct step size^3: the larger the problem, the longer it pays
        # to wait for the signs to settle.
        for _ in range(2 + size // 4):
            if not coordinate_sweep(gram, half_lam, z, gradient):
                break
        minimise_on_support(gram, b, half_lam, z, support, factor, target)
        # Computed afresh, because the rounding errors of the sweeps above add up in it.
        compute_gradient(gram, b, z, gradient)
        # The rounding of ``G z`` grows with the coefficients, and so does the tolerance. A fixed
        # one might never be met where lam is tiny and coefficients are huge.
        weight = 1.0
        for k in range(size):
            weight += abs(z[k])
        if worst_violation(half_lam, z, gradient) <= ROUNDING * weight:
            break


@helper()
def with_terms(start, n_features):
    """A copy of codes, no wider than the longest, and room for their residuals and terms."""
    n_rows, width = start.size.shape[0], 0
    for size in start.size:
        width = max(width, size)
    codes = Codes(start.index[:, :width].copy(), start.value[:, :width].copy(), start.size.copy())
    terms = np.zeros((4, n_rows))
    inside = InsideTerms(terms[0], terms[1], terms[2], terms[3])
    return codes, np.empty((n_rows, n_features)), inside


@kernel()
def solve_working_sets(points, targets, start, penalty, solves):
    """Code each target over its working set, starting from the code it has; or keep that code.

    Returns the codes, their residuals, and the terms of their certificates. The last step, a direct
    solve on the sorted support, makes a code and its residual depend on the support alone, not on
    the path that led there.
    """
    codes, resid, inside = with_terms(start, rows.row_length(targets))
    # Rows are independent of each other, so results do not depend on the blocks they come in.
    for p in range(rows.row_count(targets)):
        size = codes.size[p]
        half_lam = penalty.half_lam[p]
        ridge = penalty.ridge[p]
        own = rows.dense_row(targets, p)
        atoms = rows.gather_rows(points, codes.index[p], size)
        b = np.empty(size)
        z = codes.value[p, :size]  # a view: the solver writes the code into its row
        gram = rows.gram_of_rows(atoms)
        for k in range(size):
            b[k] = rows.row_dot(atoms, k, own)
            gram[k, k] += ridge
        if solves:
            solve_lasso(gram, b, half_lam, z)
        support = sorted_support(codes.index[p], z)
        if solves:
            polish(gram, b, half_lam, z, support)
        # In the order of the indices, so that the residual too has the same bits whatever the
        # order in which points joined the working set.
        assign(resid[p], own)
        for k in support:
            rows.subtract_row(atoms, k, z[k], resid[p])
        inside.worst[p] = violation_inside(atoms, resid[p], z, half_lam, ridge)
        terms = gap_terms(own, resid[p], z, support, ridge)
        inside.power[p], inside.inner[p], inside.l1_norm[p] = terms
    return codes, resid, inside


@inlined()
def sorted_support(index, z):
    """The places of the non-zeros, sorted by the index of their points."""
    # By insertion: supports are short.
    support = np.empty(z.shape[0], np.int64)
    count = 0
    for k in range(z.shape[0]):
        if z[k] != 0.0:
            place = count
            while place > 0 and index[support[place - 1]] > index[k]:
                support[place] = support[place - 1]
                place -= 1
            support[place] = k
            count += 1
    return support[:count]


@inlined()
def violation_inside(atoms, resid, z, half_lam, ridge):
    """Largest violation of the optimality conditions by a point of the working set.

    Computed from the residual itself, not from the Gram matrix: a certificate must not trust the
    numbers that the solver worked with.
    """
    worst = 0.0
    for k in range(z.shape[0]):
        gradient = rows.row_dot(atoms, k, resid) - ridge * z[k]
        worst = max(worst, violation_at(half_lam, z[k], gradient))
    return worst


@inlined()
def polish(gram, b, half_lam, z, support):
    """Replace ``z`` on its support by the exact minimiser, if that has the same signs."""
    count = support.shape[0]
    target = np.empty(count)
    factor = np.empty((count, count))
    for a in range(count):
        target[a] = b[support[a]] - half_lam * np.sign(z[support[a]])
    # Dependent points have no unique minimiser: the code stays as the solver left it.
    if cholesky(gram, support, count, factor) < count:
        return
    cholesky_solve(factor, count, target)
    # All signs are checked before anything is written: the code stays as it is, or is all new.
    for a in range(count):
        if target[a] * z[support[a]] <= 0.0:
            return
    for a in range(count):
        z[support[a]] = target[a]


@inlined()
def gap_terms(own, resid, z, support, ridge):
    """What the duality gap is made of: ``|r|^2``, ``r' x`` and ``|z|_1``.

    With a ridge, it is a plain l1 problem of longer vectors: the residual gets additional entries
    ``-sqrt(ridge) z``, and the point gets zeros. Sums are taken along the sorted support, so that
    their bits do not depend on what else is in the working set.
    """
    power = dot(resid, resid)
    inner = dot(resid, own)
    l1_norm = 0.0
    for k in support:
        l1_norm += abs(z[k])
        if ridge > 0.0:
            weighted = ridge * z[k]
            power += weighted * weighted / ridge
    return power, inner, l1_norm


@inlined()
def duality_gap(terms, half_lam, worst):
    """The duality gap: an upper bound on how far the objective is above its minimum.

    The dual of eq. (1) is to maximise ``2 u' x - |u|^2`` subject to ``|x_j' u| <= half_lam`` for
    all j. Here ``u`` is the residual r, scaled until it is feasible.
    """
    power, inner, l1_norm = terms
    # A residual of zero gives ``u = 0``, and no scale: the gap is the whole objective.
    if power == 0.0:
        return 2 * half_lam * l1_norm
    # No correlation with r exceeds ``half_lam + worst``, so the second scale is feasible; the first
    # is the best one if feasibility did not matter.
    scale = min(inner / power, half_lam / (half_lam + worst))
    return max(0.0, power + 2 * half_lam * l1_norm - 2 * scale * inner + scale * scale * power)


@kernel()
def certify(inside, half_lam, outside):
    """Certificates, from the terms inside the working sets and the largest correlations outside."""
    certificate = Certificate(np.empty(half_lam.shape[0]), np.empty(half_lam.shape[0]))
    for p in range(half_lam.shape[0]):
        worst = max(inside.worst[p], outside[p] - half_lam[p])
        terms = (inside.power[p], inside.inner[p], inside.l1_norm[p])
        # The violations are those of half the objective; the certificate is for all of it.
        certificate.violation[p] = 2 * worst
        certificate.gap[p] = duality_gap(terms, half_lam[p], worst)
    return certificate
