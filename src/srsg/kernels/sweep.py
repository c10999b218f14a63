"""A sweep of Algorithm 2: problem (7) of one point after another, with all other codes fixed.

Algorithm 1 is stated for all n coordinates, but it moves only a few, the *active* ones: those where
the point's code is not zero, and those with ``c_t <= 0``. Every other one stays zero as long as
``s |grad_t| <= sqrt(2 s gamma c_t)``. This is checked, and coordinates that fail the check become
active too. So the result is the same as that of Algorithm 1 on all coordinates.
"""

from collections import namedtuple

import numpy as np

from srsg.kernels.codes import neighbors_of
from srsg.kernels.compiled import inlined, kernel
from srsg.kernels.fpgd_sp import run_on
from srsg.kernels.problems import find_in_kept, keep, new_problem, part_of_kept
from srsg.kernels.votes import active_coordinates, count_votes, with_entrants

SweepData = namedtuple("SweepData", "points targets own neighbors")
"""What is coded over which points: the points, the targets, the index of each target among the
points or -1, and the ``Neighbors``."""

Task = namedtuple("Task", "own row votes")
"""One problem (7): the index of its point, or -1 for a new one; the row of its code; the votes of
its neighbours, from which its ``c_t`` follow."""


@inlined()
def store(codes, p, active, z):
    """Write a code into its row; returns whether its support changed."""
    # The old support is compared while it is overwritten: its entries from ``total`` on are still
    # in place. Active coordinates are sorted, so codes are too, which merging them relies on.
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


@inlined()
def solve(coded, task, before, codes, settings, kept, outcome):
    """Algorithm 1 on all coordinates for one point; False if its code has no room in ``codes``."""
    p = task.row
    active = active_coordinates(before, task)
    started = active.shape[0]
    # Solve on the active coordinates, then check. A run on all coordinates would have had from its
    # start those that the check lets in, so the problem is solved again from the start. The active
    # set only grows, so this ends.
    while True:
        size = active.shape[0]
        # Nothing has been written yet, so the caller can widen the rows and come back.
        if size > codes.index.shape[1]:
            return False
        places = np.empty(size, np.int64)
        if find_in_kept(kept, p, active, places):
            problem = part_of_kept(kept, p, places)
        else:
            problem = new_problem(coded.points, coded.targets, p, active)
            keep(kept, p, active, problem)
        z, run, used = run_on(problem, before, task, active, settings)
        active = with_entrants(coded, before, task, active, used, run)
        if active.shape[0] == size:
            break
    # ``z`` goes with ``active``, which the last check left as it was.
    outcome.changed[p] = store(codes, p, active, z)
    outcome.fit[p] = run.fit
    outcome.iterations[p] = run.iterations
    outcome.cut[p] = used.step < settings.step
    outcome.let_in[p] = size - started
    return True


@kernel()
def sweep_points(coded, order, voters, before, codes, settings, kept, outcome):
    """Solve the points of ``order`` one after another, each from its code ``before`` the sweep.

    A sweep goes through the points 0..n-1: a point sees the new codes of its neighbours with
    smaller indices, and the codes that its other neighbours had before the sweep. These are the
    two ``voters``; for new points, whose neighbours are fitted points, both are the fitted codes.

    Returns how many points were done: fewer than all if a code outgrew the width of ``codes``.
    """
    old, new = voters
    for done in range(order.shape[0]):
        p = order[done]
        neighbors = neighbors_of(coded.neighbors, p)
        # Nothing regularises a point without neighbours: it keeps its code. Without this, all its
        # ``c_t`` would be zero and every coordinate would be free.
        if neighbors.shape[0] == 0:
            continue
        # Counted here and not once per sweep: the codes of earlier neighbours are new.
        task = Task(coded.own[p], p, count_votes(old, new, coded.own[p], neighbors))
        if not solve(coded, task, before, codes, settings, kept, outcome):
            return done
    return order.shape[0]
