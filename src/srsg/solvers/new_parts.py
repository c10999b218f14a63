"""Codes of new points over fitted ones that lie in shards: one step of a sweep by parts."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from srsg.engines import Engine
from srsg.engines.progress import Stage
from srsg.kernels.codes import Codes
from srsg.kernels.fpgd_sp import Settings
from srsg.kernels.parts import Part
from srsg.kernels.sweep import new_outcome
from srsg.points import Points, Queries, distinct
from srsg.solvers.part_tasks import PartTask
from srsg.solvers.parts import PartSweeps, first_candidates, in_parts, places_of
from srsg.types import IntArray


@dataclass
class NewParts(PartSweeps):
    """The same for new points, whose neighbours are fitted ones with codes that stay."""

    fitted: Codes = field(kw_only=True)
    new: NDArray[np.floating] = field(kw_only=True)

    @classmethod
    def of(
        cls,
        points: Points,
        fitted: sparse.csr_array,
        queries: Points,
        init_codes: sparse.csr_array,
        neighbors: IntArray,
        settings: Settings,
        engine: Engine,
    ) -> NewParts:
        return cls(
            points,
            neighbors,
            settings,
            engine.quiet(),
            Codes.from_csr(init_codes, spare=16),
            new_outcome(queries.n),
            in_parts(points, queries.n, engine),
            first_candidates(init_codes, neighbors, fitted),
            fitted=Codes.from_csr(fitted),
            new=np.ascontiguousarray(queries.x, dtype=points.dtype),
        )

    def solve(self, stage: Stage) -> sparse.csr_array:
        """The codes of the new points."""
        self._hold()
        self.sweep(stage)
        return self.codes.to_csr(self.points.n)

    @cached_property
    def _links(self) -> tuple[IntArray, IntArray, NDArray[np.bool_]]:
        none = np.empty(0, np.int64)  # neighbours are none of the new points
        return none, none, none.astype(bool)

    def _targets(self, rows: IntArray) -> Queries:
        return Queries(np.full(len(rows), -1), self.new[rows])

    def _task(
        self, rows: IntArray, held: IntArray, before: Codes, todo: NDArray[np.bool_]
    ) -> PartTask:
        seen = distinct(self.neighbors[rows])
        width = max(self.fitted.index.shape[1], before.index.shape[1], self.codes.index.shape[1])
        neighbors = self.fitted.take(seen).resized(width)

        def below(codes: Codes) -> Codes:
            own = codes.take(rows).resized(width)
            return Codes.concatenate([neighbors, own]).resized(width)

        own = len(seen) + np.arange(len(rows))
        part = Part(
            np.full(len(rows), -1),
            own,
            places_of(own, len(seen) + len(rows)),
            np.searchsorted(seen, self.neighbors[rows]),
            below(before),
            below(self.codes),
            todo,
            held,
        )
        return self._with_problems(rows, part)

    def _voted(self, row: int, before: Codes) -> IntArray:
        each = self.neighbors[row]
        return np.concatenate([self.fitted.index[j, : self.fitted.size[j]] for j in each])
