"""Small problems and points in reach, requested from the workers that hold the points in shards.

The client holds all codes and solves the problem (7) of every point. All it has to know about a
point are the inner products of the few points that its code may use. Workers send these once.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from scipy import sparse

from srsg.coding.l1 import locality_order
from srsg.kernels.active import PointsInReach, points_in_reach
from srsg.kernels.codes import Codes, fits_of, residuals
from srsg.kernels.sweep import (
    A_PROBLEM,
    POINTS_IN_REACH,
    KeptProblems,
    KnownInputs,
    SweepPass,
    make_problems,
    packed_length,
)
from srsg.points import Points, Queries, Rows, blocks_of_rows, kernel_rows, row_slices
from srsg.running import Engine
from srsg.running.sizes import Sized
from srsg.types import FloatArray, IntArray

BYTES_PER_BLOCK = 2**26
"""The most bytes of rows that a block of problems may need, by the estimate below."""

COORDINATES = 16
"""Estimated number of coordinates of a point that no other point of its block has, too."""

LEAST_PER_BLOCK = 64
"""The fewest problems that are worth a block of their own."""

FLOOR_MARGIN = 0.9
"""Points are looked for down to a somewhat lower correlation than was asked for, so that the next
question is likely to be answered, too."""


@dataclass(frozen=True)
class ProblemBlock(Sized):
    """Points whose small problems are wanted, and the coordinates of each problem."""

    targets: Queries
    starts: IntArray
    index: IntArray
    codes: Codes | None
    """Their codes, if the fit of the codes is wanted, too."""


@dataclass(frozen=True)
class MadeProblems(Sized):
    """Packed problems, one after another, and the fit of the codes if it was wanted."""

    numbers: FloatArray
    fits: FloatArray | None


class MakeProblems:
    """Make small problems from the rows that they need."""

    def rows(self, block: ProblemBlock) -> IntArray:
        return block.targets.needed(block.index)

    def start(self, rows: Rows, block: ProblemBlock) -> MadeProblems:
        # Problems name points by index, but only some rows are here: kernels get their places.
        points, targets = rows.for_kernels, kernel_rows(block.targets.vectors(rows))
        ends = np.cumsum(packed_length(np.diff(block.starts)))
        numbers = np.empty(int(ends[-1]))
        places = rows.places(block.index)
        make_problems(points, targets, block.starts, places, _starts(ends), numbers)
        if block.codes is None:
            return MadeProblems(numbers, None)
        codes = block.codes._replace(index=rows.places(block.codes.index))
        return MadeProblems(numbers, fits_of(points, targets, codes, rows.x.shape[1]))


@dataclass(frozen=True)
class ResidualBlock(Sized):
    """Codes whose residuals are compared with all points, down to a floor."""

    targets: Queries
    codes: Codes
    floor: FloatArray


@dataclass(frozen=True)
class FindPointsInReach:
    """A scan of all points for those whose correlation with a residual is at least a floor."""

    block_size: int

    def rows(self, block: ResidualBlock) -> IntArray:
        return block.targets.needed(block.codes.index[block.codes.used])

    def start(self, rows: Rows, block: ResidualBlock) -> tuple[FloatArray, FloatArray]:
        targets = block.targets.vectors(rows)
        resid = np.empty(targets.shape)
        places = block.codes._replace(index=rows.places(block.codes.index))
        residuals(rows.for_kernels, kernel_rows(targets), places, resid)
        return resid, block.floor

    def scan_shard(
        self, shard: Points, started: tuple[FloatArray, FloatArray]
    ) -> list[PointsInReach]:
        resid, floor = started
        return [
            points_in_reach(
                shard.for_kernels,
                shard.first,
                resid[rows],
                shard.correlations(resid[rows]),
                shard.correlation_error,
                floor[rows],
            )
            for rows in row_slices(len(floor), self.block_size)
        ]

    def finish(
        self, started: tuple[FloatArray, FloatArray], found: Sequence[list[PointsInReach]]
    ) -> list[tuple[IntArray, FloatArray]]:
        """The points that each residual reaches, in rising order, and their correlations."""
        reached: list[tuple[IntArray, FloatArray]] = []
        for parts in zip(*found, strict=True):  # the same rows in all shards
            for p in range(len(parts[0].floor)):
                # Shards hold consecutive points, so their lists one after another are sorted.
                cuts = [(part, slice(part.starts[p], part.starts[p + 1])) for part in parts]
                index = np.concatenate([part.index[cut] for part, cut in cuts])
                strength = np.concatenate([part.strength[cut] for part, cut in cuts])
                reached.append((index, strength))
        return reached


@dataclass
class RemoteProblems:
    """The small problems of points in shards, as far as workers have made them.

    Parameters
    ----------
    points : Points
        The points, on workers.
    targets : Queries
        What is coded: points, or new ones.
    graph : csr_array of shape (n_targets, n)
        Ones at the neighbours of each.
    engine : Engine
        Where the workers are.
    """

    points: Points
    targets: Queries
    graph: sparse.csr_array
    engine: Engine
    kept: KeptProblems = field(init=False)
    reached: dict[int, tuple[float, IntArray, FloatArray]] = field(default_factory=dict)
    """For some rows: the correlation down to which points were looked for, and what was found."""

    def __post_init__(self) -> None:
        self.kept = KeptProblems.empty(self.graph.shape[0], room=0)

    @property
    def known(self) -> KnownInputs:
        """Everything that the sweeps have to know about the points."""
        return KnownInputs(self.kept, self._reached_by_row())

    def make_first(self, starts: IntArray, index: IntArray, codes: Codes) -> FloatArray:
        """Make the problem of every row on likely coordinates; returns the fit of the codes."""
        n_rows = self.graph.shape[0]
        fits = np.empty(n_rows)
        # Points that are close share most of their coordinates, so such blocks need fewer rows.
        nearest = Codes.from_csr(self.graph)
        order = locality_order(self.targets.own, nearest, self.points.n, self.engine.block_size)
        rows = [(row, index[starts[row] : starts[row + 1]]) for row in order.tolist()]
        self._make(dict(rows), codes, fits)
        return fits

    def answer(self, this_pass: SweepPass, before: Codes) -> bool:
        """Get what a pass needs from the workers; returns False if it needs nothing."""
        for_reach = np.flatnonzero(this_pass.needs == POINTS_IN_REACH)
        floors = {row: float(this_pass.floor[row]) for row in for_reach.tolist()}
        self._find_reached({row: _lower(floor) for row, floor in floors.items()}, before)
        # A problem that is made again keeps the coordinates it had: they are likely to be needed
        # again.
        wanted = {}
        for row in np.flatnonzero(this_pass.needs == A_PROBLEM).tolist():
            start = self.kept.active_at[row]
            had = self.kept.active[start : start + max(0, self.kept.size[row])]
            wanted[row] = np.union1d(had, this_pass.asked[row, : this_pass.n_asked[row]])
        self._make(wanted)
        return bool(floors or wanted)

    def start_sweep(self, before: Codes) -> None:
        """Find the points in reach again, where they were needed in the last sweep.

        Residuals have changed since then, so the old lists are wrong; but those rows are likely to
        need theirs again, and asking for all of them at once saves passes.
        """
        floors = {row: floor for row, (floor, _, _) in self.reached.items()}
        self.reached = {}
        self._find_reached(floors, before)

    def _make(
        self,
        wanted: dict[int, IntArray],
        codes: Codes | None = None,
        fits: FloatArray | None = None,
    ) -> None:
        """Let workers make the problems of some rows, each on the given coordinates."""
        if not wanted:
            return
        rows = np.fromiter(wanted, np.int64)
        parts = self._parts(len(rows))
        blocks = []
        for part in parts:
            index = [wanted[row] for row in rows[part].tolist()]
            starts = np.cumsum([0, *map(len, index)])
            some = None if codes is None else codes.take(rows[part])
            targets = self.targets[rows[part]]
            blocks.append(ProblemBlock(targets, starts, np.concatenate(index), some))
        made = self.engine.map_rows(MakeProblems(), self.points, blocks, label="small problems")
        for part, each in zip(parts, made, strict=True):
            if fits is not None:
                fits[rows[part]] = each.fits
        sizes = np.array([len(index) for index in wanted.values()])
        self._keep(rows, sizes, [block.index for block in blocks], [each.numbers for each in made])

    def _parts(self, n_rows: int) -> list[IntArray]:
        """The rows in parts: small enough for the workers' memory, and enough of them to keep all
        workers busy."""
        most = max(1, BYTES_PER_BLOCK // (8 * self.points.n_features * COORDINATES))
        # Two parts per worker, rounded up: if one is slower, another can take the rest.
        fair = max(LEAST_PER_BLOCK, -(-n_rows // (2 * self.engine.n_workers)))
        return blocks_of_rows(n_rows, min(fair, most))

    def _keep(
        self, rows: IntArray, sizes: IntArray, index: list[IntArray], numbers: list[FloatArray]
    ) -> None:
        """Append problems to those that are kept. The few that they replace stay, unused."""
        # A problem that is made again is larger than the one it replaces, so it cannot take its
        # place.
        kept = self.kept
        kept.size[rows] = sizes
        kept.active_at[rows] = len(kept.active) + _starts(np.cumsum(sizes))
        kept.numbers_at[rows] = len(kept.numbers) + _starts(np.cumsum(packed_length(sizes)))
        self.kept = kept._replace(
            active=np.concatenate([kept.active, *index]),
            numbers=np.concatenate([kept.numbers, *numbers]),
        )

    def _find_reached(self, floors: dict[int, float], codes: Codes) -> None:
        """Find the points in reach of the residuals of some codes."""
        if not floors:
            return
        # Sorted, so that the blocks do not depend on the order in which rows asked.
        rows = np.array(sorted(floors))
        floor = np.array([floors[row] for row in rows.tolist()])
        size = self.engine.rows_per_block(self.points, len(rows))
        blocks = [
            ResidualBlock(self.targets[rows[part]], codes.take(rows[part]), floor[part])
            for part in blocks_of_rows(len(rows), size)
        ]
        found = self.engine.scan(
            FindPointsInReach(self.engine.block_size), self.points, blocks, label="points in reach"
        )
        lists = [each for block in found for each in block]
        for row, (index, strength) in zip(rows.tolist(), lists, strict=True):
            self.reached[row] = (floors[row], index, strength)

    def _reached_by_row(self) -> PointsInReach:
        """The lists of all rows in flat arrays, as the kernel takes them."""
        # Rows without a list have the floor infinity: nothing is known about them. The empty arrays
        # are for the case that no row has one, since nothing cannot be concatenated.
        floor = np.full(self.graph.shape[0], np.inf)
        sizes = np.zeros(len(floor) + 1, np.int64)
        rows = sorted(self.reached)
        for row in rows:
            floor[row] = self.reached[row][0]
            sizes[row + 1] = len(self.reached[row][1])
        index = [np.empty(0, np.int64), *(self.reached[row][1] for row in rows)]
        strength = [np.empty(0), *(self.reached[row][2] for row in rows)]
        return PointsInReach(
            floor, np.cumsum(sizes), np.concatenate(index), np.concatenate(strength)
        )


def likely_coordinates(
    codes: sparse.csr_array, graph: sparse.csr_array, voters: sparse.csr_array | None = None
) -> tuple[IntArray, IntArray]:
    """The support of every row, and what nearly half of its neighbours use, as CSR parts.

    The neighbours are rows of the codes themselves or, for new points, of the ``voters``.
    """
    own, used = _ones(codes), _ones(codes if voters is None else voters)
    votes = sparse.csr_array(graph.astype(np.int32) @ used)
    # A coordinate is free if half of the neighbours use it. Those that would be free with one more
    # neighbour are included, because they may become free before the sweeps end.
    voters_of = np.repeat(np.diff(graph.indptr), np.diff(votes.indptr))
    votes.data = (2 * votes.data >= voters_of - 2).astype(np.int32)
    both = sparse.csr_array(own + votes)
    both.sort_indices()
    row = np.repeat(np.arange(both.shape[0]), np.diff(both.indptr))
    likely = both.data > 0
    # No point codes itself; a new point is not among the points.
    if voters is None:
        likely &= both.indices != row
    sizes = np.bincount(row[likely], minlength=both.shape[0])
    return np.cumsum([0, *sizes]), both.indices[likely].astype(np.int64)


def _ones(codes: sparse.csr_array) -> sparse.csr_array:
    """Ones at the support: sums of them are counts."""
    ones = np.ones(codes.nnz, np.int32)
    return sparse.csr_array((ones, codes.indices, codes.indptr), shape=codes.shape)


def _starts(ends: IntArray) -> IntArray:
    """Where pieces begin, given where they end."""
    return np.concatenate(([0], ends[:-1]))


def _lower(floor: float) -> float:
    # At a floor of zero or less, all points are in reach already.
    return FLOOR_MARGIN * floor if floor > 0 else floor
