"""Elastic-net subspace clustering."""

from __future__ import annotations

from typing import Any, ClassVar, Literal

from scipy import sparse
from sklearn.utils._param_validation import Interval, Real, StrOptions

from srsg.coding import L1Codes, l1_codes, smallest_empty_lam
from srsg.estimators.base import NOT_NEGATIVE, POSITIVE
from srsg.estimators.coded import AgreementClusterer, PostprocessedClusterer
from srsg.kernels.codes import symmetrized
from srsg.points import Points
from srsg.running import Engine
from srsg.types import AssignLabels, Bridge, FloatArray, Memory, NClusters, RandomState


class ElasticNetGraph(AgreementClusterer, PostprocessedClusterer):
    """Clustering on elastic-net codes (You, Li, Robinson and Vidal, CVPR 2016), exact.

    Every point, scaled to unit norm, is coded over all others by ``min ||x_i - X z||^2 + lam *
    (l1_ratio |z|_1 + (1 - l1_ratio) / 2 |z|^2)`` with ``z_i = 0``. The ridge joins points that
    the l1 norm alone would leave apart.

    Parameters
    ----------
    n_clusters : int or "auto"
        Number of clusters; "auto" finds it, see :mod:`srsg.estimators.cluster_counts`.
    lam : float or "auto"
        Weight of the elastic net; "auto" gives every point its own, by ``gamma``.
    l1_ratio : float
        Share of the l1 norm, above 0; at 1 this is the l1-graph.
    gamma : float
        For ``lam="auto"``: lam is the smallest at which the point's code would be empty, divided
        by this. In the literature's notation, whose gamma is ``2 / lam``, it is this multiple of
        the smallest useful gamma.
    tol : float
        Largest violation of the optimality conditions that a code may have.
    normalize, keep_largest, code_neighbors
        What happens to the codes before they make a graph: they are scaled to unit norm; cut to
        this many of their largest entries; replaced by the graph that joins every point with this
        many others of most similar codes.
    affinity : {"codes", "agreement"}
        What the spectral step works on. "codes" is ``affinity_matrix_``, of which it takes the
        normalised cut. "agreement" takes the codes as they are, weighs the edges by what their
        neighbours agree on (:func:`srsg.cutting.weights.agreement`), and takes the ratio cut.
    n_neighbors : int
        Nearest neighbours found along the way, for bridges between components.
    affine : bool or float
        Append a constant coordinate to every point before scaling it to unit length: clusters may
        then lie near affine subspaces, which miss the origin, and a point and its mirror image
        differ. True takes the root mean square length of the points; False appends nothing.
    bridge : "auto", float or None
        Weak edges between nearest neighbours, see :func:`srsg.cluster_graph`.
    n_components : int or None
        Eigenvectors that the points are embedded in; None takes one for each cluster. A number
        takes that many after the constant one and weighs them by commute times, see
        :func:`srsg.cutting.embedding.commute_time_embedding`: twice the number of clusters can
        help where clusters merge.
    assign_labels : {"kmeans", "discretize", "cluster_qr"}
        How the embedded points get their labels.
    n_init : int
        Restarts of K-means.
    memory : str, joblib.Memory or None
        Folder that keeps graphs: a later fit on the same points with another ``n_clusters`` finds
        its graph there.
    max_memory : int, str or None
        Most memory that coding may take besides its input, in bytes or as text such as "2GB"; None
        allows half of what is free.
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
        Row i is the code of point i, before any post-processing.
    affinity_matrix_ : csr_array of shape (n, n)
    lam_ : float or ndarray of shape (n,)
        The weights used.
    kkt_violation_ : ndarray of shape (n,)
        Largest violation of the optimality conditions of each code.
    dual_gap_ : ndarray of shape (n,)
        Duality gap of each code.
    neighbors_ : ndarray of shape (n, n_neighbors)
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
    eigenvalues_ : ndarray of shape (n_clusters_,)
    affine_ : float
        The constant coordinate that was appended; 0 if none was.
    first_equal_ : ndarray of shape (n,)
        For every point the one that stands for it: the first that equals it, after scaling; -1 for
        a row of zeros. Points closer than inner products can resolve (1.5e-8, or 2.4e-7 in
        float32) count as equal, and any of them may stand for the others. Equal points have one
        code, over the points that differ from them (of each set of equals, over the first), and
        one label. They count as many times as they occur: by their edges, in a ratio cut and in
        K-means. A row of zeros has no code, no edge, neighbours of -1, and the label of the
        largest cluster.
    fit_X_ : ndarray or csr_array of shape (n, n_features)
        The fitted points, of unit length, which new ones are coded over.
    n_features_in_ : int

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
        **PostprocessedClusterer._parameter_constraints,
        **AgreementClusterer._parameter_constraints,
        "lam": [POSITIVE, StrOptions({"auto"})],
        "l1_ratio": [Interval(Real, 0, 1, closed="right")],
        "gamma": [Interval(Real, 1, None, closed="neither")],
        "tol": [NOT_NEGATIVE],
        "affinity": [StrOptions({"codes", "agreement"})],
    }

    def __init__(
        self,
        n_clusters: NClusters = 8,
        *,
        lam: float | Literal["auto"] = "auto",
        l1_ratio: float = 0.9,
        gamma: float = 50.0,
        tol: float = 1e-10,
        normalize: bool = False,
        keep_largest: int | None = None,
        code_neighbors: int | None = None,
        affinity: Literal["codes", "agreement"] = "codes",
        n_neighbors: int = 5,
        affine: bool | float = False,
        bridge: Bridge = "auto",
        n_components: int | None = None,
        assign_labels: AssignLabels = "kmeans",
        n_init: int = 10,
        memory: Memory = None,
        max_memory: int | str | None = None,
        n_jobs: int | None = None,
        random_state: RandomState = None,
        verbose: bool | int = False,
    ) -> None:
        self.n_clusters = n_clusters
        self.lam = lam
        self.l1_ratio = l1_ratio
        self.gamma = gamma
        self.tol = tol
        self.normalize = normalize
        self.keep_largest = keep_largest
        self.code_neighbors = code_neighbors
        self.affinity = affinity
        self.n_neighbors = n_neighbors
        self.affine = affine
        self.bridge = bridge
        self.n_components = n_components
        self.assign_labels = assign_labels
        self.n_init = n_init
        self.memory = memory
        self.max_memory = max_memory
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    def _graph_of_codes(self) -> sparse.csr_array:
        return symmetrized(self.codes_)

    def _code(self, points: Points, engine: Engine) -> None:
        self.lam_, result = self._solve(points, engine, n_neighbors=self._neighbor_count(points))
        self.codes_ = result.codes
        self.neighbors_ = result.neighbors
        self.kkt_violation_ = result.kkt_violation
        self.dual_gap_ = result.dual_gap

    def _weights_of_codes(self) -> tuple[float | FloatArray, float | FloatArray]:
        return self.lam_ * self.l1_ratio, self.lam_ * (1 - self.l1_ratio) / 2

    def _code_new(self, points: Points, new: Points, engine: Engine) -> sparse.csr_array:
        return self._solve(points, engine, queries=new)[1].codes

    def _solve(
        self, points: Points, engine: Engine, queries: Points | None = None, n_neighbors: int = 0
    ) -> tuple[float | FloatArray, L1Codes]:
        """The weights of the elastic net, and the codes."""
        options: dict[str, Any] = {"queries": queries, "engine": engine}
        lam: float | FloatArray
        if self.lam == "auto":
            # Each point gets a weight that leaves it a code, whatever its correlations.
            lam = smallest_empty_lam(points, self.l1_ratio, **options) / self.gamma
        else:
            lam = self.lam
        return lam, l1_codes(
            points,
            lam * self.l1_ratio,
            ridge=lam * (1 - self.l1_ratio) / 2,
            n_neighbors=n_neighbors,
            tol=self.tol,
            **options,
        )
