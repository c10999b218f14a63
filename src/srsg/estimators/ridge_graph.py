"""Subspace clustering by least squares regression."""

from dataclasses import dataclass
from typing import Any, ClassVar

from scipy import sparse

from srsg.coding.coder import Coder, fitted_points
from srsg.coding.neighbors import nearest_neighbors
from srsg.coding.ridge import ridge_codes
from srsg.estimators.base import AT_LEAST_ONE, POSITIVE, GraphClusterer
from srsg.graph import Coded, FittedGraph
from srsg.points import Points
from srsg.running import Engine
from srsg.running.config import ENTRY_BYTES
from srsg.types import Affinity


@dataclass(frozen=True, kw_only=True)
class RidgeCoder(Coder):
    """The largest entries of ridge codes."""

    ridge: float = 0.1
    n_nonzero: int = 10

    results: ClassVar[tuple[str, ...]] = (*Coder.results, "residual")
    on_cluster: ClassVar[bool] = True

    def result_bytes(self, n_points: int) -> float:
        return super().result_bytes(n_points) + ENTRY_BYTES * min(self.n_nonzero, n_points)

    def code(self, points: Points, run: Engine) -> Coded:
        result = ridge_codes(points, self.ridge, n_nonzero=self.n_nonzero, engine=run)
        neighbors = nearest_neighbors(points, min(self.n_neighbors, points.n - 1), engine=run)
        return Coded(result.codes, neighbors, learnt={"residual": result.residual})

    def code_new(self, fitted: FittedGraph, new: Points, run: Engine) -> sparse.csr_array:
        points, count = fitted_points(fitted, run), self.n_nonzero
        return ridge_codes(points, self.ridge, n_nonzero=count, queries=new, engine=run).codes

    def votes(self, codes: sparse.csr_array) -> sparse.csr_array:
        # Every point has a little of many others: squares let the few large entries decide.
        return codes.power(2)


@dataclass(eq=False, repr=False, kw_only=True)
class RidgeGraph(GraphClusterer):
    """Clustering on ridge codes (least squares regression, Lu et al., ECCV 2012), exact.

    Every point, scaled to unit norm, is coded over all others by ``min ||x_i - X z||^2 + ridge
    |z|^2`` with ``z_i = 0``, in closed form, and the largest entries of its code are kept. A ridge
    uses many points a little where the l1 norm picks a few: it is far ahead where all points of a
    cluster share a subspace, such as faces under changing light, and behind where clusters are
    curved, such as objects that turn. :class:`srsg.StabilitySearch` finds out which of the two
    suits the data.

    Parameters
    ----------
    {n_clusters}
    ridge : float
        Weight of the squared l2 norm.
    n_nonzero : int
        Entries of each code that are kept, the largest ones.
    {affinity}
    {n_neighbors}
    {affine}
    {assign_labels, n_init, store, n_jobs, random_state, verbose}

    Attributes
    ----------
    {labels_, confidence_, memberships_, explained_, outlier_score_, layers_, tree_}
    codes_ : csr_array of shape (n, n)
        Row i is the code of point i; zero diagonal.
    affinity_matrix_ : csr_array of shape (n, n)
        ``(|Z| + |Z|^T) / 2``.
    residual_ : ndarray of shape (n,)
        Certificate of each code, before small entries are dropped: no normal equation
        ``x_j' (x_i - X z) = ridge z_j`` is violated by more than this.
    neighbors_ : ndarray of shape (n, n_neighbors)
        Nearest first, ties by index.
    {affine_, first_equal_, fit_X_}
    {graph_, n_connected_components_, n_clusters_, cluster_counts_, structure_found_, embedding_,
     eigenvalues_, n_features_in_}

    See Also
    --------
    SRSG : Sparse codes, for points that a few others explain.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from srsg import RidgeGraph
    >>> X, y = load_digits(n_class=3, return_X_y=True)
    >>> model = RidgeGraph(n_clusters=3, random_state=0).fit(X)
    >>> bool(model.residual_.max() < 1e-9)
    True
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "ridge": [POSITIVE],
        "n_nonzero": [AT_LEAST_ONE],
    }

    coder: ClassVar[type[Coder]] = RidgeCoder

    ridge: float = 0.1
    n_nonzero: int = 10
    n_neighbors: int = 5
    affinity: Affinity = "agreement"
    affine: bool | float = False
