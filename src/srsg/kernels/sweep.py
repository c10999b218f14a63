"""A sweep of Algorithm 2: one point's problem (7) after the other, the others' codes fixed.

Algorithm 1 would take all n coordinates. It moves only a few of them, the *active* ones: where
the point's code is not zero, and where ``c_t <= 0``. Every other one stays zero as long as
``s |grad_t| <= sqrt(2 s gamma c_t)``, which is checked, and whoever fails the check takes part.
So the result is that of Algorithm 1 at full length.
"""

from collections import namedtuple

import numpy as np

from srsg.kernels.codes import residual
from srsg.kernels.compiled import helper, kernel
from srsg.kernels.fpgd_sp import Settings, fpgd_sp_run, no_trace, stable_step
from srsg.kernels.linalg import dot, gather, gram_matrix, in_float64, multiply
from srsg.kernels.votes import (
    coefficient,
    count_votes,
    insertion_sort,
    position,
    smallest_positive_coefficient,
)

Outcome = namedtuple("Outcome", "fit iterations changed cut let_in")
"""Of every point: ``||x - X z||^2``, FPGD-SP iterations, whether its support changed, whether
its step was cut to the stable bound, and how many coordinates the check let in."""


def new_outcome(n_points: int) -> Outcome:
    dtypes = {"fit": float, "iterations": np.int64, "changed": bool, "cut": bool}
    return Outcome(*(np.zeros(n_points, dtypes.get(name, np.int64)) for name in Outcome._fields))


NO_POINT = np.int64(-1)

# Unit norm holds up to the rounding of float32 points.
NORM_MARGIN = 1.0 + 1e-5


Task = namedtuple("Task", "target own row votes")
"""One problem (7): the point that is coded; its index among the points, or -1 if it is none of
them; the row of its code; the votes of its neighbours."""

Problem = namedtuple("Problem", "gram b power")
"""``X_A' X_A``, ``X_A' x`` and ``x' x`` for the active coordinates A of a point x."""

Kept = namedtuple("Kept", "size active numbers")
"""The problem that every point had last, for most points have it again in the next sweep: its
size (-1 where it was too large to keep), its active coordinates, and its numbers in one row."""


@helper()
def active_coordinates(codes, task):
    """Where Algorithm 1 starts, sorted: the support of z^(0), and where ``c_t <= 0``."""
    votes = task.votes
    size = codes.size[task.row]
    support = codes.index[task.row, :size]
    active = np.empty(size + votes.index.shape[0], np.int64)
    for k in range(size):
        active[k] = support[k]
    for k in range(votes.index.shape[0]):
        t = votes.index[k]
        if 2 * votes.count[k] >= votes.voters and t != task.own and position(support, t) < 0:
            active[size] = t
            size += 1
    insertion_sort(active[:size])
    return active[:size]


@helper()
def with_entrants(points, codes, task, active, settings, run):
    """The active coordinates and those that full-length Algorithm 1 might let in.

    The gradient of coordinate t at ``m^(k)`` is ``2 |x_t' r|`` with r the residual there: at
    most twice the residual's norm, which settles nearly every point at once; and at most its
    value at the start plus twice the way travelled from there.
    """
    bound = np.sqrt(2 * settings.gamma / settings.step)
    weakest = smallest_positive_coefficient(task.votes)
    if 2 * run.residual_norm * NORM_MARGIN <= bound * np.sqrt(weakest):
        return active
    resid = np.empty(points.shape[1])
    residual(points, task.target, codes, task.row, resid)
    more = np.empty(points.shape[0], np.int64)
    size = 0
    for t in range(points.shape[0]):
        joins = position(active, t) >= 0
        if not joins and t != task.own:
            gradient = 2 * abs(dot(points[t], resid)) + 2 * run.radius * NORM_MARGIN
            joins = gradient > bound * np.sqrt(coefficient(task.votes, t))
        if joins:
            more[size] = t
            size += 1
    return more[:size]


@helper()
def is_kept(kept, row, active):
    if row >= kept.size.shape[0] or kept.size[row] != active.shape[0]:
        return False
    for k in range(active.shape[0]):
        if kept.active[row, k] != active[k]:
            return False
    return True


@helper()
def keep(kept, row, active, problem):
    """Keep a problem for the next sweep, if there is room for it."""
    size = active.shape[0]
    if row >= kept.size.shape[0]:
        return
    if size > kept.active.shape[1]:
        kept.size[row] = -1
        return
    kept.size[row] = size
    numbers = kept.numbers[row]
    numbers[0] = problem.power
    place = 1
    for k in range(size):
        kept.active[row, k] = active[k]
        numbers[place] = problem.b[k]
        place += 1
        for j in range(k + 1):
            numbers[place] = problem.gram[k, j]
            place += 1


@helper()
def kept_problem(kept, row):
    size = kept.size[row]
    numbers = kept.numbers[row]
    gram = np.empty((size, size))
    b = np.empty(size)
    place = 1
    for k in range(size):
        b[k] = numbers[place]
        place += 1
        for j in range(k + 1):
            gram[k, j] = gram[j, k] = numbers[place]
            place += 1
    return Problem(gram, b, numbers[0])


@helper()
def small_problem(points, task, active, kept):
    """The problem of a point on its active coordinates: that of the last sweep, or a new one."""
    if is_kept(kept, task.row, active):
        return kept_problem(kept, task.row)
    problem = new_problem(points, task.target, active)
    keep(kept, task.row, active, problem)
    return problem


@helper()
def new_problem(points, target, active):
    own = in_float64(target)
    atoms = gather(points, active, active.shape[0])
    b = np.empty(active.shape[0])
    multiply(atoms, own, b)
    return Problem(gram_matrix(atoms), b, dot(own, own))


@helper()
def run_on(problem, codes, task, active, settings):
    """Algorithm 1 for one point on the active coordinates, from its present code.

    A step beyond the stable bound of the coordinates that it moves is cut to that bound and the
    run begins again. Returns the code, what the run did, and the settings it ended with.
    """
    size = active.shape[0]
    row = task.row
    gram, b, power = problem
    c = np.empty(size)
    moves = np.empty(size, np.bool_)
    for k in range(size):
        c[k] = coefficient(task.votes, active[k])
        moves[k] = c[k] <= 0 or position(codes.index[row, : codes.size[row]], active[k]) >= 0
    step = stable_step(gram, moves, settings.step)
    while True:
        z = np.zeros(size)
        for k in range(codes.size[row]):
            z[position(active, codes.index[row, k])] = codes.value[row, k]
        own_settings = Settings(settings.gamma, step, settings.max_iter, settings.tol)
        run = fpgd_sp_run(gram, b, power, c, z, moves, own_settings, no_trace())
        safe = stable_step(gram, moves, step)
        if safe >= step:
            return z, run, own_settings
        step = safe


@helper()
def solve(points, codes, task, settings, kept):
    """Algorithm 1 at full length: the coordinates that took part, their code, how many of them
    the check let in, what the last run did and the settings it ended with."""
    active = active_coordinates(codes, task)
    started = active.shape[0]
    size = -1  # so that an empty active set has its run too
    while size < active.shape[0]:
        size = active.shape[0]
        problem = small_problem(points, task, active, kept)
        z, run, used = run_on(problem, codes, task, active, settings)
        active = with_entrants(points, codes, task, active, used, run)
    return active, z, size - started, run, used


@helper()
def store(codes, i, active, z):
    """Write a code into its row; tells whether its support changed."""
    changed = False
    total = 0
    for k in range(z.shape[0]):
        if z[k] != 0.0:
            changed |= total >= codes.size[i] or codes.index[i, total] != active[k]
            codes.index[i, total] = active[k]
            codes.value[i, total] = z[k]
            total += 1
    changed |= total != codes.size[i]
    codes.size[i] = total
    return changed


@helper()
def no_problems():
    return Kept(np.empty(0, np.int64), np.empty((0, 0), np.int64), np.empty((0, 0)))


@kernel()
def sweep_points(points, neighbors, order, before, codes, settings, kept, outcome):
    """Solve the points of ``order`` one after the other, each from its present code.

    A sweep goes through the points 0..n-1: a point sees the new codes of the neighbours with
    smaller indices, in ``codes``, and of the others those that they had ``before`` the sweep.
    Returns how many were done: fewer than all when a code outgrew the width of ``codes``.
    """
    for done in range(order.shape[0]):
        i = order[done]
        votes = count_votes(before, codes, i, neighbors[i])
        task = Task(points[i], i, i, votes)
        active, z, let_in, run, used = solve(points, codes, task, settings, kept)
        if active.shape[0] > codes.index.shape[1]:
            return done
        outcome.fit[i] = run.fit
        outcome.iterations[i] = run.iterations
        outcome.changed[i] = store(codes, i, active, z)
        outcome.cut[i] = used.step < settings.step
        outcome.let_in[i] = let_in
    return order.shape[0]


@kernel()
def solve_targets(points, fitted, targets, neighbors, codes, settings):
    """Solve problem (7) for points that are new, from their codes and with the fitted codes of
    their neighbours, which stay as they are.

    Returns how many were done, as :func:`sweep_points` does.
    """
    for p in range(targets.shape[0]):
        votes = count_votes(fitted, fitted, NO_POINT, neighbors[p])
        task = Task(targets[p], NO_POINT, p, votes)
        active, z, _, _, _ = solve(points, codes, task, settings, no_problems())
        if active.shape[0] > codes.index.shape[1]:
            return p
        store(codes, p, active, z)
    return targets.shape[0]
