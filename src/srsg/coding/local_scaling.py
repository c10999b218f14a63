"""The Gaussian kernel with a scale of its own for every point (Zelnik-Manor and Perona, 2004)."""

from functools import partial

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.metrics.pairwise import euclidean_distances

from srsg.coding.neighbors import Searchable, of_moderate_size
from srsg.points import BLOCK_SIZE, blocks_of_rows, name_rows, row_slices
from srsg.running import Engine, ThreadEngine, serial_linear_algebra
from srsg.types import FloatArray, IntArray

FARTHEST = 1e120
"""Squares of much larger numbers overflow."""


def local_scaling(X: NDArray, scale_neighbor: int, weights: FloatArray | None = None) -> FloatArray:
    """``exp(-d_ij^2 / (s_i s_j))`` with s the distance to the ``scale_neighbor``-th neighbour.

    Points that coincide with that many others have no scale: their only edges, of weight 1, are
    those to points at distance zero. With ``weights``, a point is as many neighbours as it counts,
    and its edges count as often.

    Examples
    --------
    >>> import numpy as np
    >>> from srsg.coding.local_scaling import local_scaling
    >>> local_scaling(np.array([[0.0, 0.0], [0.0, 1.0], [0.0, 3.0]]), 1).round(4)
    array([[1.    , 0.3679, 0.0111],
           [0.3679, 1.    , 0.1353],
           [0.0111, 0.1353, 1.    ]])
    """
    with serial_linear_algebra():
        squared = euclidean_distances(of_moderate_size(X), squared=True)
    squared = squared + squared.T
    squared /= 2
    np.fill_diagonal(squared, 0.0)
    # Some rows at a time, so that there is one matrix and not several. The nearest to a point is
    # the point itself, at place 0.
    parts = row_slices(len(squared), BLOCK_SIZE)
    scale = np.empty(len(squared))
    for rows in parts:
        if weights is None:
            sorted_there = np.partition(squared[rows], scale_neighbor, axis=1)
            scale[rows] = np.sqrt(sorted_there[:, scale_neighbor])
        else:
            scale[rows] = np.sqrt(_weighted_lists(squared[rows], weights, scale_neighbor + 1)[2])
    for rows in parts:
        squared[rows] = _gaussian(squared[rows], np.outer(scale[rows], scale))
        if weights is not None:
            squared[rows] *= np.outer(weights[rows], weights)
    return squared


def _weighted_lists(
    squared: FloatArray, weights: FloatArray, total: float
) -> tuple[IntArray, FloatArray, FloatArray]:
    """All points by their distance, how much of each is among the nearest, and how far these are.

    The nearest points are those that count ``total`` together; of the last, a part may do.
    """
    order = np.argsort(squared, axis=1, kind="stable")
    own = weights[order]
    taken = np.clip(total - (np.cumsum(own, axis=1) - own), 0.0, own)
    last = (taken > 0).sum(axis=1) - 1
    rows = np.arange(len(squared))
    return order, taken, squared[rows, order[rows, last]]


def local_scaling_rows(
    x: FloatArray,
    queries: FloatArray,
    scale_neighbor: int,
    *,
    engine: Engine | None = None,
    weights: FloatArray | None = None,
) -> sparse.csr_array:
    """The kernel of :func:`local_scaling` between new points and their nearest fitted points.

    A new point has ``scale_neighbor`` of them; the distance to the last one is its scale. The row
    of a new point that equals a fitted point has a one there and nothing else. Rows are empty where
    the kernel underflows. With ``weights``, each fitted point is as many neighbours as it counts.

    Examples
    --------
    >>> import numpy as np
    >>> from srsg.coding.local_scaling import local_scaling_rows
    >>> x = np.array([[0.0, 0.0], [0.0, 1.0], [0.0, 3.0]])
    >>> local_scaling_rows(x, np.array([[0.0, 2.0], [0.0, 3.0]]), 2).toarray().round(4)
    array([[0.    , 0.6065, 0.7165],
           [0.    , 0.    , 1.    ]])
    """
    engine = engine or ThreadEngine()
    data = Searchable.of(of_moderate_size(x)), moderate_queries(queries, x)
    blocks = blocks_of_rows(len(queries), BLOCK_SIZE)
    if weights is not None:
        weighted = partial(_weighted_rows, weights=weights, scale_neighbor=scale_neighbor)
        rows = engine.map(weighted, data, blocks, label="kernel")
        return sparse.csr_array(sparse.vstack(rows, format="csr"))
    task = partial(_nearest_of_new, n_neighbors=scale_neighbor)
    found = engine.map(task, data, blocks, label="nearest neighbours")
    nearest, squared = (np.concatenate(part) for part in zip(*found, strict=True))

    used, place = np.unique(nearest, return_inverse=True)
    own_task = partial(_scale_of_points, scale_neighbor=scale_neighbor)
    own_blocks = [used[rows] for rows in blocks_of_rows(len(used), BLOCK_SIZE)]
    scales = np.concatenate(engine.map(own_task, data, own_blocks, label="scales"))

    products = np.sqrt(squared[:, -1:]) * scales[place.reshape(nearest.shape)]
    weights = _gaussian(squared, products)
    weights[squared[:, 0] == 0, 1:] = 0.0
    row, column = np.nonzero(weights)
    entries = weights[row, column], (row, nearest[row, column])
    return sparse.csr_array(entries, shape=(len(queries), len(x)))


def _weighted_rows(
    data: tuple[Searchable, FloatArray],
    rows: IntArray,
    *,
    weights: FloatArray,
    scale_neighbor: int,
) -> sparse.csr_array:
    """Rows of :func:`local_scaling_rows` whose fitted points have weights."""
    x, new = data[0].x, data[1][rows]
    squared = euclidean_distances(new, x, squared=True)
    order, taken, farthest = _weighted_lists(squared, weights, scale_neighbor)
    used, place = np.unique(order[taken > 0], return_inverse=True)
    between = euclidean_distances(x[used], x, squared=True)
    between[np.arange(len(used)), used] = 0.0
    scales = np.sqrt(_weighted_lists(between, weights, scale_neighbor + 1)[2])[place]
    row, rank = np.nonzero(taken)
    near = _squared_distances(new[row], x[order[row, rank]])  # zero for equal points
    kernel = taken[row, rank] * _gaussian(near, np.sqrt(farthest)[row] * scales)
    has_copy = np.bincount(row, near == 0, len(rows)) > 0
    kernel[has_copy[row] & (near > 0)] = 0.0
    found = sparse.csr_array((kernel, (row, order[row, rank])), shape=squared.shape)
    found.eliminate_zeros()
    return found


def moderate_queries(queries: FloatArray, x: FloatArray) -> FloatArray:
    """New points on the scale on which the fitted points ``x`` are of moderate size.

    Raises
    ------
    ValueError
        That names the new points whose squared distances would overflow.

    Examples
    --------
    >>> import numpy as np
    >>> from srsg.coding.local_scaling import moderate_queries
    >>> moderate_queries(np.array([[6.0]]), np.array([[3.0]]))
    array([[1.5]])
    """
    new = of_moderate_size(queries, like=x)
    far = np.flatnonzero(np.abs(new).max(axis=1) > FARTHEST)
    if far.size:
        raise ValueError(
            f"X is too far from the fitted points for distances: rows {name_rows(far)}."
        )
    return new


def _nearest_of_new(
    data: tuple[Searchable, FloatArray], rows: IntArray, *, n_neighbors: int
) -> tuple[IntArray, FloatArray]:
    """Nearest fitted points of new ones, and the squared distances."""
    points, targets = data[0], data[1][rows]
    nearest = points.nearest(targets, np.full(len(rows), -1), n_neighbors)
    return nearest, _squared_distances(targets[:, None], points.x[nearest])


def _scale_of_points(
    data: tuple[Searchable, FloatArray], rows: IntArray, *, scale_neighbor: int
) -> FloatArray:
    """The scales of some fitted points."""
    x = data[0].x
    last = data[0].nearest(x[rows], rows, scale_neighbor)[:, -1]
    return np.sqrt(_squared_distances(x[rows], x[last]))


def _squared_distances(a: FloatArray, b: FloatArray) -> FloatArray:
    return np.asarray(((a - b) ** 2).sum(axis=-1))


def _gaussian(squared: FloatArray, products: FloatArray) -> FloatArray:
    """``exp(-squared / products)``; without a scale, 1 at distance zero and 0 elsewhere."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.exp(-np.where(squared > 0, squared / products, 0.0))
