"""The l1-graph, also known as sparse subspace clustering."""

from __future__ import annotations

from os import PathLike
from typing import Any, ClassVar

from scipy import sparse

from srsg.coding import L1Codes, l1_codes
from srsg.coding.approximate import N_CANDIDATES
from srsg.estimators.base import NOT_NEGATIVE, POSITIVE
from srsg.estimators.coded import CertifiedClusterer
from srsg.estimators.fitting import ENGINE_CONSTRAINTS
from srsg.points import Points
from srsg.running import Engine
from srsg.types import AssignLabels, Bridge, Memory, NClusters, RandomState


class L1Graph(CertifiedClusterer):
    """Clustering on the l1-graph (sparse subspace clustering), exact and certified.

    Every point, scaled to unit norm, is coded over all others by eq. (1) of the paper,
    ``min ||x_i - X z||^2 + lam |z|_1`` with ``z_i = 0``; the graph ``(|Z| + |Z|^T) / 2`` is
    clustered by spectral clustering.

    Parameters
    ----------
    n_clusters : int or "auto"
        Number of clusters; "auto" finds it, see :mod:`srsg.estimators.cluster_counts`.
    lam : float
        Weight of the l1 norm, the paper's ``lambda_l1``. At 2 and beyond every code is zero.
    tol : float
        Largest violation of the optimality conditions that a code over all points may have.
    approximate : bool
        Code every point over ``n_candidates`` points that an index finds, instead of over all: for
        more points than can all be compared. Codes are exact on their candidates; how far they
        are from those over all points is measured on a random sample, see ``kkt_quantiles_``.
        Needs faiss: ``pip install 'srsg[approximate]'``. New points are coded over all fitted ones.
    n_candidates : int
        With ``approximate``: how many points a code may use; neighbours are found among them.
    n_neighbors : int
        Nearest neighbours found along the way, for bridges between components.
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
    engine : {"threads", "dask"}, address or distributed.Client
        Where the points are coded: on threads of this process, or on the workers of the current
        Dask client ("dask"), of the scheduler at an address such as ``tcp://127.0.0.1:8786``, or of
        the given client. The result does not depend on it. On a cluster X may be a ``dask.array``.
    checkpoint : str, path or None
        Folder that keeps the work done so far: after an interruption, a fit on the same points
        with the same parameters continues where the last one stopped.
    random_state : int, RandomState or None
        Starts of K-means and, with ``approximate``, the sample; all else is deterministic.
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
        Row i is the code of point i; zero diagonal.
    affinity_matrix_ : csr_array of shape (n, n)
        ``(|Z| + |Z|^T) / 2``.
    certified_ : ndarray of shape (n_certified,)
        The points that have certificates: all or, with ``approximate``, a random thousand.
    kkt_violation_ : ndarray of shape (n_certified,)
        Largest violation of the optimality conditions of their codes, as codes over all points.
    dual_gap_ : ndarray of shape (n_certified,)
        Duality gap of these codes: the objective is at most this far from the least.
    kkt_quantiles_ : dict
        Quantiles of ``kkt_violation_`` by their shares 0.5, 0.9, 0.99 and 1.
    neighbors_ : ndarray of shape (n, n_neighbors)
        Nearest first, ties by index.
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
    n_scans_ : int
        Passes over the data, each a matrix product; none with ``approximate``.
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

    See Also
    --------
    SRSG : Regularises these codes by those of the neighbours.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from srsg import L1Graph
    >>> X, y = load_digits(n_class=3, return_X_y=True)
    >>> model = L1Graph(n_clusters=3, random_state=0).fit(X)
    >>> bool(model.kkt_violation_.max() < 1e-9)
    True
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **CertifiedClusterer._parameter_constraints,
        **ENGINE_CONSTRAINTS,
        "lam": [POSITIVE],
        "tol": [NOT_NEGATIVE],
    }

    def __init__(
        self,
        n_clusters: NClusters = 8,
        *,
        lam: float = 0.1,
        tol: float = 1e-10,
        approximate: bool = False,
        n_candidates: int = N_CANDIDATES,
        n_neighbors: int = 5,
        affine: bool | float = False,
        bridge: Bridge = "auto",
        assign_labels: AssignLabels = "kmeans",
        n_init: int = 10,
        memory: Memory = None,
        max_memory: int | str | None = None,
        n_jobs: int | None = None,
        engine: Any = "threads",
        checkpoint: str | PathLike[str] | None = None,
        random_state: RandomState = None,
        verbose: bool | int = False,
    ) -> None:
        self.n_clusters = n_clusters
        self.lam = lam
        self.tol = tol
        self.approximate = approximate
        self.n_candidates = n_candidates
        self.n_neighbors = n_neighbors
        self.affine = affine
        self.bridge = bridge
        self.assign_labels = assign_labels
        self.n_init = n_init
        self.memory = memory
        self.max_memory = max_memory
        self.n_jobs = n_jobs
        self.engine = engine
        self.checkpoint = checkpoint
        self.random_state = random_state
        self.verbose = verbose

    def _code(self, points: Points, engine: Engine) -> None:
        result = self._l1_codes(points, engine, tol=self.tol)
        self.codes_ = result.codes
        self.neighbors_ = result.neighbors
        self.n_scans_ = result.n_scans if isinstance(result, L1Codes) else 0

    def _weights_of_codes(self) -> tuple[float, float]:
        return self.lam, 0.0

    def _code_new(self, points: Points, new: Points, engine: Engine) -> sparse.csr_array:
        return l1_codes(points, self.lam, queries=new, tol=self.tol, engine=engine).codes
