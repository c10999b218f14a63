"""Sparse Manifold Clustering and Embedding."""

from __future__ import annotations

from numbers import Real
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.utils._param_validation import Interval, validate_parameter_constraints
from sklearn.utils.validation import check_is_fitted

from srsg.coding import new_smce_codes, smce_codes
from srsg.coding.smce import equal_rows
from srsg.cutting.embedding import diffusion_coordinates
from srsg.estimators.base import AT_LEAST_ONE, POSITIVE, GraphClusterer
from srsg.estimators.coded import check_neighbor_count
from srsg.points import EqualPoints, Points
from srsg.running import Engine, ThreadEngine
from srsg.types import (
    AssignLabels,
    Bridge,
    FloatArray,
    Memory,
    NClusters,
    RandomState,
)


class SMCE(GraphClusterer):
    """Sparse Manifold Clustering and Embedding (Elhamifar and Vidal, 2011), exact and certified.

    For points near several curved manifolds. Every point picks, among its nearest neighbours,
    few near ones that nearly span the tangent space of its own manifold: with the unit
    directions ``y_j`` to them and their distances ``d_j``,
    ``min lam * sum_j q_j |c_j| + 1/2 ||sum_j c_j y_j||^2`` subject to ``sum c = 1``, where
    ``q_j = d_j / sum d``. The graph of the weights ``|c_j / d_j| / |sum_j c_j / d_j|`` is
    clustered by spectral clustering, and :meth:`embed` unrolls each cluster.

    The points are taken as they are, not scaled to unit length.

    A new point is coded over its nearest fitted points; one that equals a fitted point, by that
    alone.

    Parameters
    ----------
    n_clusters : int or "auto"
        Number of clusters; "auto" finds it, see :mod:`srsg.estimators.cluster_counts`.
    lam : float
        Weight of the l1 norm: larger ones prefer fewer, nearer neighbours.
    n_neighbors : int
        Nearest neighbours that a point chooses from.
    keep : float
        Share of each point's weights to keep, largest first; 1 keeps all.
    bridge : "auto", float or None
        Weak edges between nearest neighbours, see :func:`srsg.cluster_graph`.
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
    codes_ : csr_array of shape (n, n)
        Row i is the code of point i: coefficients of its neighbours that add up to one. A
        point that occurred before is coded by its first copy.
    affinity_matrix_ : csr_array of shape (n, n)
        The larger of the two weights of a pair. A further copy of a point hangs on the first
        by the largest weight that has.
    dual_gap_ : ndarray of shape (n,)
        Duality gap of each code: its objective is at most this far from the least.
    neighbors_ : ndarray of shape (n, n_neighbors)
        Nearest first, ties by index; further copies of points are no neighbours. Narrower if
        there are not as many different points.
    n_components_ : int
        Connected components of the graph.
    n_clusters_ : int
        Number of clusters.
    cluster_counts_, cluster_count_scores_ : ndarray of shape (n_counts,)
        For ``n_clusters="auto"``: the numbers of clusters tried, and their scores, see
        :mod:`srsg.estimators.cluster_counts`. There is only one number where the components of the
        graph are the clusters.
    structure_found_ : bool
        For ``n_clusters="auto"``: whether any of these scores is above zero.
    embedding_ : ndarray of shape (n, n_clusters_)
        The coordinates that were clustered; see :meth:`embed` for those of the manifolds.
    eigenvalues_ : ndarray of shape (n_clusters_,)
    first_equal_ : ndarray of shape (n,)
        For every point the first that equals it. Equal points get one label, and count as many
        times as they occur.
    fit_X_ : ndarray of shape (n, n_features)
        The fitted points, which new ones are coded over.
    n_features_in_ : int

    See Also
    --------
    L1Graph : For points near flat subspaces.

    Examples
    --------
    >>> from srsg import SMCE
    >>> from srsg.datasets import make_trefoil_knots
    >>> from srsg.metrics import clustering_accuracy
    >>> X, y = make_trefoil_knots(random_state=0)
    >>> model = SMCE(n_clusters=2, random_state=0).fit(X)
    >>> clustering_accuracy(y, model.labels_)
    1.0
    >>> model.embed(2).shape
    (200, 2)
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **GraphClusterer._parameter_constraints,
        "lam": [POSITIVE],
        "n_neighbors": [AT_LEAST_ONE],
        "keep": [Interval(Real, 0, 1, closed="right")],
    }
    # Copies add no edges to this graph, and in the published results they count once.
    _copies_count = False

    codes_: sparse.csr_array
    dual_gap_: FloatArray

    def __init__(
        self,
        n_clusters: NClusters = 8,
        *,
        lam: float = 10.0,
        n_neighbors: int = 15,
        keep: float = 0.95,
        bridge: Bridge = "auto",
        assign_labels: AssignLabels = "kmeans",
        n_init: int = 10,
        memory: Memory = None,
        n_jobs: int | None = None,
        random_state: RandomState = None,
        verbose: bool | int = False,
    ) -> None:
        self.n_clusters = n_clusters
        self.lam = lam
        self.n_neighbors = n_neighbors
        self.keep = keep
        self.bridge = bridge
        self.assign_labels = assign_labels
        self.n_init = n_init
        self.memory = memory
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    def _check_size(self, n_points: int) -> None:
        check_neighbor_count(self.n_neighbors, n_points)

    def _find_equal(self, points: Points, engine: Engine) -> EqualPoints:
        # As the solver sees them: entries that are negligible beside the largest count as zero.
        return equal_rows(points.x)

    def _build_graph(self, points: Points, engine: Engine) -> None:
        result = smce_codes(
            self.fit_X_, self.lam, n_neighbors=self.n_neighbors, keep=self.keep, engine=engine
        )
        self.codes_ = result.codes
        self.affinity_matrix_ = result.weights
        # SciPy 1.13 leaves rows in the order of their entries, and saved models have sorted ones.
        for matrix in (self.codes_, self.affinity_matrix_):
            matrix.sort_indices()
        self.dual_gap_ = result.dual_gap
        self.neighbors_ = result.neighbors
        equal = self._equal
        self._distinct_, self._owner_ = equal.first, equal.owner

    def _codes_of_new(self, new: NDArray, engine: Engine) -> sparse.csr_array:
        return new_smce_codes(
            self.fit_X_, new, self.lam, n_neighbors=self.n_neighbors, engine=engine
        )

    def embed(self, n_components: int = 2) -> FloatArray:
        """Unroll each cluster: coordinates along its manifold.

        They are the eigenvectors of the random walk on the cluster's own part of the graph,
        largest eigenvalues first, without the constant one. Coordinates of different clusters
        have nothing to do with each other, and signs are arbitrary.

        Parameters
        ----------
        n_components : int
            Coordinates per point.

        Returns
        -------
        ndarray of shape (n, n_components)
            Zeros in the columns for which a cluster has too few points.
        """
        check_is_fitted(self, "labels_")
        validate_parameter_constraints(
            {"n_components": [AT_LEAST_ONE]}, {"n_components": n_components}, "embed"
        )
        engine = ThreadEngine(self.n_jobs)
        coordinates = np.zeros((len(self.labels_), n_components))
        for label in np.unique(self.labels_):
            members = np.flatnonzero(self.labels_ == label)
            own_graph = self.affinity_matrix_[members][:, members]
            coordinates[members] = diffusion_coordinates(own_graph, n_components, engine=engine)
        return coordinates
