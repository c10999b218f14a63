"""Algorithm 1 of the paper (FPGD-SP) on a few coordinates, through their Gram matrix."""

from collections import namedtuple

import numpy as np

from srsg.kernels import linalg
from srsg.kernels.compiled import ZERO, helper, inlined, kernel
from srsg.kernels.votes import coefficient

Settings = namedtuple("Settings", "gamma step max_iter tol")
"""What all points share: ``gamma``, the step ``s``, the most iterations (the paper's ``M_p``), and
the change of the objective below which a run ends."""

Trace = namedtuple("Trace", "objective z v")
"""Where to record the iterates: row k holds iteration k."""

BISECTED_UP_TO = 64
"""Number of coordinates up to which the largest eigenvalue is found by bisection alone. A point
among many near copies can move a thousand coordinates, for which sixty factorisations would take
half a minute."""

POWER_ITERATIONS = 200
FIRST_GUESS = 1e-12
"""How far above the value of the power iterations the first guess is, as a fraction of it."""
STEP_PRECISION = 1e-6
"""The step of a large problem is shorter than it could be by at most this fraction."""

EPSILON = np.finfo(np.float64).eps

FPGDRun = namedtuple("FPGDRun", "iterations fit residual_norm radius")
"""What a run did: its number of iterations, ``||x - X z||^2`` at its end and, over all ``m^(k)``,
the largest residual norm and the largest distance ``||X (m^(k) - z^(0))||``. These two bound the
gradient of every coordinate that took no part."""


@inlined()
def hard_threshold(u, step, gamma, c):
    """The proximal map T of eq. (8) for one coordinate."""
    # Where ``c <= 0`` the simplified objective (7) has no penalty, so nothing is cut.
    if c > 0 and abs(u) <= np.sqrt(2 * step * gamma * c):
        return 0.0
    return u


@helper()
def objective(fit, z, gamma, c):
    """The objective of eq. (7), given ``||x - X z||^2``."""
    total = fit
    for k in range(z.shape[0]):
        if c[k] > 0 and z[k] != 0.0:
            total += gamma * c[k]
    return total


@inlined()
def record(trace, k, value, z, v):
    trace.objective[k] = value
    linalg.assign(trace.z[k], z)
    linalg.assign(trace.v[k], v)


@inlined()
def run_fpgd_sp(gram, b, power, c, z, touched, settings, trace):
    """Minimise eq. (7) from ``z``, in place.

    ``gram`` is ``X_A' X_A``, ``b`` is ``X_A' x`` and ``power`` is ``x' x`` for the coordinates
    A that take part; ``touched`` is set for those that were ever non-zero, in z or in v. The point
    itself is not among the coordinates, so ``z_i = 0`` holds without a check. Iterates are recorded
    in the ``trace``, unless it is None.
    """
    size = z.shape[0]
    step = settings.step
    v = linalg.in_float64(z)
    # Everything goes through the Gram matrix G: an iteration costs size^2, however many features
    # the points have. The gradient is ``2 (G m - b)``.
    m = np.empty(size)
    gram_z = np.empty(size)
    gram_m = np.empty(size)
    linalg.multiply(gram, z, gram_z)
    gram_start = linalg.in_float64(gram_z)
    start_power = linalg.dot(z, gram_z)
    for t in range(size):
        touched[t] = z[t] != 0.0
    fit = power - 2 * linalg.dot(b, z) + start_power
    value = objective(fit, z, settings.gamma, c)
    iterations = ZERO
    if trace is not None:
        record(trace, iterations, value, z, v)
    # Both stay squares until the end. They start at zero or more, because a difference of large
    # numbers may round to less than zero, which has no real root.
    largest = max(fit, 0.0)
    farthest = 0.0
    for k in range(1, settings.max_iter + 1):
        iterations += 1
        alpha = 2.0 / (k + 1)
        # Eq. (9).
        for t in range(size):
            m[t] = (1 - alpha) * z[t] + alpha * v[t]
        linalg.multiply(gram, m, gram_m)
        # How long the residual gets, and how far m gets from the start: with these the caller
        # shows that no coordinate outside could have moved. Both need only the product with G that
        # the gradient needs anyway.
        m_power = linalg.dot(m, gram_m)
        largest = max(largest, power - 2 * linalg.dot(b, m) + m_power)
        farthest = max(farthest, m_power - 2 * linalg.dot(m, gram_start) + start_power)
        for t in range(size):
            # Eq. (10) and (11). With ``eta = s / 2``, ``lambda_k alpha_k = s k / (k + 1)``, which
            # stays below s as Algorithm 1 demands.
            gradient = 2 * (gram_m[t] - b[t])
            z[t] = hard_threshold(m[t] - step * gradient, step, settings.gamma, c[t])
            v[t] -= 0.5 * step * k * gradient
            # The support projection, eq. (12): momentum must not bring back what the threshold cut.
            if c[t] > 0 and z[t] == 0.0:
                v[t] = 0.0
            if z[t] != 0.0 or v[t] != 0.0:
                touched[t] = True
        # Computed afresh from z, not updated, so that rounding errors do not add up.
        linalg.multiply(gram, z, gram_z)
        fit = power - 2 * linalg.dot(b, z) + linalg.dot(z, gram_z)
        previous = value
        value = objective(fit, z, settings.gamma, c)
        if trace is not None:
            record(trace, iterations, value, z, v)
        # Strictly less, so that a tolerance of zero never ends a run early.
        if abs(value - previous) < settings.tol:
            break
    return FPGDRun(iterations, fit, np.sqrt(largest), np.sqrt(farthest))


@kernel()
def fpgd_sp_run(gram, b, power, c, z, touched, settings, trace):
    """:func:`run_fpgd_sp`, for callers in Python."""
    return run_fpgd_sp(gram, b, power, c, z, touched, settings, trace)


@helper()
def stable_step(gram, moves, step):
    """``step``, but at most ``1 / (2 sigma_max(G))``, beyond which Algorithm 1 may diverge.

    G consists of the rows and columns of the coordinates that move.
    """
    low = 0.0
    high = 0.0
    for k in range(gram.shape[0]):
        if moves[k]:
            total = 0.0
            for j in range(gram.shape[0]):
                if moves[j]:
                    total += abs(gram[k, j])
            low = max(low, gram[k, k])
            high = max(high, total)
    # The largest eigenvalue lies between the largest diagonal entry and the largest sum of the
    # magnitudes in a row (Gershgorin). If that sum is small enough, no factorisation is needed.
    if 2 * step * high <= 1.0:
        return step
    moving = np.empty(moves.shape[0], np.int64)
    count = linalg.find_nonzeros(moves, moving)
    # How close the bounds must get, as a fraction: for small problems, as close as they can.
    narrow = 0.0
    if count > BISECTED_UP_TO:
        low = max(low, power_bound(gram, moving[:count]))
        narrow = STEP_PRECISION
    # One factorisation tells whether the step is stable as it is, unless ``low`` shows that it is
    # not.
    if 2 * step * low <= 1.0 and is_above_spectrum(gram, moves, 0.5 / step):
        return step
    # For large problems: guesses just above the value of the power iterations. One of the first is
    # nearly always right, and then no bisection is needed.
    width = FIRST_GUESS * low
    while narrow > 0.0 and low + width < high:
        if is_above_spectrum(gram, moves, low + width):
            high = low + width
        else:
            low += width
            width *= 100.0
    # Bisection with Cholesky factorisations. Unlike power iterations it cannot underestimate the
    # eigenvalue, which would make the step unstable. Sixty halvings reach the precision of float64.
    for _ in range(60):
        if high - low <= narrow * low:
            break
        middle = 0.5 * (low + high)
        if is_above_spectrum(gram, moves, middle):
            high = middle
        else:
            low = middle
    # ``high`` was shown to be above the eigenvalue all along, so the step is on the safe side.
    return min(step, 0.5 / high)


@inlined()
def power_bound(gram, chosen):
    """A lower bound of the largest eigenvalue of some rows and columns, by power iterations.

    It is exact to rounding, unless the next eigenvalues are close to the largest.
    """
    size = chosen.shape[0]
    v = np.empty(size)
    product = np.empty(size)
    # A fixed start: the same problem gives the same step, in any order and on any thread.
    linalg.fill(v, 1.0 / np.sqrt(size))
    value = 0.0
    for _ in range(POWER_ITERATIONS):
        for a in range(size):
            product[a] = 0.0
            for b in range(size):
                product[a] += gram[chosen[a], chosen[b]] * v[b]
        before = value
        # The Rayleigh quotient: never above the largest eigenvalue, and rising from one iteration
        # to the next until rounding stops it.
        value = linalg.dot(v, product)
        length = np.sqrt(linalg.dot(product, product))
        if value - before <= EPSILON * value:
            break
        for a in range(size):
            v[a] = product[a] / length
    return value


@helper()
def is_above_spectrum(gram, moves, bound):
    """Whether ``bound * I - G`` is positive definite, on the coordinates that move."""
    # It is if all its pivots are positive, that is, if the Cholesky factorisation goes through.
    size = gram.shape[0]
    shifted = np.empty((size, size))
    for k in range(size):
        for j in range(size):
            shifted[k, j] = (bound if k == j else 0.0) - gram[k, j]
    support = np.empty(size, np.int64)
    count = linalg.find_nonzeros(moves, support)
    return linalg.cholesky(shifted, support, count, np.empty((size, size))) == count


@inlined()
def is_part_of(some, others):
    for k in range(some.shape[0]):
        if some[k] and not others[k]:
            return False
    return True


@inlined()
def run_on(problem, codes, task, active, settings):
    """Algorithm 1 for one point on the active coordinates, from its present code.

    If the step is beyond the stable bound of the coordinates that the run moves, it is cut to that
    bound and the run starts again. Returns the code, what the run did, and the settings that it
    used in the end.
    """
    size = active.shape[0]
    row = task.row
    gram, b, power = problem
    c = np.empty(size)
    moves = np.empty(size, np.bool_)
    # A first guess at what will move: the support, and what no threshold holds at zero. Coordinates
    # that the check let in may stay zero, and a bound with them would cut the step for nothing.
    for k in range(size):
        c[k] = coefficient(task.votes, active[k])
        moves[k] = c[k] <= 0 or linalg.position(codes.index[row, : codes.size[row]], active[k]) >= 0
    step = stable_step(gram, moves, settings.step)
    z = np.empty(size)
    # Which coordinates move is known only after a run. Each further run has a smaller step, and few
    # problems need one. A step is safe for any part of the coordinates that it was chosen for: the
    # largest eigenvalue of a part is no larger.
    chosen_for = np.empty(size, np.bool_)
    linalg.assign(chosen_for, moves)
    while True:
        # Always from the code before the sweep, so that no trace of a discarded run is left.
        linalg.fill(z, 0.0)
        for k in range(codes.size[row]):
            z[linalg.position(active, codes.index[row, k])] = codes.value[row, k]
        own_settings = Settings(settings.gamma, step, settings.max_iter, settings.tol)
        run = run_fpgd_sp(gram, b, power, c, z, moves, own_settings, None)
        if is_part_of(moves, chosen_for):
            return z, run, own_settings
        safe = stable_step(gram, moves, step)
        if safe >= step:
            return z, run, own_settings
        step = safe
        linalg.assign(chosen_for, moves)
