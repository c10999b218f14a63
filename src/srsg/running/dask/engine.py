"""Blocks on the workers of a Dask cluster, which hold the points in shards.

A shard never leaves its owner: the tasks that read it are bound to that worker. What travels
between workers are the rows that a block needs, the block itself, and what is found in shards.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from copy import copy
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from scipy import sparse

from srsg.points import (
    BLOCK_SIZE,
    Points,
    Rows,
    row_digests,
    row_slices,
    stored,
)
from srsg.running import Block, Result, ShardScan, serial_linear_algebra
from srsg.running.dask.shards import (
    ArrayChunk,
    Chunk,
    Placement,
    Shard,
    ShardedPoints,
    array_chunks,
    check_reports,
    send,
)
from srsg.running.dask.task_pool import (
    Lost,
    TaskPool,
    living_workers,
    memory_limit,
    pieces_under_way,
)
from srsg.running.progress import SILENT, Progress
from srsg.running.store import NO_STORE, Store, combine_digests
from srsg.types import IntArray

PRODUCTS_PER_TASK = 5e9
"""Multiplications in one worker's scan of its points: they take a fraction of a second."""

BYTES_PER_BLOCK = 2**26
"""The most bytes of rows that a block starts with."""

SHARE_UNDER_WAY = 1 / 12
"""The fraction of a worker's memory for the rows of all unfinished blocks: every worker gets every
block."""

BYTES_PER_SHARD = 2**27
"""The most bytes in a shard of an array that the client sends."""


class DaskEngine:
    """Runs blocks on the workers of a Dask cluster.

    Parameters
    ----------
    client : distributed.Client
        The connection to the cluster.
    progress : Progress
        Told about every block that is done.
    store : Store
        Where algorithms keep the work done so far.
    """

    def __init__(
        self,
        client: Any,
        progress: Progress = SILENT,
        store: Store = NO_STORE,
    ) -> None:
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
        shared: list[Any] = []

        def submit(block: Block) -> list[Any]:
            if not shared or shared[-1].status != "finished":  # lost with all workers that had it
                shared.append(send(self.client, data, broadcast=True))
            return [self.client.submit(_apply, task, shared[-1], block, pure=False)]

        pool = TaskPool(self.client, submit, lambda workers, under_way: [], label)
        return pool.results(blocks, self.progress)

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
        these results as soon as they have been used.
        """
        submit, index = self.client.submit, task.rows(block)
        bounds = np.searchsorted(index, points.starts)
        rows = [
            submit(_take, shard, index[start:end] - first, workers=[owner], pure=False)
            for (shard, owner, first), start, end in zip(
                points.owned(), bounds, bounds[1:], strict=False
            )
            if end > start
        ]
        nothing = np.empty((0, points.n_features), points.dtype)
        return submit(_start, task, block, index, nothing, *rows, pure=False)

    def _submit_finish(self, task: Any, points: ShardedPoints, started: Any) -> Any:
        """Scan every shard, in one task for each owner, and finish a block."""
        submit = self.client.submit
        places = points.places_of_owners()
        found = [
            submit(
                _scan_shard,
                task,
                started,
                points.starts[mine],
                *(points.shards.futures[place] for place in mine),
                workers=[owner],
                pure=False,
            )
            for owner, mine in places.items()
        ]
        order = np.argsort(np.concatenate(list(places.values())))
        return submit(_finish, task, started, order, *found, pure=False)

    def _lost_shards(self, points: ShardedPoints) -> Lost:
        """For work of which every piece needs every shard: makes lost shards again."""

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
            return self.place(array_chunks(x, self.client, prepared=True))
        fair_share = -(-len(x) // self.n_workers)
        rows = max(1, min(fair_share, BYTES_PER_SHARD // (8 * x.shape[1])))
        starts = range(0, len(x), rows)
        placed = self.place([ArrayChunk(x[at : at + rows], prepared=True) for at in starts])
        return replace(placed, here=Points(x))

    def gathered(self, points: Points) -> Points:
        """The points in this process, in a file that is deleted together with them.

        They come in parts, one after the other, so they may be more than this process has memory
        for.
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

    def place(self, chunks: Sequence[Chunk], *, name: str = "X") -> ShardedPoints:
        """Have the workers turn these chunks into shards, and return them as points.

        Raises
        ------
        ValueError
            If values are not finite; ``name`` goes into the message.
        """
        shards = Placement(self.client, chunks)
        self._make(shards, list(range(len(chunks))), "points to the workers")
        reports = shards.reports
        check_reports(reports, name)
        starts = np.concatenate(([0], np.cumsum([report.shape[0] for report in reports])))
        first = reports[0]
        return ShardedPoints(shards=shards, starts=starts, width=first.shape[1], kind=first.dtype)

    def fingerprint(self, points: Points) -> str:
        return combine_digests([self.row_digests(points)])

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
        """What ``task`` makes of a shard and the index of its first point, for all or some."""

        def submit(place: int) -> list[Any]:
            shards = points.shards
            owner, first = shards.owners[place], int(points.starts[place])
            shard = shards.futures[place]
            return [self.client.submit(task, shard, first, workers=[owner], pure=False)]

        every = range(len(points.starts) - 1)
        pool = TaskPool(self.client, submit, self._lost_shards(points), label)
        return pool.results(every if places is None else places, SILENT)

    def quiet(self) -> DaskEngine:
        same = copy(self)
        same.progress, same.store = SILENT, NO_STORE
        return same

    def _make(self, shards: Placement, places: list[int], label: str) -> None:
        """Have workers make the shards at some places."""
        for place in places:
            shards.owners[place] = ""

        def submit(place: int) -> list[Any]:
            return shards.submit(place, living_workers(self.client))

        def lost(workers: dict[str, int], under_way: list[int]) -> list[int]:
            return [each for each in under_way if shards.owners[places[each]] not in workers]

        reports = TaskPool(self.client, submit, lost, label).results(places, self.progress)
        for place, report in zip(places, reports, strict=True):
            shards.reports[place] = report
        shards.settle()


def _row_digests(shard: Shard, first: int) -> bytes:
    return row_digests(shard.starting_at(first))


def _some(shard: Shard, first: int, rows: slice) -> Any:
    return shard.starting_at(first).x[rows]


def _apply(task: Callable[[Any, Any], Any], data: Any, block: Any) -> Any:
    with serial_linear_algebra():
        return task(data, block)


def _take(shard: Shard, places: IntArray) -> Any:
    assert shard.points is not None
    return shard.points.x[places]


def _start(task: Any, block: Any, index: IntArray, nothing: Any, *rows: Any) -> Any:
    with serial_linear_algebra():
        return task.start(Rows(np.concatenate([nothing, *rows]), index), block)


def _scan_shard(task: Any, started: Any, starts: IntArray, *shards: Shard) -> list[Any]:
    with serial_linear_algebra():
        return [
            task.scan_shard(shard.starting_at(int(first)), started)
            for shard, first in zip(shards, starts, strict=True)
        ]


def _finish(task: Any, started: Any, order: IntArray, *found: list[Any]) -> Any:
    """``order`` gives, for every shard, its place among the results of all owners."""
    all_found = [each for of_owner in found for each in of_owner]
    with serial_linear_algebra():
        return task.finish(started, [all_found[place] for place in order])
