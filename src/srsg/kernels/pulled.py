"""The problems of the Laplacian-regularised l1-graph, solved without Gram matrices.

The pull of the neighbours makes the codes dense, with a hundred points and more, so a Gram matrix
for each would cost more than everything else. And the ridge that comes with the pull makes the
problems well-conditioned, so conjugate gradients need few products with the points themselves.

For one point, minimise ``||x - X z||^2 + lam |z|_1 + ridge |z|^2 - 2 q' z``, with the pull q
towards the codes of its neighbours. The optimality conditions below are those of half of this
objective.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from srsg.kernels.compiled import VECTORISED, ZERO, helper, kernel
from srsg.kernels.direct import to_first_zero
from srsg.kernels.lasso import duality_gap, violation_at
from srsg.kernels.linalg import assign, dot, in_float64, start_dot
from srsg.types import FloatArray, IntArray


class PulledPenalty(NamedTuple):
    """For every row: half of lam, the ridge, and the pull on each of the points that are listed.

    The first points of a row of the codes are its working set. Behind them, up to ``listed``, stand
    points outside the working set that the neighbours pull on.
    """

    half_lam: FloatArray
    ridge: FloatArray
    pull: FloatArray
    listed: IntArray


MAX_ROUNDS = 500
"""A limit on the rounds, in case rounding keeps them from ending."""

ROUNDING = 1e-14
"""Rounding of a gradient, as a fraction of the ridge: pull and ridge cancel in it, and where both
are huge, few digits are left."""

NORM_MARGIN = 1.0 + 1e-5
"""Points have unit norm up to the rounding of float32."""

FIRST_REDUCTION = 0.05
"""How far conjugate gradients reduce the gradient before the signs are looked at."""


@helper(fastmath=VECTORISED)
def add_combination(points, index, weights, count, out):
    """Add the first ``count`` points of ``index``, each times its weight, four at a time."""
    # Each pass reads and writes ``out`` once: with four points per pass, that happens a quarter as
    # often.
    whole = count - count % 4
    for a in range(0, whole, 4):
        first, second = points[index[a]], points[index[a + 1]]
        third, fourth = points[index[a + 2]], points[index[a + 3]]
        w, x, y, z = weights[a], weights[a + 1], weights[a + 2], weights[a + 3]
        for j in range(out.shape[0]):
            out[j] += (w * first[j] + x * second[j]) + (y * third[j] + z * fourth[j])
    for a in range(whole, count):
        point = points[index[a]]
        for j in range(out.shape[0]):
            out[j] += weights[a] * point[j]


@helper()
def renew_residual(points, own, index, z, resid):
    """``x - X z`` computed afresh, so that rounding does not add up."""
    used = np.empty(z.shape[0], np.int64)
    weights = np.empty(z.shape[0])
    count = ZERO
    for k in range(z.shape[0]):
        if z[k] != 0.0:
            used[count] = index[k]
            weights[count] = -z[k]
            count += 1
    # Unused points were left out above, and not skipped here, because four points are added in one
    # pass.
    assign(resid, own)
    add_combination(points, used, weights, count, resid)


@helper()
def gradient(points, index, penalty, p, z, resid, k):
    """The negative gradient of the smooth part at coordinate k."""
    # ``x_k' r + q_k - ridge z_k``: the residual stands in for the Gram matrix.
    return dot(points[index[k]], resid) + penalty.pull[p, k] - penalty.ridge[p] * z[k]


@helper()
def violations(points, index, penalty, p, z, resid, entrants):
    """Largest violation of the optimality conditions, and how many zeros violate them.

    The places of these zeros are put into ``entrants``.
    """
    half_lam = penalty.half_lam[p]
    worst = 0.0
    count = ZERO
    for k in range(z.shape[0]):
        violation = violation_at(half_lam, z[k], gradient(points, index, penalty, p, z, resid, k))
        worst = max(worst, violation)
        if z[k] == 0.0 and violation > 0.0:
            entrants[count] = k
            count += 1
    return worst, count


@helper()
def coordinate_sweep(points, index, penalty, p, z, resid, entrants, n_entrants):
    """One pass of coordinate descent over the support and the entrants."""
    half_lam = penalty.half_lam[p]
    # At least the true curvature along a unit point: a step that is too short still lowers the
    # objective, one that is too long might not.
    curvature = NORM_MARGIN + penalty.ridge[p]
    # Entrants are in rising order, so one pointer into them is enough.
    entering = 0
    for k in range(z.shape[0]):
        if entering < n_entrants and entrants[entering] == k:
            entering += 1
        elif z[k] == 0.0:
            continue
        target = gradient(points, index, penalty, p, z, resid, k) + curvature * z[k]
        new = np.sign(target) * max(0.0, abs(target) - half_lam) / curvature
        change = new - z[k]
        if change != 0.0:
            z[k] = new
            point = points[index[k]]
            # With the residual kept up to date, the next gradient is one inner product.
            for j in range(resid.shape[0]):
                resid[j] -= change * point[j]


@helper()
def conjugate_gradients(points, index, penalty, p, z, resid, tol, support, step):
    """Find the ``step`` from z to the minimiser with the same signs, and the ``support`` it moves.

    Ends early if the step, once it is roughly known, changes a sign: it would be cut short anyway.
    Returns the size of the support.
    """
    # With the signs fixed the l1 norm is linear, so the minimiser solves a system of linear
    # equations. ``left`` is what remains of its right-hand side.
    count = ZERO
    used = np.empty(z.shape[0], np.int64)
    left = np.empty(z.shape[0])
    for k in range(z.shape[0]):
        if z[k] != 0.0:
            slope = gradient(points, index, penalty, p, z, resid, k)
            support[count] = k
            used[count] = index[k]
            left[count] = slope - penalty.half_lam[p] * np.sign(z[k])
            step[count] = 0.0
            count += 1
    # Standard conjugate gradients from here on, with ``power`` the squared norm of ``left``.
    direction = left[:count].copy()
    combination = np.empty(resid.shape[0])
    curved = np.empty(count)
    power = start_dot(left, left, count)
    rough = power * FIRST_REDUCTION**2
    # In exact arithmetic ``count`` steps suffice; with rounding it may take some more.
    for _ in range(2 * count + 20):
        if power <= tol * tol:
            break
        for j in range(combination.shape[0]):
            combination[j] = 0.0
        # G d = X' (X d): two passes over the points of the support, no Gram matrix.
        add_combination(points, used, direction, count, combination)
        for a in range(count):
            curved[a] = dot(points[used[a]], combination) + penalty.ridge[p] * direction[a]
        length = power / start_dot(direction, curved, count)
        for a in range(count):
            step[a] += length * direction[a]
            left[a] -= length * curved[a]
        before, power = power, start_dot(left, left, count)
        # Checked only once, when this mark is passed: a check in every step would cost too much.
        if before > rough >= power and changes_sign(z, support, count, step):
            break
        for a in range(count):
            direction[a] = left[a] + power / before * direction[a]
    return count


@helper()
def changes_sign(z, support, count, step):
    for a in range(count):
        if (z[support[a]] + step[a]) * z[support[a]] <= 0.0:
            return True
    return False


@helper()
def objective(penalty, p, z, resid):
    """Half of the objective, given the residual."""
    total = dot(resid, resid) / 2
    for k in range(z.shape[0]):
        total += z[k] * (penalty.ridge[p] / 2 * z[k] - penalty.pull[p, k])
        total += penalty.half_lam[p] * abs(z[k])
    return total


@helper()
def take_step(points, own, index, penalty, p, z, resid, support, count, step):
    """Take the step; coordinates that would change their sign become zero.

    All of them do so at once if that lowers the objective, otherwise only the first one on the
    straight line.
    """
    before = objective(penalty, p, z, resid)
    kept_signs = not changes_sign(z, support, count, step)
    start = in_float64(z)
    for a in range(count):
        k = support[a]
        z[k] = z[k] + step[a] if (z[k] + step[a]) * z[k] > 0.0 else 0.0
    renew_residual(points, own, index, z, resid)
    # Without a change of sign the step leads to a minimiser, so there is nothing to check.
    # With a change of sign the objective has a kink on the way and may have risen. Stopping at the
    # first kink always lowers it, since the objective is convex along the line.
    if not kept_signs and objective(penalty, p, z, resid) >= before:
        assign(z, start)
        to_first_zero(z, support, count, step, 1.0)
        renew_residual(points, own, index, z, resid)


@helper()
def gap_terms(own, resid, z, penalty, p):
    """What the duality gap is made of: ``|r|^2``, ``r' x`` and ``|z|_1``.

    With ridge and pull, it is a plain l1 problem of longer vectors: the residual gets additional
    entries ``(q - ridge z) / sqrt(ridge)``, and the point gets ``q / sqrt(ridge)``.
    """
    ridge = penalty.ridge[p]
    power = dot(resid, resid)
    inner = dot(resid, own)
    l1_norm = 0.0
    for k in range(z.shape[0]):
        l1_norm += abs(z[k])
        # Without a ridge there are no neighbours, so there is no pull either.
        if ridge > 0.0:
            pull = penalty.pull[p, k]
            power += (pull - ridge * z[k]) ** 2 / ridge
            inner += pull * (pull - ridge * z[k]) / ridge
    return power, inner, l1_norm


@kernel()
def solve_pulled(points, chosen, rows, codes, penalty, tol, resids):
    """Code the points of the chosen rows over their working sets, starting from their codes.

    Coordinate descent lets points into the support, and conjugate gradients finish on it. Neither
    ever raises the objective. The residuals are set, too.
    """
    for p in chosen:
        own = in_float64(points[rows[p]])
        index = codes.index[p, : codes.size[p]]
        z = codes.value[p, : codes.size[p]]
        resid = resids[p]
        support = np.empty(z.shape[0], np.int64)
        step = np.empty(z.shape[0])
        # No tolerance below rounding: the rounds would not end before their limit.
        reached = max(tol, ROUNDING * penalty.ridge[p])
        renew_residual(points, own, index, z, resid)
        worst, count = violations(points, index, penalty, p, z, resid, support)
        for _ in range(MAX_ROUNDS):
            if worst <= reached:
                break
            # Without entrants the support can only shrink, and the direct step does that.
            if count > 0:
                coordinate_sweep(points, index, penalty, p, z, resid, support, count)
            count = conjugate_gradients(
                points, index, penalty, p, z, resid, reached / 2, support, step
            )
            take_step(points, own, index, penalty, p, z, resid, support, count, step)
            worst, count = violations(points, index, penalty, p, z, resid, support)


@kernel()
def renew_residuals(points, chosen, rows, codes, resids):
    """Set the residuals of the chosen rows."""
    for p in chosen:
        own = in_float64(points[rows[p]])
        index = codes.index[p, : codes.size[p]]
        renew_residual(points, own, index, codes.value[p, : codes.size[p]], resids[p])


@kernel()
def certify_pulled(points, rows, codes, penalty, resids, outside, certificate):
    """Set the certificates of all rows, given the largest violations by points that are not
    used."""
    for p in range(rows.shape[0]):
        index = codes.index[p, : codes.size[p]]
        z = codes.value[p, : codes.size[p]]
        worst = outside[p]
        for k in range(z.shape[0]):
            if z[k] != 0.0:
                slope = gradient(points, index, penalty, p, z, resids[p], k)
                worst = max(worst, violation_at(penalty.half_lam[p], z[k], slope))
        # Twice, because the conditions are those of half the objective.
        certificate.violation[p] = 2 * worst
        terms = gap_terms(in_float64(points[rows[p]]), resids[p], z, penalty, p)
        certificate.gap[p] = duality_gap(terms, penalty.half_lam[p], worst)
