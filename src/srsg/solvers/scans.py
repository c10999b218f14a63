"""One scan of the l1 codes: blocks solved over their working sets go round all points."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray

from srsg.engines.sizes import Sized
from srsg.kernels.correlations import Found, Scan, violators
from srsg.kernels.lasso import (
    Certificate,
    Inside,
    certify,
    keep_members,
    keep_supports,
    solve_working_sets,
)
from srsg.neighbors import Targets, best_of, empty_lists, joined, nearest_in
from srsg.points import Points, Queries, Rows, row_slices
from srsg.solvers.working_sets import WorkingSets
from srsg.types import FloatArray, IntArray

LEAST_TAKEN = 16
"""Violators that join a working set after a scan, or half as many as it has if that is more:
a larger number would make the Gram matrices dearer than the scans it saves."""


@dataclass(frozen=True)
class ScanBlock(Sized):
    """Some of what is coded, with its working sets."""

    targets: Targets
    sets: WorkingSets

    @classmethod
    def of(cls, queries: Queries, sets: WorkingSets) -> Self:
        some = queries[sets.rows]
        return cls(Targets(some.own, some.new), sets)


@dataclass(frozen=True)
class _Coded(Sized):
    """A block whose codes are optimal over their working sets, and what is known of them."""

    own: IntArray
    sets: WorkingSets
    resid: FloatArray
    inside: Inside


@dataclass(frozen=True)
class _Seen(Sized):
    """What a block has to know of the points of a shard."""

    neighbors: Found
    violators: Found
    outside: FloatArray


@dataclass(frozen=True)
class Scanned(Sized):
    """A block after a scan: the points that go on, and those that are done, certified."""

    rows: IntArray
    neighbors: IntArray
    going_on: WorkingSets
    done: WorkingSets
    certificate: Certificate

    def arrays(self) -> dict[str, NDArray]:
        """All of it by name."""
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
class ScanRound:
    """The way of a block round all points: code it over its working sets, look for violators."""

    tol: float
    n_neighbors: int
    block_size: int

    def rows(self, block: ScanBlock) -> IntArray:
        return block.targets.needed(block.sets.members())

    def start(self, rows: Rows, block: ScanBlock) -> _Coded:
        sets, targets = block.sets.with_room(0), block.targets.vectors(rows)
        places = sets.codes._replace(index=rows.places(sets.codes.index))
        resid = np.empty(targets.shape)
        inside = Inside(*(np.empty(len(sets)) for _ in Inside._fields))
        solve_working_sets(rows.x, targets, places, sets.penalty, resid, inside)
        return _Coded(block.targets.own, sets, resid, inside)

    def scan_shard(self, shard: Points, started: _Coded) -> _Seen:
        room = shard.room(min(self.block_size, len(started.sets)))
        parts = row_slices(len(started.sets), self.block_size)
        seen = [self._look(shard, started, rows, room) for rows in parts]
        neighbors, violators, outside = zip(*seen, strict=True)
        return _Seen(joined(neighbors), joined(violators), np.concatenate(outside))

    def _look(
        self, shard: Points, started: _Coded, rows: slice, room: NDArray[np.float32]
    ) -> tuple[Found, Found, FloatArray]:
        own, resid, sets = started.own[rows], started.resid[rows], started.sets[rows]
        correlations = shard.correlations(resid, room)
        # Working sets are empty at first, and the residuals the points themselves.
        neighbors = nearest_in(shard, resid, own, correlations, self.n_neighbors)
        most = _most_taken(sets)
        found = empty_lists(len(own), int(_most_taken(started.sets).max()))
        outside = np.empty(len(own))
        scan = Scan(shard.first, self.tol, shard.correlation_error)
        half_lam = sets.penalty.half_lam
        violators(
            shard.x, own, resid, correlations, sets.codes, half_lam, scan, most, found, outside
        )
        return neighbors, found, outside

    def finish(self, started: _Coded, found: Sequence[_Seen]) -> Scanned:
        most = _most_taken(started.sets)
        worst = best_of([each.violators for each in found], int(most.max()))
        sets = started.sets.with_room(0)
        # What the code does not use would only make the next problem larger. It may come back:
        # the objective falls from scan to scan, so that this ends.
        keep_members(sets.codes, sets.penalty)
        grown = sets.with_members(worst.index, np.minimum(worst.size, most))
        ended = worst.size == 0
        done, half_lam = sets[ended], sets.penalty.half_lam[ended]
        keep_supports(done.codes, done.penalty.pull)
        outside = np.max([each.outside for each in found], axis=0)[ended]
        certificate = Certificate(np.empty(len(done)), np.empty(len(done)))
        certify(Inside(*(part[ended] for part in started.inside)), half_lam, outside, certificate)
        neighbors = best_of([each.neighbors for each in found], self.n_neighbors)
        return Scanned(sets.rows, neighbors.index, grown[~ended], done, certificate)


def _most_taken(sets: WorkingSets) -> IntArray:
    return np.maximum(LEAST_TAKEN, sets.codes.size // 2)
