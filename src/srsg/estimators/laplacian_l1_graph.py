"""The Laplacian-regularised l1-graph."""

from __future__ import annotations

from typing import Any, ClassVar

from scipy import sparse
from sklearn.utils._param_validation import StrOptions

from srsg.coding import l1_codes, laplacian_codes
from srsg.coding.laplacian import GRAM_BYTES, Laplacian
from srsg.estimators.base import AT_LEAST_ONE, NOT_NEGATIVE, POSITIVE
from srsg.estimators.coded import CodeClusterer
from srsg.points import Points
from srsg.running import Engine
from srsg.running.memory import in_bytes
from srsg.types import AssignLabels, Bridge, Memory, NClusters, RandomState


class LaplacianL1Graph(CodeClusterer):
    """Clustering on the Laplacian-regularised l1-graph (Yang et al., AAAI and BMVC 2014).

    Starting from the codes of the l1-graph, ``sum_i ||x_i - X Z^i||^2 + lam |Z^i|_1 + gamma
    sum_ij S_ij ||Z^i - Z^j||^2`` is minimised point by point, each exactly: the codes of nearest
    neighbours are pulled together in l2 distance, where SRSG compares their supports.

    A new point gets its plain l1 code over the fitted points: pulling that code towards those of
    its neighbours, too, did not change the clusters of new points.

    Parameters
    ----------
    n_clusters : int or "auto"
        Number of clusters; "auto" finds it, see :mod:`srsg.estimators.cluster_counts`.
    lam : float
        Weight of the l1 norm.
    gamma : float
        Weight of the Laplacian, the paper's ``gamma_l2``.
    n_neighbors : int
        Nearest neighbours that S joins.
    max_sweeps : int
        Most sweeps over the points. One comes closest to the paper's tables; more lower the
        objective but do not, as a rule, raise the accuracy.
    tol : float
        The sweeps end when the objective changes by less.
    laplacian : {"neighbors", "codes"}
        S is the graph of the nearest neighbours (BMVC), or before every sweep that of the codes
        so far (the iterative scheme of the AAAI version).
    affine : bool or float
        Append a constant coordinate to every point before scaling it to unit length: clusters may
        then lie near affine subspaces, which miss the origin, and a point and its mirror image
        differ. True takes the root mean square length of the points; False appends nothing.
    bridge : "auto", float or None
        Weak edges between nearest neighbours, see :func:`srsg.cluster_graph`.
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
        Row i is the code of point i.
    affinity_matrix_ : csr_array of shape (n, n)
        ``(|Z| + |Z|^T) / 2``.
    init_codes_ : csr_array of shape (n, n)
        The codes it started from.
    objective_history_ : ndarray of shape (n_sweeps_ + 1,)
        The objective at the start and after every sweep.
    n_sweeps_ : int
        Sweeps done.
    kkt_violation_, dual_gap_ : ndarray of shape (n,)
        Certificates of each point's own problem, when it was last solved.
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
    fit_X_ : ndarray of shape (n, n_features)
        The fitted points, of unit length, which new ones are coded over.
    n_features_in_ : int

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
        **CodeClusterer._parameter_constraints,
        "lam": [POSITIVE],
        "gamma": [POSITIVE],
        "max_sweeps": [AT_LEAST_ONE],
        "tol": [NOT_NEGATIVE],
        "laplacian": [StrOptions({"neighbors", "codes"})],
    }

    def __init__(
        self,
        n_clusters: NClusters = 8,
        *,
        lam: float = 0.1,
        gamma: float = 0.2,
        n_neighbors: int = 5,
        max_sweeps: int = 1,
        tol: float = 1e-5,
        laplacian: Laplacian = "neighbors",
        affine: bool | float = False,
        bridge: Bridge = "auto",
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
        self.gamma = gamma
        self.n_neighbors = n_neighbors
        self.max_sweeps = max_sweeps
        self.tol = tol
        self.laplacian = laplacian
        self.affine = affine
        self.bridge = bridge
        self.assign_labels = assign_labels
        self.n_init = n_init
        self.memory = memory
        self.max_memory = max_memory
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    def _needs_dense(self, X: sparse.csr_array) -> str:
        return f"{type(self).__name__} needs dense points"

    def _code(self, points: Points, engine: Engine) -> None:
        l1 = l1_codes(points, self.lam, n_neighbors=self._neighbor_count(points), engine=engine)
        self.init_codes_, self.neighbors_ = l1.codes, l1.neighbors
        result = laplacian_codes(
            points,
            l1.codes,
            l1.neighbors,
            lam=self.lam,
            gamma=self.gamma,
            max_sweeps=self.max_sweeps,
            tol=self.tol,
            laplacian=self.laplacian,
            gram_bytes=self._gram_bytes(),
            engine=engine,
        )
        self.codes_ = result.codes
        self.objective_history_ = result.objective
        self.n_sweeps_ = len(result.objective) - 1
        self.kkt_violation_ = result.kkt_violation
        self.dual_gap_ = result.dual_gap

    def _gram_bytes(self) -> int:
        """Half of the memory allowed, since scans need some too, but not more than is sensible."""
        if self.max_memory is None:
            return GRAM_BYTES
        return min(GRAM_BYTES, in_bytes(self.max_memory) // 2)

    def _code_new(self, points: Points, new: Points, engine: Engine) -> sparse.csr_array:
        return l1_codes(points, self.lam, queries=new, engine=engine).codes
