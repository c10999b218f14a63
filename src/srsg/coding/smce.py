"""Sparse Manifold Clustering and Embedding (Elhamifar and Vidal, 2011): codes and weights.

A point is coded over the directions to its nearest neighbours, so that these nearly cancel. A few
near neighbours that span the tangent space of the point's own manifold do that best.
"""

from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from srsg.coding.local_scaling import moderate_queries
from srsg.coding.neighbors import Searchable, of_moderate_size
from srsg.kernels.smce import code_points
from srsg.points import BLOCK_SIZE, EqualPoints, blocks_of_rows, name_rows
from srsg.running import Engine, ThreadEngine
from srsg.running.warnings import warn_user
from srsg.types import FloatArray, IntArray

ROUNDING = 1e-11
"""Penalties up to this are lost beside the squared lengths of unit directions."""

UNCERTAIN = 1e-3
"""A code with a larger duality gap may be wrong; gaps are usually below 1e-12."""

NEGLIGIBLE = 1e-120
"""Entries below this fraction of the largest count as zero: squares of their differences would
underflow."""


@dataclass(frozen=True)
class SMCECodes:
    """Codes of all points, with their certificates, and the graph they make.

    Attributes
    ----------
    codes : csr_array of shape (n, n)
        Row i is the code of point i: coefficients that add up to one. Of several equal points, the
        later ones are coded by the first alone.
    weights : csr_array of shape (n, n)
        The symmetric graph.
    dual_gap : ndarray of shape (n,)
        Duality gap of each code.
    neighbors : ndarray of shape (n, at most n_neighbors)
        Nearest first, ties by index; of equal points only the first.
    """

    codes: sparse.csr_array
    weights: sparse.csr_array
    dual_gap: FloatArray
    neighbors: IntArray


def smce_codes(
    x: FloatArray,
    lam: float = 10.0,
    *,
    n_neighbors: int = 15,
    keep: float = 0.95,
    engine: Engine | None = None,
) -> SMCECodes:
    """Code every point over the directions ``y_j = (x_j - x_i) / d_j`` to its neighbours.

    ``min lam * sum_j q_j |c_j| + 1/2 ||sum_j c_j y_j||^2`` subject to ``sum c = 1``, where
    ``d_j`` are the distances and ``q_j = d_j / sum d``: near neighbours are cheap.

    Parameters
    ----------
    x : ndarray of shape (n, n_features)
        The points, not scaled. Neither a shift nor a common factor changes the codes.
    lam : float
        Weight of the l1 norm.
    n_neighbors : int
        How many neighbours a point is coded over; all other points, if they are fewer.
    keep : float
        Fraction of the sum of a point's weights to keep, largest first.
    engine : Engine, optional
        Where blocks run; threads on all cores by default.

    Returns
    -------
    SMCECodes

    Examples
    --------
    >>> import numpy as np
    >>> from srsg.coding.smce import smce_codes
    >>> line = np.outer(np.arange(4.0), [1.0, 1.0])
    >>> smce_codes(line, n_neighbors=2).codes.toarray().round(3)
    array([[0. , 1. , 0. , 0. ],
           [0.5, 0. , 0.5, 0. ],
           [0. , 0.5, 0. , 0.5],
           [0. , 0. , 1. , 0. ]])
    """
    # Equal points have no direction to each other, so only the first of each set is coded.
    equal = equal_rows(x)
    points = Searchable.of(_scaled(of_moderate_size(x))[equal.first])
    n_points = len(points.x)
    every, count = np.arange(n_points), min(n_neighbors, n_points - 1)
    neighbors, codes, distances, gap = _coded(points, points.x, every, lam, count, engine)
    if not np.isfinite(codes).all():
        raise ValueError(f"lam={lam} is too large: the codes overflow.")
    # A penalty below rounding has no certificate in any case.
    uncertain = np.flatnonzero(gap[equal.owner] > UNCERTAIN)
    if uncertain.size and lam > ROUNDING:
        warn_user(
            f"The codes of {uncertain.size} point(s) may be wrong: rows {name_rows(uncertain)} "
            "differ from others by rounding errors only. Round the data, or leave out near copies.",
            UserWarning,
        )
    weights = _csr(_kept(_weights(codes, distances), keep), neighbors, n_points)
    # So far indices count the distinct points. From here on they count all points.
    return SMCECodes(
        codes=_with_copies(_csr(codes, neighbors, n_points), equal),
        weights=_with_linked_copies(weights, equal),
        dual_gap=gap[equal.owner],
        neighbors=equal.first[neighbors][equal.owner],
    )


def new_smce_codes(
    x: FloatArray,
    queries: FloatArray,
    lam: float = 10.0,
    *,
    n_neighbors: int = 15,
    engine: Engine | None = None,
) -> sparse.csr_array:
    """Code new points over the directions to their nearest fitted points, as in :func:`smce_codes`.

    Parameters
    ----------
    x : ndarray of shape (n, n_features)
        The fitted points.
    queries : ndarray of shape (n_queries, n_features)
        The new points. One that equals a fitted point is coded by it alone.
    lam, n_neighbors, engine
        As in :func:`smce_codes`.

    Returns
    -------
    csr_array of shape (n_queries, n)

    Examples
    --------
    >>> import numpy as np
    >>> from srsg.coding import new_smce_codes
    >>> line = np.outer(np.arange(4.0), [1.0, 1.0])
    >>> new_smce_codes(line, np.array([[1.5, 1.5], [3.0, 3.0]]), n_neighbors=2).toarray().round(3)
    array([[0. , 0.5, 0.5, 0. ],
           [0. , 0. , 0. , 1. ]])
    """
    first = equal_rows(x).first
    points = Searchable.of(_scaled(of_moderate_size(x))[first])
    targets = _scaled(moderate_queries(queries, x))
    none, count = np.full(len(targets), -1), min(n_neighbors, len(first))
    neighbors, codes, *_ = _coded(points, targets, none, lam, count, engine)
    return _csr(codes, first[neighbors], len(x))


def _scaled(moderate: FloatArray) -> FloatArray:
    """Points of moderate size, whose negligible entries are set to zero."""
    return np.where(np.abs(moderate) < NEGLIGIBLE, 0.0, moderate)


def equal_rows(x: NDArray[np.floating]) -> EqualPoints:
    """Which points are equal for :func:`smce_codes`, where negligible entries count as zero."""
    # Adding zero turns -0.0 into 0.0. Rows are then equal if their bytes are, and sorting bytes is
    # much faster than sorting rows of numbers.
    rows = np.ascontiguousarray(_scaled(of_moderate_size(x)) + 0.0)
    return EqualPoints.of(rows.view(np.dtype((np.void, x.itemsize * x.shape[1]))).ravel())


def _coded(
    points: Searchable,
    targets: FloatArray,
    own: IntArray,
    lam: float,
    n_neighbors: int,
    engine: Engine | None,
) -> tuple[NDArray, ...]:
    """Neighbours, codes and distances, one column per neighbour, and duality gaps of the targets.

    ``own`` is the index of each target among the points, or -1.
    """
    task = partial(_code, lam=lam, n_neighbors=n_neighbors)
    # Blocks of a fixed size: no result then depends on the memory or the number of workers.
    blocks = blocks_of_rows(len(targets), BLOCK_SIZE)
    data = points, targets, own
    coded = (engine or ThreadEngine()).map(task, data, blocks, label="SMCE codes")
    return tuple(np.concatenate(part) for part in zip(*coded, strict=True))


def _code(
    data: tuple[Searchable, FloatArray, IntArray], rows: IntArray, *, lam: float, n_neighbors: int
) -> tuple[NDArray, ...]:
    points, targets = data[0], data[1][rows]
    neighbors = points.nearest(targets, data[2][rows], n_neighbors)
    codes, distances = np.zeros(neighbors.shape), np.zeros(neighbors.shape)
    gap = np.zeros(len(rows))
    if n_neighbors:
        # A new point that equals a fitted one has no direction to it: that one, its nearest, is
        # its code.
        copies = (points.x[neighbors[:, 0]] == targets).all(axis=1)
        codes[copies, 0] = 1.0
        others = np.flatnonzero(~copies)
        results = codes[others], distances[others], gap[others]
        code_points(points.x, targets[others], neighbors[others], lam, *results)
        codes[others], distances[others], gap[others] = results
    return neighbors, codes, distances, gap


def _weights(codes: FloatArray, distances: FloatArray) -> FloatArray:
    """``|c_j / d_j| / |sum_j c_j / d_j|``, as published."""
    ratio = codes / distances
    magnitude = np.abs(ratio)
    # Coefficients of both signs may cancel in the sum. A sum below rounding would mean nothing, and
    # dividing by it would give huge weights.
    least = np.finfo(float).eps * magnitude.sum(axis=1)
    total = np.maximum(np.abs(ratio.sum(axis=1)), least)
    return magnitude / total[:, None]


def _kept(weights: FloatArray, keep: float) -> FloatArray:
    """The fewest, largest weights of each row that carry at least ``keep`` of its sum."""
    # Summed from the smallest up, so that keep=1 drops only zeros, whatever the rounding. The sort
    # is stable, so that ties always fall the same way.
    order = np.argsort(weights, axis=1, kind="stable")
    rising = np.take_along_axis(weights, order, axis=1)
    dropped = rising.cumsum(axis=1) <= (1 - keep) * weights.sum(axis=1, keepdims=True)
    kept = np.empty_like(weights)
    np.put_along_axis(kept, order, np.where(dropped, 0.0, rising), axis=1)
    return kept


def _csr(values: FloatArray, columns: IntArray, n_points: int) -> sparse.csr_array:
    """Row i has ``values[i]`` in ``columns[i]``; zeros are left out."""
    row, place = np.nonzero(values)
    entries = (values[row, place], (row, columns[row, place]))
    return sparse.csr_array(entries, shape=(len(values), n_points))


def _with_copies(codes: sparse.csr_array, equal: EqualPoints) -> sparse.csr_array:
    """Codes of all points: a copy has a one at the first point that equals it."""
    return _of_all(codes, equal) + _links(equal, np.ones(len(equal.first)))


def _with_linked_copies(weights: sparse.csr_array, equal: EqualPoints) -> sparse.csr_array:
    """The symmetric graph of all points: a copy is linked to the first point that equals it, by the
    largest weight of that point."""
    # The maximum, as published, and not the mean: a link that only one of two points has counts in
    # full.
    own = sparse.csr_array(weights.maximum(weights.T))
    # Without any weight (a single distinct point) copies are linked with weight one.
    largest = own.max(axis=1).toarray().ravel() if own.nnz else np.ones(len(equal.first))
    links = _links(equal, largest)
    return _of_all(own, equal) + links + links.T


def _links(equal: EqualPoints, weights: FloatArray) -> sparse.csr_array:
    """From every copy to the first point that equals it, with the weight of that point."""
    copies = np.setdiff1d(np.arange(equal.n), equal.first)
    owner = equal.owner[copies]
    entries = weights[owner], (copies, equal.first[owner])
    return sparse.csr_array(entries, shape=(equal.n, equal.n))


def _of_all(matrix: sparse.csr_array, equal: EqualPoints) -> sparse.csr_array:
    """A matrix of the distinct points as one of all points."""
    own, first = matrix.tocoo(), equal.first
    return sparse.csr_array((own.data, (first[own.row], first[own.col])), shape=2 * (equal.n,))
