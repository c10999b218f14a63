"""Sparse Manifold Clustering and Embedding (Elhamifar and Vidal, 2011): codes and weights.

A point is coded over the directions to its nearest neighbours, so that these nearly cancel. A few
near neighbours that span the tangent space of the point's own manifold do that best.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from srsg.coding.neighbors import Searchable
from srsg.kernels.smce import code_points
from srsg.points import BLOCK_SIZE, EqualPoints, blocks_of_rows, name_rows
from srsg.running import Engine, ThreadEngine
from srsg.types import FloatArray, IntArray

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
        How many neighbours a point is coded over; all other points, if there are fewer.
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
    engine = engine or ThreadEngine()
    # A common factor does not change the codes, but it keeps squared distances from overflowing.
    scaled = _scaled(x, _exponent(x))
    # Equal points have no direction to each other, so only the first of each set is coded.
    equal = equal_rows(x)
    first, owner = equal.first, equal.owner
    points = scaled[first]
    task = partial(_code, lam=lam, n_neighbors=min(n_neighbors, len(points) - 1))
    # Blocks of a fixed size: nothing below then depends on the memory or the number of workers.
    blocks = blocks_of_rows(len(points), BLOCK_SIZE)
    coded = engine.map(task, Searchable.of(points), blocks, label="SMCE codes")
    neighbors = np.concatenate([block.neighbors for block in coded])
    codes = np.concatenate([block.codes for block in coded])
    if not np.isfinite(codes).all():
        raise ValueError(f"lam={lam} is too large: the codes overflow.")
    distances = np.concatenate([block.distances for block in coded])
    weights = _csr(_kept(_weights(codes, distances), keep), neighbors, len(points))
    # So far indices count the distinct points. From here on they count all points.
    return SMCECodes(
        codes=_with_copies(_csr(codes, neighbors, len(points)), first, owner),
        weights=_with_linked_copies(weights, first, owner),
        dual_gap=np.concatenate([block.gap for block in coded])[owner],
        neighbors=first[neighbors][owner],
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
    engine = engine or ThreadEngine()
    # The factor of the fitted points, so that distances between new and fitted points are right.
    exponent = _exponent(x)
    scaled, targets = _scaled(x, exponent), _scaled(queries, exponent)
    far = np.flatnonzero(np.abs(targets).max(axis=1) > 1 / NEGLIGIBLE)
    if far.size:
        raise ValueError(
            f"X is too far from the fitted points for distances: rows {name_rows(far)}."
        )
    first = equal_rows(x).first
    data = Searchable.of(scaled[first]), targets
    task = partial(_code_new, lam=lam, n_neighbors=min(n_neighbors, len(first)))
    blocks = blocks_of_rows(len(targets), BLOCK_SIZE)
    coded = engine.map(task, data, blocks, label="SMCE codes")
    codes, neighbors = (np.concatenate(part) for part in zip(*coded, strict=True))
    return _csr(codes, first[neighbors], len(x))


def _exponent(x: NDArray[np.floating]) -> int:
    """The power of two that scales entries to at most about one."""
    return -int(np.frexp(np.abs(x).max())[1])


def _scaled(x: NDArray[np.floating], exponent: int) -> FloatArray:
    """The points times a power of two, so that no square overflows; negligible entries are zero."""
    # A power of two changes the exponents only, so no digit is lost.
    scaled = np.ldexp(x, exponent)
    return np.where(np.abs(scaled) < NEGLIGIBLE, 0.0, scaled)


def equal_rows(x: NDArray[np.floating]) -> EqualPoints:
    """Which points are equal for :func:`smce_codes`, where negligible entries count as zero."""
    scaled = _scaled(x, _exponent(x))
    # Adding zero turns -0.0 into 0.0. Rows are then equal if their bytes are, and sorting bytes is
    # much faster than sorting rows of numbers.
    rows = np.ascontiguousarray(scaled + 0.0)
    return EqualPoints.of(rows.view(np.dtype((np.void, x.itemsize * x.shape[1]))).ravel())


@dataclass(frozen=True)
class _CodedBlock:
    """A block of codes: one row per point, one column per neighbour."""

    neighbors: IntArray
    codes: FloatArray
    distances: FloatArray
    gap: FloatArray


def _code(points: Searchable, rows: IntArray, *, lam: float, n_neighbors: int) -> _CodedBlock:
    targets = points.x[rows]
    return _code_over(points, targets, points.nearest(targets, rows, n_neighbors), lam)


def _code_over(
    points: Searchable, targets: FloatArray, neighbors: IntArray, lam: float
) -> _CodedBlock:
    codes, distances = np.empty(neighbors.shape), np.empty(neighbors.shape)
    gap = np.zeros(len(targets))
    if neighbors.size:
        code_points(points.x, targets, neighbors, lam, codes, distances, gap)
    return _CodedBlock(neighbors, codes, distances, gap)


def _code_new(
    data: tuple[Searchable, FloatArray], rows: IntArray, *, lam: float, n_neighbors: int
) -> tuple[FloatArray, IntArray]:
    """Codes of new points, one column per neighbour, and the neighbours."""
    points, targets = data[0], data[1][rows]
    neighbors = points.nearest(targets, np.full(len(rows), -1), n_neighbors)
    # A new point that equals a fitted one has no direction to it; that one is then its nearest.
    fitted = (points.x[neighbors[:, 0]] == targets).all(axis=1)
    codes = np.zeros(neighbors.shape)
    codes[fitted, 0] = 1.0
    codes[~fitted] = _code_over(points, targets[~fitted], neighbors[~fitted], lam).codes
    return codes, neighbors


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


def _copies(first: IntArray, owner: IntArray) -> IntArray:
    """The points that equal an earlier one."""
    return np.setdiff1d(np.arange(len(owner)), first)


def _with_copies(codes: sparse.csr_array, first: IntArray, owner: IntArray) -> sparse.csr_array:
    """Codes of all points: a copy has a one at the first point that equals it."""
    own, copies = codes.tocoo(), _copies(first, owner)
    rows = np.concatenate([first[own.row], copies])
    columns = np.concatenate([first[own.col], first[owner[copies]]])
    values = np.concatenate([own.data, np.ones(len(copies))])
    n_points = len(owner)
    return sparse.csr_array((values, (rows, columns)), shape=(n_points, n_points))


def _with_linked_copies(
    weights: sparse.csr_array, first: IntArray, owner: IntArray
) -> sparse.csr_array:
    """The symmetric graph of all points: a copy is linked to the first point that equals it, by the
    largest weight of that point."""
    # The maximum, as published, and not the mean: a link that only one of two points has counts in
    # full.
    own = sparse.csr_array(weights.maximum(weights.T))
    largest = own.max(axis=1).toarray().ravel() if own.nnz else np.ones(len(first))
    own, copies = own.tocoo(), _copies(first, owner)
    firsts = first[owner[copies]]
    # Without any weight (a single distinct point) copies are linked with weight one.
    links = largest[owner[copies]]
    rows = np.concatenate([first[own.row], copies, firsts])
    columns = np.concatenate([first[own.col], firsts, copies])
    values = np.concatenate([own.data, links, links])
    n_points = len(owner)
    return sparse.csr_array((values, (rows, columns)), shape=(n_points, n_points))
