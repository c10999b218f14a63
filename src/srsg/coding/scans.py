"""One scan of the l1 codes: code a block over its working sets, then look for violators."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Self

import numpy as np
from numpy.typing import NDArray

from srsg.kernels.codes import Codes, renewed
from srsg.kernels.correlations import ScanBounds, SortedLists, nearest, violators
from srsg.kernels.lasso import Certificate, InsideTerms, Penalty, certify, solve_working_sets
from srsg.points import Points, Queries, Rows, kernel_rows
from srsg.running.checking import Rule, require
from srsg.running.sizes import Sized
from srsg.types import FloatArray, IntArray

FEWEST_JOINING, MOST_JOINING, POINTS_PER_JOINING = 16, 48, 600
"""How many violators may join a working set after a scan; half its size, if that is more. If more
could join, the larger Gram matrices would cost more than the scans they save. The more points
there are, the more a scan costs, while a Gram matrix costs the same: so it is one for so many
points, within limits. Measured on MNIST with 10,000 and with 70,000 points."""


UNIT_ERROR = 0.01
"""How far from 1 the squared length of a point may be, and more."""


@dataclass(frozen=True)
class WorkingSets(Sized):
    """Unfinished codes: every query with the few points it is coded over.

    Query ``rows[p]`` is coded over the points in row p of ``codes``, in order of joining.
    """

    rows: IntArray
    codes: Codes
    penalty: Penalty

    @classmethod
    def empty(cls, half_lam: FloatArray, ridge: FloatArray) -> Self:
        """Empty working sets for all queries."""
        n_rows = len(half_lam)
        return cls(np.arange(n_rows), Codes.empty(n_rows), Penalty(half_lam, ridge))

    @classmethod
    def concatenate(cls, parts: Sequence[Self]) -> Self:
        """The working sets of several blocks, one below the other."""
        # One part is the usual case for small data: nothing is copied.
        if len(parts) == 1:
            return parts[0]
        rows = np.concatenate([part.rows for part in parts])
        penalties = zip(*(part.penalty for part in parts), strict=True)
        codes = Codes.concatenate([part.codes for part in parts])
        return cls(rows, codes, Penalty(*map(np.concatenate, penalties)))

    def __len__(self) -> int:
        return len(self.rows)

    def __getitem__(self, chosen: slice | NDArray) -> Self:
        codes, penalty = self.codes, self.penalty
        return replace(
            self,
            rows=self.rows[chosen],
            codes=Codes(codes.index[chosen], codes.value[chosen], codes.size[chosen]),
            penalty=Penalty(penalty.half_lam[chosen], penalty.ridge[chosen]),
        )

    def without(self, rows: Sequence[IntArray]) -> Self:
        """The working sets of all rows but these."""
        return self[~np.isin(self.rows, np.concatenate(rows))]

    def arrays(self, prefix: str) -> dict[str, NDArray]:
        """What a store keeps of them, by names that start with ``prefix``."""
        arrays = {"rows": self.rows, **self.codes._asdict()}
        return {prefix + name: array for name, array in arrays.items()}

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, NDArray], prefix: str, penalty: Penalty) -> Self:
        """The same, made of these arrays and the penalties of all queries."""
        codes = Codes(*(arrays[prefix + name] for name in Codes._fields))
        rows = arrays[prefix + "rows"]
        return cls(rows, codes, Penalty(penalty.half_lam[rows], penalty.ridge[rows]))


@dataclass(frozen=True)
class ScanBlock(Sized):
    """Some of the queries, with their working sets."""

    queries: Queries
    sets: WorkingSets

    @classmethod
    def all_of(cls, queries: Queries, sets: WorkingSets, block_size: int) -> list[Self]:
        """The working sets in blocks, each with its queries."""
        parts = [sets[start : start + block_size] for start in range(0, len(sets), block_size)]
        return [cls(queries[part.rows], part) for part in parts]


@dataclass(frozen=True)
class _SolvedBlock(Sized):
    """A block whose codes are optimal over their working sets, but perhaps not over all points."""

    own: IntArray
    sets: WorkingSets
    resid: FloatArray
    inside: InsideTerms


@dataclass(frozen=True)
class _ShardView(Sized):
    """What a scan of one shard tells a block.

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
        """What a store keeps of it."""
        return {
            "rows": self.rows,
            "neighbors": self.neighbors,
            **self.going_on.arrays("going_on_"),
            **self.done.arrays("done_"),
            **self.certificate._asdict(),
        }

    @classmethod
    def from_arrays(
        cls, arrays: Mapping[str, NDArray], penalty: Penalty, own: IntArray, active: IntArray
    ) -> Self:
        """The same, made of these arrays and of the penalties and indices of all queries.

        Raises
        ------
        InvalidArrayError
            If its rows are not among the active ones, or a working set is none that a scan leaves.
        """
        going_on = WorkingSets.from_arrays(arrays, "going_on_", penalty)
        done = WorkingSets.from_arrays(arrays, "done_", penalty)
        rows = np.sort(np.concatenate([going_on.rows, done.rows]))
        good = np.isin(rows, active).all() and np.diff(rows).all()
        require(good, "rows", "are done already, or come twice")
        same = np.array_equal(rows, np.sort(arrays["rows"]))
        require(same, "rows", "are not those of the codes")
        nearest = np.sort(arrays["neighbors"])
        itself = (nearest == own[arrays["rows"]][:, None]).any()
        require(not itself and np.diff(nearest).all(), "neighbors", "has a point twice or itself")
        for sets in (going_on, done):
            used, index = sets.codes.used, sets.codes.index
            itself = used & (index == own[sets.rows][:, None])
            require(not itself.any(), "index", "has a point that codes itself")
            keys = np.arange(len(sets))[:, None] * (index.max(initial=0) + 1) + index
            require(len(np.unique(keys[used])) == used.sum(), "index", "has a point twice")
            # The objective is at most that of an empty code, 1, so lam |z| is at most 1.
            weights = 2 * sets.penalty.half_lam[:, None] * np.abs(sets.codes.value)
            require(weights.max(initial=0) < 1 + UNIT_ERROR, "value", "is too large for a code")
        certificate = Certificate(arrays["violation"], arrays["gap"])
        return cls(arrays["rows"], arrays["neighbors"], going_on, done, certificate)


def _rules_of_sets(prefix: str, rows: str, width: str) -> dict[str, Rule]:
    return {
        f"{prefix}rows": Rule("int", (rows,), least=0, below="queries"),
        f"{prefix}index": Rule("int", (rows, width), least=0, below="points"),
        f"{prefix}value": Rule("float", (rows, width)),
        f"{prefix}size": Rule("int", (rows,), least=0, most=width),
    }


KEPT_SCAN: dict[str, Rule] = {
    "rows": Rule("int", ("rows",), least=0, below="queries"),
    "neighbors": Rule("int", ("rows", "neighbors"), least=0, below="points"),
    **_rules_of_sets("going_on_", "going on", "their width"),
    **_rules_of_sets("done_", "done", "width"),
    "violation": Rule("float", ("done",), least=0),
    "gap": Rule("float", ("done",), least=0),
}
"""Rules for the arrays of a :class:`Scanned` that are read from a store."""


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
    n_points : int
        Number of points in all shards.
    last : bool
        Whether all queries are done after this scan, even those with violators.
    """

    tol: float
    n_neighbors: int
    block_size: int
    n_points: int
    last: bool = False

    def rows(self, block: ScanBlock) -> IntArray:
        """The points that :meth:`start` needs: the queries themselves and their working sets."""
        codes = block.sets.codes
        return block.queries.needed(codes.index[codes.used])

    def start(self, rows: Rows, block: ScanBlock) -> _SolvedBlock:
        """Code the block over its working sets: small problems, without a look at other points."""
        # A copy, because the kernel overwrites the codes and a task must not change its input: it
        # may be run again on another worker. Only some rows of the points are here, so the kernel
        # gets their places instead of the points' indices.
        codes, penalty = block.sets.codes.trimmed(), block.sets.penalty
        vectors, places = block.queries.vectors(rows), rows.places(codes.index)
        resid, inside = np.empty(vectors.shape), InsideTerms.empty(len(codes.size))
        kernel_input = (rows.for_kernels, kernel_rows(vectors), codes._replace(index=places))
        solve_working_sets(*kernel_input, penalty, resid, inside)
        return _SolvedBlock(block.queries.own, replace(block.sets, codes=codes), resid, inside)

    def scan_shard(self, shard: Points, started: _SolvedBlock) -> _ShardView:
        """Compare the residuals with all points of a shard."""
        sets, most = started.sets, self._joining_limits(started.sets)
        neighbors = SortedLists.empty(len(most), self.n_neighbors)
        worst = SortedLists.empty(len(most), int(most.max()))
        outside = np.empty(len(most))
        # A part at a time: the correlations of all queries with all points might not fit in memory.
        for part, correlations, left_out in shard.correlations_in_parts(
            started.resid, self.block_size
        ):
            bounds = ScanBounds(shard.first, self.tol, shard.correlation_error, left_out)
            own, resid = started.own[part], started.resid[part]
            if self.n_neighbors:
                # In the first scan working sets are empty: the residuals are the points themselves.
                # This comes first, because `violators` overwrites the correlations.
                nearest(shard.for_kernels, resid, own, correlations, bounds, neighbors.take(part))
            violators(
                shard.for_kernels,
                own,
                resid,
                correlations,
                sets.codes.take(part),
                sets.penalty.half_lam[part],
                bounds,
                most[part],
                worst.take(part),
                outside[part],
            )
        return _ShardView(neighbors, worst, outside)

    def finish(self, started: _SolvedBlock, found: Sequence[_ShardView]) -> Scanned:
        """Put together what the shards found, and let the worst violators join."""
        # The worst of all shards are among the worst of each, so these lists are enough.
        sets, most = started.sets, self._joining_limits(started.sets)
        near, violating = [view.neighbors for view in found], [view.violators for view in found]
        outside = np.max([view.outside for view in found], axis=0)
        neighbors = SortedLists.best_of(near, self.n_neighbors).index
        worst = SortedLists.best_of(violating, int(most.max()))
        certificate = Certificate.empty(len(most))
        certify(started.inside, sets.penalty.half_lam, outside, certificate)
        joining = np.zeros_like(most) if self.last else np.minimum(worst.size, most)
        sets = replace(sets, codes=renewed(sets.codes, worst.index, joining))
        # No violator in any shard means that the code is optimal over all points, not only over its
        # working set.
        ended = joining == 0
        final = Certificate(*(part[ended] for part in certificate))
        return Scanned(sets.rows, neighbors, sets[~ended], sets[ended], final)

    def _joining_limits(self, sets: WorkingSets) -> IntArray:
        """How many points may join each working set."""
        by_points = min(int(self.n_points / POINTS_PER_JOINING), MOST_JOINING)
        # A set may also grow by half, so large ones need few scans.
        return np.maximum(max(FEWEST_JOINING, by_points), sets.codes.size // 2)
