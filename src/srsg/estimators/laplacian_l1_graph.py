"""The Laplacian-regularised l1-graph."""

from dataclasses import dataclass
from typing import Any, ClassVar

from scipy import sparse
from sklearn.utils._param_validation import StrOptions

from srsg.coding.coder import Coder, fitted_points
from srsg.coding.l1 import l1_codes
from srsg.coding.laplacian import GRAM_BYTES, Laplacian, laplacian_codes
from srsg.estimators.base import AT_LEAST_ONE, NOT_NEGATIVE, POSITIVE, GraphClusterer
from srsg.graph import Coded, FittedGraph
from srsg.memory import in_bytes
from srsg.points import Points
from srsg.running import Engine
from srsg.running.config import CODE_BYTES, get_config


@dataclass(frozen=True, kw_only=True)
class LaplacianCoder(Coder):
    """l1 codes, with those of neighbours pulled together."""

    lam: float = 0.1
    gamma: float = 0.2
    max_sweeps: int = 1
    tol: float = 1e-5
    laplacian: Laplacian = "neighbors"

    results: ClassVar[tuple[str, ...]] = (
        *Coder.results,
        *("init_codes", "objective_history", "n_sweeps", "kkt_violation", "dual_gap"),
    )

    def why_dense(self) -> str:
        return "LaplacianL1Graph needs dense points"

    def result_bytes(self, n_points: int) -> float:
        return super().result_bytes(n_points) + 3 * CODE_BYTES  # codes are longer than l1 codes

    def code(self, points: Points, run: Engine) -> Coded:
        start = l1_codes(points, self.lam, n_neighbors=self.n_neighbors, engine=run)
        result = laplacian_codes(
            points,
            start.codes,
            start.neighbors,
            lam=self.lam,
            gamma=self.gamma,
            max_sweeps=self.max_sweeps,
            tol=self.tol,
            laplacian=self.laplacian,
            gram_bytes=self._bytes_for_products(points),
            engine=run,
        )
        learnt = {
            "objective_history": result.objective,
            "n_sweeps": len(result.objective) - 1,
            "kkt_violation": result.kkt_violation,
            "dual_gap": result.dual_gap,
        }
        return Coded(result.codes, start.neighbors, init_codes=start.codes, learnt=learnt)

    def code_new(self, fitted: FittedGraph, new: Points, run: Engine) -> sparse.csr_array:
        return l1_codes(fitted_points(fitted, run), self.lam, queries=new, engine=run).codes

    def _bytes_for_products(self, points: Points) -> int:
        """Half of what points and codes leave of the memory allowed: scans need some, too."""
        limit = get_config()["max_memory"]
        if limit is None:
            return GRAM_BYTES
        taken = points.n * (12 * points.n_features + self.result_bytes(points.n))
        return min(GRAM_BYTES, max(0, int(in_bytes(limit) - taken) // 2))


@dataclass(eq=False, repr=False, kw_only=True)
class LaplacianL1Graph(GraphClusterer):
    """Clustering on the Laplacian-regularised l1-graph (Yang et al., AAAI and BMVC 2014).

    Starting from the codes of the l1-graph, ``sum_i ||x_i - X Z^i||^2 + lam |Z^i|_1 + gamma
    sum_ij S_ij ||Z^i - Z^j||^2`` is minimised point by point, each exactly: the codes of nearest
    neighbours are pulled together in l2 distance, where SRSG compares their supports.

    A new point gets its plain l1 code over the fitted points: pulling that code towards those of
    its neighbours, too, did not change the clusters of new points.

    Parameters
    ----------
    {n_clusters}
    lam : float
        Weight of the l1 norm.
    gamma : float
        Weight of the term that ties a code to those of its neighbours, the paper's ``gamma_l2``.
    n_neighbors : int
        Nearest neighbours that S joins.
    max_sweeps : int
        Maximum number of sweeps over the points. One comes closest to the paper's tables; more
        lower the objective but do not usually raise the accuracy.
    tol : float
        The sweeps end when the objective changes by less than this.
    laplacian : {"neighbors", "codes"}
        S is the graph of the nearest neighbours (BMVC), or before every sweep that of the codes
        so far (the iterative scheme of the AAAI version).
    {affine}
    {assign_labels, n_init, store, n_jobs, random_state, verbose}

    Attributes
    ----------
    {labels_, confidence_, memberships_, explained_, outlier_score_, layers_, tree_}
    codes_ : csr_array of shape (n, n)
        Row i is the code of point i; zero diagonal.
    affinity_matrix_ : csr_array of shape (n, n)
        ``(|Z| + |Z|^T) / 2``.
    init_codes_ : csr_array of shape (n, n)
        The l1 codes it started from.
    objective_history_ : ndarray of shape (n_sweeps_ + 1,)
        The objective at the start and after every sweep.
    n_sweeps_ : int
        Number of sweeps.
    kkt_violation_, dual_gap_ : ndarray of shape (n,)
        Certificates of each point's own problem, when it was last solved.
    neighbors_ : ndarray of shape (n, n_neighbors)
        Nearest first, ties by index.
    {affine_, first_equal_, fit_X_}
    {graph_, n_connected_components_, n_clusters_, cluster_counts_, structure_found_, embedding_,
     eigenvalues_, n_features_in_}

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from srsg import LaplacianL1Graph
    >>> X, y = load_digits(n_class=3, return_X_y=True)
    >>> model = LaplacianL1Graph(n_clusters=3, random_state=0).fit(X[:100])
    >>> bool(model.objective_history_[-1] < model.objective_history_[0])
    True
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "lam": [POSITIVE],
        "gamma": [POSITIVE],
        "max_sweeps": [AT_LEAST_ONE],
        "tol": [NOT_NEGATIVE],
        "laplacian": [StrOptions({"neighbors", "codes"})],
    }

    coder: ClassVar[type[Coder]] = LaplacianCoder

    lam: float = 0.1
    gamma: float = 0.2
    n_neighbors: int = 5
    max_sweeps: int = 1
    tol: float = 1e-5
    laplacian: Laplacian = "neighbors"
    affine: bool | float = False
