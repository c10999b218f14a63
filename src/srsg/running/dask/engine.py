"""Blocks on the workers of a Dask cluster, which hold the points in shards.

A shard never leaves its owner: the tasks that read it are bound to that worker. Only the rows that
a block needs, the block itself and the results of its shards travel between workers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from itertools import chain
from typing import Any

import numpy as np
from scipy import sparse

from srsg.points import BLOCK_SIZE, Points, Rows, row_digests, row_slices, stored
from srsg.running import Block, Engine, Result, ShardScan, ThreadEngine, serial_linear_algebra
from srsg.running.dask.shards import (
    MakeShard,
    Placement,
    Shard,
    ShardedPoints,
    check_reports,
    chunks_of_array,
    sent_shard,
)
from srsg.running.dask.task_pool import (
    Lost,
    TaskPool,
    living_workers,
    memory_limit,
    pieces_under_way,
)
from srsg.running.progress import NO_STORE, SILENT, Progress, Store
from srsg.types import IntArray

PRODUCTS_PER_TASK = 5e9
"""Multiplications in one worker's scan of its points: a fraction of a second."""

BYTES_PER_BLOCK = 2**26
"""The most bytes of rows at the start of a block."""

SHARE_UNDER_WAY = 1 / 12
"""The share of a worker's memory for the rows of all unfinished blocks: every worker gets every
block."""

BYTES_PER_SHARD = 2**27
"""The most bytes in a shard of an array that the client sends."""


class DaskEngine(Engine):
    """Runs blocks on the workers of a Dask cluster.

    Parameters
    ----------
    client : distributed.Client
        The connection to the cluster.
    progress : Progress
        Shows every finished block.
    store : Store
        Keeps finished work.
    """

    def __init__(self, client: Any, progress: Progress = SILENT, store: Store = NO_STORE) -> None:
        self.client, self.progress, self.store = client, progress, store
        self.block_size, self.spare_memory = BLOCK_SIZE, 0.0

    @property
    def n_workers(self) -> int:
        return sum(living_workers(self.client).values())

    def map(
        self,
        task: Callable[[Any, Block], Result],
        data: Any,
        blocks: Sequence[Block],
        *,
        label: str,
    ) -> list[Result]:
        # Work on points in this process: only scans are worth sending to workers.
        return ThreadEngine(progress=self.progress).map(task, data, blocks, label=label)

    def scan(
        self,
        task: ShardScan[Block, Any, Any, Result],
        points: Points,
        blocks: Sequence[Block],
        *,
        label: str,
        done: Callable[[Result], None] | None = None,
    ) -> list[Result]:
        assert isinstance(points, ShardedPoints)

        def submit(block: Block) -> list[Any]:
            started = self._submit_start(task, points, block)
            return [self._submit_finish(task, points, started)]

        pool = TaskPool(self.client, submit, self._lost_shards(points), label)
        return pool.results(blocks, self.progress, done)

    def _submit_start(self, task: Any, points: ShardedPoints, block: Any) -> Any:
        """Fetch the rows that a block needs and start it.

        Here and below, the futures of intermediate results are not kept, so that workers forget
        these results after use.
        """
        submit, index = self.client.submit, task.rows(block)
        bounds = np.searchsorted(index, points.starts)
        rows = [
            submit(_take, shard, index[start:end] - first, workers=[owner], pure=False)
            for shard, owner, first, start, end in zip(
                *(points.shards.futures, points.shards.owners, points.starts[:-1]),
                *(bounds[:-1], bounds[1:]),
                strict=True,
            )
            if end > start
        ]
        nothing = np.empty((0, points.n_features), points.dtype)
        return submit(_start, task, block, index, nothing, *rows, pure=False)

    def _submit_finish(self, task: Any, points: ShardedPoints, started: Any) -> Any:
        """Scan every shard, in one task for each owner, and finish a block."""
        submit = self.client.submit
        places = points.places_of_owners()
        scanned = []
        for owner, mine in places.items():
            shards = [points.shards.futures[place] for place in mine]
            facts = task, started, points.starts[mine], *shards
            scanned.append(submit(_scan_shards, *facts, workers=[owner], pure=False))
        order = np.argsort(np.concatenate(list(places.values())))
        return submit(_finish, task, started, order, *scanned, pure=False)

    def _lost_shards(self, points: ShardedPoints) -> Lost:
        """Restores lost shards, for work of which every piece needs every shard."""

        def lost(workers: dict[str, int], under_way: list[int]) -> list[int]:
            missing = points.shards.missing(workers)
            if not missing:
                return []
            self.quiet()._make(points.shards, missing, "lost points again")
            return under_way

        return lost

    def rows_per_block(
        self, points: Points, n_rows: int, rows_each: Callable[[], float] | None = None
    ) -> int:
        assert isinstance(points, ShardedPoints)
        # Large enough that a scan outweighs the cost of a task, small enough for the workers'
        # memory, and enough blocks to keep all workers busy.
        by_work = PRODUCTS_PER_TASK / (points.largest_part * points.n_features)
        under_way = pieces_under_way(living_workers(self.client))
        most = min(BYTES_PER_BLOCK, SHARE_UNDER_WAY * memory_limit(self.client) / under_way)
        needed = 1.0 if rows_each is None else max(1.0, rows_each())
        by_memory = most / (8 * points.n_features * needed)
        fair_share = max(self.block_size // 4, -(-n_rows // (2 * self.n_workers)))
        return max(1, int(min(fair_share, max(self.block_size, by_work), by_memory)))

    def points(self, x: Any) -> Points:
        if isinstance(x, ShardedPoints):
            return x
        if sparse.issparse(x):
            raise TypeError(
                "The points are sparse, but workers of a cluster hold dense points only: set "
                'engine="threads", or make X dense.'
            )
        if not isinstance(x, np.ndarray):
            return self.place(chunks_of_array(x, self.client, prepared=True))
        fair_share = -(-len(x) // self.n_workers)
        rows = max(1, min(fair_share, BYTES_PER_SHARD // (8 * x.shape[1])))
        placed = self.place([partial(sent_shard, x[part]) for part in row_slices(len(x), rows)])
        return replace(placed, here=Points(x))

    def gathered(self, points: Points) -> Points:
        """The points in this process, in a temporary file.

        They arrive in parts, so they may exceed the memory of this process.
        """
        assert isinstance(points, ShardedPoints)
        if points.here is not None:
            return points.here
        return Points(stored(self._parts(points), points.shape, points.dtype.type))

    def _parts(self, points: ShardedPoints) -> Iterator[Any]:
        """The points, a part of a shard at a time."""
        most = max(1, BYTES_PER_BLOCK // (points.dtype.itemsize * points.n_features))
        sizes = np.diff(points.starts).tolist()
        parts = [(place, rows) for place, n in enumerate(sizes) for rows in row_slices(n, most)]
        label = "points from the workers"
        with self.progress.stage(label, len(parts)) as stage:
            for place, rows in parts:
                yield from self._of_shards(points, partial(_some, rows=rows), label, [place])
                stage.advance()

    def place(self, chunks: Sequence[MakeShard], *, name: str = "X") -> ShardedPoints:
        """Have the workers turn chunks into shards: points.

        Raises
        ------
        ValueError
            If values are not finite; ``name`` goes into the message.
        """
        shards = Placement(self.client, chunks)
        self._make(shards, list(range(len(chunks))), "points to the workers")
        check_reports(shards.reports, name)
        return ShardedPoints(shards=shards)

    def row_digests(self, points: Points) -> bytes:
        if not isinstance(points, ShardedPoints):  # an array of the client, not sent yet
            return row_digests(points)
        return b"".join(self._of_shards(points, _row_digests, "fingerprint"))

    def _of_shards(
        self,
        points: ShardedPoints,
        task: Callable[[Shard, int], Any],
        label: str,
        places: Sequence[int] | None = None,
    ) -> list[Any]:
        """``task(shard, index of its first point)`` for all shards, or those at some places."""

        def submit(place: int) -> list[Any]:
            shard, owner = points.shards.futures[place], points.shards.owners[place]
            first = int(points.starts[place])
            return [self.client.submit(task, shard, first, workers=[owner], pure=False)]

        pool = TaskPool(self.client, submit, self._lost_shards(points), label)
        return pool.results(range(len(points.starts) - 1) if places is None else places, SILENT)

    def _make(self, shards: Placement, places: list[int], label: str) -> None:
        """Have workers make the shards at some places."""
        for place in places:
            shards.owners[place] = ""

        def submit(place: int) -> list[Any]:
            return shards.submit(place, living_workers(self.client))

        def lost(workers: dict[str, int], under_way: list[int]) -> list[int]:
            return [piece for piece in under_way if shards.owners[places[piece]] not in workers]

        reports = TaskPool(self.client, submit, lost, label).results(places, self.progress)
        for place, report in zip(places, reports, strict=True):
            shards.reports[place] = report
        shards.settle()


def _row_digests(shard: Shard, first: int) -> bytes:
    return row_digests(shard.starting_at(first))


def _some(shard: Shard, first: int, rows: slice) -> Any:
    return shard.starting_at(first).x[rows]


def _take(shard: Shard, places: IntArray) -> Any:
    assert shard.points is not None
    return shard.points.x[places]


def _start(task: Any, block: Any, index: IntArray, nothing: Any, *rows: Any) -> Any:
    with serial_linear_algebra():
        return task.start(Rows(np.concatenate([nothing, *rows]), index), block)


def _scan_shards(task: Any, started: Any, starts: IntArray, *shards: Shard) -> list[Any]:
    with serial_linear_algebra():
        return [
            task.scan_shard(shard.starting_at(int(first)), started)
            for shard, first in zip(shards, starts, strict=True)
        ]


def _finish(task: Any, started: Any, order: IntArray, *scanned: list[Any]) -> Any:
    """``order`` has the place of every shard among the results of all owners."""
    seen = list(chain.from_iterable(scanned))
    with serial_linear_algebra():
        return task.finish(started, [seen[place] for place in order])
