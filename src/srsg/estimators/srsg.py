"""The paper's method: the Support Regularized Sparse Graph."""

from __future__ import annotations

from os import PathLike
from typing import Any, ClassVar, Literal, Self

import numpy as np
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils._param_validation import StrOptions

from srsg.coding import auto_step, l1_codes, new_srsg_codes, srsg_codes, theorem_step
from srsg.coding.approximate import N_CANDIDATES
from srsg.coding.neighbors import nearest_neighbors, neighbor_graph, undirected
from srsg.estimators.base import AT_LEAST_ONE, NOT_NEGATIVE, POSITIVE
from srsg.estimators.coded import AgreementClusterer, CertifiedClusterer
from srsg.estimators.fitting import ENGINE_CONSTRAINTS
from srsg.kernels.codes import symmetrized
from srsg.points import Points
from srsg.registry import methods
from srsg.running import Engine
from srsg.running.warnings import warn_user
from srsg.types import (
    Affinity,
    AssignLabels,
    Bridge,
    Direction,
    IntArray,
    Matrix,
    Memory,
    NClusters,
    RandomState,
    Stop,
)


class SRSG(AgreementClusterer, CertifiedClusterer):
    """Support Regularized Sparse Graph (Sun and Yang, UAI 2023).

    Starting from the codes of the l1-graph, every point is coded again so that it uses the
    points that its nearest neighbours use (Algorithm 2), each time by fast proximal gradient
    descent with support projection (Algorithm 1). A graph of these codes is clustered by spectral
    clustering. ``SRSG()`` chooses the step and the graph so that they serve data of many kinds;
    ``SRSG.paper()`` is the method as published.

    A new point gets its l1 code over the fitted points, and from there one run of Algorithm 1
    with the fitted codes of its nearest fitted points.

    Parameters
    ----------
    n_clusters : int or "auto"
        Number of clusters; "auto" finds it, see :mod:`srsg.estimators.cluster_counts`.
    gamma : float
        Weight of the support regularisation.
    n_neighbors : int
        Nearest neighbours whose supports count, the paper's K.
    lam : float
        Weight of the l1 norm in the codes to start from, the paper's ``lambda_l1``.
    step : float, "theorem" or "auto"
        The step s of Algorithm 1. It sets the thresholds ``sqrt(2 s gamma c)`` and so decides
        how hard the graph is cut. "theorem" is the largest that Theorem 3.2 allows, at which
        hardly anything is cut; "auto" derives it from the l1 codes and lam, see
        :func:`srsg.coding.auto_step`. A step beyond the stable bound of a point's own problem
        is cut to that bound.
    neighbor_graph : {"directed", "either", "mutual"}
        The paper's S: whose supports a point is compared with. "directed", as printed, takes its
        nearest neighbours; "either" adds the points that have it among theirs; "mutual" keeps only
        neighbours that have it among theirs too. Only with the last two is every step of the
        sweeps a descent of one common objective, see :func:`srsg.coding.srsg_codes`. New points
        are compared with their nearest neighbours.
    affinity : {"agreement", "paper"}
        What the spectral step works on. "paper" is ``affinity_matrix_``, of which it takes the
        normalised cut. "agreement" adds the graph of the codes it started from, so that no
        edge is lost, weighs the edges by what their neighbours agree on
        (:func:`srsg.cutting.weights.agreement`), and takes the ratio cut.
    max_sweeps : int
        Most sweeps over the points, the paper's M_c.
    max_iter : int
        Most iterations of Algorithm 1 for one point in one sweep, the paper's M_p.
    tol : float
        The sweeps end when the objective (3) changes by less, Algorithm 1 when the objective
        (7) does; the paper's epsilon.
    stop : {"supports", "objective"}
        "objective" stops the sweeps by ``tol`` alone, as Algorithm 2 does. "supports" also stops
        them when no support has changed in a sweep: what is left is a refinement of the
        coefficients.
    init : "l1" or sparse matrix of shape (n, n)
        Codes to start from, row i the code of point i; "l1" computes those of the l1-graph.
    approximate : bool
        Start from l1 codes over ``n_candidates`` points each that an index finds, instead of over
        all: for more points than can all be compared. They are exact on their candidates; how
        far they are from those over all points is measured on a random sample, see
        ``kkt_quantiles_``. Needs faiss: ``pip install 'srsg[approximate]'``. New points are coded
        over all fitted ones.
    n_candidates : int
        With ``approximate``: how many points a code may use; neighbours are found among them.
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
    init_codes_ : csr_array of shape (n, n)
        The codes it started from.
    certified_ : ndarray of shape (n_certified,) or None
    kkt_violation_, dual_gap_ : ndarray of shape (n_certified,) or None
    kkt_quantiles_ : dict or None
        The certificates of these codes, as in :class:`L1Graph`; None where ``init`` gave them.
    neighbors_ : ndarray of shape (n, n_neighbors)
        Nearest first, ties by index.
    objective_history_ : ndarray of shape (n_sweeps_ + 1,)
        ``L(Z)`` of eq. (3) at the start and after every sweep.
    n_sweeps_ : int
        Sweeps done.
    n_iter_ : int
        The most iterations of Algorithm 1 that one point took in one sweep.
    step_ : float
        The step used.
    n_steps_cut_ : int
        Points whose step was cut to the stable bound of their own problem.
    n_let_in_ : int
        Coordinates that the check of the active sets added.
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

    References
    ----------
    D. Sun and Y. Yang. Locally regularized sparse graph by fast proximal gradient descent.
    Uncertainty in Artificial Intelligence (UAI), 2023.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from srsg import SRSG
    >>> from srsg.metrics import clustering_accuracy
    >>> X, y = load_digits(n_class=5, return_X_y=True)
    >>> labels = SRSG(n_clusters=5, random_state=0).fit_predict(X)
    >>> clustering_accuracy(y, labels) > 0.95
    True
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **CertifiedClusterer._parameter_constraints,
        **AgreementClusterer._parameter_constraints,
        **ENGINE_CONSTRAINTS,
        "gamma": [POSITIVE],
        "lam": [POSITIVE],
        "step": [POSITIVE, StrOptions({"auto", "theorem"})],
        "affinity": [StrOptions({"agreement", "paper"})],
        "max_sweeps": [AT_LEAST_ONE],
        "max_iter": [AT_LEAST_ONE],
        "tol": [NOT_NEGATIVE],
        "stop": [StrOptions({"supports", "objective"})],
        "neighbor_graph": [StrOptions({"directed", "either", "mutual"})],
        "init": [StrOptions({"l1"}), "array-like", "sparse matrix"],
    }

    def __init__(
        self,
        n_clusters: NClusters = 8,
        *,
        gamma: float = 0.1,
        n_neighbors: int = 5,
        lam: float = 0.1,
        step: float | Literal["auto", "theorem"] = "auto",
        neighbor_graph: Direction = "directed",
        affinity: Affinity = "agreement",
        max_sweeps: int = 100,
        max_iter: int = 100,
        tol: float = 1e-5,
        stop: Stop = "supports",
        init: Literal["l1"] | Matrix = "l1",
        approximate: bool = False,
        n_candidates: int = N_CANDIDATES,
        affine: bool | float = False,
        bridge: Bridge = "auto",
        n_components: int | None = None,
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
        self.gamma = gamma
        self.n_neighbors = n_neighbors
        self.lam = lam
        self.step = step
        self.neighbor_graph = neighbor_graph
        self.affinity = affinity
        self.max_sweeps = max_sweeps
        self.max_iter = max_iter
        self.tol = tol
        self.stop = stop
        self.init = init
        self.approximate = approximate
        self.n_candidates = n_candidates
        self.affine = affine
        self.bridge = bridge
        self.n_components = n_components
        self.assign_labels = assign_labels
        self.n_init = n_init
        self.memory = memory
        self.max_memory = max_memory
        self.n_jobs = n_jobs
        self.engine = engine
        self.checkpoint = checkpoint
        self.random_state = random_state
        self.verbose = verbose

    def _check_size(self, n_points: int) -> None:
        super()._check_size(n_points)
        if self.approximate and not isinstance(self.init, str):
            raise ValueError(
                "approximate=True finds l1 codes to start from, so it takes init='l1'."
            )

    @classmethod
    def paper(cls, n_clusters: int = 8, **parameters: Any) -> Self:
        """The estimator with the settings that come closest to the paper's tables.

        The paper states ``lam``, ``gamma``, ``n_neighbors``, the stopping rule and its bounds. It
        leaves open the step. Its S is directed, so that its objective can rise; over all rows of
        its tables this still comes closest (``python -m benchmarks.paper_choices``).

        Parameters
        ----------
        n_clusters : int
            Number of clusters.
        **parameters
            Others than the paper's.

        Returns
        -------
        SRSG

        Examples
        --------
        >>> from srsg import SRSG
        >>> SRSG.paper(n_clusters=20)
        SRSG(affinity='paper', n_clusters=20, step=0.01, stop='objective')
        """
        return cls(n_clusters, **{**methods()["srsg"].paper_settings, **parameters})

    def _graph_of_codes(self) -> sparse.csr_array:
        """The graph of the codes it started from, added to its own, so that no edge is lost."""
        return sparse.csr_array(symmetrized(self.init_codes_) + self.affinity_matrix_)

    def _code(self, points: Points, engine: Engine) -> None:
        self._start(points, engine)
        graph = undirected(neighbor_graph(self.neighbors_), self.neighbor_graph)
        self.step_ = self._chosen_step(points, np.diff(graph.indptr))
        result = srsg_codes(
            points,
            self.init_codes_,
            graph,
            gamma=self.gamma,
            step=self.step_,
            max_sweeps=self.max_sweeps,
            max_iter=self.max_iter,
            tol=self.tol,
            stop=self.stop,
            engine=engine,
        )
        self.codes_ = result.codes
        self.objective_history_ = result.objective
        self.n_sweeps_ = len(result.objective) - 1
        self.n_iter_ = result.n_iter
        self.n_steps_cut_ = result.n_steps_cut
        self.n_let_in_ = result.n_let_in
        if result.n_steps_cut:
            engine.progress.note(
                f"step {self.step_:.3g} was cut to the stable bound of their own problem for "
                f"{result.n_steps_cut} points"
            )
        if not result.converged:
            warn_user(
                f"The sweeps did not converge in max_sweeps={self.max_sweeps}; raise it or tol.",
                ConvergenceWarning,
            )

    def _start(self, points: Points, engine: Engine) -> None:
        """Find the codes to start from, and the neighbours."""
        if isinstance(self.init, str):
            l1 = self._l1_codes(points, engine)
            self.init_codes_, self.neighbors_ = l1.codes, l1.neighbors
        else:
            # Given for all points, while only distinct ones are coded.
            given = _checked_codes(self.init, self._equal.n)
            self.init_codes_ = self._equal.merge_codes(given)
            count = self._neighbor_count(points)
            self.neighbors_ = nearest_neighbors(points, count, engine=engine)
            self.certified_ = self.kkt_violation_ = self.dual_gap_ = self.kkt_quantiles_ = None

    def _code_new(self, points: Points, new: Points, engine: Engine) -> sparse.csr_array:
        count = min(self.n_neighbors, points.n)
        l1 = l1_codes(points, self.lam, queries=new, n_neighbors=count, engine=engine)
        return new_srsg_codes(
            points,
            self._equal.merge_codes(self.codes_),
            new,
            l1.codes,
            l1.neighbors,
            gamma=self.gamma,
            step=self.step_,
            max_iter=self.max_iter,
            tol=self.tol,
            engine=engine,
        )

    def _chosen_step(self, points: Points, n_neighbors: IntArray) -> float:
        if self.step == "auto":
            return auto_step(self.init_codes_, self.lam)
        if self.step == "theorem":
            return theorem_step(points, self.gamma, n_neighbors)
        return float(self.step)


def _checked_codes(init: Matrix, n_points: int) -> sparse.csr_array:
    # A copy, because kernels need sorted entries without zeros and the user's matrix must stay as
    # it is.
    codes = sparse.csr_array(init, dtype=np.float64, copy=True)
    if codes.shape != (n_points, n_points):
        raise ValueError(
            f"init must have shape ({n_points}, {n_points}), one code per row, got {codes.shape}."
        )
    if not np.isfinite(codes.data).all():
        raise ValueError("init contains NaN or infinity.")
    if codes.diagonal().any():
        raise ValueError("init must have a zero diagonal: no point may code itself.")
    codes.sum_duplicates()
    codes.eliminate_zeros()
    codes.sort_indices()
    return codes
