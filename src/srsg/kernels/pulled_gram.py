"""The problems of the Laplacian-regularised l1-graph, solved with the Gram matrix of all points.

Where that matrix fits into memory, this takes a fraction of the time of :mod:`srsg.kernels.pulled`:
nearly every pair of points meets in many problems, and its inner product is computed only once.
"""

import numpy as np

from srsg.kernels.compiled import ZERO, helper, kernel
from srsg.kernels.direct import objective, to_first_zero
from srsg.kernels.lasso import (
    compute_gradient,
    coordinate_sweep,
    violation_at,
    worst_violation,
)
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
def fetch_rows(gram, index, ridge, members, count, fetched, products):
    """Fetch the members' rows of the working set's Gram matrix, unless they are there already."""
    # Only rows of members are needed, and few points of a working set ever are members. Their
    # entries are scattered in the large matrix, so they are read once and then lie side by side.
    for a in range(count):
        k = members[a]
        if not fetched[k]:
            fetched[k] = True
            row = gram[index[k]]
            for j in range(index.shape[0]):
                products[k, j] = row[index[j]]
            # The ridge belongs to the problem, not to the points: the matrix of all has none.
            products[k, k] += ridge


@helper()
def find_members(half_lam, z, gradient, reached, members):
    """Find the coordinates that are not zero or should not be.

    Returns how many there are, and the largest violation of the optimality conditions.
    """
    # Above ``reached``, not above zero: a point that violates only by rounding would enlarge the
    # problem for nothing.
    count = ZERO
    worst = 0.0
    for k in range(z.shape[0]):
        violation = violation_at(half_lam, z[k], gradient[k])
        worst = max(worst, violation)
        if z[k] != 0.0 or violation > reached:
            members[count] = k
            count += 1
    return count, worst


@helper()
def solve_members(products, b, half_lam, z, members, count, reached):
    """Solve over the members alone; all other coordinates are zero."""
    # Copied into a small matrix without gaps, over which the sweeps below go many times.
    gram = np.empty((count, count))
    rhs = np.empty(count)
    code = np.empty(count)
    gradient = np.empty(count)
    for a in range(count):
        row = products[members[a]]
        for c in range(count):
            gram[a, c] = row[members[c]]
        rhs[a] = b[members[a]]
        code[a] = z[members[a]]
    compute_gradient(gram, rhs, code, gradient)
    for _ in range(MAX_ROUNDS):
        # Coordinate descent finds the signs, conjugate gradients the values.
        for _ in range(PASSES):
            if not coordinate_sweep(gram, half_lam, code, gradient):
                break
        descend_on_support(gram, rhs, half_lam, code, gradient, reached)
        # Computed afresh, so that the rounding errors of the updates do not add up.
        compute_gradient(gram, rhs, code, gradient)
        if worst_violation(half_lam, code, gradient) <= reached:
            break
    for a in range(count):
        z[members[a]] = code[a]


@helper()
def descend_on_support(gram, b, half_lam, z, gradient, reached):
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
    conjugate_gradients(inner, left, z, support, reached / 2, step)
    # The usual case: the step ends in the minimiser itself, so there is nothing to check.
    if not changes_sign(z, support, count, step):
        for a in range(count):
            z[support[a]] += step[a]
        return
    before = objective(gram, b, half_lam, z)
    start = in_float64(z)
    for a in range(count):
        k = support[a]
        z[k] = z[k] + step[a] if (z[k] + step[a]) * z[k] > 0.0 else 0.0
    # If that did not lower the objective, too many became zero at once. Stopping at the first zero
    # always lowers it.
    if objective(gram, b, half_lam, z) >= before:
        assign(z, start)
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


@helper()
def renew_gradient(products, b, z, members, count, gradient):
    """The negative gradient of the smooth part at all points of the working set."""
    # Row by row of those that the code uses: these rows have been fetched, others have not.
    for k in range(z.shape[0]):
        gradient[k] = b[k]
    for a in range(count):
        weight = z[members[a]]
        if weight != 0.0:
            row = products[members[a]]
            for k in range(z.shape[0]):
                gradient[k] -= weight * row[k]


@helper()
def solve_in_working_set(gram, own, index, penalty, p, z, reached, products):
    """Code one point over its working set, starting from the code it has.

    The problem grows among the points of the working set, most of which stay unused.
    """
    size = z.shape[0]
    half_lam = penalty.half_lam[p]
    # The pull is linear in the code, so it adds to the correlations with the point.
    b = np.empty(size)
    for k in range(size):
        b[k] = gram[own, index[k]] + penalty.pull[p, k]
    fetched = np.empty(size, np.bool_)
    fill(fetched, False)
    members = np.empty(size, np.int64)
    gradient = np.empty(size)
    count = ZERO
    # The first members are the present support: the gradient there tells which others join.
    for k in range(size):
        if z[k] != 0.0:
            members[count] = k
            count += 1
    for _ in range(MAX_ROUNDS):
        fetch_rows(gram, index, penalty.ridge[p], members, count, fetched, products)
        renew_gradient(products, b, z, members, count, gradient)
        count, worst = find_members(half_lam, z, gradient, reached, members)
        if worst <= reached:
            break
        # Once more, for the members that have just joined.
        fetch_rows(gram, index, penalty.ridge[p], members, count, fetched, products)
        solve_members(products, b, half_lam, z, members, count, reached)


@kernel()
def solve_pulled_by_gram(gram, points, chosen, rows, codes, penalty, tol, resids):
    """The same as :func:`srsg.kernels.pulled.solve_pulled`, given all inner products.

    Residuals are computed from the points themselves: scans and certificates must not trust the
    numbers that the solver worked with.
    """
    # One array for all problems; what is left in it from the last one is never read, because rows
    # count only once they are fetched.
    width = codes.index.shape[1]
    products = np.empty((width, width))
    for p in chosen:
        own = in_float64(points[rows[p]])
        index = codes.index[p, : codes.size[p]]
        z = codes.value[p, : codes.size[p]]
        # Half of what may be left, so that the rounding of the inner products does not matter.
        reached = max(tol, ROUNDING * penalty.ridge[p])
        solve_in_working_set(gram, rows[p], index, penalty, p, z, reached / 2, products)
        renew_residual(points, own, index, z, resids[p])
