"""How well the members of its own cluster explain a point.

A code says which other points a point is made of. Here only its part in the point's own cluster
counts: the combination of these points is compared with the point itself. So both a large residual
and a code spread over several clusters show.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from srsg.points import dense_rows, row_slices
from srsg.types import FloatArray
from srsg.weights import weighted_quantile


def explained_by_directions(
    points: Any, codes: sparse.csr_array, fitted: Any, negative_weight: float = 1.0
) -> FloatArray:
    """The cosine of the angle between each point and the combination that its code makes.

    For points of unit length, of which only the direction counts. Where negative coefficients
    count less than positive ones, they lower the cosine.

    Parameters
    ----------
    points : ndarray or csr_array of shape (m, d)
        The points to explain.
    codes : csr_array of shape (m, n)
        Their codes over the fitted points, restricted to their own clusters.
    fitted : ndarray or csr_array of shape (n, d)
        The fitted points.
    negative_weight : float
        Weight of negative coefficients, see :func:`weight_of_negatives`.

    Returns
    -------
    ndarray of shape (m,)
        From 0, not explained at all, to 1. Angles beyond 90 degrees also count as 0.

    Examples
    --------
    >>> import numpy as np
    >>> from scipy import sparse
    >>> from srsg.explaining.explanation import explained_by_directions
    >>> fitted = np.array([[1.0, 0.0], [0.0, 1.0]])
    >>> codes = sparse.csr_array([[0.5, 0.5], [0.5, 0.0], [0.0, -0.9]])
    >>> points = np.array([[0.6, 0.8], [0.6, 0.8], [0.0, -1.0]])
    >>> explained_by_directions(points, codes, fitted, negative_weight=0.0).round(2)
    array([0.99, 0.6 , 0.  ])
    """
    weighed = codes.copy()
    weighed.data = np.where(codes.data < 0, negative_weight * codes.data, codes.data)
    found = np.zeros(codes.shape[0])
    # In slices, because the combination of a code is as long as a point, and dense.
    for rows in row_slices(codes.shape[0]):
        own, sums, plain = points[rows], weighed[rows] @ fitted, codes[rows] @ fitted
        # The longer of the two sums: else a code of negative coefficients alone would keep its
        # direction, and its cosine, however little they count.
        longer = np.maximum(_products(sums, sums), _products(plain, plain))
        lengths = np.sqrt(_products(own, own) * longer)
        np.divide(_products(own, sums), lengths, out=found[rows], where=lengths > 0)
    return np.clip(found, 0.0, 1.0)


def explained_by_distances(
    points: Any, codes: sparse.csr_array, fitted: Any, weights: FloatArray | None = None
) -> FloatArray:
    """How near each point is to the weighted mean of the points that its code uses.

    For points that are not scaled to unit length.

    Parameters
    ----------
    points : ndarray or csr_array of shape (m, d)
        The points to explain.
    codes : csr_array of shape (m, n)
        Their codes over the fitted points, restricted to their own clusters.
    fitted : ndarray or csr_array of shape (n, d)
        The fitted points.
    weights : ndarray of shape (n,) or None
        How many times each fitted point counts; None means once.

    Returns
    -------
    ndarray of shape (m,)
        ``1 / (1 + d^2 / v)`` with the distance d and the variance v of the fitted points; 0 for an
        empty code.

    Examples
    --------
    >>> import numpy as np
    >>> from scipy import sparse
    >>> from srsg.explaining.explanation import explained_by_distances
    >>> fitted = np.array([[-1.0], [1.0], [1.0], [-1.0]])
    >>> codes = sparse.csr_array([[0.0, 0.3, 0.1, 0.0], [0.5, 0.0, 0.0, 0.5], [0.0] * 4])
    >>> explained_by_distances(np.array([[1.0], [1.0], [1.0]]), codes, fitted)
    array([1. , 0.2, 0. ])
    """
    largest = float(abs(fitted).max()) or 1.0  # squares of huge numbers stay finite
    points, fitted = points / largest, fitted / largest
    mean = np.asarray(fitted.mean(axis=0)).ravel()
    squares = fitted.multiply(fitted).mean(axis=0) if sparse.issparse(fitted) else None
    variance = fitted.var(axis=0).sum() if squares is None else (squares - mean**2).sum()
    if weights is not None:
        away = (fitted - np.average(fitted, axis=0, weights=weights)) ** 2
        variance = np.average(away, axis=0, weights=weights).sum()
    shares = rows_adding_to_one(abs(codes))
    used = np.diff(shares.indptr) > 0
    found = np.zeros(codes.shape[0])
    for rows in row_slices(codes.shape[0]):
        away = points[rows] - shares[rows] @ fitted
        with np.errstate(over="ignore"):  # infinitely far away, and not explained at all
            squares = _products(away, away) / max(variance, np.finfo(float).tiny)
        found[rows] = 1.0 / (1.0 + squares)
    return np.where(used, found, 0.0)


def weight_of_negatives(codes: sparse.csr_array) -> float:
    """The negative mass of the fitted codes, divided by their positive mass; at most 1.

    Mirroring a point at the origin changes only the signs of its code. Whether that matters depends
    on the data: where fitted codes have hardly a negative coefficient, as those of images, a mirror
    image is foreign to the clusters; where both signs are equally common, as on subspaces, it is as
    good as the point.

    Examples
    --------
    >>> from scipy import sparse
    >>> from srsg.explaining.explanation import weight_of_negatives
    >>> weight_of_negatives(sparse.csr_array([[0.0, 0.5], [-0.1, 0.0]]))
    0.2
    """
    positive = codes.data[codes.data > 0].sum()
    negative = -codes.data[codes.data < 0].sum()
    return float(negative / positive) if positive > negative else 1.0


def within_own_cluster(
    codes: sparse.csr_array, own: NDArray[np.intp], labels: NDArray[np.intp]
) -> sparse.csr_array:
    """The part of each code in the cluster of its point.

    Parameters
    ----------
    codes : csr_array of shape (m, n)
    own : ndarray of shape (m,)
        The clusters of the coded points.
    labels : ndarray of shape (n,)
        The clusters of the fitted points.

    Examples
    --------
    >>> import numpy as np
    >>> from scipy import sparse
    >>> from srsg.explaining.explanation import within_own_cluster
    >>> codes = sparse.csr_array([[0.5, 0.3, 0.2]])
    >>> within_own_cluster(codes, np.array([1]), np.array([0, 1, 1])).toarray()
    array([[0. , 0.3, 0.2]])
    """
    rows = np.repeat(np.arange(codes.shape[0]), np.diff(codes.indptr))
    kept = own[rows] == labels[codes.indices]
    entries = (codes.data[kept], (rows[kept], codes.indices[kept]))
    return sparse.csr_array(entries, shape=codes.shape)


def beside_the_best(
    explained: FloatArray, of_fitted: FloatArray, weights: FloatArray | None = None
) -> FloatArray:
    """Explanations divided by the 0.9 quantile of the fitted points, at most 1.

    On noisy data, not even the middle of a cluster is explained entirely. ``weights`` are those of
    the fitted points.
    """
    best = weighted_quantile(of_fitted, 0.9, weights)
    return np.minimum(1.0, explained / best) if best > 0 else np.zeros(len(explained))


def rows_adding_to_one(weights: sparse.csr_array) -> sparse.csr_array:
    """The rows divided by their sums; empty rows stay empty."""
    total = np.asarray(weights.sum(axis=1)).ravel()
    scale = sparse.diags_array(1.0 / np.where(total > 0, total, 1.0))
    return sparse.csr_array(scale @ weights)


def _products(first: Any, second: Any) -> FloatArray:
    """Inner products of corresponding rows, dense or sparse."""
    if sparse.issparse(first) and sparse.issparse(second):
        return np.asarray(first.multiply(second).sum(axis=1)).ravel()
    return np.einsum("ij,ij->i", dense_rows(first), dense_rows(second), dtype=np.float64)
