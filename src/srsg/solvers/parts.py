"""Sweeps by parts, for points that lie in shards: only supports travel between the parts.

A sweep goes through the points 0..n-1, and a point sees the new supports of neighbours that come
before it. Parts are solved at once, with the supports of other parts as far as they are known. When
one that matters turns out otherwise, whoever used it is solved again, until nothing changes: what
is then left is what the order gives, to the last bit. The first part is right at once, the second
when the first is, and so on; few points have to be solved twice.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from srsg.codes import resized, rows_from_csr
from srsg.engine import Engine
from srsg.kernels.codes import Codes
from srsg.kernels.fpgd_sp import Settings
from srsg.kernels.parts import SOLVED, WANTS_PROBLEM, WANTS_REACH, Part, Problems, Reached
from srsg.kernels.sweep import Outcome, new_outcome
from srsg.neighbors import Targets, neighbor_graph
from srsg.points import BLOCK_SIZE, Points, blocks_of_rows
from srsg.progress import Stage
from srsg.solvers.part_tasks import (
    Candidates,
    FindReached,
    MakeProblems,
    PartTask,
    Residuals,
    SolvePart,
    the_problems,
)
from srsg.types import FloatArray, IntArray

BYTES_A_PART = 2**26
"""Most bytes of rows that a part's problems are made from, at so many coordinates a point: """
COORDINATES = 16
"""Coordinates of a point's problem, as a guess for the size of parts."""

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
        most = max(1, BYTES_A_PART // (8 * points.n_features * COORDINATES))
        fair_share = -(-points.n // (2 * engine.n_workers))
        return cls(
            points,
            neighbors,
            settings,
            engine.quiet(),
            rows_from_csr(init_codes, spare=16),
            new_outcome(points.n),
            blocks_of_rows(points.n, min(fair_share, most)),
            _first_candidates(init_codes, neighbors),
        )

    def fits(self) -> FloatArray:
        """``||x_i - X z_i||^2`` of every code; makes the problems."""
        self._hold()
        return np.concatenate(self.held.reports)

    def _hold(self) -> None:
        blocks = [
            Candidates(
                Targets(rows, None),
                *_ragged([self.candidates[row] for row in rows]),
                _rows_of(self.codes, rows),
            )
            for rows in self.parts
        ]
        self.held = self.engine.hold(MakeProblems(), self.points, blocks, label="small problems")
        self.more.clear()

    def sweep(self, stage: Stage) -> None:
        """Solve all points once."""
        before = Codes(*(array.copy() for array in self.codes))
        known, self.reached = self.reached, {}
        if known:  # who needed a look at all points will need it again
            self._look(before, {row: floor for row, (floor, _, _) in known.items()})
        if len(self.more) > self.points.n // 8:
            self._hold()
        part_of = np.repeat(np.arange(len(self.parts)), [len(rows) for rows in self.parts])
        todo = np.ones(self.points.n, bool)
        left = self.points.n
        while todo.any():
            moved, wanted, floors = self._solve(before, todo)
            # A point is solved again when a neighbour that comes before it, in another part, has
            # changed; those in its own part have been seen to.
            there = moved[self.neighbors]
            earlier = self.neighbors < np.arange(len(todo))[:, None]
            elsewhere = part_of[self.neighbors] != part_of[:, None]
            todo = (there & earlier & elsewhere).any(axis=1)
            todo[wanted] = True
            todo[list(floors)] = True
            stage.advance(max(0, left - int(todo.sum())))
            left = min(left, int(todo.sum()))
            self._look(before, {row: _ahead(floor) for row, floor in floors.items()})
            self._supply(before, wanted)

    def _solve(
        self, before: Codes, todo: NDArray[np.bool_]
    ) -> tuple[NDArray[np.bool_], IntArray, dict[int, float]]:
        """Solve what is to do; tells who has another support than thought, whose problem is too
        small, and who has to know points in reach."""
        tasks = {
            place: self._task(rows, before, todo[rows])
            for place, rows in enumerate(self.parts)
            if todo[rows].any()
        }
        results = self.engine.map_held(
            SolvePart(self.settings), self.held, tasks, self.points, label="parts"
        )
        moved = np.zeros(self.points.n, bool)
        wanted: list[IntArray] = []
        floors: dict[int, float] = {}
        for place, result in results.items():
            rows, state = self.parts[place], result.state
            solved = np.flatnonzero(state.status == SOLVED)
            width = result.codes.index.shape[1]
            if width > self.codes.index.shape[1]:
                self.codes = resized(self.codes, width)
            self.codes.index[rows[solved], :width] = result.codes.index[solved]
            self.codes.value[rows[solved], :width] = result.codes.value[solved]
            self.codes.size[rows[solved]] = result.codes.size[solved]
            for whole, some in zip(self.outcome, result.outcome, strict=True):
                whole[rows[solved]] = some[solved]
            moved[rows] = state.moved
            wanted.append(rows[state.status == WANTS_PROBLEM])
            for p in np.flatnonzero(state.status == WANTS_REACH):
                floors[int(rows[p])] = float(state.floor[p])
        return moved, np.concatenate(wanted), floors

    def _task(self, rows: IntArray, before: Codes, todo: NDArray[np.bool_]) -> PartTask:
        """A part with all it has to know of its neighbours."""
        seen = np.union1d(rows, self.neighbors[rows])
        width = max(
            int(before.size[seen].max()),
            int(self.codes.size[seen].max()),
            max(len(self.candidates[row]) for row in rows),
        )
        old, new = _rows_of(before, seen), _rows_of(self.codes, seen)
        first = int(np.searchsorted(seen, rows[0]))
        part = Part(
            rows,
            first,
            np.searchsorted(seen, self.neighbors[rows]),
            resized(old, width),
            resized(new, width),
            todo,
        )
        slots, more = self._more_of(rows)
        return PartTask(part, more, slots, self._reached_of(rows))

    def _more_of(self, rows: IntArray) -> tuple[IntArray, Problems]:
        """The larger problems of a part, and which point has which."""
        owners = [row for row in rows.tolist() if row in self.more]
        slots = np.full(len(rows), -1)
        slots[np.searchsorted(rows, owners)] = np.arange(len(owners))
        return slots, _joined([self.more[row] for row in owners])

    def _reached_of(self, rows: IntArray) -> Reached:
        nothing = (np.inf, np.empty(0, np.int64), np.empty(0))
        known = [self.reached.get(row, nothing) for row in rows.tolist()]
        starts, index = _ragged([index for _, index, _ in known])
        strength = np.concatenate([strength for _, _, strength in known])
        return Reached(np.array([floor for floor, _, _ in known]), starts, index, strength)

    def _look(self, before: Codes, floors: dict[int, float]) -> None:
        """Find the points in reach of some residuals."""
        if not floors:
            return
        rows = np.array(sorted(floors))
        floor = np.array([floors[row] for row in rows.tolist()])
        blocks = [
            Residuals(Targets(rows[at], None), _rows_of(before, rows[at]), floor[at])
            for at in blocks_of_rows(
                len(rows), self.engine.rows_a_block(self.points, len(rows), BLOCK_SIZE)
            )
        ]
        found = self.engine.go_round(
            FindReached(BLOCK_SIZE), self.points, blocks, label="points in reach"
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
            Candidates(Targets(some, None), *_ragged([self.candidates[row] for row in some]))
            for some in np.split(rows, range(len(self.parts[0]), len(rows), len(self.parts[0])))
        ]
        held = self.engine.hold(MakeProblems(), self.points, blocks, label="small problems")
        whole = self.engine.map_held(
            the_problems, held, dict.fromkeys(range(len(blocks))), self.points, label="problems"
        )
        for place, block in enumerate(blocks):
            for row, problem in zip(block.targets.own.tolist(), _single(whole[place]), strict=True):
                self.more[row] = problem

    def _wider(self, row: int, before: Codes) -> IntArray:
        """The coordinates that a point's problem has, and those that it asks for now."""
        supports = [
            codes.index[j, : codes.size[j]]
            for j in self.neighbors[row]
            for codes in ((self.codes if j < row else before),)
        ]
        used, votes = np.unique(np.concatenate(supports), return_counts=True)
        majority = used[2 * votes >= self.neighbors.shape[1]]
        reached = self.reached.get(row, (0.0, majority, None))[1]
        wider = np.unique(np.concatenate([self.candidates[row], majority, reached]))
        return wider[wider != row]


def _ahead(floor: float) -> float:
    return REACH_AHEAD * floor if floor > 0 else floor


def _first_candidates(codes: sparse.csr_array, neighbors: IntArray) -> list[IntArray]:
    """The support of every point, and what nearly half of its neighbours use."""
    used = sparse.csr_array(
        (np.ones(codes.nnz, np.int32), codes.indices, codes.indptr), shape=codes.shape
    )
    votes = sparse.csr_array(neighbor_graph(neighbors).astype(np.int32) @ used)
    votes.data = (2 * votes.data >= neighbors.shape[1] - 2).astype(np.int32)
    votes.eliminate_zeros()
    both = sparse.csr_array(used + votes)
    both.setdiag(0)
    both.eliminate_zeros()
    both.sort_indices()
    index = both.indices.astype(np.int64)
    return np.split(index, both.indptr[1:-1])


def _rows_of(codes: Codes, rows: IntArray) -> Codes:
    return Codes(*(array[rows] for array in codes))


def _ragged(rows: list[IntArray]) -> tuple[IntArray, IntArray]:
    """Where each row starts, and all of them one after the other."""
    starts = np.concatenate(([0], np.cumsum([len(row) for row in rows]))).astype(np.int64)
    return starts, np.concatenate([*rows, np.empty(0, np.int64)])


def _joined(problems: list[Problems]) -> Problems:
    """Problems of single points, one after the other."""
    starts, index = _ragged([each.index for each in problems])
    sizes = np.diff(starts)
    nothing = np.empty(0)
    return Problems(
        starts,
        index,
        np.concatenate([nothing, *(each.b for each in problems)]),
        np.cumsum(sizes**2) - sizes**2,
        np.concatenate([nothing, *(each.gram for each in problems)]),
        np.concatenate([nothing, *(each.power for each in problems)]),
    )


def _single(problems: Problems) -> list[Problems]:
    """The problems of each point alone."""
    found = []
    for p in range(len(problems.power)):
        cut = slice(problems.starts[p], problems.starts[p + 1])
        size = cut.stop - cut.start
        place = problems.places[p]
        found.append(
            Problems(
                np.array([0, size]),
                problems.index[cut],
                problems.b[cut],
                np.zeros(1, np.int64),
                problems.gram[place : place + size**2],
                problems.power[p : p + 1],
            )
        )
    return found
