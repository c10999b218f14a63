"""A graph given as a matrix, clustered: the spectral step of every method here by itself."""

from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse
from sklearn.utils import check_array

from srsg.counting.eigengaps import estimate_n_clusters
from srsg.cutting.cut import check_cluster_count, label_embedding
from srsg.cutting.embedding import auto_bridge, embedded_graph
from srsg.cutting.tree import graph_tree
from srsg.running import ThreadEngine
from srsg.types import AssignLabels, Bridge, Cut, Graph, IntArray, Matrix, RandomState


def cluster_graph(
    affinity: Matrix,
    n_clusters: int | Literal["auto"],
    *,
    neighbors: IntArray | None = None,
    bridge: Bridge = "auto",
    cut: Cut = "normalized",
    assign_labels: AssignLabels = "kmeans",
    n_init: int = 10,
    random_state: RandomState = None,
    n_jobs: int | None = None,
    n_eigenvectors: int | None = None,
) -> NDArray[np.intp]:
    """Cluster the vertices of a weighted graph by the spectral step of Ng, Jordan and Weiss.

    Or by a tree of its communities, see ``assign_labels``.

    Parameters
    ----------
    affinity : array or sparse matrix of shape (n, n)
        Symmetric, non-negative weights: ``affinity_matrix_`` of any estimator here.
    n_clusters : int or "auto"
        Number of clusters; "auto" derives it from the graph's components and eigengaps, see
        :func:`srsg.counting.eigengaps.estimate_n_clusters`.
    neighbors : ndarray of shape (n, n_neighbors), optional
        Nearest neighbours of every vertex, ``neighbors_`` of any estimator here: weak edges to
        them bridge the connected components of the graph.
    bridge : "auto", float or None
        Weight of the bridges, as a fraction of the mean edge weight. "auto" adds bridges of one per
        cent where components outnumber clusters, so that the data decide which components belong
        together; a number always adds them, None never.
    cut : {"normalized", "ratio"}
        Whether clusters are balanced by the sum of their degrees, as by Ng, Jordan and Weiss, or by
        their numbers of vertices; see :func:`srsg.cutting.embedding.with_equal_degrees`.
    assign_labels : {"kmeans", "discretize", "cluster_qr", "tree"}
        How the embedded vertices get their labels, as in scikit-learn's spectral clustering.
        "tree" needs no embedding: communities are merged one pair after the other, see
        :mod:`srsg.cutting.tree`; it takes ``bridge="auto"`` or None, and no ``cut``.
    n_init : int
        Restarts of K-means.
    random_state : int, RandomState or None
        Starts of K-means.
    n_jobs : int or None
        Threads, as in joblib; None takes all cores. The labels do not depend on it.
    n_eigenvectors : int or None
        Eigenvectors that the vertices are embedded in; None takes one for each cluster. A number
        takes that many after the constant one and weighs them by commute times, see
        :func:`srsg.cutting.embedding.commute_time_embedding`: twice the number of clusters can
        help where clusters merge.

    Returns
    -------
    ndarray of shape (n,)
        A label for every vertex, isolated ones too.

    Examples
    --------
    >>> import numpy as np
    >>> from srsg import cluster_graph
    >>> W = np.kron(np.eye(2), np.ones((3, 3)))
    >>> labels = cluster_graph(W, 2, random_state=0)
    >>> bool((labels[:3] == labels[0]).all() and (labels[3:] == 1 - labels[0]).all())
    True
    """
    graph = check_affinity(affinity)
    if neighbors is not None:
        neighbors = check_neighbors(neighbors, graph.shape[0])
    engine = ThreadEngine(n_jobs)
    if isinstance(n_clusters, str):
        n_clusters = estimate_n_clusters(graph, engine=engine).n_clusters
    check_cluster_count(n_clusters, graph.shape[0])
    if n_eigenvectors is not None:
        check_cluster_count(n_eigenvectors, graph.shape[0], "n_eigenvectors")
        if assign_labels != "kmeans":
            raise ValueError(
                f"n_eigenvectors needs assign_labels='kmeans': {assign_labels!r} finds one "
                "cluster for each eigenvector."
            )
    if assign_labels == "tree":
        if bridge not in ("auto", None):
            raise ValueError(f"bridge={bridge} must be 'auto' or None with assign_labels='tree'.")
        return graph_tree(graph, neighbors if bridge else None, n_clusters).labels(n_clusters)
    if bridge == "auto":
        bridge = auto_bridge(graph, n_clusters)
    embedding = embedded_graph(
        graph,
        n_eigenvectors or n_clusters,
        neighbors,
        bridge,
        cut,
        engine,
        commute_time=n_eigenvectors is not None,
    )
    return label_embedding(
        embedding.vectors,
        n_clusters,
        assign_labels=assign_labels,
        n_init=n_init,
        random_state=random_state,
        engine=engine,
    )


def check_affinity(affinity: Matrix) -> Graph:
    """The graph in float64, or a ValueError that says what is wrong with it."""
    checked = check_array(affinity, accept_sparse="csr", dtype=np.float64, input_name="affinity")
    graph = sparse.csr_array(checked) if sparse.issparse(checked) else checked
    if graph.shape[0] != graph.shape[1]:
        raise ValueError(f"affinity must be square, got shape {graph.shape}.")
    if graph.min() < 0:
        raise ValueError("affinity has negative weights; take absolute values first.")
    if abs(graph - graph.T).max() > 1e-10 * graph.max():
        raise ValueError("affinity must be symmetric; use (W + W.T) / 2.")
    if sparse.issparse(graph):
        graph.eliminate_zeros()
    return graph


def check_neighbors(neighbors: ArrayLike, n_points: int) -> IntArray:
    """Refuse indices beyond the points: SciPy would write out of bounds."""
    index = np.asarray(neighbors)
    if index.ndim != 2 or len(index) != n_points or index.dtype.kind not in "iu":
        raise ValueError(
            f"neighbors must be integers, one row for each of {n_points} vertices, got "
            f"{index.dtype} of shape {index.shape}."
        )
    if index.size and not 0 <= index.min() <= index.max() < n_points:
        raise ValueError(
            f"neighbors must be from 0 to {n_points - 1}, got {index.min()} to {index.max()}."
        )
    return index.astype(np.int64, copy=False)
