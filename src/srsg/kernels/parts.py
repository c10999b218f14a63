"""A sweep over some of the points, without the points: Gram matrices and supports are enough.

As in a sweep over all points, whose order counts: a point sees the new codes of neighbours that
come before it. Those of other parts are taken as far as they are known.
"""

from collections import namedtuple

import numpy as np

from srsg.kernels.compiled import helper, kernel
from srsg.kernels.linalg import assign, dot
from srsg.kernels.sweep import (
    NORM_MARGIN,
    Problem,
    Task,
    active_coordinates,
    new_problem,
    run_on,
    store,
)
from srsg.kernels.votes import (
    coefficient,
    count_votes,
    position,
    smallest_positive_coefficient,
)

Problems = namedtuple("Problems", "starts index b places gram power")
"""``X_C' X_C``, ``X_C' x`` and ``x' x`` of several points, each with coordinates C of its own:
those of point p are ``index[starts[p]:starts[p + 1]]``, and ``gram`` from ``places[p]`` on."""

Reached = namedtuple("Reached", "floor starts index strength")
"""All points whose correlation with a residual is at least ``floor[p]``, in absolute value."""

Part = namedtuple("Part", "ids rows places neighbors before codes todo held")
"""Points of a sweep: their indices, or -1; their rows in the codes, which are in the order of the
sweep; the place of every row in the part, or -1; the rows of their neighbours; the codes before the
sweep and now; which points are to be solved; which of the problems held is that of each."""

State = namedtuple("State", "status moved floor")
"""Of every point of a part: what came of it; whether its support is another than it was thought
to be; down to which correlation points must be known."""

LEFT, SOLVED, WANTS_PROBLEM, WANTS_REACH = 0, 1, 2, 3


@kernel()
def fill_problems(points, targets, problems):
    """Compute the problems of targets whose coordinates are rows of ``points``."""
    for p in range(targets.shape[0]):
        start, end = problems.starts[p], problems.starts[p + 1]
        size = end - start
        problem = new_problem(points, targets[p], problems.index[start:end])
        assign(problems.b[start:end], problem.b)
        for k in range(size):
            row = problems.places[p] + k * size
            assign(problems.gram[row : row + size], problem.gram[k])
        problems.power[p] = problem.power


@helper()
def has_coordinates(problems, p, active):
    known = problems.index[problems.starts[p] : problems.starts[p + 1]]
    for t in active:
        if position(known, t) < 0:
            return False
    return True


@helper()
def problem_on(problems, p, active):
    """The part of a problem for some of its coordinates."""
    start, end = problems.starts[p], problems.starts[p + 1]
    known = problems.index[start:end]
    size = active.shape[0]
    gram = np.empty((size, size))
    b = np.empty(size)
    places = np.empty(size, np.int64)
    for k in range(size):
        places[k] = position(known, active[k])
        b[k] = problems.b[start + places[k]]
    for k in range(size):
        row = problems.places[p] + places[k] * (end - start)
        for j in range(size):
            gram[k, j] = problems.gram[row + places[j]]
    return Problem(gram, b, problems.power[p])


@helper()
def with_reached(active, task, reached, p, bound, radius):
    """The active coordinates and those that the check lets in."""
    index = reached.index[reached.starts[p] : reached.starts[p + 1]]
    strength = reached.strength[reached.starts[p] : reached.starts[p + 1]]
    more = np.empty(active.shape[0] + index.shape[0], np.int64)
    size = 0
    k = 0
    for a in range(index.shape[0]):
        t = index[a]
        while k < active.shape[0] and active[k] <= t:
            more[size] = active[k]
            size += 1
            k += 1
        if (k == 0 or active[k - 1] != t) and t != task.own:
            gradient = 2 * strength[a] + 2 * radius * NORM_MARGIN
            if gradient > bound * np.sqrt(coefficient(task.votes, t)):
                more[size] = t
                size += 1
    while k < active.shape[0]:
        more[size] = active[k]
        size += 1
        k += 1
    return more[:size]


@helper()
def same_support(a, b, i):
    if a.size[i] != b.size[i]:
        return False
    for k in range(a.size[i]):
        if a.index[i, k] != b.index[i, k]:
            return False
    return True


@helper()
def is_due(part, state, p):
    """Whether a point has to be solved: asked for, or a neighbour in this part has changed."""
    if part.todo[p]:
        return True
    for j in part.neighbors[p]:
        if 0 <= part.places[j] < p and state.moved[part.places[j]]:
            return True
    return False


@helper()
def solve_one(part, p, task, problems, slot, reached, settings, outcome, state):
    """Algorithm 1 at full length for one point, as far as what is known allows."""
    active = active_coordinates(part.before, task)
    started = active.shape[0]
    while True:
        size = active.shape[0]
        if not has_coordinates(problems, slot, active):
            state.status[p] = WANTS_PROBLEM
            return
        problem = problem_on(problems, slot, active)
        z, run, used = run_on(problem, part.before, task, active, settings)
        bound = np.sqrt(2 * used.gamma / used.step)
        weakest = smallest_positive_coefficient(task.votes)
        if 2 * run.residual_norm * NORM_MARGIN <= bound * np.sqrt(weakest):
            break
        needed = bound * np.sqrt(weakest) / 2 - run.radius * NORM_MARGIN - 1e-12
        if reached.floor[p] > needed:
            state.status[p] = WANTS_REACH
            state.floor[p] = needed
            return
        active = with_reached(active, task, reached, p, bound, run.radius)
        if active.shape[0] == size:
            break
    state.status[p] = SOLVED
    state.moved[p] = store(part.codes, task.row, active, z)
    outcome.fit[p] = run.fit
    outcome.iterations[p] = run.iterations
    outcome.changed[p] = not same_support(part.before, part.codes, task.row)
    outcome.cut[p] = used.step < settings.step
    outcome.let_in[p] = size - started


@kernel()
def solve_part(part, problems, more, slots, reached, settings, outcome, state):
    """Solve the points of a part in their order, each from the code it had before the sweep.

    The problem of point p is row ``part.held[p]`` of ``problems`` or, where ``slots[p]`` is not -1,
    that row of ``more``.
    """
    target = np.empty(0)  # not needed where the problem is known
    for p in range(part.todo.shape[0]):
        state.moved[p] = False
        state.status[p] = LEFT
        if is_due(part, state, p):
            row = part.rows[p]
            votes = count_votes(part.before, part.codes, row, part.neighbors[p])
            task = Task(target, part.ids[p], row, votes)
            if slots[p] < 0:
                held = part.held[p]
                solve_one(part, p, task, problems, held, reached, settings, outcome, state)
            else:
                solve_one(part, p, task, more, slots[p], reached, settings, outcome, state)


@kernel()
def reached_points(points, first, resid, correlations, error, floor):
    """The points of a shard whose correlation with each residual is at least the floor."""
    starts = np.zeros(floor.shape[0] + 1, np.int64)
    for p in range(floor.shape[0]):
        cut = floor[p] - error * np.sqrt(dot(resid[p], resid[p]))
        starts[p + 1] = starts[p]
        for value in correlations[p]:
            starts[p + 1] += abs(value) >= cut
    index = np.empty(starts[-1], np.int64)
    strength = np.empty(starts[-1])
    count = 0
    for p in range(floor.shape[0]):
        cut = floor[p] - error * np.sqrt(dot(resid[p], resid[p]))
        starts[p] = count
        for t in range(correlations.shape[1]):
            if abs(correlations[p, t]) >= cut:
                exact = abs(dot(points[t], resid[p]))
                if exact >= floor[p]:
                    index[count] = t + first
                    strength[count] = exact
                    count += 1
    starts[-1] = count
    return Reached(floor, starts, index[:count], strength[:count])
