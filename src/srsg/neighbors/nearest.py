"""The K nearest neighbours of every point: the paper's graph S."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from srsg.engines import Engine, ThreadEngine
from srsg.kernels.correlations import ScanBounds, SortedLists, nearest
from srsg.points import Points, Queries, Rows
from srsg.types import IntArray


def nearest_neighbors(
    points: Points,
    n_neighbors: int,
    *,
    queries: Points | None = None,
    engine: Engine | None = None,
) -> IntArray:
    """The nearest other points by Euclidean distance, nearest first, ties by index.

    With ``queries``, the nearest points of each of these instead.

    Examples
    --------
    >>> from srsg.neighbors import nearest_neighbors
    >>> from srsg.points import unit_points
    >>> nearest_neighbors(unit_points([[1.0, 0.0], [1.0, 0.1], [0.0, 1.0]]), 1)
    array([[1],
           [0],
           [1]])
    """
    engine = engine or ThreadEngine()
    wanted = Queries.of(points, queries)
    blocks = wanted.blocks(engine.rows_per_block(points, len(wanted)))
    task = _Search(n_neighbors, engine.block_size)
    return np.concatenate(engine.scan(task, points, blocks, label="nearest neighbours"))


@dataclass(frozen=True)
class _Search:
    """A scan of all points: the nearest points of each shard, then the nearest of those."""

    n_neighbors: int
    block_size: int

    def rows(self, block: Queries) -> IntArray:
        return block.needed()

    def start(self, rows: Rows, block: Queries) -> Queries:
        return Queries(block.own, block.vectors(rows))

    def scan_shard(self, shard: Points, started: Queries) -> SortedLists:
        assert started.new is not None
        found = SortedLists.empty(len(started), self.n_neighbors)
        bounds = ScanBounds(shard.first, 0.0, shard.correlation_error)
        for rows, correlations in shard.correlations_in_parts(started.new, self.block_size):
            x, own = started.new[rows], started.own[rows]
            nearest(shard.x, x, own, correlations, bounds, found.take(rows))
        return found

    def finish(self, started: Queries, found: Sequence[SortedLists]) -> IntArray:
        return SortedLists.best_of(found, self.n_neighbors).index
