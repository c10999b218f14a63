"""Spectral clustering with a local scale: the paper's SC."""

from dataclasses import dataclass
from typing import Any, ClassVar

from scipy import sparse

from srsg.coding.coder import Coder
from srsg.coding.local_scaling import local_scaling, local_scaling_rows
from srsg.estimators.base import AT_LEAST_ONE, GraphClusterer
from srsg.graph import Coded, FittedGraph
from srsg.points import Points
from srsg.running import Engine

KERNEL_COPIES = 3
"""How many dense kernels there are at once while one is made and cut."""


@dataclass(frozen=True, kw_only=True)
class LocalScalingCoder(Coder):
    """A dense kernel in place of codes."""

    scale_neighbor: int = 7

    results: ClassVar[tuple[str, ...]] = ("kernel",)
    unit: ClassVar[bool] = False
    # With its loops, the kernel of the distinct points has the eigenvectors of that of all.
    keeps_loops: ClassVar[bool] = True

    def check(self, n_points: int, run: Engine) -> None:
        if self.scale_neighbor >= n_points:
            raise ValueError(
                f"scale_neighbor={self.scale_neighbor} must be smaller than the number of "
                f"points, n_samples={n_points}."
            )

    def result_bytes(self, n_points: int) -> float:
        return KERNEL_COPIES * 8 * n_points

    def code(self, points: Points, run: Engine) -> Coded:
        with run.progress.stage("kernel", 1):
            if points.weights is not None and points.weights.sum() <= self.scale_neighbor:
                raise ValueError(
                    f"sample_weight adds up to {points.weights.sum():g}, and must exceed "
                    f"scale_neighbor={self.scale_neighbor}: a row is as many neighbours as its "
                    "weight says."
                )
            kernel = local_scaling(points.x, self.scale_neighbor, points.weights)
            return Coded(None, affinity=kernel)

    def code_new(self, fitted: FittedGraph, new: Points, run: Engine) -> sparse.csr_array:
        weights = fitted.equal.row_weights
        return local_scaling_rows(
            fitted.points, new.x, self.scale_neighbor, engine=run, weights=weights
        )


@dataclass(eq=False, repr=False, kw_only=True)
class LocalScalingSpectralClustering(GraphClusterer):
    """Spectral clustering on a Gaussian kernel with a local scale (Zelnik-Manor and Perona).

    The affinity of points i and j is ``exp(-d_ij^2 / (s_i s_j))`` with ``s_i`` the distance of
    point i from its ``scale_neighbor``-th neighbour, on the features as they are. It is dense:
    memory grows with the square of the number of points.

    The code of a new point is the kernel with its ``scale_neighbor`` nearest fitted points; if it
    equals one of these, a single one there.

    Parameters
    ----------
    {n_clusters}
    scale_neighbor : int
        Which neighbour's distance is the scale of a point.
    {assign_labels, n_init, store, n_jobs, random_state, verbose}

    Attributes
    ----------
    {labels_, confidence_, memberships_, explained_, outlier_score_, layers_, tree_}
    affinity_matrix_ : ndarray of shape (n, n)
    first_equal_ : ndarray of shape (n,)
        For every point the first that equals it. Equal points get one label, and count as many
        times as they occur.
    fit_X_ : ndarray of shape (n, n_features)
        The fitted points, which new ones are coded over.
    {graph_, n_connected_components_, n_clusters_, cluster_counts_, structure_found_, embedding_,
     eigenvalues_, n_features_in_}

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
        "scale_neighbor": [AT_LEAST_ONE],
    }

    coder: ClassVar[type[Coder]] = LocalScalingCoder

    scale_neighbor: int = 7
