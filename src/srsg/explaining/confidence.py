"""How sure it is that a point belongs to its cluster: the confidence, from 0 to 1.

It has two factors. *Membership*: how near the point is to the centre of its cluster in the spectral
embedding, compared with the other centres. *Explanation*: how well the members of its cluster
explain it (:mod:`srsg.explaining.explanation`), so that a point that no cluster explains has a low
confidence, however far it is from all the other clusters. And if no valleys of density separate the
clusters (:mod:`srsg.explaining.valleys`), a label is a toss between the two next ones.

No true classes are used, and nothing is fitted again. ``benchmarks/calibration.py`` compares the
confidence with the share of right labels.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse
from sklearn.metrics.pairwise import euclidean_distances

from srsg.cutting.affinity import cluster_weights
from srsg.explaining.unwrapping import clusterer_of, columns_by_position, points_as_clustered
from srsg.explaining.valleys import LEVEL, N_SPACES, valley_p_value
from srsg.running.warnings import made_dense
from srsg.types import FloatArray, Matrix

POWER = 3.0
"""Memberships are proportional to distances to the power of minus this. With 2, the usual power of
fuzzy clustering, many far centres together outweigh a near one; with 4 and more, confidence is far
higher than the share of right labels. Between 2.5 and 3.25 the power matters little."""

BY_EMBEDDING = (
    "membership by distances to the clusters' centres in the embedding, lower for points that "
    "the members of their cluster explain badly"
)
BY_EDGES = "share of a point's edge weight that stays in its cluster"
BY_CENTRES = (
    "membership by distances to the clusters' centres, lower for points farther from their centre "
    "than usual"
)


FOR_CENTRES = "distances to centres need dense points"
"""Why the confidence of K-means needs dense points, for a warning."""


def soft_labels(
    vectors: FloatArray,
    labels: ArrayLike,
    n_clusters: int,
    weights: FloatArray | None = None,
) -> FloatArray:
    """Membership of each point in every cluster, by the distances to the clusters' centres.

    Memberships are proportional to ``d^-3`` with the distance d, as in fuzzy c-means with the
    exponent 5/3.

    Parameters
    ----------
    vectors : ndarray of shape (n, dimensions)
        The embedded points.
    labels : array-like of shape (n,)
        Their clusters, from 0 to ``n_clusters - 1``.
    n_clusters : int
        Number of clusters.
    weights : ndarray of shape (n,) or None
        How many times each point counts; None means once.

    Returns
    -------
    ndarray of shape (n, n_clusters)
        Rows add up to one; zeros for clusters without members.

    Examples
    --------
    >>> import numpy as np
    >>> from srsg.explaining.confidence import soft_labels
    >>> vectors = np.array([[0.0], [2.0], [4.0], [6.0]])
    >>> soft_labels(vectors, [0, 0, 1, 1], 2)[:, 0].round(3)
    array([0.992, 0.964, 0.036, 0.008])
    """
    cluster = np.asarray(labels)
    present = np.unique(cluster)
    centres = _centres(vectors, cluster, present, weights)
    found = np.zeros((len(vectors), n_clusters))
    found[:, present] = _memberships(euclidean_distances(vectors, centres))
    return found


def _centres(
    vectors: NDArray, cluster: NDArray, names: NDArray, weights: FloatArray | None
) -> FloatArray:
    if weights is None:
        return np.array([vectors[cluster == name].mean(axis=0) for name in names])
    own = [cluster == name for name in names]
    return np.array([np.average(vectors[rows], axis=0, weights=weights[rows]) for rows in own])


def _memberships(distances: FloatArray) -> FloatArray:
    nearest = distances.min(axis=1, keepdims=True)
    # A point on a centre belongs there entirely; 0 / 0 is the ratio of equal distances.
    ratio = np.divide(nearest, distances, out=np.ones_like(distances), where=distances > 0)
    weights = ratio**POWER
    return weights / weights.sum(axis=1, keepdims=True)


def sure_of_own(memberships: FloatArray, own: NDArray[np.intp], p_value: float) -> FloatArray:
    """The memberships in the own clusters, as far as clusters lie apart at all.

    Without valleys between the clusters a label is a toss between the two next ones: both then get
    the mean of their memberships.

    Parameters
    ----------
    memberships : ndarray of shape (n, n_clusters)
        See :func:`soft_labels`.
    own : ndarray of shape (n,)
        The clusters of the points.
    p_value : float
        That of the valleys, see :func:`srsg.explaining.valleys.valley_p_value`. Up to the level of
        5 % memberships stay as they are.

    Examples
    --------
    >>> import numpy as np
    >>> from srsg.explaining.confidence import sure_of_own
    >>> memberships = np.array([[0.9, 0.1]])
    >>> sure_of_own(memberships, np.array([0]), 0.01)
    array([0.9])
    >>> sure_of_own(memberships, np.array([0]), 1.0)
    array([0.5])
    """
    return tossed(memberships, own, p_value)[np.arange(len(own)), own]


def tossed(memberships: FloatArray, own: NDArray[np.intp], p_value: float) -> FloatArray:
    """Memberships after what :func:`sure_of_own` does; rows still add up to one."""
    # Of a graph without points the p-value is not known: it is NaN, and changes nothing.
    if not p_value > LEVEL or memberships.shape[1] == 1:
        return memberships
    rows, found, others = np.arange(len(own)), memberships.copy(), memberships.copy()
    others[rows, own] = -1.0
    second = others.argmax(axis=1)
    toss = min(1.0, N_SPACES * p_value)  # it is the smallest p-value of several
    moved = toss * (memberships[rows, own] - memberships[rows, second]) / 2
    found[rows, own] -= moved
    found[rows, second] += moved
    return found


def sparse_memberships(
    memberships: FloatArray, own: NDArray[np.intp], explained: FloatArray, most: int
) -> sparse.csr_array:
    """Memberships in a few clusters for each point: its own, and those with most membership.

    A point belongs to all of these alike as far as no cluster explains it.

    Parameters
    ----------
    memberships : ndarray of shape (n, n_clusters)
        Rows add up to one, see :func:`soft_labels`.
    own : ndarray of shape (n,)
        The clusters of the points.
    explained : ndarray of shape (n,)
        How well their clusters explain the points, from 0 to 1.
    most : int
        Clusters that each point has at most.

    Returns
    -------
    csr_array of shape (n, n_clusters)
        Rows add up to one.

    Examples
    --------
    >>> import numpy as np
    >>> from srsg.explaining.confidence import sparse_memberships
    >>> soft = np.array([[0.6, 0.2, 0.2], [0.1, 0.8, 0.1]])
    >>> sparse_memberships(soft, np.array([0, 1]), np.array([1.0, 0.0]), 2).toarray()
    array([[0.75, 0.25, 0.  ],
           [0.5 , 0.5 , 0.  ]])
    """
    n, n_clusters = memberships.shape
    rows, most = np.arange(n)[:, None], min(most, n_clusters)
    ranked = -memberships
    ranked[rows[:, 0], own] = -np.inf
    kept = np.sort(np.argsort(ranked, axis=1, kind="stable")[:, :most], axis=1)
    shares = memberships[rows, kept]
    shares /= shares.sum(axis=1, keepdims=True)
    shares = explained[:, None] * shares + (1 - explained[:, None]) / most
    starts = most * np.arange(n + 1)
    found = sparse.csr_array((shares.ravel(), kept.ravel(), starts), shape=(n, n_clusters))
    found.eliminate_zeros()
    return found


def membership(graph: Matrix, labels: ArrayLike) -> FloatArray:
    """Share of each point's edge weight that stays in its own cluster.

    Parameters
    ----------
    graph : array or sparse matrix of shape (n, n)
        ``affinity_matrix_`` of any estimator.
    labels : array-like of shape (n,)
        The cluster of every point.

    Returns
    -------
    ndarray of shape (n,)
        Between 0 and 1; 0 for a point without edges.

    Examples
    --------
    >>> import numpy as np
    >>> from srsg.explaining.confidence import membership
    >>> graph = np.array([[0.0, 3.0, 1.0], [3.0, 0.0, 0.0], [1.0, 0.0, 0.0]])
    >>> membership(graph, [0, 0, 1])
    array([0.75, 1.  , 0.  ])
    """
    own, total = _edge_weights(graph, np.asarray(labels))
    return np.divide(own, total, out=np.zeros(len(own)), where=total > 0)


@dataclass(frozen=True)
class Confidence:
    """How sure the cluster of each point is, and how central the point.

    Attributes
    ----------
    values : ndarray of shape (n,)
        The confidence of each point, from 0 to 1.
    centrality : ndarray of shape (n,)
        Larger for points in the middle of their cluster; comparable within a cluster only.
    meaning : str
        What the values mean, in words.
    """

    values: FloatArray
    centrality: FloatArray
    meaning: str

    def most_central(self, members: NDArray[np.intp], count: int) -> NDArray[np.intp]:
        """The ``count`` most central of the members, ties by index."""
        return members[np.argsort(-self.centrality[members], kind="stable")[:count]]

    def least_confident(self, members: NDArray[np.intp], count: int) -> NDArray[np.intp]:
        """The ``count`` members with the lowest confidence, ties by index."""
        return members[np.argsort(self.values[members], kind="stable")[:count]]


def confidence(model: Any, X: Matrix, weights: FloatArray | None = None) -> Confidence:
    """The confidence of all points that a model was fitted on.

    Parameters
    ----------
    model : estimator
        Fitted: a clusterer with ``labels_``, a pipeline that ends in one, or a search. Estimators
        of this package have ``confidence_``. For others with a graph, it is the share of a point's
        edge weight that stays in its cluster; for all others, the membership by distances to the
        centres of the clusters, in the space that the centres span.
    X : array, sparse matrix or DataFrame of shape (n, d)
        The fitted points.
    weights : ndarray of shape (n,) or None
        How many times each of them counts, for models that do not know it themselves.

    Returns
    -------
    Confidence

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.cluster import KMeans
    >>> from srsg.explaining.confidence import confidence
    >>> X = np.array([[0.0], [1.0], [4.0], [9.0], [10.0], [11.0]])
    >>> found = confidence(KMeans(2, n_init=1, random_state=0).fit(X), X)
    >>> int(found.values.argmin())
    2
    """
    if "certainty_" in vars(model):  # a search has computed it
        return model.certainty_
    clusterer = clusterer_of(model)
    graph = getattr(clusterer, "affinity_matrix_", None)
    if graph is None:
        points = made_dense(points_as_clustered(model, X), FOR_CENTRES)
        return _by_centres(points, clusterer.labels_, weights)
    own, _ = _edge_weights(graph, clusterer.labels_)
    if hasattr(clusterer, "confidence_"):
        return Confidence(clusterer.confidence_, own, BY_EMBEDDING)
    return Confidence(membership(graph, clusterer.labels_), own, BY_EDGES)


def predict_with_confidence(
    model: Any, X: Matrix, *, novelty: float | None = None
) -> tuple[NDArray[np.intp], FloatArray]:
    """Clusters of new points, and the confidence.

    Parameters
    ----------
    model : estimator
        Fitted: an estimator of this package or K-means, a pipeline that ends in one, or a search.
    X : array, sparse matrix or DataFrame of shape (n_new, d)
        New points, with the columns of the fitted points in the same order.
    novelty : float or None
        As in ``predict`` of the estimators of this package: points that their cluster explains
        worse than this share of the fitted points get the label -1.

    Returns
    -------
    labels : ndarray of shape (n_new,)
    confidence : ndarray of shape (n_new,)
        From 0 to 1. A label of -1 keeps the confidence of the best cluster.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.cluster import KMeans
    >>> from srsg.explaining.confidence import predict_with_confidence
    >>> model = KMeans(2, n_init=1, random_state=0).fit(np.array([[0.0], [1.0], [9.0], [10.0]]))
    >>> predict_with_confidence(model, np.array([[0.5], [5.0]]))[1].round(3)
    array([1.   , 0.012])
    """
    clusterer = clusterer_of(model)
    new = points_as_clustered(model, X)
    with columns_by_position():
        if hasattr(clusterer, "predict_with_confidence"):
            return clusterer.predict_with_confidence(new, novelty=novelty)
        if novelty is not None:
            raise ValueError(
                f"novelty={novelty!r} needs an estimator of this package: a "
                f"{type(clusterer).__name__} does not say how well it explains a point."
            )
        labels = clusterer.predict(new)
    centres, usual = clusterer.cluster_centers_, clusterer.inertia_ / len(clusterer.labels_)
    return labels, _near_centres(made_dense(new, FOR_CENTRES), centres, labels, usual)


def _edge_weights(graph: Any, labels: NDArray) -> tuple[FloatArray, FloatArray]:
    """The edge weight of each point within its own cluster, and in total."""
    matrix = sparse.csr_array(graph) if sparse.issparse(graph) else np.asarray(graph)
    names, cluster = np.unique(labels, return_inverse=True)
    per_cluster = cluster_weights(matrix, cluster, len(names))
    return per_cluster[np.arange(len(cluster)), cluster], per_cluster.sum(axis=1)


def _by_centres(X: NDArray[np.floating], labels: NDArray, weights: FloatArray | None) -> Confidence:
    names, cluster = np.unique(labels, return_inverse=True)
    centres = _centres(X, cluster, np.arange(len(names)), weights)
    squares = ((X - centres[cluster]) ** 2).sum(axis=1)
    p_value = valley_p_value(X, cluster)
    usual = squares.mean() if weights is None else np.average(squares, weights=weights)
    values = _near_centres(X, centres, cluster, float(usual), p_value)
    return Confidence(values, -squares, BY_CENTRES)


def _near_centres(
    X: NDArray[np.floating],
    centres: FloatArray,
    cluster: NDArray[np.intp],
    usual: float,
    p_value: float = 0.0,
) -> FloatArray:
    """Membership in the own cluster, lower beyond the ``usual`` squared distance to its centre.

    Distances are measured in the space that the centres span: across it, a point is equally far
    from all of them, which in many dimensions would make every point look undecided.
    """
    origin = centres.mean(axis=0)
    _, sizes, axes = np.linalg.svd(centres - origin, full_matrices=False)
    axes = axes[sizes > sizes.max(initial=0.0) * 1e-12]
    if len(axes):
        distances = euclidean_distances((X - origin) @ axes.T, (centres - origin) @ axes.T)
    else:  # one centre, or several in one place: a point is equally far from all of them
        distances = np.zeros((len(X), len(centres)))
    own = sure_of_own(_memberships(distances), cluster, p_value)
    squares = ((X - centres[cluster]) ** 2).sum(axis=1)
    # 1 / (1 + d^2 / usual) is how well a centre explains a point: 1/2 at the usual distance.
    return own * np.minimum(1.0, 2.0 * usual / np.maximum(usual + squares, np.finfo(float).tiny))
