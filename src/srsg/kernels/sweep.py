"""A sweep of Algorithm 2: one point's problem (7) after the other, with all other codes fixed.

Algorithm 1 would take all n coordinates. It moves only a few of them, the *active* ones: where the
point's code is not zero, and where ``c_t <= 0``. Every other one stays zero as long as
``s |grad_t| <= sqrt(2 s gamma c_t)``, which is checked; those that fail the check take part. So
the result is that of Algorithm 1 at full length.

The points need not be in this process. A small problem holds all that Algorithm 1 has to know
about them. A point whose problem is not known is left out and notes what it needs, and the next
*pass* over the sweep goes on from there.
"""

from collections import namedtuple

import numpy as np

from srsg.kernels.codes import neighbors_of
from srsg.kernels.compiled import helper, kernel
from srsg.kernels.entrants import with_entrants
from srsg.kernels.fpgd_sp import Settings, no_trace, run_fpgd_sp, stable_step
from srsg.kernels.linalg import assign, fill
from srsg.kernels.small_problems import find_in_kept, keep, new_problem, part_of_kept
from srsg.kernels.votes import coefficient, count_votes, insertion_sort, position

SweepOutcome = namedtuple("SweepOutcome", "fit iterations changed cut let_in")
"""For every point: ``||x - X z||^2``, the FPGD-SP iterations, whether its support changed, whether
its step was cut to the stable bound, and how many coordinates the check let in."""


def new_outcome(n_points: int) -> SweepOutcome:
    dtypes = {"fit": float, "iterations": np.int64, "changed": bool, "cut": bool}
    return SweepOutcome(
        *(np.zeros(n_points, dtypes.get(name, np.int64)) for name in SweepOutcome._fields)
    )


SweepData = namedtuple("SweepData", "points targets own neighbors")
"""What is coded over which points: the points and the targets (arrays without rows if they are not
in this process), the index of each target among the points or -1, and the ``Neighbors``."""

KnownInputs = namedtuple("KnownInputs", "kept reached")
"""What is known about the points without looking at them: the small problems that were made, and
the points that residuals reach."""

SweepPass = namedtuple("SweepPass", "number solved moved needs floor asked n_asked")
"""A pass over a sweep. For every point: the pass that solved it (0 if none has), the pass in which
its support last changed and, where it could not be solved, what it needs: a problem on the
coordinates ``asked``, or the points whose correlation with its residual is at least ``floor``."""

NOTHING, A_PROBLEM, POINTS_IN_REACH = np.int64(0), np.int64(1), np.int64(2)
"""What a point needs before it can be solved. Not plain numbers, for the reason given at
:data:`~srsg.kernels.compiled.ZERO`."""

Task = namedtuple("Task", "own row votes")
"""One problem (7): the point's index among the points, or -1 if it is not one of them; the row of
its code; the votes of its neighbours."""


@helper()
def active_coordinates(codes, task):
    """The coordinates that Algorithm 1 starts with, sorted: the support of z^(0), and where
    ``c_t <= 0``."""
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
def run_on(problem, codes, task, active, settings):
    """Algorithm 1 for one point on the active coordinates, from its present code.

    If the step is beyond the stable bound of the coordinates that it moves, it is cut to that
    bound and the run starts again. Returns the code, what the run did, and the settings it ended
    with.
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
    z = np.empty(size)
    # Which coordinates move is known only after a run. Each further run has a smaller step, and
    # few problems need one.
    while True:
        fill(z, 0.0)
        for k in range(codes.size[row]):
            z[position(active, codes.index[row, k])] = codes.value[row, k]
        own_settings = Settings(settings.gamma, step, settings.max_iter, settings.tol)
        run = run_fpgd_sp(gram, b, power, c, z, moves, own_settings, no_trace())
        safe = stable_step(gram, moves, step)
        if safe >= step:
            return z, run, own_settings
        step = safe


@helper()
def is_due(coded, this_pass, p):
    """Whether a point has to be solved: for the first time, or because the support of an earlier
    neighbour has changed since the point was solved."""
    if this_pass.solved[p] == 0:
        return True
    for j in neighbors_of(coded.neighbors, p):
        if j < coded.own[p] and this_pass.moved[j] > this_pass.solved[p]:
            return True
    return False


@helper()
def same_support(a, b, p):
    if a.size[p] != b.size[p]:
        return False
    for k in range(a.size[p]):
        if a.index[p, k] != b.index[p, k]:
            return False
    return True


@helper()
def store(codes, p, active, z):
    """Write a code into its row; returns whether its support changed."""
    # Compared while it is overwritten: entry ``total`` of the old support is still in place.
    changed = False
    total = 0
    for k in range(z.shape[0]):
        if z[k] != 0.0:
            changed |= total >= codes.size[p] or codes.index[p, total] != active[k]
            codes.index[p, total] = active[k]
            codes.value[p, total] = z[k]
            total += 1
    changed |= total != codes.size[p]
    codes.size[p] = total
    return changed


@helper()
def ask(this_pass, codes, p, needs, floor, active):
    """Note what a point needs before it can be solved, and guess its support until then.

    The guess is that all active coordinates will be used, since those that half of the neighbours
    use cost nothing. With it, later points can ask in the same pass for what they will need.
    """
    guess = np.empty(active.shape[0])
    fill(guess, 1.0)
    if store(codes, p, active, guess):
        this_pass.moved[p] = this_pass.number
    this_pass.solved[p] = 0
    this_pass.needs[p] = needs
    this_pass.floor[p] = floor
    this_pass.n_asked[p] = active.shape[0]
    assign(this_pass.asked[p, : active.shape[0]], active)


@helper()
def solve(coded, task, before, codes, settings, known, this_pass, outcome):
    """Algorithm 1 at full length for one point, or a note of what it needs for that.

    Returns False if its code has no room in ``codes``.
    """
    p = task.row
    at_hand = coded.points.shape[0] > 0
    active = active_coordinates(before, task)
    started = active.shape[0]
    # Solved on the active coordinates, then checked; if the check lets coordinates in, solved
    # again from the start.
    while True:
        size = active.shape[0]
        if size > codes.index.shape[1]:
            return False
        places = np.empty(size, np.int64)
        if find_in_kept(known.kept, p, active, places):
            problem = part_of_kept(known.kept, p, places)
        elif at_hand:
            problem = new_problem(coded.points, coded.targets[p], active)
            keep(known.kept, p, active, problem)
        else:
            ask(this_pass, codes, p, A_PROBLEM, 0.0, active)
            return True
        z, run, used = run_on(problem, before, task, active, settings)
        active, floor = with_entrants(coded, before, task, active, used, run, known.reached)
        if floor < np.inf:
            ask(this_pass, codes, p, POINTS_IN_REACH, floor, active)
            return True
        if active.shape[0] == size:
            break
    if store(codes, p, active, z):
        this_pass.moved[p] = this_pass.number
    this_pass.solved[p] = this_pass.number
    this_pass.needs[p] = NOTHING
    outcome.fit[p] = run.fit
    outcome.iterations[p] = run.iterations
    outcome.changed[p] = not same_support(before, codes, p)
    outcome.cut[p] = used.step < settings.step
    outcome.let_in[p] = size - started
    return True


@kernel()
def sweep_points(coded, order, voters, before, codes, settings, known, this_pass, outcome):
    """Solve the points of ``order`` one after the other, each from its code ``before`` the sweep.

    A sweep goes through the points 0..n-1: a point sees the new codes of the neighbours with
    smaller indices and, of the others, the codes that they had before the sweep. These are the
    two ``voters``; for new points, whose neighbours are fitted points, both are the fitted codes.

    Where a point needs something unknown, later points use a guess of its support. If the support
    turns out different in a later pass, those that used the guess are solved again. Once no point
    needs anything, all codes are those of the order 0..n-1.

    Returns how many were done: fewer than all when a code outgrew the width of ``codes``.
    """
    old, new = voters
    for done in range(order.shape[0]):
        p = order[done]
        if is_due(coded, this_pass, p):
            own = coded.own[p]
            neighbors = neighbors_of(coded.neighbors, p)
            # Nothing regularises a point without neighbours: it keeps its code.
            if neighbors.shape[0] == 0:
                this_pass.solved[p] = this_pass.number
                continue
            votes = count_votes(old, new, own, neighbors)
            task = Task(own, p, votes)
            if not solve(coded, task, before, codes, settings, known, this_pass, outcome):
                return done
    return order.shape[0]
