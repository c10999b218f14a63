"""How many dense groups there are beyond those of chance: for two or three columns.

In so few columns the density of the points can be measured: it is high where the distance to the
n-th neighbour is short. Lower the level of density step by step: dense groups appear, grow and
meet. The depth of the valley between two groups is how far the level falls from the peak of the
less dense one to the place where they meet. Points without any cluster have valleys too, by
chance. Uniform noise, with as many points in as many dimensions, tells how deep.

The levels are those of HDBSCAN (Campello et al. 2013), and the depths are the persistence of
ToMATo (Chazal et al. 2013).
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.spatial import cKDTree

from srsg.counting.reproducibility import MOST_CLUSTERS, ScoredCounts
from srsg.kernels.density import absorbed_peaks, spanning_tree
from srsg.types import FloatArray, IntArray

LEAST_NEIGHBORS = 8
"""The fewest neighbours to measure a density by: with fewer, it varies by chance alone."""

N_REFERENCES = 40
"""Draws of uniform noise, whose valleys are measured."""

DEVIATIONS = 3.0
"""A valley is surely real if it is deeper than the mean of the deepest of noise by this many of
their standard deviations: about one draw of noise in a hundred has such a valley."""

THIN = 0.85
"""Points are thin if they fill less than this share of the dimensions that noise fills, measured in
the same way. Round groups fill about 0.9 and more; spirals, and rings in space, less than 0.85."""

LEAST_SHOWN = 12
"""Numbers of clusters up to here get a score, whether or not there are so many valleys."""


def n_neighbors_for(n_points: int) -> int:
    """Neighbours to measure the density by: the more points, the more neighbours.

    Half the square root: of 400 points 10. Twice as many blur two rings into one disc, half as
    many find valleys along a ring.

    Examples
    --------
    >>> from srsg.counting.density import n_neighbors_for
    >>> n_neighbors_for(100), n_neighbors_for(400), n_neighbors_for(3000)
    (8, 10, 27)
    """
    return min(max(LEAST_NEIGHBORS, round(np.sqrt(n_points) / 2)), n_points - 1)


def valley_depths(points: FloatArray, n_neighbors: int) -> FloatArray:
    """The depths of the valleys between each peak of density and a higher one.

    Parameters
    ----------
    points : ndarray of shape (n, d)
        Different points, at least three.
    n_neighbors : int
        The density of a point is measured by its distance to this neighbour.

    Returns
    -------
    ndarray of shape (n - 1,)
        In falling order: the logarithm of the radius where a group meets a denser one, divided by
        the radius at its peak. It depends neither on the unit of the points nor on the density of
        the group as a whole.

    Examples
    --------
    >>> import numpy as np
    >>> from srsg.counting.density import valley_depths
    >>> points = np.array([[0.0], [1.0], [2.0], [10.0], [11.0], [12.0]])
    >>> np.exp(valley_depths(points, 1)).round(6)
    array([8., 1., 1., 1., 1.])
    """
    return -np.sort(-_valleys(points, n_neighbors)[1])


def dense_groups(points: NDArray, n_groups: int) -> NDArray[np.intp]:
    """The dense groups with the deepest valleys between them: a number from 0 on for each point.

    Examples
    --------
    >>> import numpy as np
    >>> from srsg.counting.density import dense_groups
    >>> points = np.append(np.arange(20.0), 50 + np.arange(30.0))[:, None]
    >>> np.bincount(dense_groups(points, 2))
    array([20, 30])
    """
    ends, depths = _valleys(points, n_neighbors_for(len(points)))
    left, right = ends[np.argsort(depths, kind="stable")[: len(points) - n_groups]].T
    tree = sparse.coo_array((np.ones(len(left)), (left, right)), shape=(len(points),) * 2)
    return sparse.csgraph.connected_components(tree, directed=False)[1]


def _valleys(points: NDArray, n_neighbors: int) -> tuple[IntArray, FloatArray]:
    """The edges of a tree of the points, and the depth of the valley that each of them crosses."""
    points = np.ascontiguousarray(points, dtype=np.float64)
    points = points / (np.abs(points).max() or 1.0)  # squares of huge numbers stay finite
    radius = cKDTree(points).query(points, [n_neighbors + 1])[0][:, 0]
    radius = np.maximum(radius, np.finfo(np.float64).tiny)  # points equal but for rounding
    n_edges = len(points) - 1
    ends, lengths = np.empty((n_edges, 2), np.int64), np.empty(n_edges)
    spanning_tree(points, radius, ends, lengths)
    order = np.argsort(lengths, kind="stable")
    peaks = np.empty(n_edges, np.int64)
    absorbed_peaks(ends, order, radius, peaks)
    return ends[order], np.log(lengths[order] / radius[peaks])


def filled_dimension(points: FloatArray, n_neighbors: int) -> float:
    """The dimension that points fill, judged by their neighbours: about 1 on a thin curve.

    In m dimensions, a radius ``2 ** (1 / m)`` as large holds twice as many neighbours.

    Examples
    --------
    >>> import numpy as np
    >>> from srsg.counting.density import filled_dimension
    >>> points = np.random.default_rng(0).random((500, 2))
    >>> round(filled_dimension(points, 10), 1), round(filled_dimension(points * [1, 0], 10), 1)
    (1.8, 0.9)
    """
    half = n_neighbors // 2
    near, far = cKDTree(points).query(points, [half + 1, n_neighbors + 1])[0].T
    apart = near > 0
    growth = float(np.mean(np.log(far[apart] / near[apart]))) if apart.any() else 0.0
    return float(np.log(n_neighbors / half)) / growth if growth else 0.0


class NoiseDepth(NamedTuple):
    """How deep the deepest valley of noise is, and how many dimensions noise fills.

    Attributes
    ----------
    usual : float
        One standard deviation above the mean. A valley no deeper than this is taken for noise.
    most : float
        Hardly ever exceeded by noise, see ``DEVIATIONS``. A deeper valley is taken for real.
    dimension : float
        By :func:`filled_dimension`: less than the dimension of the cube, because of its surface.

    Examples
    --------
    >>> from srsg.counting.density import noise_depth
    >>> noise = noise_depth(100, 2, 8)
    >>> noise.usual < noise.most, 1.5 < noise.dimension < 2
    (True, True)
    """

    usual: float
    most: float
    dimension: float


@lru_cache(maxsize=256)
def noise_depth(n_points: int, dimension: int, n_neighbors: int) -> NoiseDepth:
    """How deep the valleys of uniform noise in a cube are.

    The chance variation of a density measured by neighbours depends neither on the density nor on
    the shape of the data, so one kind of noise will do. The seeds are fixed.

    Examples
    --------
    >>> from srsg.counting.density import noise_depth
    >>> few, many = noise_depth(100, 2, 8), noise_depth(100, 2, 16)
    >>> few.usual > many.usual  # the more neighbours, the smoother
    True
    """
    rng = np.random.RandomState(0)
    draws = [rng.uniform(size=(n_points, dimension)) for _ in range(N_REFERENCES)]
    deepest = [valley_depths(draw, n_neighbors)[0] for draw in draws]
    mean, deviation = float(np.mean(deepest)), float(np.std(deepest))
    filled = float(np.mean([filled_dimension(draw, n_neighbors) for draw in draws]))
    return NoiseDepth(mean + deviation, mean + DEVIATIONS * deviation, filled)


def search_dense(
    points: NDArray, dimension: int, by_samples: Callable[[], int] | None = None
) -> ScoredCounts:
    """The number of dense groups whose valleys are deeper than those of noise.

    Parameters
    ----------
    points : ndarray of shape (n, d)
        Different points, at least three.
    dimension : int
        The dimension in which they lie: less than d if they lie on a surface.
    by_samples : function, optional
        Returns the number of clusters by other evidence. It is called if some valleys are deeper
        than usual for noise and yet not surely real; its answer counts if it takes some of these
        for real, and no others.

    Returns
    -------
    ScoredCounts
        A valley counts from some depth on. The score of a number is the share by which this depth
        may change without changing the number; below zero, the share by which it would have to.

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> from srsg.counting.density import search_dense
    >>> found = search_dense(make_moons(400, noise=0.05, random_state=0)[0], 2)
    >>> found.n_clusters, found.structure_found
    (2, True)
    """
    n_neighbors = n_neighbors_for(len(points))
    depths = valley_depths(points, n_neighbors)
    noise = noise_depth(len(points), dimension, n_neighbors)
    n_clusters, from_depth = 1 + int((depths > noise.most).sum()), noise.most
    possible = 1 + int((depths > noise.usual).sum())
    if n_clusters > 2 and filled_dimension(points, n_neighbors) < THIN * noise.dimension:
        # There is no way around a gap in a thin curve, so valleys along it are deeper than those of
        # noise that fills all dimensions. Those between curves are deeper by far.
        kept = np.append(depths[: n_clusters - 1], noise.most)
        n_clusters = 2 + int(np.argmax(kept[:-1] - kept[1:]))
        from_depth = (kept[n_clusters - 2] + kept[n_clusters - 1]) / 2
    # Samples are not asked unless one valley is surely real: noise is cut as well.
    elif (
        by_samples
        and 1 < n_clusters < possible
        and n_clusters < (count := by_samples()) <= possible
    ):
        n_clusters = count
        from_depth = (depths[count - 2] + max(depths[count - 1], noise.usual)) / 2
    n_clusters = min(n_clusters, MOST_CLUSTERS)
    shown = min(max(n_clusters + 1, LEAST_SHOWN), len(depths))
    # With k clusters, valley k - 1 is deep enough and valley k is not.
    deeper = depths[:shown] / from_depth - 1
    scores = np.minimum(deeper[:-1], -deeper[1:])
    return ScoredCounts(
        max(n_clusters, 2), np.arange(2, shown + 1), scores, structure_found=n_clusters > 1
    )
