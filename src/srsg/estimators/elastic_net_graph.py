"""Elastic-net subspace clustering."""

from dataclasses import dataclass
from typing import Any, ClassVar, Literal

from scipy import sparse
from sklearn.utils._param_validation import Interval, Real, StrOptions

from srsg.coding.certified import codes_are_certified
from srsg.coding.coder import Coder, fitted_points
from srsg.coding.elastic_net import smallest_empty_lam
from srsg.coding.l1 import L1Codes, l1_codes
from srsg.cutting.affinity import largest_codes, nearest_codes, unit_codes
from srsg.estimators.base import AT_LEAST_ONE, POSITIVE, GraphClusterer
from srsg.graph import Coded, FittedGraph
from srsg.points import Points
from srsg.running import Engine
from srsg.types import Affinity, FloatArray


@dataclass(frozen=True, kw_only=True)
class PostprocessedCoder(Coder):
    """Base of the coders whose published results rest on post-processed codes."""

    normalize: bool = False
    n_nonzero: int | None = None
    code_neighbors: int | None = None

    def votes(self, codes: sparse.csr_array) -> sparse.csr_array:
        return codes if self.n_nonzero is None else largest_codes(codes, self.n_nonzero)

    def edges(self, codes: sparse.csr_array) -> sparse.csr_array:
        codes = self.votes(codes)
        if self.normalize:
            codes = unit_codes(codes)
        return codes if self.code_neighbors is None else nearest_codes(codes, self.code_neighbors)


@dataclass(frozen=True, kw_only=True)
class ElasticNetCoder(PostprocessedCoder):
    """Codes by the elastic net, with one weight for all points or one for each."""

    lam: float | Literal["auto"] = "auto"
    l1_ratio: float = 0.9
    lam_divisor: float = 50.0

    results: ClassVar[tuple[str, ...]] = (*Coder.results, "lam", "kkt_violation", "dual_gap")
    on_cluster: ClassVar[bool] = True

    def code(self, points: Points, run: Engine) -> Coded:
        lam, result = self._solve(points, run, n_neighbors=self.n_neighbors)
        learnt = {
            "lam": lam,
            "kkt_violation": result.kkt_violation,
            "dual_gap": result.dual_gap,
        }
        return Coded(result.codes, result.neighbors, learnt=learnt)

    def code_new(self, fitted: FittedGraph, new: Points, run: Engine) -> sparse.csr_array:
        return self._solve(fitted_points(fitted, run), run, queries=new)[1].codes

    def is_consistent(self, coded: Coded, points: Points, run: Engine) -> bool:
        lam = coded.learnt.get("lam", 0.0)
        weights = {"lam": lam * self.l1_ratio, "ridge": lam * (1 - self.l1_ratio) / 2}
        return codes_are_certified(coded.codes, coded.learnt, points, run, **weights)

    def _solve(
        self, points: Points, run: Engine, queries: Points | None = None, n_neighbors: int = 0
    ) -> tuple[float | FloatArray, L1Codes]:
        """The weights of the elastic net, and the codes."""
        lam: float | FloatArray
        if self.lam == "auto":
            # Each point gets a weight that leaves it a code, whatever its correlations.
            largest = smallest_empty_lam(points, self.l1_ratio, queries=queries, engine=run)
            lam = largest / self.lam_divisor
        else:
            lam = self.lam
        return lam, l1_codes(
            points,
            lam * self.l1_ratio,
            ridge=lam * (1 - self.l1_ratio) / 2,
            n_neighbors=n_neighbors,
            queries=queries,
            engine=run,
        )


@dataclass(eq=False, repr=False, kw_only=True)
class ElasticNetGraph(GraphClusterer):
    """Clustering on elastic-net codes (You, Li, Robinson and Vidal, CVPR 2016), exact.

    Every point, scaled to unit norm, is coded over all others by ``min ||x_i - X z||^2 + lam *
    (l1_ratio |z|_1 + (1 - l1_ratio) / 2 |z|^2)`` with ``z_i = 0``. The ridge joins points that
    the l1 norm alone would leave apart.

    Parameters
    ----------
    {n_clusters}
    lam : float or "auto"
        Weight of the elastic net; "auto" gives every point its own, by ``lam_divisor``.
    l1_ratio : float
        Share of the l1 norm, above 0; at 1 this is the l1-graph.
    lam_divisor : float
        For ``lam="auto"``: lam is the smallest at which the point's code would be empty, divided
        by this. In the literature, whose gamma is ``2 / lam``, it is the multiple of the smallest
        useful gamma.
    normalize : bool
        Scale codes to unit norm before they make a graph.
    n_nonzero : int or None
        Entries of each code that make edges, the largest ones; None takes all.
    code_neighbors : int or None
        Replace the codes by a graph that joins every point to this many others, those with the most
        similar codes.
    {affinity}
    {n_neighbors}
    {affine}
    {assign_labels, n_init, store, n_jobs, random_state, verbose}

    Attributes
    ----------
    {labels_, confidence_, memberships_, explained_, outlier_score_, layers_, tree_}
    codes_ : csr_array of shape (n, n)
        Row i is the code of point i, before any post-processing.
    affinity_matrix_ : csr_array of shape (n, n)
    lam_ : float or ndarray of shape (n,)
        The weights used.
    kkt_violation_ : ndarray of shape (n,)
        Largest violation of the optimality conditions of each code.
    dual_gap_ : ndarray of shape (n,)
        Duality gap of each code.
    neighbors_ : ndarray of shape (n, n_neighbors)
        Nearest first, ties by index.
    {affine_, first_equal_, fit_X_}
    {graph_, n_connected_components_, n_clusters_, cluster_counts_, structure_found_, embedding_,
     eigenvalues_, n_features_in_}

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from srsg import ElasticNetGraph
    >>> X, y = load_digits(n_class=3, return_X_y=True)
    >>> model = ElasticNetGraph(n_clusters=3, random_state=0).fit(X)
    >>> bool(model.kkt_violation_.max() < 1e-9)
    True
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "lam": [POSITIVE, StrOptions({"auto"})],
        "l1_ratio": [Interval(Real, 0, 1, closed="right")],
        "lam_divisor": [Interval(Real, 1, None, closed="neither")],
        "normalize": ["boolean"],
        "n_nonzero": [AT_LEAST_ONE, None],
        "code_neighbors": [AT_LEAST_ONE, None],
    }

    coder: ClassVar[type[Coder]] = ElasticNetCoder

    lam: float | Literal["auto"] = "auto"
    l1_ratio: float = 0.9
    lam_divisor: float = 50.0
    normalize: bool = False
    n_nonzero: int | None = None
    code_neighbors: int | None = None
    affinity: Affinity = "codes"
    n_neighbors: int = 5
    affine: bool | float = False
