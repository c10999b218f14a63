"""Blocks on the workers of a Dask cluster, which hold the points in shards.

A shard never leaves its owner: the tasks that read it are bound to that worker. What travels
between workers are the rows that a block asks for, the block itself, and what shards answer.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from copy import copy
from typing import Any

import numpy as np

from srsg.distributed.errors import needed_dask
from srsg.distributed.shards import ArrayChunk, Chunk, Placement, Report, Shard, ShardedPoints
from srsg.distributed.work import Work, living_workers
from srsg.engine import Block, Result, Round, serial_linear_algebra
from srsg.points import Points, Rows
from srsg.progress import SILENT, Progress
from srsg.types import IntArray

PRODUCT_A_TASK = 1e10
"""Multiplications and additions of a look at a shard: a fraction of a second."""

BYTES_A_BLOCK = 2**24
"""Most bytes of the residuals of a block."""

BYTES_A_SHARD = 2**27
"""Most bytes of a shard of an array that the client sends."""


class DaskEngine:
    """Blocks on the workers of a Dask cluster.

    Parameters
    ----------
    client : distributed.Client
        The connection to the cluster.
    progress : Progress
        Told of every block that is done.
    """

    def __init__(self, client: Any, progress: Progress = SILENT) -> None:
        needed_dask()
        self.client, self.progress = client, progress

    @property
    def n_workers(self) -> int:
        return sum(living_workers(self.client).values())

    def share(self, data: Any) -> Any:
        return data

    def map(
        self,
        task: Callable[[Any, Block], Result],
        data: Any,
        blocks: Sequence[Block],
        *,
        label: str,
    ) -> list[Result]:
        shared: list[Any] = []

        def submit(block: Block) -> list[Any]:
            if not shared or shared[-1].status != "finished":  # lost with all who had it
                shared.append(self.client.scatter(data, broadcast=True, hash=False))
            return [self.client.submit(_apply, task, shared[-1], block, pure=False)]

        work = Work(self.client, submit, lambda workers, under_way: [], label)
        return work.results(blocks, self.progress)

    def go_round(
        self,
        task: Round[Block, Any, Any, Result],
        points: Points,
        blocks: Sequence[Block],
        *,
        label: str,
        done: Callable[[Result], None] | None = None,
    ) -> list[Result]:
        assert isinstance(points, ShardedPoints)
        shards = points.shards

        def submit(block: Block) -> list[Any]:
            return self._submit(task, points, block)

        def lost(workers: dict[str, int], under_way: list[int]) -> list[int]:
            missing = shards.missing(workers)
            if not missing:
                return []
            self._make(shards, missing, "lost points again")
            return under_way  # all of them look at every shard

        return Work(self.client, submit, lost, label).results(blocks, self.progress, done)

    def _submit(self, task: Any, points: ShardedPoints, block: Any) -> list[Any]:
        """All tasks of a block; the last is its result."""
        submit, shards = self.client.submit, points.shards
        index = task.rows(block)
        bounds = np.searchsorted(index, points.starts)
        owned = list(zip(shards.futures, shards.owners, points.starts.tolist(), strict=False))
        rows = [
            submit(_take, shard, index[start:end] - first, workers=[owner], pure=False)
            for (shard, owner, first), start, end in zip(owned, bounds, bounds[1:], strict=False)
            if end > start
        ]
        nothing = np.empty((0, points.n_features), points.dtype)
        begun = submit(_begin, task, block, index, nothing, *rows, pure=False)
        seen = [
            submit(_look, task, shard, first, begun, workers=[owner], pure=False)
            for shard, owner, first in owned
        ]
        return [*rows, begun, *seen, submit(_end, task, begun, *seen, pure=False)]

    def rows_a_block(self, points: Points, n_rows: int, block_size: int) -> int:
        assert isinstance(points, ShardedPoints)
        shard = int(np.diff(points.starts).max())
        by_work = PRODUCT_A_TASK / (2 * shard * points.n_features)
        by_memory = BYTES_A_BLOCK / (8 * points.n_features)
        fair_share = -(-n_rows // (2 * self.n_workers))
        return max(1, min(fair_share, max(block_size, int(min(by_work, by_memory)))))

    def points(self, x: Any) -> Points:
        if isinstance(x, ShardedPoints):
            return x
        fair_share = -(-len(x) // self.n_workers)
        rows = max(1, min(fair_share, BYTES_A_SHARD // (8 * x.shape[1])))
        chunks = [ArrayChunk(x[start : start + rows]) for start in range(0, len(x), rows)]
        return self.placed(chunks, prepared=True)[0]

    def placed(
        self, chunks: Sequence[Chunk], *, prepared: bool
    ) -> tuple[ShardedPoints, list[Report]]:
        """Points of these chunks, on the workers, and what is to be said of the chunks."""
        shards = Placement(self.client, chunks, prepared=prepared)
        reports = self._make(shards, list(range(len(chunks))), "points to the workers")
        starts = np.concatenate(([0], np.cumsum([report.shape[0] for report in reports])))
        return (
            ShardedPoints(
                shards=shards,
                starts=starts,
                width=reports[0].shape[-1],
                kind=reports[0].dtype,
            ),
            reports,
        )

    def quiet(self) -> DaskEngine:
        same = copy(self)
        same.progress = SILENT
        return same

    def _make(self, shards: Placement, places: list[int], label: str) -> list[Report]:
        """Have workers make these shards, and note who owns what."""
        for place in places:
            shards.owners[place] = ""

        def submit(place: int) -> list[Any]:
            return [shards.submit(place, living_workers(self.client))]

        def lost(workers: dict[str, int], under_way: list[int]) -> list[int]:
            return [each for each in under_way if shards.owners[places[each]] not in workers]

        reports = Work(self.client, submit, lost, label).results(places, self.progress)
        shards.settle()
        return reports


def _apply(task: Callable[[Any, Any], Any], data: Any, block: Any) -> Any:
    with serial_linear_algebra():
        return task(data, block)


def _take(shard: Shard, places: IntArray) -> Any:
    assert shard.points is not None
    return shard.points.x[places]


def _begin(task: Any, block: Any, index: IntArray, nothing: Any, *rows: Any) -> Any:
    with serial_linear_algebra():
        return task.begin(Rows(np.concatenate([nothing, *rows]), index), block)


def _look(task: Any, shard: Shard, first: int, begun: Any) -> Any:
    with serial_linear_algebra():
        return task.look(shard.starting_at(first), begun)


def _end(task: Any, begun: Any, *seen: Any) -> Any:
    with serial_linear_algebra():
        return task.end(begun, seen)
