"""The l1-graph, also known as sparse subspace clustering."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from scipy import sparse

from srsg.coding.certified import codes_are_certified
from srsg.coding.coder import Coder, fitted_points
from srsg.coding.l1 import certified_l1_codes, l1_codes
from srsg.estimators.base import AT_LEAST_ONE, POSITIVE, GraphClusterer
from srsg.graph import Coded, FittedGraph
from srsg.points import Points
from srsg.running import Engine


@dataclass(frozen=True, kw_only=True)
class L1Coder(Coder):
    """Codes by eq. (1) of the paper, over all points or over candidates."""

    lam: float = 0.1

    results: ClassVar[tuple[str, ...]] = (
        *Coder.results,
        *("certified", "kkt_violation", "dual_gap", "n_scans"),
    )
    on_cluster: ClassVar[bool] = True

    def code(self, points: Points, run: Engine) -> Coded:
        return certified_l1_codes(
            points,
            self.lam,
            n_neighbors=self.n_neighbors,
            n_candidates=self.n_candidates,
            random_state=self.random_state,
            run=run,
        )

    def code_new(self, fitted: FittedGraph, new: Points, run: Engine) -> sparse.csr_array:
        return l1_codes(fitted_points(fitted, run), self.lam, queries=new, engine=run).codes

    def is_consistent(self, coded: Coded, points: Points, run: Engine) -> bool:
        return codes_are_certified(coded.codes, coded.learnt, points, run, lam=self.lam)


@dataclass(eq=False, repr=False, kw_only=True)
class L1Graph(GraphClusterer):
    """Clustering on the l1-graph (sparse subspace clustering), exact and certified.

    Every point, scaled to unit norm, is coded over all others by eq. (1) of the paper,
    ``min ||x_i - X z||^2 + lam |z|_1`` with ``z_i = 0``; the graph ``(|Z| + |Z|^T) / 2`` is
    clustered by spectral clustering.

    Parameters
    ----------
    {n_clusters}
    lam : float
        Weight of the l1 norm, the paper's ``lambda_l1``. At 2 and beyond every code is zero.
    {n_candidates}
    {n_neighbors}
    {affine}
    {assign_labels, n_init, store, n_jobs, random_state, verbose}

    Attributes
    ----------
    {labels_, confidence_, explained_, outlier_score_, layers_}
    codes_ : csr_array of shape (n, n)
        Row i is the code of point i; zero diagonal.
    affinity_matrix_ : csr_array of shape (n, n)
        ``(|Z| + |Z|^T) / 2``.
    neighbors_ : ndarray of shape (n, n_neighbors)
        Nearest first, ties by index.
    {certified_, kkt_violation_, dual_gap_, kkt_quantiles_, n_scans_}
    {affine_, first_equal_, fit_X_}
    {graph_, n_connected_components_, n_clusters_, cluster_counts_, structure_found_, embedding_,
     eigenvalues_, n_features_in_}

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
        **GraphClusterer._parameter_constraints,
        "lam": [POSITIVE],
        "n_candidates": [AT_LEAST_ONE, None],
    }

    coder: ClassVar[type[Coder]] = L1Coder

    lam: float = 0.1
    n_candidates: int | None = None
    n_neighbors: int = 5
    affine: bool | float = False
