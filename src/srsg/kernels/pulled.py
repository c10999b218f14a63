"""Problems of the Laplacian-regularised l1-graph: large working sets, with a pull.

For one point, minimise ``||x - X z||^2 + lam |z|_1 + ridge |z|^2 - 2 q' z``, with the pull q
towards the codes of its neighbours. Half of this is ``1/2 z' G z - b' z + half_lam |z|_1`` up to a
constant, as in :mod:`srsg.kernels.lasso`, where b is the correlations with x plus the pull.

The pull makes the codes dense, with a hundred points and more, so that Gram matrices and their
factors would cost more than everything else. But the ridge that comes with the pull makes the
problems well-conditioned, so conjugate gradients take few steps; and every pair of points meets in
many problems, so their inner products can be looked up.
"""

import numpy as np

from srsg.kernels import lasso
from srsg.kernels.codes import keep_sorted_support, residual
from srsg.kernels.compiled import helper, kernel
from srsg.kernels.correlations import pull_at, pull_of
from srsg.kernels.direct import move_towards
from srsg.kernels.linalg import dot, fill, find_nonzeros, in_float64, multiply
from srsg.kernels.rows import dense_row, gather_rows, row_dot, row_length

MAX_ROUNDS = 500
"""A limit on the rounds, in case rounding keeps them from ending."""

PASSES = 2
"""Most passes of coordinate descent before conjugate gradients: the signs settle in a few."""

FIRST_REDUCTION = 0.05
"""How far conjugate gradients reduce the gradient before the signs are looked at."""

ROUGHLY = 1e-6
"""How far rough inner products can reduce a gradient."""

ROWS_PER_PRODUCT = 64
"""Rows of a Gram matrix that are made by one product."""

ROUNDING = 1e-14
"""Rounding of a gradient, as a fraction of the ridge: pull and ridge cancel in it, and where both
are huge, few digits are left."""


@kernel()
def solve_pulled_sets(own, rows, pull, products, tol, points, targets, start, penalty):
    """Code each target over its working set, as :func:`srsg.kernels.lasso.solve_working_sets`.

    Row ``rows[p]`` of the pull belongs to target p, which is point ``own[p]``. ``products`` are the
    inner products of all pairs of points, or empty: then those of each working set are computed.
    """
    codes, resid, inside = lasso.with_terms(start, row_length(targets))
    for p in range(rows.shape[0]):
        size = codes.size[p]
        index = codes.index[p, :size]
        z = codes.value[p, :size]
        half_lam = penalty.half_lam[p]
        ridge = penalty.ridge[p]
        target = dense_row(targets, p)
        pulled, pulls = pull_of(pull, rows[p])
        b = np.empty(size)
        # Without products at hand, the points themselves correct what rough ones leave open.
        atoms = gather_rows(points, index, size if products.shape[0] == 0 else 0)
        if products.shape[0] > 0:
            gram = fetch(products, index)
            for k in range(size):
                b[k] = products[own[p], index[k]]
        else:
            gram = rough_products(atoms)
            multiply(atoms, target, b)
        for k in range(size):
            b[k] += pull_at(pulled, pulls, index[k])
            gram[k, k] += ridge
        # Half of what may be left, so that the rounding of the inner products does not matter.
        solve_pulled(gram, atoms, b, half_lam, ridge, z, max(tol, ROUNDING * ridge) / 2)
        # What is zero leaves the working set: the scan checks it together with all other points.
        keep_sorted_support(codes, p)
        # Points that join start from what lies there (see `renew`), which must not depend on the
        # width that the other rows of a block need.
        fill(codes.value[p, codes.size[p] :], 0.0)
        # From here on the points themselves: a certificate must not trust the solver's numbers.
        residual(points, targets, codes, p, resid[p])
        # The duality gap is that of a plain l1 problem of longer vectors: the residual gets
        # additional entries ``(q - ridge z) / sqrt(ridge)``, the point gets ``q / sqrt(ridge)``.
        # Without a ridge there are no neighbours, so there is no pull either.
        longer = dot(pulls, pulls) / ridge if ridge > 0.0 else 0.0
        power = dot(resid[p], resid[p]) + longer
        inner = dot(resid[p], target) + longer
        l1_norm = 0.0
        worst = 0.0
        for k in range(codes.size[p]):
            q = pull_at(pulled, pulls, index[k])
            gradient = row_dot(points, index[k], resid[p]) + q - ridge * z[k]
            worst = max(worst, lasso.violation_at(half_lam, z[k], gradient))
            l1_norm += abs(z[k])
            power += z[k] * (ridge * z[k] - 2 * q)
            inner -= z[k] * q
        inside.worst[p] = worst
        inside.power[p], inside.inner[p], inside.l1_norm[p] = power, inner, l1_norm
    return codes, resid, inside


@helper()
def fetch(products, index):
    """The inner products of a few points, from those of all points."""
    # Their places are scattered in the large matrix, which takes most of the time. Half of them are
    # enough, because the matrix is symmetric.
    gram = np.empty((index.shape[0], index.shape[0]))
    for a in range(index.shape[0]):
        row = products[index[a]]
        for c in range(a + 1):
            gram[a, c] = gram[c, a] = row[index[c]]
    return gram


@helper()
def rough_products(atoms):
    """Inner products of a few points with each other, in single precision."""
    rough = atoms.astype(np.float32)
    gram = np.empty((atoms.shape[0], atoms.shape[0]))
    for start in range(0, atoms.shape[0], ROWS_PER_PRODUCT):
        # Only up to the diagonal: the matrix is symmetric.
        end = min(start + ROWS_PER_PRODUCT, atoms.shape[0])
        some = np.dot(rough[start:end], rough[:end].T)
        for a in range(start, end):
            for c in range(a + 1):
                gram[a, c] = gram[c, a] = some[a - start, c]
    return gram


@helper()
def exact_gradient(atoms, b, ridge, z, gradient):
    """As :func:`compute_gradient`, from the points themselves."""
    fitted = np.zeros(atoms.shape[1])
    for k in range(z.shape[0]):
        if z[k] != 0.0:
            for j in range(fitted.shape[0]):
                fitted[j] += z[k] * atoms[k, j]
    for k in range(z.shape[0]):
        gradient[k] = b[k] - dot(atoms[k], fitted) - ridge * z[k]


@helper()
def solve_pulled(gram, atoms, b, half_lam, ridge, z, reached):
    """Minimise over ``z`` in place, until no violation is above ``reached``.

    Coordinate descent finds the signs, conjugate gradients the values. If there are ``atoms``, the
    Gram matrix is rough: every round then removes all but a small fraction of the violation.
    """
    size = z.shape[0]
    exact = atoms.shape[0] == 0
    gradient = np.empty(size)
    support = np.empty(size, np.int64)
    for _ in range(MAX_ROUNDS):
        # Computed afresh, so that the rounding errors of the updates do not add up.
        if exact:
            lasso.compute_gradient(gram, b, z, gradient)
        else:
            exact_gradient(atoms, b, ridge, z, gradient)
        if lasso.worst_violation(half_lam, z, gradient) <= reached:
            break
        for _ in range(PASSES):
            if not lasso.coordinate_sweep(gram, half_lam, z, gradient):
                break
        count = find_nonzeros(z, support)
        # With the signs fixed the l1 norm is linear: the minimiser solves ``G step = left``.
        inner = np.empty((count, count))
        left = np.empty(count)
        target = np.empty(count)
        for a in range(count):
            row = gram[support[a]]
            for c in range(count):
                inner[a, c] = row[support[c]]
            target[a] = z[support[a]]
            left[a] = gradient[support[a]] - half_lam * np.sign(target[a])
        # Half of the tolerance for this solve, so that the other half is left for rounding.
        enough = reached / 2 if exact else max(reached / 2, ROUGHLY * np.sqrt(dot(left, left)))
        conjugate_gradients(inner, left, enough, target)
        move_towards(gram, b, half_lam, z, support, count, target)


@helper()
def conjugate_gradients(gram, left, tol, target):
    """Move the target until ``left``, what remains of the gradient there, is at most ``tol``.

    Ends early if the target, once it is roughly known, has other signs than before: the way
    there will be cut short anyway.
    """
    signs = np.sign(target)
    direction = in_float64(left)
    curved = np.empty(left.shape[0])
    power = dot(left, left)
    rough = power * FIRST_REDUCTION**2
    # In exact arithmetic as many steps as coordinates suffice; with rounding it may take some more.
    for _ in range(2 * left.shape[0] + 20):
        if power <= tol * tol:
            break
        multiply(gram, direction, curved)
        length = power / dot(direction, curved)
        for a in range(left.shape[0]):
            target[a] += length * direction[a]
            left[a] -= length * curved[a]
        before, power = power, dot(left, left)
        # Checked only once, when this mark is passed: a check in every step would cost too much.
        if before > rough >= power and (target * signs <= 0.0).any():
            break
        for a in range(left.shape[0]):
            direction[a] = left[a] + power / before * direction[a]
