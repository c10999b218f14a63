"""Spectral clustering with a local scale: the paper's SC."""

from __future__ import annotations

from typing import Any, ClassVar

from numpy.typing import NDArray
from scipy import sparse

from srsg.coding.local_scaling import local_scaling, local_scaling_rows
from srsg.estimators.base import AT_LEAST_ONE, GraphClusterer
from srsg.points import Points
from srsg.running import Engine
from srsg.types import AssignLabels, Memory, NClusters, RandomState


class LocalScalingSpectralClustering(GraphClusterer):
    """Spectral clustering on a Gaussian kernel with a local scale (Zelnik-Manor and Perona).

    The affinity of points i and j is ``exp(-d_ij^2 / (s_i s_j))`` with ``s_i`` the distance of
    point i from its ``scale_neighbor``-th neighbour, on the features as they are. It is dense:
    memory grows with the square of the number of points.

    The code of a new point is the kernel with its ``scale_neighbor`` nearest fitted points; that
    of one that equals a fitted point, a one there.

    Parameters
    ----------
    n_clusters : int or "auto"
        Number of clusters; "auto" finds it, see :mod:`srsg.estimators.cluster_counts`.
    scale_neighbor : int
        Which neighbour's distance is the scale of a point.
    assign_labels : {"kmeans", "discretize", "cluster_qr"}
        How the embedded points get their labels.
    n_init : int
        Restarts of K-means.
    memory : str, joblib.Memory or None
        Folder that keeps graphs: a later fit on the same points with another ``n_clusters`` finds
        its graph there.
    n_jobs : int or None
        Threads; None takes all cores. The result does not depend on it.
    random_state : int, RandomState or None
        Starts of K-means; all else is deterministic.
    verbose : bool
        Show progress on standard error.

    Attributes
    ----------
    labels_ : ndarray of shape (n,)
    confidence_ : ndarray of shape (n,)
        How sure each label is, from 0 to 1; computed when first used, as are the next two.
    explained_ : ndarray of shape (n,)
        How well the members of its own cluster explain each point, from 0 to 1.
    outlier_score_ : ndarray of shape (n,)
        From 0 to 1: ranks the points, outliers highest.
    affinity_matrix_ : ndarray of shape (n, n)
    n_components_ : int
        Connected components of the graph: more than one where the kernel underflows.
    n_clusters_ : int
        Number of clusters.
    cluster_counts_, cluster_count_scores_ : ndarray of shape (n_counts,)
        For ``n_clusters="auto"``: the numbers of clusters tried, and their scores, see
        :mod:`srsg.estimators.cluster_counts`. There is only one number where the components of the
        graph are the clusters.
    structure_found_ : bool
        For ``n_clusters="auto"``: whether any of these scores is above zero.
    embedding_ : ndarray of shape (n, n_clusters_)
    eigenvalues_ : ndarray of shape (n_clusters_,)
    first_equal_ : ndarray of shape (n,)
        For every point the first that equals it. Equal points get one label, and count as many
        times as they occur.
    fit_X_ : ndarray of shape (n, n_features)
        The fitted points, which new ones are coded over.
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
    # With its loops, the kernel of the distinct points has the eigenvectors of that of all.
    _keeps_loops = True

    def __init__(
        self,
        n_clusters: NClusters = 8,
        *,
        scale_neighbor: int = 7,
        assign_labels: AssignLabels = "kmeans",
        n_init: int = 10,
        memory: Memory = None,
        n_jobs: int | None = None,
        random_state: RandomState = None,
        verbose: bool | int = False,
    ) -> None:
        self.n_clusters = n_clusters
        self.scale_neighbor = scale_neighbor
        self.assign_labels = assign_labels
        self.n_init = n_init
        self.memory = memory
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    def _check_size(self, n_points: int) -> None:
        if self.scale_neighbor >= n_points:
            raise ValueError(
                f"scale_neighbor={self.scale_neighbor} must be smaller than the number of "
                f"points, n_samples={n_points}."
            )

    def _build_graph(self, points: Points, engine: Engine) -> None:
        with engine.progress.stage("kernel", 1):
            self.affinity_matrix_ = local_scaling(points.x, self.scale_neighbor)

    def _codes_of_new(self, new: NDArray, engine: Engine) -> sparse.csr_array:
        return local_scaling_rows(self.fit_X_, new, self.scale_neighbor, engine=engine)
