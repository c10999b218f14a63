"""The paper's method: the Support Regularized Sparse Graph."""

from dataclasses import dataclass
from typing import Any, ClassVar, Literal, Self

import numpy as np
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils._param_validation import StrOptions

from srsg.coding.certified import codes_are_certified
from srsg.coding.coder import Coder, fitted_points
from srsg.coding.l1 import certified_l1_codes, l1_codes
from srsg.coding.sweeps import auto_step, new_srsg_codes, srsg_codes, theorem_step
from srsg.estimators.base import AT_LEAST_ONE, NOT_NEGATIVE, POSITIVE, GraphClusterer
from srsg.estimators.l1_graph import L1Coder
from srsg.graph import Coded, FittedGraph, neighbor_graph, symmetrized
from srsg.points import Points
from srsg.registry import methods
from srsg.running import Engine
from srsg.running.warnings import warn_user
from srsg.types import Affinity

Step = float | Literal["auto", "theorem"]

TOL = 1e-5
"""The paper's epsilon, where none is given."""


@dataclass(frozen=True, kw_only=True)
class SRSGCoder(Coder):
    """Codes by Algorithm 2, started from the l1 codes."""

    lam: float = 0.1
    gamma: float = 0.1
    step: Step = "auto"
    max_sweeps: int = 100
    tol: float | None = None

    results: ClassVar[tuple[str, ...]] = (
        *L1Coder.results,
        *("init_codes", "objective_history", "n_sweeps", "n_iter"),
        *("step", "n_steps_cut", "n_let_in"),
    )
    on_cluster: ClassVar[bool] = True

    def code(self, points: Points, run: Engine) -> Coded:
        start = certified_l1_codes(
            points,
            self.lam,
            n_neighbors=self.n_neighbors,
            n_candidates=self.n_candidates,
            random_state=self.random_state,
            run=run,
        )
        assert start.codes is not None
        assert start.neighbors is not None
        graph = neighbor_graph(start.neighbors)
        step = self._chosen_step(points, start.codes, graph)
        result = srsg_codes(
            points,
            start.codes,
            graph,
            gamma=self.gamma,
            step=step,
            max_sweeps=self.max_sweeps,
            tol=TOL if self.tol is None else self.tol,
            stop="supports" if self.tol is None else "objective",
            engine=run,
        )
        if result.n_steps_cut:
            run.progress.note(
                f"step {step:.3g} was cut to the stable bound of their own problem for "
                f"{result.n_steps_cut} points"
            )
        if not result.converged:
            warn_user(
                f"The sweeps did not converge in max_sweeps={self.max_sweeps}; raise it or tol.",
                ConvergenceWarning,
            )
        learnt = {
            **start.learnt,
            "objective_history": result.objective,
            "n_sweeps": len(result.objective) - 1,
            "n_iter": result.n_iter,
            "step": step,
            "n_steps_cut": result.n_steps_cut,
            "n_let_in": result.n_let_in,
        }
        return Coded(result.codes, start.neighbors, init_codes=start.codes, learnt=learnt)

    def code_new(self, fitted: FittedGraph, new: Points, run: Engine) -> sparse.csr_array:
        points = fitted_points(fitted, run)
        start = l1_codes(points, self.lam, queries=new, n_neighbors=self.n_neighbors, engine=run)
        return new_srsg_codes(
            points,
            fitted.distinct_codes(),
            new,
            start.codes,
            start.neighbors,
            gamma=self.gamma,
            step=fitted.learnt["step"],
            tol=TOL if self.tol is None else self.tol,
            engine=run,
        )

    def agreement_graph(self, fitted: FittedGraph) -> sparse.csr_array:
        # The graph of the codes it started from is added, so that no edge is lost.
        return sparse.csr_array(
            symmetrized(fitted.equal.weigh_rows(fitted.init_codes)) + fitted.affinity
        )

    def is_consistent(self, coded: Coded, points: Points, run: Engine) -> bool:
        return codes_are_certified(coded.init_codes, coded.learnt, points, run, lam=self.lam)

    def _chosen_step(
        self, points: Points, codes: sparse.csr_array, graph: sparse.csr_array
    ) -> float:
        if self.step == "auto":
            return auto_step(codes, self.lam)
        if self.step == "theorem":
            return theorem_step(points, self.gamma, np.diff(graph.indptr))
        return float(self.step)


@dataclass(eq=False, repr=False, kw_only=True)
class SRSG(GraphClusterer):
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
    {n_clusters}
    gamma : float
        Weight of the term that ties a code to those of its neighbours.
    n_neighbors : int
        Nearest neighbours whose supports count, the paper's K.
    lam : float
        Weight of the l1 norm in the codes to start from, the paper's ``lambda_l1``.
    step : float, "auto" or "theorem"
        Step size s of Algorithm 1. "auto" follows the size of the l1 codes, see
        :func:`srsg.coding.auto_step`; "theorem" is the largest step that Theorem 3.2 allows, which
        cuts hardly anything. A step beyond the stable bound of a point's own problem is cut to
        that bound.
    {affinity}
        Here "agreement" adds the graph of the codes it started from, so that no edge is lost.
    max_sweeps : int
        Maximum number of sweeps over the points, the paper's M_c.
    tol : float or None
        The sweeps end when the objective (3) changes by less than this, and Algorithm 1 when the
        objective (7) does: the paper's epsilon. None takes 1e-5, and also ends the sweeps when no
        support has changed in one: another sweep would only refine the coefficients.
    {n_candidates}
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
        The l1 codes it started from, which have the certificates.
    neighbors_ : ndarray of shape (n, n_neighbors)
        Nearest first, ties by index.
    {certified_, kkt_violation_, dual_gap_, kkt_quantiles_, n_scans_}
    objective_history_ : ndarray of shape (n_sweeps_ + 1,)
        ``L(Z)`` of eq. (3) at the start and after every sweep.
    n_sweeps_ : int
        Number of sweeps.
    n_iter_ : int
        The most iterations of Algorithm 1 that one point took in one sweep.
    step_ : float
        The step used.
    n_steps_cut_ : int
        Points whose step was cut to the stable bound of their own problem.
    n_let_in_ : int
        Coordinates that the check of the active sets added.
    {affine_, first_equal_, fit_X_}
    {graph_, n_connected_components_, n_clusters_, cluster_counts_, structure_found_, embedding_,
     eigenvalues_, n_features_in_}

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
        "gamma": [POSITIVE],
        "lam": [POSITIVE],
        "step": [POSITIVE, StrOptions({"auto", "theorem"})],
        "max_sweeps": [AT_LEAST_ONE],
        "tol": [NOT_NEGATIVE, None],
        "n_candidates": [AT_LEAST_ONE, None],
    }

    coder: ClassVar[type[Coder]] = SRSGCoder

    gamma: float = 0.1
    n_neighbors: int = 5
    lam: float = 0.1
    step: Step = "auto"
    affinity: Affinity = "agreement"
    max_sweeps: int = 100
    tol: float | None = None
    n_candidates: int | None = None
    affine: bool | float = False

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
            Parameters that differ from the paper's.

        Returns
        -------
        SRSG

        Examples
        --------
        >>> from srsg import SRSG
        >>> SRSG.paper(n_clusters=20)
        SRSG(affinity='codes', n_clusters=20, step=0.01, tol=1e-05)
        """
        return cls(n_clusters, **{**methods()["srsg"].paper_settings, **parameters})
