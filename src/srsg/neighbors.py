"""The K nearest neighbours of every point: the paper's graph S."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Self

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from srsg.engine import Engine, ThreadEngine
from srsg.kernels.correlations import nearest
from srsg.points import BLOCK_SIZE, Points, Queries, blocks_of_rows
from srsg.types import FloatArray, IntArray


def nearest_neighbors(
    points: Points,
    n_neighbors: int,
    *,
    queries: Points | None = None,
    block_size: int = BLOCK_SIZE,
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
    task = partial(_scan, n_neighbors=n_neighbors)
    searched = Queries.of(points, queries)
    blocks = blocks_of_rows(len(searched), block_size)
    found = engine.map(task, engine.share(searched), blocks, label="nearest neighbours")
    return np.concatenate(found)


def _scan(queries: Queries, rows: IntArray, *, n_neighbors: int) -> IntArray:
    block = queries[rows]
    correlations = queries.points.correlations(block.x)
    return neighbors_from_correlations(block, correlations, n_neighbors)


def neighbors_from_correlations(
    block: Queries, correlations: NDArray[np.float32], n_neighbors: int
) -> IntArray:
    """The same for some queries whose correlations with all points are known."""
    points = block.points
    found = np.empty((len(block), n_neighbors), np.int64)
    if n_neighbors:
        nearest(points.x, block.x, block.own, correlations, points.correlation_error, found)
    return found


@dataclass(frozen=True)
class Searchable:
    """Points of any length, and what it takes to find nearest ones by a matrix product.

    ``x' x_j - ||x_j||^2 / 2`` is the larger the nearer ``x_j`` is to ``x``; of points moved to
    their mean it is rounded least.

    Examples
    --------
    >>> import numpy as np
    >>> from srsg.neighbors import Searchable
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
        """Nearest first, ties by index: float64 distances decide what the product leaves open.

        ``own`` is the index of each target among the points, or -1.
        """
        centered = targets - self.mean
        nearness = centered @ self.centered.T - self.half_power
        power = max(self.half_power.max(), (centered**2).sum(axis=1).max() / 2)
        # Sums over the features, each product at most the largest power.
        error = float(np.finfo(float).eps * 2 * (self.x.shape[1] + 8) * power)
        found = np.empty((len(targets), n_neighbors), np.int64)
        if n_neighbors:
            nearest(self.x, targets, own, nearness, error, found)
        return found


def neighbor_graph(neighbors: IntArray) -> sparse.csr_array:
    """The adjacency matrix S: row i has ones at the neighbours of point i.

    Examples
    --------
    >>> import numpy as np
    >>> from srsg.neighbors import neighbor_graph
    >>> neighbor_graph(np.array([[1], [0], [1]])).toarray()
    array([[0., 1., 0.],
           [1., 0., 0.],
           [0., 1., 0.]])
    """
    n_points, n_neighbors = neighbors.shape
    starts = np.arange(n_points + 1) * n_neighbors
    graph = sparse.csr_array(
        (np.ones(neighbors.size), neighbors.ravel(), starts), shape=(n_points, n_points)
    )
    graph.sort_indices()
    return graph
