"""How well clusters explain the points of a fitted graph, and which clusters new points join."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from srsg.coding.coder import nearest_fitted, new_codes, warn_of_zero_rows, without_direction
from srsg.cutting.cut import Clusters
from srsg.explaining.assignment import FALLBACK_NEIGHBORS, cluster_shares, nearest_shares
from srsg.explaining.confidence import soft_labels
from srsg.explaining.explanation import (
    beside_the_best,
    explained_by_directions,
    explained_by_distances,
    rows_adding_to_one,
    weight_of_negatives,
    within_own_cluster,
)
from srsg.graph import FittedGraph
from srsg.points import UnitRows
from srsg.running import Engine
from srsg.types import FloatArray


@dataclass(frozen=True)
class NewPoints:
    """New points in the form that is coded, their codes, and the clusters they join.

    Attributes
    ----------
    points : ndarray or csr_array of shape (n_new, n_features)
    codes : csr_array of shape (n_new, n)
    shares : ndarray of shape (n_new, n_clusters)
        How much of each code lies in each cluster.
    labels : ndarray of shape (n_new,)
        The cluster with the largest share.
    """

    points: Any
    codes: sparse.csr_array
    shares: FloatArray
    labels: NDArray[np.intp]


def assign_new(fitted: FittedGraph, clusters: Clusters, new: UnitRows, run: Engine) -> NewPoints:
    """Code new points, which are prepared, and find the clusters with most of their codes.

    Where a code is empty, the five nearest fitted points vote. A row of zeros in a method that
    scales points to unit length has no direction: its shares are those that the clusters have of
    the fitted points.
    """
    codes = new_codes(fitted, new, run)
    labels, n_clusters = clusters.labels, clusters.n_clusters
    shares = cluster_shares(fitted.coder.votes(codes), labels, n_clusters)
    if fitted.coder.unit and (zero := without_direction(new)).any():
        warn_of_zero_rows(np.flatnonzero(zero))
        shares[zero] = fitted.equal.cluster_shares(labels, n_clusters)
    # A code is empty where lam is too large for it, or where a kernel underflows.
    empty = np.flatnonzero(shares.sum(axis=1) == 0)
    if empty.size:
        count = min(FALLBACK_NEIGHBORS, len(labels))
        nearest = nearest_fitted(fitted, new[empty], count, run)
        shares[empty] = nearest_shares(nearest, labels, n_clusters)
    return NewPoints(new, codes, shares, np.argmax(shares, axis=1))


def explained_points(fitted: FittedGraph, labels: NDArray[np.intp]) -> FloatArray:
    """How well the members of its own cluster explain each fitted point, from 0 to 1."""
    return _explained(fitted, labels, fitted_rows(fitted), fitted_codes(fitted), labels)


def explained_new(fitted: FittedGraph, clusters: Clusters, new: NewPoints) -> FloatArray:
    """How well the members of its cluster explain each new point, from 0 to 1."""
    return _explained(fitted, clusters.labels, new.points, new.codes, new.labels)


def confidence_of_new(
    fitted: FittedGraph, clusters: Clusters, new: NewPoints, explained: FloatArray
) -> FloatArray:
    """How sure the clusters of new points are; ``explained`` is that of the fitted points."""
    weights = rows_adding_to_one(abs(fitted.coder.votes(new.codes)))
    memberships = weights @ soft_labels(clusters.vectors, clusters.labels, clusters.n_clusters)
    own = memberships[np.arange(len(new.labels)), new.labels]
    return own * beside_the_best(explained_new(fitted, clusters, new), explained)


def confidence_of_points(clusters: Clusters, explained: FloatArray) -> FloatArray:
    """How sure the labels of the fitted points are."""
    labels = clusters.labels
    memberships = soft_labels(clusters.vectors, labels, clusters.n_clusters)
    return memberships[np.arange(len(labels)), labels] * beside_the_best(explained, explained)


def fitted_codes(fitted: FittedGraph) -> sparse.csr_array:
    """The code of every fitted point over the others; its edges, where there are no codes."""
    if fitted.codes is not None:
        return fitted.codes
    edges = sparse.coo_array(fitted.affinity)
    others = edges.row != edges.col
    entries = (edges.data[others], (edges.row[others], edges.col[others]))
    return sparse.csr_array(entries, shape=edges.shape)


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
    rows = fitted_rows(fitted)
    if not fitted.coder.unit:
        return explained_by_distances(points, own, rows)
    return explained_by_directions(points, own, rows, weight_of_negatives(fitted.codes))
