"""The codes of SMCE, one small problem per point, solved to rounding.

Each is ``min penalty' |c| + 1/2 ||Y' c||^2`` subject to ``sum c = 1``, with the unit directions
to the neighbours in the rows of ``Y``. Every direction gets one more coordinate, a one. Because of
the constraint this only adds a constant to the objective, and it makes the Gram matrix of a support
regular wherever the minimiser on it is unique. Opposite directions, which SMCE looks for, need it:
without the additional coordinate they are dependent.
"""

import numpy as np

from srsg.kernels import linalg
from srsg.kernels.compiled import ZERO, helper, inlined, kernel

ROUNDING = 1e-14
"""Violations below this, times the code's l1 norm plus the multiplier, are rounding."""

STEPS_PER_NEIGHBOR = 50
"""Supports tried per neighbour before giving up; one or two are usual."""

MOST_NEWTON_STEPS = 200
"""Steps on the dual before giving up; about ten are usual."""

VALUE_ROUNDING = 1e-14
"""Values of the dual may differ by this share through rounding alone."""


@inlined()
def lifted_direction(start, end, distance, out):
    """The unit vector from one point to another, and a one."""
    last = out.shape[0] - 1
    for k in range(last):
        out[k] = (end[k] - start[k]) / distance
    out[last] = 1.0


@inlined()
def signed_minimiser(penalty, sign, support, count, factor, target):
    """The minimiser on the plane ``sum c = 1`` with the given signs; returns its multiplier.

    It solves ``G c = nu - penalty * sign``, so it is affine in the multiplier ``nu``, which the
    constraint determines.
    """
    # ``c = nu u - w`` with ``G u = 1`` and ``G w = penalty * sign``; the sum of c is to be one.
    per_multiplier = np.ones(count)
    linalg.cholesky_solve(factor, count, per_multiplier)
    for a in range(count):
        target[a] = penalty[support[a]] * sign[support[a]]
    linalg.cholesky_solve(factor, count, target)
    total = 1.0
    slope = 0.0
    for a in range(count):
        total += target[a]
        slope += per_multiplier[a]
    multiplier = total / slope
    for a in range(count):
        target[a] = multiplier * per_multiplier[a] - target[a]
    return multiplier


@inlined()
def settle(gram, penalty, c, sign, multiplier):
    """Move to the minimiser with the given signs, dropping every coordinate that reaches zero.

    ``multiplier`` is that of the previous minimiser. Returns the new one, and the length of the
    first move: zero if the coordinate that entered last has to leave at once, which only rounding
    can cause.
    """
    size = c.shape[0]
    support = np.empty(size, np.int64)
    factor = np.empty((size, size))
    gradient = np.empty(size)
    direction = np.empty(size)
    first = -1.0
    # Every round but the last drops a coordinate.
    for _ in range(size + 1):
        count = linalg.find_nonzeros(sign, support)
        independent = linalg.cholesky(gram, support, count, factor)
        # All the way to the minimiser, unless a coordinate reaches zero before.
        length = 1.0
        if independent == count:
            multiplier = signed_minimiser(penalty, sign, support, count, factor, direction)
            for a in range(count):
                direction[a] -= c[support[a]]
        else:
            # There are many minimisers. Move along these, without raising the objective, until a
            # coordinate is zero.
            count = independent + 1
            # The full gradient, not only that of the penalty: points that are nearly dependent and
            # count as such still change the loss and the sum a little.
            for a in range(count):
                k = support[a]
                gradient[a] = linalg.dot(gram[k], c) + penalty[k] * sign[k] - multiplier
            linalg.null_direction(factor, independent, gradient, direction)
            length = np.inf
        # Stop at the first zero: beyond it a sign changes, and the equations with it.
        blocking = -1
        for a in range(count):
            k = support[a]
            if direction[a] * sign[k] < 0.0 and -c[k] / direction[a] <= length:
                length = -c[k] / direction[a]
                blocking = a
        if length == np.inf:
            # Nothing shrinks, because the penalty is below rounding. Drop the dependent point, so
            # that every round makes the support smaller.
            length = 0.0
            blocking = count - 1
        for a in range(count):
            c[support[a]] += length * direction[a]
        if first < 0.0:
            first = length
        if blocking < 0:
            return multiplier, first
        # Exactly zero: rounding may have left a little there.
        c[support[blocking]] = 0.0
        sign[support[blocking]] = 0.0
    return multiplier, first


@inlined()
def solve_on_plane(directions, penalty, c):
    """Minimise ``penalty' |c| + 1/2 ||Y' c||^2`` subject to ``sum c = 1``, into ``c``.

    The active-set method of Lawson and Hanson, for both signs. It starts with the first coordinate
    alone. Then the coordinate that violates the optimality conditions most joins the support, until
    none violates them. Every such step lowers the objective and there are finitely many sign
    patterns, so this ends in the minimiser. Only rows of the Gram matrix that belong to the support
    are computed: the time grows with the number of neighbours, not with its square.
    """
    size = c.shape[0]
    gram = np.empty((size, size))
    products = np.empty(size)
    sign = np.zeros(size)
    barred = np.zeros(size, np.bool_)
    linalg.fill(c, 0.0)
    # The nearest neighbour alone satisfies the constraint.
    c[0] = 1.0
    sign[0] = 1.0
    multiplier = 0.0
    entering = ZERO
    for _ in range(STEPS_PER_NEIGHBOR * size):
        linalg.multiply(directions, directions[entering], gram[entering])
        multiplier, first = settle(gram, penalty, c, sign, multiplier)
        # The coordinate left at once. If it could come back now, this would go on forever; after
        # any real move it may.
        if first == 0.0:
            barred[entering] = True
        else:
            linalg.fill(barred, False)
        magnitude = abs(multiplier)
        linalg.fill(products, 0.0)
        for k in range(size):
            magnitude += abs(c[k])
            if c[k] != 0.0:
                for j in range(size):
                    products[j] += c[k] * gram[k, j]
        worst = ROUNDING * magnitude  # violations below this are rounding
        entering = -1
        for k in range(size):
            if sign[k] == 0.0 and not barred[k]:
                pull = multiplier - products[k]
                if abs(pull) - penalty[k] > worst:
                    worst = abs(pull) - penalty[k]
                    entering = k
                    entering_sign = np.sign(pull)
        if entering < 0:
            break
        sign[entering] = entering_sign


@inlined()
def solve_dual(directions, penalty, ridge, c):
    """Minimise ``penalty |c|_1 + 1/2 (||Y' c||^2 + ridge ||c||^2)``, ``sum c = 1``, into ``c``.

    A ridge lets many coordinates in, too many for one at a time. Newton's method on the dual, ``min
    1/2 ||u||^2 - nu + sum_j max(|s_j| - penalty, 0)^2 / (2 ridge)`` with ``s_j = nu - y_j' u``, has
    as many unknowns as there are features. The dual is quadratic wherever the support and the signs
    stay the same, so a few full steps end in the minimiser.
    """
    size, last = directions.shape
    unknowns = np.zeros(last + 1)
    unknowns[last] = penalty + ridge / size  # equal coefficients, which add up to one
    pull = np.full(size, unknowns[last])
    change = np.empty(size)
    hessian = np.empty((last + 1, last + 1))
    factor = np.empty((last + 1, last + 1))
    every = np.arange(last + 1)
    step = np.empty(last + 1)
    value = dual_value(unknowns, pull, penalty, ridge)
    linalg.fill(c, 0.0)
    same = 0  # full steps in a row that kept the support and the signs
    for _ in range(MOST_NEWTON_STEPS):
        linalg.fill(hessian, 0.0)
        linalg.assign(step, unknowns)
        step[last] = -1.0
        for k in range(last):
            hessian[k, k] = 1.0
        same += 1
        for j in range(size):
            before = np.sign(c[j])
            c[j] = np.sign(pull[j]) * max(abs(pull[j]) - penalty, 0.0) / ridge
            if np.sign(c[j]) != before:
                same = 0
            if c[j] != 0.0:
                step[last] += c[j]
                hessian[last, last] += 1.0 / ridge
                for k in range(last):
                    step[k] -= c[j] * directions[j, k]
                    scaled = directions[j, k] / ridge
                    hessian[last, k] -= scaled
                    for i in range(k + 1):
                        hessian[k, i] += scaled * directions[j, i]
        gradient = step.copy()
        # The first such step ends in the minimiser, the second takes rounding away.
        if same == 2 or linalg.cholesky(hessian, every, last + 1, factor) <= last:
            break
        linalg.cholesky_solve(factor, last + 1, step)
        slope = linalg.dot(step, gradient)
        linalg.multiply(directions, step[:last], change)
        for j in range(size):
            change[j] = step[last] - change[j]
        length = 1.0
        new = dual_value(unknowns - step, pull - change, penalty, ridge)
        while new > value - slope * length / 4 + VALUE_ROUNDING * abs(value):
            same = -1
            length /= 2
            new = dual_value(unknowns - length * step, pull - length * change, penalty, ridge)
        unknowns -= length * step
        pull -= length * change
        value = new


@helper()
def dual_value(unknowns, pull, penalty, ridge):
    value = linalg.dot(unknowns[:-1], unknowns[:-1]) / 2 - unknowns[-1]
    for j in range(pull.shape[0]):
        value += max(abs(pull[j]) - penalty, 0.0) ** 2 / (2 * ridge)
    return value


@inlined()
def normalise(c):
    """Remove the rounding error from ``sum c = 1``."""
    total = 0.0
    for k in range(c.shape[0]):
        total += c[k]
    for k in range(c.shape[0]):
        c[k] /= total


@inlined()
def duality_gap(directions, penalty, ridge, c):
    """A bound on how far the objective of ``c`` is above its minimum.

    The dual is ``max nu - 1/2 ||u||^2`` with ``|y_j' u - nu| <= penalty_j`` for all j. A ridge is a
    loss too, with a direction of its own for each coordinate. The dual point is ``u = Y' c``,
    shrunk until some ``nu`` fits all j, with the largest such ``nu``. Choosing ``nu`` last brings
    the gap down to rounding even where a neighbour is so near that its penalty is tiny; shrinking
    both together would not.
    """
    size = directions.shape[0]
    u = np.zeros(directions.shape[1])
    objective = 0.0
    # From the directions themselves, not from the Gram matrix that the solver worked with.
    for k in range(size):
        objective += penalty[k] * abs(c[k])
        for j in range(u.shape[0]):
            u[j] += c[k] * directions[k, j]
    power = (linalg.dot(u, u) + ridge * linalg.dot(c, c)) / 2
    product = np.empty(size)
    linalg.multiply(directions, u, product)
    product += ridge * c
    # Each neighbour allows an interval of ``nu``. Two intervals meet if their products differ by no
    # more than the two penalties together, and if every two meet, all have a point in common.
    shrink = 1.0
    low, high = (product + penalty).min(), (product - penalty).max()
    upper = np.flatnonzero(product - penalty > low)
    for a in np.flatnonzero(product + penalty < high):
        for b in upper:
            spread = product[b] - product[a]
            allowed = penalty[a] + penalty[b]
            if spread * shrink > allowed:
                shrink = allowed / spread
    multiplier = np.inf
    for k in range(size):
        multiplier = min(multiplier, shrink * product[k] + penalty[k])
    return max(0.0, objective + power - (multiplier - shrink * shrink * power))


@kernel()
def code_points(points, targets, neighbors, lam, codes, distances, gap):
    """Code each target over its neighbours among the points, none of which may coincide with it.

    Sets ``codes`` to the coefficients in the order of the neighbours, ``distances`` to the
    distances to them, and ``gap`` to the duality gaps.
    """
    # One set of arrays for all targets: every number in them is written anew for each.
    size = neighbors.shape[1]
    directions = np.empty((size, points.shape[1] + 1))
    penalty = np.empty(size)
    for p in range(targets.shape[0]):
        total = 0.0
        for k in range(size):
            neighbor = points[neighbors[p, k]]
            distances[p, k] = np.sqrt(linalg.squared_distance(targets[p], neighbor))
            lifted_direction(targets[p], neighbor, distances[p, k], directions[k])
            total += distances[p, k]
        # lam q_j, see :func:`srsg.coding.smce_codes`: near neighbours are cheap, and dividing by
        # the sum makes the codes independent of the scale of the data.
        for k in range(size):
            penalty[k] = lam * distances[p, k] / total
        solve_on_plane(directions, penalty, codes[p])
        normalise(codes[p])
        gap[p] = duality_gap(directions, penalty, 0.0, codes[p])


@kernel()
def code_on_plane(points, targets, neighbors, penalty, ridge, codes, gap):
    """Code each target over its neighbours: ``min penalty |c|_1 + 1/2 ||x - sum c_j x_j||^2``.

    A ridge adds ``ridge / 2 ||c||^2``. The coefficients add up to one, so that the residual is a
    combination of the directions to the neighbours, none of which may coincide with the target.
    """
    size = neighbors.shape[1]
    directions = np.empty((size, points.shape[1] + 1))
    penalties = np.full(size, penalty)
    for p in range(targets.shape[0]):
        for k in range(size):
            lifted_direction(targets[p], points[neighbors[p, k]], 1.0, directions[k])
        if ridge > 0.0:
            solve_dual(directions, penalty, ridge, codes[p])
        else:
            solve_on_plane(directions, penalties, codes[p])
        normalise(codes[p])
        gap[p] = duality_gap(directions, penalties, ridge, codes[p])
