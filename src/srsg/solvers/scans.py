"""One scan of the l1 codes: code a block over its working sets, then look for violators."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray

from srsg.engines.sizes import Sized
from srsg.kernels.codes import drop_zeros, keep_supports
from srsg.kernels.correlations import ScanBounds, SortedLists, violators
from srsg.kernels.lasso import Certificate, InsideTerms, certify, solve_working_sets
from srsg.neighbors import nearest_in
from srsg.points import Points, Queries, Rows, row_slices
from srsg.solvers.working_sets import WorkingSets
from srsg.types import FloatArray, IntArray

LEAST_TAKEN = 16
"""How many violators may join a working set after a scan; half its size, if that is more. If more
could join, the Gram matrices would cost more than the scans that are saved."""


@dataclass(frozen=True)
class ScanBlock(Sized):
    """Some of the queries, with their working sets."""

    queries: Queries
    sets: WorkingSets


@dataclass(frozen=True)
class _SolvedBlock(Sized):
    """A block whose codes are optimal over their working sets, and what is known about them."""

    own: IntArray
    sets: WorkingSets
    resid: FloatArray
    inside: InsideTerms


@dataclass(frozen=True)
class _ShardView(Sized):
    """What a block has to know about the points of a shard.

    The nearest neighbours of its queries in the shard, the violators of its codes, and the largest
    correlation of each residual with a point outside the working set.
    """

    neighbors: SortedLists
    violators: SortedLists
    outside: FloatArray


@dataclass(frozen=True)
class Scanned(Sized):
    """A block after a scan: queries that need another scan, and those that are done, certified."""

    rows: IntArray
    neighbors: IntArray
    going_on: WorkingSets
    done: WorkingSets
    certificate: Certificate

    def arrays(self) -> dict[str, NDArray]:
        """Everything in it, as arrays by name."""
        return {
            "rows": self.rows,
            "neighbors": self.neighbors,
            **{f"going_on_{name}": array for name, array in self.going_on.arrays().items()},
            **{f"done_{name}": array for name, array in self.done.arrays().items()},
            **self.certificate._asdict(),
        }

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, NDArray]) -> Self:
        return cls(
            arrays["rows"],
            arrays["neighbors"],
            WorkingSets.from_arrays(arrays, "going_on_"),
            WorkingSets.from_arrays(arrays, "done_"),
            Certificate(arrays["violation"], arrays["gap"]),
        )


@dataclass(frozen=True)
class L1Scan:
    """Code a block over its working sets, scan all points for violators, and let these in.

    Parameters
    ----------
    tol : float
        A point violates the conditions if its correlation exceeds ``lam / 2`` by more than this.
    n_neighbors : int
        How many nearest neighbours to find; only the first scan can do that, when working sets
        are empty.
    block_size : int
        Queries that are compared with a shard at once.
    last : bool
        Whether all queries are done after this scan, violators or not.
    """

    tol: float
    n_neighbors: int
    block_size: int
    last: bool = False

    def rows(self, block: ScanBlock) -> IntArray:
        return block.queries.needed(block.sets.members())

    def start(self, rows: Rows, block: ScanBlock) -> _SolvedBlock:
        # A copy, because the kernel overwrites the codes and a task must not change its input.
        # Only some rows are here, so the kernel gets their places instead of the points' indices.
        sets, vectors = block.sets.copy(), block.queries.vectors(rows)
        places = sets.codes._replace(index=rows.places(sets.codes.index))
        resid, inside = np.empty(vectors.shape), InsideTerms.empty(len(sets))
        solve_working_sets(rows.x, vectors, places, sets.penalty, resid, inside)
        return _SolvedBlock(block.queries.own, sets, resid, inside)

    def scan_shard(self, shard: Points, started: _SolvedBlock) -> _ShardView:
        # One matrix of correlations serves all parts in turn: it is the largest array of a scan.
        room = shard.room(min(self.block_size, len(started.sets)))
        parts = row_slices(len(started.sets), self.block_size)
        views = [self._view(shard, started, rows, room) for rows in parts]
        return _ShardView(
            SortedLists.concatenate([view.neighbors for view in views]),
            SortedLists.concatenate([view.violators for view in views]),
            np.concatenate([view.outside for view in views]),
        )

    def _view(
        self, shard: Points, started: _SolvedBlock, rows: slice, room: NDArray[np.float32]
    ) -> _ShardView:
        own, resid, sets = started.own[rows], started.resid[rows], started.sets[rows]
        correlations = shard.correlations(resid, room)
        # Working sets are empty at first, and the residuals are the points themselves.
        neighbors = nearest_in(shard, resid, own, correlations, self.n_neighbors)
        worst = SortedLists.empty(len(own), int(_most_taken(started.sets).max()))
        outside = np.empty(len(own))
        violators(
            shard.x,
            own,
            resid,
            correlations,
            sets.codes,
            sets.penalty.half_lam,
            ScanBounds(shard.first, self.tol, shard.correlation_error),
            _most_taken(sets),
            worst,
            outside,
        )
        return _ShardView(neighbors, worst, outside)

    def finish(self, started: _SolvedBlock, found: Sequence[_ShardView]) -> Scanned:
        most = _most_taken(started.sets)
        worst = SortedLists.best_of([view.violators for view in found], int(most.max()))
        sets = started.sets.copy()
        # What the code does not use would only make the next problem larger. It may come back,
        # but the objective falls from scan to scan, so this ends.
        drop_zeros(sets.codes)
        # No violator in any shard: the code is optimal over all points, not only over its set.
        ended = (worst.size == 0) | self.last
        going_on = sets.with_members(worst.index, np.minimum(worst.size, most))[~ended]
        done = sets[ended]
        keep_supports(done.codes)
        inside = InsideTerms(*(part[ended] for part in started.inside))
        outside = np.max([view.outside for view in found], axis=0)[ended]
        certificate = Certificate.empty(len(done))
        certify(inside, done.penalty.half_lam, outside, certificate)
        neighbors = SortedLists.best_of([view.neighbors for view in found], self.n_neighbors)
        return Scanned(sets.rows, neighbors.index, going_on, done, certificate)


def _most_taken(sets: WorkingSets) -> IntArray:
    return np.maximum(LEAST_TAKEN, sets.codes.size // 2)
