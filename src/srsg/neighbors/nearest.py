"""The K nearest neighbours of every point: the paper's graph S."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from srsg.engines import Engine, ThreadEngine
from srsg.kernels.correlations import Found, Scan, merge, nearest
from srsg.points import Points, Queries, Rows, blocks_of_rows, distinct, row_slices
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
    searched = Queries.of(points, queries)
    rows = blocks_of_rows(len(searched), engine.rows_a_block(points, len(searched)))
    blocks = [Targets(searched[part].own, searched[part].new) for part in rows]
    task = _Search(n_neighbors, engine.block_size)
    return np.concatenate(engine.scan(task, points, blocks, label="nearest neighbours"))


class Targets(NamedTuple):
    """Unit vectors that are compared with all points: points themselves or, with -1, new ones."""

    own: IntArray
    new: NDArray[np.floating] | None

    def vectors(self, rows: Rows) -> NDArray[np.floating]:
        return rows.x[rows.places(self.own)] if self.new is None else self.new

    def needed(self, *others: IntArray) -> IntArray:
        """The points among them, and others, in rising order."""
        return distinct(self.own[self.own >= 0], *others)


@dataclass(frozen=True)
class _Search:
    """A scan of all points: the nearest ones of each shard, then the nearest of all."""

    n_neighbors: int
    block_size: int

    def rows(self, block: Targets) -> IntArray:
        return block.needed()

    def start(self, rows: Rows, block: Targets) -> Targets:
        return Targets(block.own, block.vectors(rows))

    def scan_shard(self, shard: Points, started: Targets) -> Found:
        assert started.new is not None
        room = shard.room(min(self.block_size, len(started.own)))
        parts = []
        for rows in row_slices(len(started.own), self.block_size):
            x = started.new[rows]
            correlations = shard.correlations(x, room)
            parts.append(nearest_in(shard, x, started.own[rows], correlations, self.n_neighbors))
        return joined(parts)

    def finish(self, started: Targets, found: Sequence[Found]) -> IntArray:
        return best_of(found, self.n_neighbors).index


def nearest_in(
    shard: Points,
    targets: NDArray[np.floating],
    own: IntArray,
    correlations: NDArray[np.float32],
    n_neighbors: int,
) -> Found:
    """The nearest points in one shard, of targets whose correlations with it are known."""
    found = empty_lists(len(own), n_neighbors)
    if n_neighbors:
        scan = Scan(shard.first, 0.0, shard.correlation_error)
        nearest(shard.x, targets, own, correlations, scan, found)
    return found


def empty_lists(n_rows: int, width: int) -> Found:
    index = np.zeros((n_rows, width), np.int64)
    return Found(index, np.full(index.shape, np.inf), np.zeros(n_rows, np.int64))


def joined(parts: Sequence[Found]) -> Found:
    """The lists of several blocks, one below the other."""
    return Found(*map(np.concatenate, zip(*parts, strict=True)))


def best_of(seen: Sequence[Found], width: int) -> Found:
    """What was found in different shards, put together."""
    if len(seen) == 1:
        return seen[0]
    found = empty_lists(len(seen[0].size), width)
    merge(Found(*map(np.stack, zip(*seen, strict=True))), found)
    return found
