"""The K nearest neighbours of every point, and the graph S that they make."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from srsg.kernels.arrays import Codes, LeftOut, ScanBounds, SortedLists
from srsg.kernels.correlations import merge, nearest
from srsg.kernels.ridge import keep_largest
from srsg.points import (
    Points,
    Queries,
    Rows,
    dense_rows,
    row_slices,
)
from srsg.running import Engine, ThreadEngine
from srsg.types import Direction, FloatArray, IntArray


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
    >>> from srsg.coding.neighbors import nearest_neighbors
    >>> from srsg.points import unit_points
    >>> nearest_neighbors(unit_points([[1.0, 0.0], [1.0, 0.1], [0.0, 1.0]]), 1)
    array([[1],
           [0],
           [1]])
    """
    return nearest_lists(points, n_neighbors, queries=queries, engine=engine).index


def nearest_lists(
    points: Points,
    n_neighbors: int,
    *,
    queries: Points | None = None,
    engine: Engine | None = None,
) -> SortedLists:
    """The points of :func:`nearest_neighbors`, with their squared distances as keys.

    Examples
    --------
    >>> from srsg.coding.neighbors import nearest_lists
    >>> from srsg.points import unit_points
    >>> nearest_lists(unit_points([[1.0, 0.0], [0.6, 0.8], [0.0, 1.0]]), 1).key.round(2)
    array([[0.8],
           [0.4],
           [0.4]])
    """
    engine = engine or ThreadEngine()
    wanted = Queries.of(points, queries)
    task = _Search(n_neighbors, engine.block_size)
    label = "nearest neighbours"
    return in_rows(engine.scan(task, points, wanted, len(wanted), label=label))


def most_correlated(
    points: Points,
    count: int,
    *,
    queries: Points | None = None,
    engine: Engine | None = None,
) -> sparse.csr_array:
    """Inner products of every point with the others of the largest absolute correlation.

    With ``queries``, of each of these with the points.

    Examples
    --------
    >>> from srsg.coding.neighbors import most_correlated
    >>> from srsg.points import unit_points
    >>> most_correlated(unit_points([[1.0, 0.0], [-3.0, 4.0], [0.0, 1.0]]), 1).toarray()
    array([[ 0. , -0.6,  0. ],
           [ 0. ,  0. ,  0.8],
           [ 0. ,  0.8,  0. ]])
    """
    engine = engine or ThreadEngine()
    wanted = Queries.of(points, queries)
    task = LargestProducts(count, engine.block_size)
    label = "largest correlations"
    found = engine.scan(task, points, wanted, len(wanted), label=label)
    return Codes.concatenate([codes for codes, _ in found]).to_csr(points.n)


@dataclass(frozen=True)
class LargestProducts:
    """A scan of all points: the largest of their inner products with a vector of each query.

    Products of any sign, by magnitude, ties by index. The vectors are the queries themselves, and
    :meth:`vectors` of a subclass makes others, with something to return beside the products.
    """

    count: int
    block_size: int

    def rows(self, block: Queries) -> IntArray:
        return block.needed()

    def start(self, rows: Rows, block: Queries) -> tuple[Queries, Any]:
        targets = dense_rows(block.vectors(rows)).astype(np.float64, copy=False)
        vectors, beside = self.vectors(block.own, targets)
        return Queries(block.own, vectors), beside

    def vectors(self, own: IntArray, targets: FloatArray) -> tuple[FloatArray, Any]:
        return targets, None

    def scan_shard(self, shard: Points, started: tuple[Queries, Any]) -> Codes:
        queries, found = started[0], []
        assert queries.new is not None
        # A part at a time: the correlations of all queries with all points might not fit in memory.
        room = np.empty((min(self.block_size, len(queries)), shard.n), np.float32)
        for rows in row_slices(len(queries), self.block_size):
            vectors, own = queries.new[rows], queries.own[rows] - shard.first
            products, error = shard.correlations(vectors, room), shard.correlation_error
            largest = keep_largest(shard.for_kernels, own, vectors, products, error, self.count)
            found.append(largest._replace(index=largest.index + shard.first))
        return Codes.concatenate(found)

    def finish(self, started: tuple[Queries, Any], found: Sequence[Codes]) -> tuple[Codes, Any]:
        if len(found) == 1:
            return found[0], started[1]
        used = np.hstack([codes.used for codes in found])
        index = np.where(used, np.hstack([codes.index for codes in found]), np.iinfo(np.int64).max)
        value = np.hstack([codes.value for codes in found])
        # The largest of all are among the largest of each shard. Those that stay go by index.
        by_size = np.lexsort((index, np.where(used, -np.abs(value), np.inf)))[:, : self.count]
        index, value = (np.take_along_axis(part, by_size, axis=1) for part in (index, value))
        order = np.argsort(index, axis=1)
        index, value = (np.take_along_axis(part, order, axis=1) for part in (index, value))
        return Codes(index, value, np.minimum(used.sum(axis=1), self.count)), started[1]


def in_rows(parts: Sequence[SortedLists]) -> SortedLists:
    """Lists of several blocks, one below the other."""
    return SortedLists(*map(np.concatenate, zip(*parts, strict=True)))


def best_of(shards: Sequence[SortedLists]) -> SortedLists:
    """The best of the lists that different shards have for the same rows."""
    if len(shards) == 1:
        return shards[0]
    return merge(SortedLists(*map(np.stack, zip(*shards, strict=True))))


@dataclass(frozen=True)
class _Search:
    """A scan of all points: the nearest points in each shard, then the nearest of these."""

    n_neighbors: int
    block_size: int

    def rows(self, block: Queries) -> IntArray:
        return block.needed()

    def start(self, rows: Rows, block: Queries) -> Queries:
        # In float64 whatever the points are, so that the kernel is compiled once.
        vectors = dense_rows(block.vectors(rows)).astype(np.float64, copy=False)
        return Queries(block.own, vectors)

    def scan_shard(self, shard: Points, started: Queries) -> SortedLists:
        assert started.new is not None
        found = []
        # A part at a time: the correlations of all queries with all points might not fit in memory.
        room = np.empty((min(self.block_size, len(started)), shard.n), np.float32)
        for rows in row_slices(len(started), self.block_size):
            x, own = started.new[rows], started.own[rows]
            correlations, left_out = shard.bounded_correlations(x, room)
            bounds = ScanBounds(shard.first, 0.0, shard.correlation_error, left_out)
            about = x, own, correlations, bounds, self.n_neighbors
            found.append(nearest(shard.for_kernels, *about))
        return in_rows(found)

    def finish(self, started: Queries, found: Sequence[SortedLists]) -> SortedLists:
        return best_of(found)


@dataclass(frozen=True)
class Searchable:
    """Points of any length, and what is needed to find the nearest ones by a matrix product.

    The nearer ``x_j`` is to ``x``, the larger is ``x' x_j - ||x_j||^2 / 2``. Its rounding error
    grows with the length of the points, so they are centred first.

    Examples
    --------
    >>> import numpy as np
    >>> from srsg.coding.neighbors import Searchable
    >>> line = Searchable.of(np.array([[0.0], [1.0], [5.0]]))
    >>> line.nearest(np.array([[4.0]]), np.array([-1]), 2)
    array([[2, 1]])
    """

    x: FloatArray
    mean: FloatArray
    centered: FloatArray
    half_power: FloatArray

    @classmethod
    def of(cls, x: FloatArray) -> Self:
        mean = x.mean(axis=0)
        centered = x - mean
        return cls(x, mean, centered, (centered**2).sum(axis=1) / 2)

    def nearest(self, targets: FloatArray, own: IntArray, n_neighbors: int) -> IntArray:
        """Nearest first, ties by index; see :meth:`search`."""
        return self.search(targets, own, n_neighbors).index

    def search(
        self, targets: FloatArray, own: IntArray, n_neighbors: int, first: int = 0
    ) -> SortedLists:
        """The nearest points. Distances decide what the rounded product leaves open.

        ``own`` is the index of each target among all points, or -1, and ``first`` that of the first
        of these points.
        """
        centered = targets - self.mean
        nearness = centered @ self.centered.T - self.half_power
        power = max(self.half_power.max(), (centered**2).sum(axis=1).max() / 2)
        # The rounding of a sum grows with the number of its terms, here one per feature, and with
        # their size, here at most the largest squared length.
        error = float(np.finfo(float).eps * 2 * (self.x.shape[1] + 8) * power)
        # The kernel takes this measure of nearness in place of correlations. The points themselves,
        # not the centred ones, give the distances: centring has rounded those.
        bounds = ScanBounds(first, 0.0, error, LeftOut.nothing(*nearness.shape))
        return nearest(self.x, targets, own, nearness, bounds, n_neighbors)


def euclidean_lists(
    points: Points,
    n_neighbors: int,
    *,
    exponent: int = 0,
    queries: Points | None = None,
    engine: Engine | None = None,
) -> SortedLists:
    """As :func:`nearest_lists`, for points of any length; those that coincide are neighbours too.

    All points are divided by two to the power of ``exponent`` first, so that squared distances stay
    finite.

    Examples
    --------
    >>> import numpy as np
    >>> from srsg.coding.neighbors import euclidean_lists
    >>> from srsg.points import Points
    >>> euclidean_lists(Points(np.array([[0.0], [1.0], [5.0]])), 1).key
    array([[ 1.],
           [ 1.],
           [16.]])
    """
    engine = engine or ThreadEngine()
    wanted = Queries.of(points, queries)
    task = _EuclideanSearch(n_neighbors, engine.block_size, exponent)
    label = "nearest neighbours"
    return in_rows(engine.scan(task, points, wanted, len(wanted), label=label))


@dataclass(frozen=True)
class _EuclideanSearch(_Search):
    """A scan of points of any length."""

    exponent: int

    def start(self, rows: Rows, block: Queries) -> Queries:
        return Queries(block.own, np.ldexp(block.vectors(rows), -self.exponent))

    def scan_shard(self, shard: Points, started: Queries) -> SortedLists:
        assert started.new is not None
        key = Searchable, self.exponent
        if key not in shard.made:
            shard.made[key] = Searchable.of(np.ldexp(shard.x, -self.exponent))
        found = [
            shard.made[key].search(
                started.new[rows], started.own[rows], self.n_neighbors, shard.first
            )
            for rows in row_slices(len(started), self.block_size)
        ]
        return in_rows(found)


def moderate_exponent(largest: float) -> int:
    """The power of two that brings the largest of some numbers to between a half and one."""
    return int(np.frexp(largest)[1])


def of_moderate_size(X: NDArray, like: NDArray | None = None) -> FloatArray:
    """The points divided by a power of two, so that squared distances stay finite.

    What depends on ratios of distances only stays the same: a power of two changes no other bits.
    """
    largest = np.abs(X if like is None else like).max()
    return np.ldexp(X.astype(np.float64), -moderate_exponent(largest))


def undirected(graph: sparse.csr_array, direction: Direction) -> sparse.csr_array:
    """The graph S as it is, or with every pair of neighbours linked both ways.

    Parameters
    ----------
    graph : csr_array of shape (n, n)
        Row i has ones at the neighbours of point i.
    direction : {"directed", "either", "mutual"}
        "directed" changes nothing. "either" makes two points neighbours of each other if one is a
        neighbour of the other, "mutual" only if both are.

    Returns
    -------
    csr_array of shape (n, n)

    Examples
    --------
    >>> import numpy as np
    >>> from srsg.coding.neighbors import undirected
    >>> from srsg.graph import neighbor_graph
    >>> graph = neighbor_graph(np.array([[1], [0], [1]]))
    >>> undirected(graph, "either").toarray()
    array([[0., 1., 0.],
           [1., 0., 1.],
           [0., 1., 0.]])
    """
    if direction == "directed":
        return graph
    both = graph.maximum(graph.T) if direction == "either" else graph.minimum(graph.T)
    both = sparse.csr_array(both)
    # The minimum leaves zeros where only one of two points has the other as its neighbour.
    both.eliminate_zeros()
    both.sort_indices()
    return both
