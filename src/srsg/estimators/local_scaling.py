"""Spectral clustering with a local scale: the paper's SC."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from srsg.affinity import local_scaling
from srsg.engine import Engine
from srsg.estimators.base import AT_LEAST_ONE, GraphClusterer
from srsg.types import AssignLabels, RandomState


class LocalScalingSpectralClustering(GraphClusterer):
    """Spectral clustering on a Gaussian kernel with a local scale (Zelnik-Manor and Perona).

    The affinity of points i and j is ``exp(-d_ij^2 / (s_i s_j))`` with ``s_i`` the distance of
    point i from its ``scale_neighbor``-th neighbour, on the features as they are. It is dense:
    memory grows with the square of the number of points.

    Parameters
    ----------
    n_clusters : int
        Number of clusters.
    scale_neighbor : int
        Which neighbour's distance is the scale of a point.
    assign_labels : {"kmeans", "discretize", "cluster_qr"}
        How the embedded points get their labels.
    n_init : int
        Restarts of K-means.
    n_jobs : int or None
        Threads; None takes all cores. The result does not depend on it.
    random_state : int, RandomState or None
        Starts of K-means; all else is deterministic.
    verbose : bool
        Show progress on standard error.

    Attributes
    ----------
    labels_ : ndarray of shape (n,)
    affinity_matrix_ : ndarray of shape (n, n)
    n_components_ : int
        Connected components of the graph: more than one where the kernel underflows.
    embedding_ : ndarray of shape (n, n_clusters)
    eigenvalues_ : ndarray of shape (n_clusters,)
    n_features_in_ : int

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> from srsg import LocalScalingSpectralClustering
    >>> from srsg.metrics import clustering_accuracy
    >>> X, y = make_moons(200, noise=0.05, random_state=0)
    >>> labels = LocalScalingSpectralClustering(2, random_state=0).fit_predict(X)
    >>> clustering_accuracy(y, labels)
    1.0
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **GraphClusterer._parameter_constraints,
        "scale_neighbor": [AT_LEAST_ONE],
    }
    bridge = None

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        scale_neighbor: int = 7,
        assign_labels: AssignLabels = "kmeans",
        n_init: int = 10,
        n_jobs: int | None = None,
        random_state: RandomState = None,
        verbose: bool | int = False,
    ) -> None:
        self.n_clusters = n_clusters
        self.scale_neighbor = scale_neighbor
        self.assign_labels = assign_labels
        self.n_init = n_init
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    def _prepared(self, X: NDArray | sparse.csr_array) -> NDArray:
        if self.scale_neighbor >= X.shape[0]:
            raise ValueError(
                f"scale_neighbor={self.scale_neighbor} must be smaller than the number of "
                f"points, n_samples={X.shape[0]}."
            )
        return np.asarray(super()._prepared(X))

    def _build_graph(self, data: NDArray, engine: Engine) -> None:
        with engine.progress.stage("kernel", 1):
            self.affinity_matrix_ = local_scaling(data, self.scale_neighbor)
