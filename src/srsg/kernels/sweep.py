"""A sweep of Algorithm 2: problem (7) of one point after another, with all other codes fixed.

Algorithm 1 is stated for all n coordinates, but it moves only a few, the *active* ones: those where
the point's code is not zero, and those with ``c_t <= 0``. Every other one stays zero as long as
``s |grad_t| <= sqrt(2 s gamma c_t)``. This is checked, and coordinates that fail the check become
active too. So the result is the same as that of Algorithm 1 on all coordinates.

The points need not be in this process: a small problem holds everything that Algorithm 1 has to
know about them. A point whose problem is not known yet is skipped and notes what it needs, and the
next *pass* over the sweep solves it. Every entry of a problem is an inner product of two points,
whatever the other coordinates are. So a part of a larger problem has the same bits as a problem
made for that part alone, and it does not matter where, when or on how many coordinates it was made.
"""

from __future__ import annotations

from collections import namedtuple
from typing import Any, NamedTuple

import numpy as np

from srsg.kernels.active import active_coordinates, with_entrants
from srsg.kernels.codes import neighbors_of
from srsg.kernels.compiled import helper, kernel
from srsg.kernels.fpgd_sp import run_on
from srsg.kernels.linalg import assign, dot, fill
from srsg.kernels.rows import dense_row, gather_rows, gram_of_rows, row_count, row_dot
from srsg.kernels.votes import count_votes
from srsg.types import FloatArray, IntArray

SweepOutcome = namedtuple("SweepOutcome", "fit iterations changed cut let_in")
"""For every point: ``||x - X z||^2``, the FPGD-SP iterations, whether its support changed, whether
its step was cut to the stable bound, and how many coordinates the check let in."""


def new_outcome(n_points: int) -> SweepOutcome:
    dtypes = {"fit": float, "iterations": np.int64, "changed": bool, "cut": bool}
    return SweepOutcome(
        *(np.zeros(n_points, dtypes.get(name, np.int64)) for name in SweepOutcome._fields)
    )


Problem = namedtuple("Problem", "gram b power")
"""``X_A' X_A``, ``X_A' x`` and ``x' x`` for the coordinates A of a point x."""


class KeptProblems(NamedTuple):
    """Problems kept from one sweep to the next, one for each row: its number of coordinates (-1 if
    none is kept), how many there is room for, where its coordinates begin in ``active``, and where
    its numbers, packed by :func:`pack`, begin in ``numbers``."""

    # Flat arrays with a start for each row: the problems that workers send have different sizes,
    # and kernels take an array at once, but a list only item by item.

    size: IntArray
    room: int
    active_at: IntArray
    active: IntArray
    numbers_at: IntArray
    numbers: FloatArray

    @classmethod
    def empty(cls, n_rows: int, room: int) -> KeptProblems:
        """Room for the problem of every row, on this many coordinates; none is kept yet."""
        rows = np.arange(n_rows)
        # Even without room, a problem with no coordinates can be kept: it has one number, x' x.
        length = packed_length(room)
        numbers = np.empty(n_rows * length)
        active = np.empty(n_rows * room, np.int64)
        return cls(np.full(n_rows, -1), room, rows * room, active, rows * length, numbers)


def packed_length(size: Any) -> Any:
    """How many numbers a packed problem of ``size`` coordinates has.

    Examples
    --------
    >>> packed_length(2)
    6
    """
    # x' x, then b, then the lower triangle of the symmetric Gram matrix with its diagonal.
    return 1 + size + size * (size + 1) // 2


SweepData = namedtuple("SweepData", "points targets own neighbors")
"""What is coded over which points: the points and the targets (without rows if they are not in this
process), the index of each target among the points or -1, and the ``Neighbors``."""

KnownInputs = namedtuple("KnownInputs", "kept reached")
"""What is known about the points without looking at them: the small problems that were made, and
the points that residuals reach."""

SweepPass = namedtuple("SweepPass", "number solved moved needs floor asked n_asked")
"""A pass over a sweep. For every point: the pass that solved it (0 if none has), the pass in which
its support last changed and, if it could not be solved, what it needs: a problem on the
coordinates ``asked``, or all points whose correlation with its residual is at least ``floor``."""

NOTHING, A_PROBLEM, POINTS_IN_REACH = np.int64(0), np.int64(1), np.int64(2)
"""What a point needs before it can be solved. These are not plain numbers, for the reason given at
:data:`~srsg.kernels.compiled.ZERO`."""

Task = namedtuple("Task", "own row votes")
"""One problem (7): the index of its point, or -1 for a new one; the row of its code; the votes of
its neighbours, from which its ``c_t`` follow."""


@helper()
def new_problem(points, targets, p, active):
    """The problem of target p on the active coordinates, computed from the points."""
    # Points are gathered and converted once: each of them enters many inner products.
    own = dense_row(targets, p)
    atoms = gather_rows(points, active, active.shape[0])
    b = np.empty(active.shape[0])
    for k in range(active.shape[0]):
        b[k] = row_dot(atoms, k, own)
    return Problem(gram_of_rows(atoms), b, dot(own, own))


@helper()
def row_of(k):
    """Where row k of a packed problem begins."""
    return 1 + k + k * (k + 1) // 2


@helper()
def pack(problem, numbers):
    """``x' x``, then for every coordinate its entry of b and its row of the lower triangle.

    In this order :func:`part_of_kept` can read any part of a problem without unpacking the rest.
    """
    numbers[0] = problem.power
    for k in range(problem.b.shape[0]):
        start = row_of(k)
        numbers[start] = problem.b[k]
        # Half of the matrix is enough, and it halves what workers send over the network.
        for j in range(k + 1):
            numbers[start + 1 + j] = problem.gram[k, j]


@helper()
def find_in_kept(kept, row, active, places):
    """Find the places of the active coordinates in the problem kept for a row.

    Returns False if one of them is missing.
    """
    # Both lists are sorted, so one walk along the longer one finds them all.
    size = kept.size[row]
    start = kept.active_at[row]
    at = 0
    for k in range(active.shape[0]):
        while at < size and kept.active[start + at] < active[k]:
            at += 1
        if at >= size or kept.active[start + at] != active[k]:
            return False
        places[k] = at
    # With no active coordinates the loop finds nothing missing, even where nothing is kept.
    return size >= 0


@helper()
def part_of_kept(kept, row, places):
    """The problem of a row, restricted to the coordinates at the given places."""
    # Reading a number instead of computing it saves as many steps as there are features.
    size = places.shape[0]
    numbers = kept.numbers[kept.numbers_at[row] :]
    gram = np.empty((size, size))
    b = np.empty(size)
    for k in range(size):
        start = row_of(places[k])
        b[k] = numbers[start]
        # Places rise, so place j is not beyond place k: the entry is in the lower triangle.
        for j in range(k + 1):
            gram[k, j] = gram[j, k] = numbers[start + 1 + places[j]]
    return Problem(gram, b, numbers[0])


@helper()
def keep(kept, row, active, problem):
    """Keep a problem for the next sweep, if there is room for it."""
    size = active.shape[0]
    # Every row has the same room, so that threads can write to their rows without waiting for each
    # other. The few larger problems are made again in every sweep.
    if size > kept.room:
        kept.size[row] = -1
        return
    kept.size[row] = size
    start = kept.active_at[row]
    for k in range(size):
        kept.active[start + k] = active[k]
    pack(problem, kept.numbers[kept.numbers_at[row] :])


@helper()
def is_due(coded, this_pass, p):
    """Whether a point has to be solved: for the first time, or because the support of an earlier
    neighbour has changed since the point was solved."""
    if this_pass.solved[p] == 0:
        return True
    # Later neighbours vote with their codes from before the sweep, which do not change. And if an
    # earlier one moved in the same pass that solved the point, it moved first: that was seen.
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


@helper()
def ask(this_pass, codes, p, needs, floor, active):
    """Note what a point needs before it can be solved, and guess its support until then.

    The guess is that all active coordinates will be used, since those that half of the neighbours
    use cost nothing. With it, later points can ask in the same pass for what they will need.
    """
    # Ones, because only the support of a guess is ever read, never its values.
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
    """Algorithm 1 on all coordinates for one point, or a note of what it needs for that.

    Returns False if its code has no room in ``codes``.
    """
    p = task.row
    at_hand = row_count(coded.points) > 0
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
        if find_in_kept(known.kept, p, active, places):
            problem = part_of_kept(known.kept, p, places)
        elif at_hand:
            problem = new_problem(coded.points, coded.targets, p, active)
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
    # ``z`` goes with ``active``, which the last check left as it was.
    if store(codes, p, active, z):
        this_pass.moved[p] = this_pass.number
    this_pass.solved[p] = this_pass.number
    this_pass.needs[p] = NOTHING
    outcome.fit[p] = run.fit
    outcome.iterations[p] = run.iterations
    # Compared with the code before the sweep: the row may have held a guess since then.
    outcome.changed[p] = not same_support(before, codes, p)
    outcome.cut[p] = used.step < settings.step
    outcome.let_in[p] = size - started
    return True


@kernel()
def sweep_points(coded, order, voters, before, codes, settings, known, this_pass, outcome):
    """Solve the points of ``order`` one after another, each from its code ``before`` the sweep.

    A sweep goes through the points 0..n-1: a point sees the new codes of its neighbours with
    smaller indices, and the codes that its other neighbours had before the sweep. These are the
    two ``voters``; for new points, whose neighbours are fitted points, both are the fitted codes.

    Where a point needs something unknown, later points use a guess of its support. If the support
    turns out to be different in a later pass, the points that used the guess are solved again. Once
    no point needs anything, all codes are the same as if solved in the order 0..n-1.

    Returns how many points were done: fewer than all if a code outgrew the width of ``codes``.
    """
    old, new = voters
    for done in range(order.shape[0]):
        p = order[done]
        if is_due(coded, this_pass, p):
            own = coded.own[p]
            neighbors = neighbors_of(coded.neighbors, p)
            # Nothing regularises a point without neighbours: it keeps its code. Without this, all
            # its ``c_t`` would be zero and every coordinate would be free.
            if neighbors.shape[0] == 0:
                this_pass.solved[p] = this_pass.number
                continue
            # Counted here and not once per sweep: the codes of earlier neighbours are new.
            votes = count_votes(old, new, own, neighbors)
            task = Task(own, p, votes)
            if not solve(coded, task, before, codes, settings, known, this_pass, outcome):
                return done
    return order.shape[0]


@kernel()
def make_problems(points, targets, starts, index, numbers_at, numbers):
    """Make and pack the problem of every target.

    Its coordinates are the rows ``index[starts[p]:starts[p + 1]]`` of ``points``.
    """
    for p in range(row_count(targets)):
        problem = new_problem(points, targets, p, index[starts[p] : starts[p + 1]])
        pack(problem, numbers[numbers_at[p] :])
