"""How well clusters explain the points of a fitted graph, and which clusters new points join."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from srsg.coding.coder import nearest_fitted, new_codes, warn_of_zero_rows, without_direction
from srsg.cutting.affinity import cluster_weights
from srsg.cutting.cut import Clusters
from srsg.explaining.confidence import soft_labels, sparse_memberships, sure_of_own, tossed
from srsg.explaining.explanation import (
    beside_the_best,
    explained_by_directions,
    explained_by_distances,
    rows_adding_to_one,
    weight_of_negatives,
    within_own_cluster,
)
from srsg.graph import FittedGraph, without_loops
from srsg.points import UnitRows, name_rows
from srsg.running import Engine
from srsg.running.warnings import warn_user
from srsg.types import FloatArray, IntArray

FALLBACK_NEIGHBORS = 5
"""Fitted points that vote for a new point whose code is empty."""

MOST_CLUSTERS = 5
"""Clusters that a point is a member of at most."""


@dataclass(frozen=True)
class NewPoints:
    """Prepared new points, their codes and their clusters.

    Attributes
    ----------
    points : ndarray or csr_array of shape (n_new, n_features)
    codes : csr_array of shape (n_new, n)
    shares : ndarray of shape (n_new, n_clusters)
        How much of each code lies in each cluster.
    labels : ndarray of shape (n_new,)
        The cluster with the largest share.
    usual : ndarray of shape (n_new,)
        1 for lengths like those of the fitted points, less for others, see :func:`usual_lengths`.
    """

    points: Any
    codes: sparse.csr_array
    shares: FloatArray
    labels: NDArray[np.intp]
    usual: FloatArray


def usual_lengths(fitted: FloatArray, new: FloatArray) -> FloatArray:
    """How usual the lengths of new points are beside those of the fitted ones.

    Directions alone do not show that new points are in other units, or shifted far away. On a scale
    of logarithms, lengths are usual within the range of the fitted ones and up to its width beyond:
    a factor of ten at least, since directions do not depend on units.

    Returns
    -------
    ndarray of shape (n_new,)
        1 for usual lengths and for rows of zeros; beyond, it falls to 1 / e with each further
        width.

    Examples
    --------
    >>> import numpy as np
    >>> from srsg.explaining.fitted import usual_lengths
    >>> usual_lengths(np.array([1.0, 2.0]), np.array([0.0, 0.1, 20.0, 200.0])).round(2)
    array([1.  , 1.  , 1.  , 0.37])
    """
    known = np.log(fitted[fitted > 0])
    if not known.size:  # rows of zeros only
        return np.ones(len(new))
    width = max(float(np.ptp(known)), np.log(10.0))
    logs = np.log(np.where(new > 0, new, fitted.max()))
    beyond = np.maximum(known.min() - logs, logs - known.max()) / width - 1
    return np.exp(-np.maximum(beyond.round(12), 0.0))


def assign_new(
    fitted: FittedGraph, clusters: Clusters, new: UnitRows, lengths: FloatArray, run: Engine
) -> NewPoints:
    """Code prepared new points, and find the clusters with most of their codes.

    Where a code is empty, the five nearest fitted points vote. A row of zeros in a method that
    scales points to unit length has no direction: its shares are those of the clusters among the
    fitted points.
    """
    codes = new_codes(fitted, new, run)
    labels, n_clusters = clusters.labels, clusters.n_clusters
    shares = cluster_shares(fitted.coder.votes(codes), labels, n_clusters)
    if fitted.coder.unit and (zero := without_direction(new)).any():
        warn_of_zero_rows(np.flatnonzero(zero))
        shares[zero] = fitted.equal.cluster_shares(labels, n_clusters)
    # A code is empty where lam is too large for it, or where a kernel underflows.
    empty = np.flatnonzero(shares.sum(axis=1) == 0)
    if empty.size and fitted.points is None:
        warn_user(
            f"X has {empty.size} row(s) without an edge to a fitted point: rows "
            f"{name_rows(empty)}. They get the label of the largest cluster.",
            UserWarning,
        )
        shares[empty] = fitted.equal.cluster_shares(labels, n_clusters)
    elif empty.size:
        count = min(FALLBACK_NEIGHBORS, len(labels))
        nearest = nearest_fitted(fitted, new[empty], count, run)
        shares[empty] = nearest_shares(nearest, labels, n_clusters)
    usual = np.ones(len(lengths))
    if fitted.lengths is not None:
        usual = usual_lengths(fitted.lengths, lengths)
    return NewPoints(new, codes, shares, np.argmax(shares, axis=1), usual)


def warn_of_unusual_lengths(new: NewPoints) -> None:
    """Say which new points are far longer or shorter than all fitted ones."""
    unusual = np.flatnonzero(new.usual < 1)
    if unusual.size:
        warn_user(
            f"X has {unusual.size} row(s) far longer or shorter than any fitted point: rows "
            f"{name_rows(unusual)}. Their clusters are those of their directions; check units and "
            "shifts, or let novelty=0.05 mark them.",
            UserWarning,
        )


def cluster_shares(
    codes: sparse.csr_array, labels: NDArray[np.intp], n_clusters: int
) -> FloatArray:
    """How much of each code's mass, ``sum |z|``, lies in each cluster.

    Parameters
    ----------
    codes : csr_array of shape (n_new, n)
        Codes over the fitted points.
    labels : ndarray of shape (n,)
        The clusters of the fitted points.
    n_clusters : int
        Number of clusters.

    Returns
    -------
    ndarray of shape (n_new, n_clusters)
        Rows add up to one; zeros where the code is empty.

    Examples
    --------
    >>> import numpy as np
    >>> from scipy import sparse
    >>> from srsg.explaining.fitted import cluster_shares
    >>> codes = sparse.csr_array([[0.3, -0.3, 0.2], [0.0, 0.0, 0.0]])
    >>> cluster_shares(codes, np.array([0, 0, 1]), 2)
    array([[0.75, 0.25],
           [0.  , 0.  ]])
    """
    masses = cluster_weights(abs(codes), labels, n_clusters)
    total = masses.sum(axis=1, keepdims=True)
    return masses / np.where(total > 0, total, 1.0)


def nearest_shares(nearest: IntArray, labels: NDArray[np.intp], n_clusters: int) -> FloatArray:
    """The shares of the clusters among the nearest fitted points of each new point.

    Examples
    --------
    >>> import numpy as np
    >>> from srsg.explaining.fitted import nearest_shares
    >>> nearest_shares(np.array([[0, 2, 1, 4]]), np.array([0, 0, 0, 0, 1, 1]), 2)
    array([[0.75, 0.25]])
    """
    shares = np.zeros((len(nearest), n_clusters))
    rows = np.arange(len(nearest))[:, None]
    np.add.at(shares, (rows, labels[nearest]), 1 / nearest.shape[1])
    return shares


def explained_points(fitted: FittedGraph, labels: NDArray[np.intp]) -> FloatArray:
    """How well the members of its own cluster explain each fitted point, from 0 to 1."""
    return _explained(fitted, labels, fitted_rows(fitted), fitted_codes(fitted), labels)


def explained_new(fitted: FittedGraph, clusters: Clusters, new: NewPoints) -> FloatArray:
    """How well the members of its cluster explain each new point, from 0 to 1."""
    explained = _explained(fitted, clusters.labels, new.points, new.codes, new.labels)
    return explained * new.usual


def confidence_of_new(
    fitted: FittedGraph,
    clusters: Clusters,
    new: NewPoints,
    explained: FloatArray,
    p_value: float,
) -> FloatArray:
    """The confidence of new points.

    ``explained`` is that of the fitted points, and ``p_value`` that of the valleys between their
    clusters.
    """
    weights = rows_adding_to_one(abs(fitted.coder.votes(new.codes)))
    each = fitted.equal.row_weights
    of_fitted = soft_labels(clusters.vectors, clusters.labels, clusters.n_clusters, each)
    own = sure_of_own(weights @ of_fitted, new.labels, p_value)
    return own * beside_the_best(explained_new(fitted, clusters, new), explained, each)


def confidence_of_points(
    fitted: FittedGraph, clusters: Clusters, explained: FloatArray, p_value: float
) -> FloatArray:
    """The confidence of the fitted points."""
    labels, weights = clusters.labels, fitted.equal.row_weights
    memberships = soft_labels(clusters.vectors, labels, clusters.n_clusters, weights)
    own = sure_of_own(memberships, labels, p_value)
    return own * beside_the_best(explained, explained, weights)


def memberships_of_points(
    clusters: Clusters, explained: FloatArray, p_value: float
) -> sparse.csr_array:
    """The memberships of the fitted points in at most :data:`MOST_CLUSTERS` clusters each."""
    labels = clusters.labels
    soft = tossed(soft_labels(clusters.vectors, labels, clusters.n_clusters), labels, p_value)
    share = beside_the_best(explained, explained)
    return sparse_memberships(soft, labels, share, MOST_CLUSTERS)


def fitted_codes(fitted: FittedGraph) -> sparse.csr_array:
    """The code of every fitted point over the others; its edges, for a method without codes."""
    if fitted.codes is not None:
        return fitted.codes
    weights = fitted.equal.row_weights
    if weights is None:
        return without_loops(fitted.affinity)
    # A row of weight m has m - 1 others in its own place.
    edges = sparse.coo_array(fitted.affinity)
    others = edges.row != edges.col
    data = edges.data * np.where(others, 1.0, np.maximum(1 - 1 / weights[edges.row], 0.0))
    return sparse.csr_array((data, (edges.row, edges.col)), shape=edges.shape)


def fitted_rows(fitted: FittedGraph) -> Any:
    """The fitted points in this process."""
    points = fitted.points
    return points.compute() if hasattr(points, "compute") else points


def _explained(
    fitted: FittedGraph,
    labels: NDArray[np.intp],
    points: Any,
    codes: sparse.csr_array,
    own_labels: NDArray[np.intp],
) -> FloatArray:
    own = within_own_cluster(codes, own_labels, labels)
    if fitted.points is None:  # the edges are all there is
        total = np.asarray(codes.sum(axis=1)).ravel()
        return np.asarray(own.sum(axis=1)).ravel() / np.where(total > 0, total, 1.0)
    rows = fitted_rows(fitted)
    if not fitted.coder.unit:
        return explained_by_distances(points, own, rows, fitted.equal.row_weights)
    negative = weight_of_negatives(fitted.equal.weigh_rows(fitted.codes))
    return explained_by_directions(points, own, rows, negative)
