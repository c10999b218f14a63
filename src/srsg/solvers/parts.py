"""Sweeps by parts, for points that lie in shards: only supports travel between the parts.

A sweep goes through the points 0..n-1, and a point sees the new supports of neighbours that come
before it. Parts are solved at once, with the supports of other parts as far as they are known. When
one that matters turns out otherwise, whoever used it is solved again, until nothing changes: what
is then left is what the order gives, to the last bit. The first part is right at once, the second
when the first is, and so on; few points have to be solved twice.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from srsg.engines import Engine
from srsg.engines.progress import Stage
from srsg.kernels.codes import Codes
from srsg.kernels.fpgd_sp import Settings
from srsg.kernels.parts import SOLVED, WANTS_PROBLEM, WANTS_REACH, Part, Problems, Reached
from srsg.kernels.sweep import Outcome, new_outcome
from srsg.neighbors import neighbor_graph
from srsg.points import Points, Queries, blocks_of_rows, distinct
from srsg.solvers.part_tasks import (
    Candidates,
    FindReached,
    MakeProblems,
    PartTask,
    Residuals,
    SolvePart,
    the_problems,
)
from srsg.solvers.ragged import joined, ragged, single
from srsg.types import FloatArray, IntArray

BYTES_A_PART = 2**26
"""Most bytes of the rows that the problems of a part are made from, if every point has as many
coordinates of its own as:"""
COORDINATES = 16

STEPS_KEPT_READY = 2
"""Points that depend on those to solve, over so many steps, are sent along."""

REACH_AHEAD = 0.9
"""Points are looked for somewhat farther than asked, so that the next question is answered."""


@dataclass
class PartSweeps:
    """Sweeps under way over points that lie in shards.

    The client has the codes of all points, and workers the small problems of each part.
    """

    points: Points
    neighbors: IntArray
    settings: Settings
    engine: Engine
    codes: Codes
    outcome: Outcome
    parts: list[IntArray]
    candidates: list[IntArray]
    """Of every point the coordinates that its problem has."""
    held: Any = None
    more: dict[int, Problems] = field(default_factory=dict)
    """Larger problems of single points, since their part's were made."""
    reached: dict[int, tuple[float, IntArray, FloatArray]] = field(default_factory=dict)

    @classmethod
    def start(
        cls,
        points: Points,
        init_codes: sparse.csr_array,
        neighbors: IntArray,
        settings: Settings,
        engine: Engine,
    ) -> PartSweeps:
        return cls(
            points,
            neighbors,
            settings,
            engine.quiet(),
            Codes.from_csr(init_codes, spare=16),
            new_outcome(points.n),
            in_parts(points, points.n, engine),
            first_candidates(init_codes, neighbors),
        )

    def fits(self) -> FloatArray:
        """``||x_i - X z_i||^2`` of every code; makes the problems."""
        self._hold()
        return np.concatenate(self.held.reports)

    def _hold(self) -> None:
        blocks = [
            Candidates(
                self._targets(rows),
                *ragged([self.candidates[row] for row in rows]),
                self.codes.take(rows),
            )
            for rows in self.parts
        ]
        self.held = self.engine.hold(MakeProblems(), self.points, blocks, label="small problems")
        self.more.clear()

    def sweep(self, stage: Stage) -> None:
        """Solve all points once."""
        before = self.codes.resized(self.codes.width)
        known, self.reached = self.reached, {}
        if known:  # who needed a look at all points will need it again
            self._look(before, {row: floor for row, (floor, _, _) in known.items()})
        if self.held is None or len(self.more) > self.points.n // 8:
            self._hold()
        todo = np.ones(len(self.neighbors), bool)
        left = len(todo)
        while todo.any():
            todo, wanted, floors = self._solve(before, todo)
            todo[wanted] = True
            todo[list(floors)] = True
            stage.advance(max(0, left - int(todo.sum())))
            left = min(left, int(todo.sum()))
            self._look(before, {row: _ahead(floor) for row, floor in floors.items()})
            self._supply(before, wanted)

    def _solve(
        self, before: Codes, todo: NDArray[np.bool_]
    ) -> tuple[NDArray[np.bool_], IntArray, dict[int, float]]:
        """Solve what is to do. Tells who has to be solved again because an earlier neighbour has
        another support than thought, whose problem is too small, and who has to know points in
        reach."""
        chosen = self._with_dependents(todo)
        rows_of_part = {
            place: part[chosen[part]] for place, part in enumerate(self.parts) if todo[part].any()
        }
        tasks = {
            place: self._task(rows, rows - self.parts[place][0], before, todo[rows])
            for place, rows in rows_of_part.items()
        }
        results = self.engine.map_held(
            SolvePart(self.settings), self.held, tasks, self.points, label="parts"
        )
        moved = np.zeros(len(todo), bool)
        wanted: list[IntArray] = []
        floors: dict[int, float] = {}
        for place, result in results.items():
            rows, state = rows_of_part[place], result.state
            solved = np.flatnonzero(state.status == SOLVED)
            width = result.codes.index.shape[1]
            if width > self.codes.index.shape[1]:
                self.codes = self.codes.resized(width)
            self.codes.index[rows[solved], :width] = result.codes.index[solved]
            self.codes.value[rows[solved], :width] = result.codes.value[solved]
            self.codes.size[rows[solved]] = result.codes.size[solved]
            for whole, some in zip(self.outcome, result.outcome, strict=True):
                whole[rows[solved]] = some[solved]
            moved[rows] = state.moved
            wanted.append(rows[state.status == WANTS_PROBLEM])
            for p in np.flatnonzero(state.status == WANTS_REACH):
                floors[int(rows[p])] = float(state.floor[p])
        later, earlier, in_one_part = self._links
        seen_to = in_one_part & chosen[later]
        concerned = np.zeros(len(todo), bool)
        concerned[later[moved[earlier] & ~seen_to]] = True
        return concerned, np.concatenate(wanted), floors

    def _with_dependents(self, todo: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """Points to solve, and those of their parts that may have to be solved because of them: to
        go on there saves a round. Who is left out and concerned is solved in the next."""
        later, earlier, in_one_part = self._links
        chosen = todo.copy()
        for _ in range(STEPS_KEPT_READY):
            chosen[later[in_one_part & chosen[earlier]]] = True
        return chosen

    @cached_property
    def _links(self) -> tuple[IntArray, IntArray, NDArray[np.bool_]]:
        """Points, neighbours that come before them in the sweep, and whether both are in one
        part."""
        later, rank = np.nonzero(self.neighbors < np.arange(len(self.neighbors))[:, None])
        earlier = self.neighbors[later, rank]
        part_of = np.repeat(np.arange(len(self.parts)), [len(rows) for rows in self.parts])
        return later, earlier, part_of[later] == part_of[earlier]

    def _targets(self, rows: IntArray) -> Queries:
        return Queries(rows, None)

    def _task(
        self, rows: IntArray, held: IntArray, before: Codes, todo: NDArray[np.bool_]
    ) -> PartTask:
        """Some of a part with all they have to know of their neighbours; ``held`` says which
        problems are theirs."""
        seen = distinct(rows, self.neighbors[rows])
        own = np.searchsorted(seen, rows)
        part = Part(
            rows,
            own,
            places_of(own, len(seen)),
            np.searchsorted(seen, self.neighbors[rows]),
            before.take(seen),
            self.codes.take(seen),
            todo,
            held,
        )
        return self._with_problems(rows, part)

    def _with_problems(self, rows: IntArray, part: Part) -> PartTask:
        """A part with room for its codes, and with what is known beside the problems held."""
        width = max(
            int(part.before.size.max(initial=0)),
            int(part.codes.size.max(initial=0)),
            max(len(self.candidates[row]) for row in rows),
        )
        slots, more = self._more_of(rows)
        return PartTask.of(part, width, more, slots, self._reached_of(rows))

    def _more_of(self, rows: IntArray) -> tuple[IntArray, Problems]:
        """The larger problems of a part, and which point has which."""
        owners = [row for row in rows.tolist() if row in self.more]
        slots = np.full(len(rows), -1)
        slots[np.searchsorted(rows, owners)] = np.arange(len(owners))
        return slots, joined([self.more[row] for row in owners])

    def _reached_of(self, rows: IntArray) -> Reached:
        nothing = (np.inf, np.empty(0, np.int64), np.empty(0))
        known = [self.reached.get(row, nothing) for row in rows.tolist()]
        starts, index = ragged([index for _, index, _ in known])
        strength = np.concatenate([strength for _, _, strength in known])
        return Reached(np.array([floor for floor, _, _ in known]), starts, index, strength)

    def _look(self, before: Codes, floors: dict[int, float]) -> None:
        """Find the points in reach of some residuals."""
        if not floors:
            return
        rows = np.array(sorted(floors))
        floor = np.array([floors[row] for row in rows.tolist()])
        blocks = [
            Residuals(self._targets(rows[at]), before.take(rows[at]), floor[at])
            for at in blocks_of_rows(len(rows), self.engine.rows_a_block(self.points, len(rows)))
        ]
        found = self.engine.scan(
            FindReached(self.engine.block_size), self.points, blocks, label="points in reach"
        )
        lists = [each for block in found for each in block]
        for row, low, (index, strength) in zip(rows.tolist(), floor, lists, strict=True):
            self.reached[row] = (float(low), index, strength)

    def _supply(self, before: Codes, rows: IntArray) -> None:
        """Make larger problems for some points."""
        if not len(rows):
            return
        for row in rows.tolist():
            self.candidates[row] = self._wider(row, before)
        blocks = [
            Candidates(self._targets(some), *ragged([self.candidates[row] for row in some]))
            for some in np.split(rows, range(len(self.parts[0]), len(rows), len(self.parts[0])))
        ]
        held = self.engine.hold(MakeProblems(), self.points, blocks, label="small problems")
        whole = self.engine.map_held(
            the_problems, held, dict.fromkeys(range(len(blocks))), self.points, label="problems"
        )
        for place, block in enumerate(blocks):
            for row, problem in zip(block.targets.own.tolist(), single(whole[place]), strict=True):
                self.more[row] = problem

    def _wider(self, row: int, before: Codes) -> IntArray:
        """The coordinates that a point's problem has, and those that it asks for now."""
        used, votes = np.unique(self._voted(row, before), return_counts=True)
        majority = used[2 * votes >= self.neighbors.shape[1]]
        reached = self.reached.get(row, (0.0, majority, None))[1]
        wider = np.unique(np.concatenate([self.candidates[row], majority, reached]))
        return wider[wider != self._targets(np.array([row])).own]

    def _voted(self, row: int, before: Codes) -> IntArray:
        """The supports of a point's neighbours, as it sees them now."""
        each = [(self.codes if j < row else before, j) for j in self.neighbors[row]]
        return np.concatenate([codes.index[j, : codes.size[j]] for codes, j in each])


def in_parts(points: Points, n_rows: int, engine: Engine) -> list[IntArray]:
    """Rows in parts that workers have memory for, and all of them work."""
    most = max(1, BYTES_A_PART // (8 * points.n_features * COORDINATES))
    return blocks_of_rows(n_rows, min(-(-n_rows // (2 * engine.n_workers)), most))


def _ahead(floor: float) -> float:
    return REACH_AHEAD * floor if floor > 0 else floor


def first_candidates(
    codes: sparse.csr_array, neighbors: IntArray, fitted: sparse.csr_array | None = None
) -> list[IntArray]:
    """The support of every point, and what nearly half of its neighbours use.

    The neighbours are those of the codes themselves or, with ``fitted``, points of these.
    """
    own, used = _ones(codes), _ones(codes if fitted is None else fitted)
    votes = sparse.csr_array(neighbor_graph(neighbors, used.shape[0]).astype(np.int32) @ used)
    votes.data = (2 * votes.data >= neighbors.shape[1] - 2).astype(np.int32)
    both = sparse.csr_array(own + votes)
    if fitted is None:
        both.setdiag(0)
    both.eliminate_zeros()
    both.sort_indices()
    return np.split(both.indices.astype(np.int64), both.indptr[1:-1])


def _ones(codes: sparse.csr_array) -> sparse.csr_array:
    ones = np.ones(codes.nnz, np.int32)
    return sparse.csr_array((ones, codes.indices, codes.indptr), shape=codes.shape)


def places_of(rows: IntArray, n_rows: int) -> IntArray:
    """Where among ``rows`` each of 0..n-1 is, or -1."""
    places = np.full(n_rows, -1)
    places[rows] = np.arange(len(rows))
    return places
