"""Sparse Manifold Clustering and Embedding."""

from dataclasses import dataclass, replace
from numbers import Real
from typing import Any, ClassVar

import numpy as np
from scipy import sparse
from sklearn.utils._param_validation import Interval, validate_parameter_constraints
from sklearn.utils.validation import check_is_fitted

from srsg.coding.coder import Coder
from srsg.coding.smce import equal_rows, new_smce_codes, smce_codes
from srsg.cutting.embedding import diffusion_coordinates
from srsg.estimators.base import AT_LEAST_ONE, POSITIVE, GraphClusterer
from srsg.graph import Coded, FittedGraph
from srsg.points import EqualPoints, Points
from srsg.running import Engine, ThreadEngine
from srsg.running.config import CODE_BYTES
from srsg.types import FloatArray

DIRECTION_BYTES = 75
"""Memory for the direction to a neighbour, with all copies: 74 were measured for 1,199 of them."""


@dataclass(frozen=True, kw_only=True)
class SMCECoder(Coder):
    """Codes over the directions to the nearest neighbours."""

    lam: float = 10.0
    weight_share: float = 0.95

    results: ClassVar[tuple[str, ...]] = (*Coder.results, "affinity", "dual_gap")
    unit: ClassVar[bool] = False
    # Copies add no edges to this graph, and in the published results they count once.
    copies_count: ClassVar[bool] = False

    def result_bytes(self, n_points: int) -> float:
        return CODE_BYTES + DIRECTION_BYTES * min(self.n_neighbors, n_points)

    def code(self, points: Points, run: Engine) -> Coded:
        result = smce_codes(
            points.x, self.lam, n_neighbors=self.n_neighbors, keep=self.weight_share, engine=run
        )
        # SciPy 1.13 leaves rows in the order of their entries, and saved models have sorted ones.
        for matrix in (result.codes, result.weights):
            matrix.sort_indices()
        learnt = {"dual_gap": result.dual_gap}
        return Coded(result.codes, result.neighbors, result.weights, learnt=learnt)

    def code_new(self, fitted: FittedGraph, new: Points, run: Engine) -> sparse.csr_array:
        count = self.n_neighbors
        return new_smce_codes(fitted.points, new.x, self.lam, n_neighbors=count, engine=run)

    def find_equal(self, points: Points, run: Engine) -> EqualPoints:
        # As the solver sees them: entries that are negligible beside the largest count as zero.
        return replace(equal_rows(points.x), row_weights=points.weights)


@dataclass(eq=False, repr=False, kw_only=True)
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
    {n_clusters}
    lam : float
        Weight of the l1 norm: larger ones prefer fewer, nearer neighbours.
    n_neighbors : int
        Nearest neighbours that a point chooses from.
    weight_share : float
        Share of each point's weights to keep, largest first; 1 keeps all.
    {assign_labels, n_init, store, n_jobs, random_state, verbose}

    Attributes
    ----------
    {labels_, confidence_, memberships_, explained_, outlier_score_, layers_, tree_}
    codes_ : csr_array of shape (n, n)
        Row i is the code of point i: coefficients of its neighbours that add up to one. A
        point that occurred before is coded by its first copy.
    affinity_matrix_ : csr_array of shape (n, n)
        The larger of the two weights of a pair. A further copy of a point hangs on the first
        by the largest weight of that point.
    dual_gap_ : ndarray of shape (n,)
        Duality gap of each code: its objective is at most this far from its minimum.
    neighbors_ : ndarray of shape (n, n_neighbors)
        Nearest first, ties by index; further copies of points are no neighbours. Narrower if
        there are not as many different points.
    first_equal_ : ndarray of shape (n,)
        For every point the first that equals it. Equal points get one label, and count as many
        times as they occur.
    fit_X_ : ndarray of shape (n, n_features)
        The fitted points, which new ones are coded over.
    {graph_, n_connected_components_, n_clusters_, cluster_counts_, structure_found_, embedding_,
     eigenvalues_, n_features_in_}

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
        "lam": [POSITIVE],
        "weight_share": [Interval(Real, 0, 1, closed="right")],
    }

    coder: ClassVar[type[Coder]] = SMCECoder

    lam: float = 10.0
    n_neighbors: int = 15
    weight_share: float = 0.95

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
        run = ThreadEngine(self.n_jobs)
        coordinates = np.zeros((len(self.labels_), n_components))
        for label in np.unique(self.labels_):
            members = np.flatnonzero(self.labels_ == label)
            own_graph = self.affinity_matrix_[members][:, members]
            coordinates[members] = diffusion_coordinates(own_graph, n_components, engine=run)
        return coordinates
