"""How surely a point belongs to its cluster."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse
from sklearn.metrics.pairwise import euclidean_distances

from srsg.graph.unwrapping import clusterer_of, columns_by_position, points_as_clustered
from srsg.types import FloatArray, Matrix


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
    >>> from srsg.graph.confidence import membership
    >>> graph = np.array([[0.0, 3.0, 1.0], [3.0, 0.0, 0.0], [1.0, 0.0, 0.0]])
    >>> membership(graph, [0, 0, 1])
    array([0.75, 1.  , 0.  ])
    """
    return _in_graph(graph, np.asarray(labels)).share


@dataclass(frozen=True)
class Confidence:
    """How surely, and how centrally, every point belongs to its cluster.

    Attributes
    ----------
    share : ndarray of shape (n,)
        Between 0, not at all, and 1.
    centrality : ndarray of shape (n,)
        Larger for points in the middle of their cluster; comparable within a cluster only.
    meaning : str
        What the share is of, in words.
    """

    share: FloatArray
    centrality: FloatArray
    meaning: str

    def most_central(self, members: NDArray[np.intp], count: int) -> NDArray[np.intp]:
        """The ``count`` most central of the members, ties by index."""
        return members[np.argsort(-self.centrality[members], kind="stable")[:count]]

    def least_certain(self, members: NDArray[np.intp], count: int) -> NDArray[np.intp]:
        """The ``count`` least certain of the members, ties by index."""
        return members[np.argsort(self.share[members], kind="stable")[:count]]


def confidence(model: Any, X: Matrix) -> Confidence:
    """Confidence by the graph of a fitted model, or by the centres of its clusters.

    Parameters
    ----------
    model : estimator
        Fitted: a clusterer with ``labels_``, a pipeline that ends in one, or a search. Centres
        are those of the points that the clusterer of a pipeline gets.
    X : array, sparse matrix or DataFrame of shape (n, d)
        What it was fitted on.

    Returns
    -------
    Confidence

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.cluster import KMeans
    >>> from srsg.graph.confidence import confidence
    >>> X = np.array([[0.0], [1.0], [4.0], [9.0], [10.0], [11.0]])
    >>> found = confidence(KMeans(2, n_init=1, random_state=0).fit(X), X)
    >>> int(found.share.argmin())
    2
    """
    clusterer = clusterer_of(model)
    graph = getattr(clusterer, "affinity_matrix_", None)
    if graph is not None:
        return _in_graph(graph, clusterer.labels_)
    return _by_centres(points_as_clustered(model, X), clusterer.labels_)


def predict_with_confidence(model: Any, X: Matrix) -> tuple[NDArray[np.intp], FloatArray]:
    """Clusters of new points, and how surely they belong there.

    Parameters
    ----------
    model : estimator
        Fitted: an estimator of this package or K-means, a pipeline that ends in one, or a search.
    X : array, sparse matrix or DataFrame of shape (n_new, d)
        New points, their columns in the order of those that the model was fitted on.

    Returns
    -------
    labels : ndarray of shape (n_new,)
    share : ndarray of shape (n_new,)
        The share of a point's code that lies in its cluster; by K-means, how much nearer a point is
        to its cluster's centre than to the next.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.cluster import KMeans
    >>> from srsg.graph.confidence import predict_with_confidence
    >>> model = KMeans(2, n_init=1, random_state=0).fit(np.array([[0.0], [1.0], [9.0], [10.0]]))
    >>> predict_with_confidence(model, np.array([[0.5], [5.0]]))[1].round(3)
    array([1., 0.])
    """
    clusterer = clusterer_of(model)
    new = points_as_clustered(model, X)
    with columns_by_position():
        if hasattr(clusterer, "predict_confidence"):
            shares = clusterer.predict_confidence(new)
            return shares.argmax(axis=1), shares.max(axis=1)
        labels = clusterer.predict(new)
    return labels, _nearer(euclidean_distances(new, clusterer.cluster_centers_), labels)[0]


def _in_graph(graph: Any, labels: NDArray) -> Confidence:
    matrix = sparse.csr_array(graph) if sparse.issparse(graph) else np.asarray(graph)
    names, cluster = np.unique(labels, return_inverse=True)
    rows = np.arange(len(labels))
    clusters = sparse.csr_array((np.ones(len(labels)), (rows, cluster)), (len(rows), len(names)))
    weight = matrix @ clusters
    per_cluster = weight.toarray() if sparse.issparse(weight) else weight
    own, total = per_cluster[rows, cluster], per_cluster.sum(axis=1)
    share = np.divide(own, total, out=np.zeros(len(rows)), where=total > 0)
    return Confidence(share, own, "share of a point's edge weight that stays in its cluster")


def _by_centres(X: NDArray[np.floating], labels: NDArray) -> Confidence:
    names, cluster = np.unique(labels, return_inverse=True)
    centres = np.array([X[cluster == c].mean(axis=0) for c in range(len(names))])
    share, own = _nearer(euclidean_distances(X, centres), cluster)
    meaning = "how much nearer a point is to its own cluster's centre than to the next"
    return Confidence(share, -own, meaning)


def _nearer(distance: FloatArray, cluster: NDArray[np.intp]) -> tuple[FloatArray, FloatArray]:
    """One minus the ratio of the distances to the own centre and to the next; and the former."""
    rows = np.arange(len(distance))
    own = distance[rows, cluster].copy()
    distance[rows, cluster] = np.inf
    other = distance.min(axis=1)
    ratio = np.divide(own, other, out=np.ones(len(rows)), where=other > 0)
    return np.clip(1.0 - ratio, 0.0, 1.0), own
