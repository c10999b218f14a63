"""Thresholding-based subspace clustering."""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from scipy import sparse

from srsg.coding.coder import Coder, fitted_points
from srsg.coding.neighbors import most_correlated, nearest_neighbors
from srsg.estimators.base import GraphClusterer
from srsg.graph import Coded, FittedGraph
from srsg.points import Points
from srsg.running import Engine
from srsg.running.config import CODE_BYTES, ENTRY_BYTES

EQUAL = 1 - 1e-7  # the weight of an equal point, but for rounding


@dataclass(frozen=True, kw_only=True)
class TSCCoder(Coder):
    """Weights of the points at the smallest angles."""

    on_cluster: ClassVar[bool] = True

    def result_bytes(self, n_points: int) -> float:
        return CODE_BYTES + ENTRY_BYTES * min(self.n_neighbors, n_points)

    def code(self, points: Points, run: Engine) -> Coded:
        count = min(self.n_neighbors, points.n - 1)
        cosines = most_correlated(points, count, engine=run)
        return Coded(_weights(cosines), nearest_neighbors(points, count, engine=run))

    def code_new(self, fitted: FittedGraph, new: Points, run: Engine) -> sparse.csr_array:
        points = fitted_points(fitted, run)
        count = min(self.n_neighbors, points.n)
        codes = _weights(most_correlated(points, count, queries=new, engine=run))
        # A point that equals a fitted one is coded by that alone.
        equal = (codes.max(axis=1).toarray() > EQUAL).ravel()
        codes.data[np.repeat(equal, count) & (codes.data <= EQUAL)] = 0.0
        codes.eliminate_zeros()
        return codes


def _weights(cosines: sparse.csr_array) -> sparse.csr_array:
    """``exp(-2 arccos |x_j' x_i|)`` in place of the cosines."""
    cosines.data = np.exp(-2 * np.arccos(np.minimum(np.abs(cosines.data), 1.0)))
    return cosines


@dataclass(eq=False, repr=False, kw_only=True)
class TSCGraph(GraphClusterer):
    """Thresholding-based subspace clustering (Heckel and Boelcskei, 2015).

    Every unit-norm point is joined to those at the smallest angles, mirror images included, by
    weights ``exp(-2 arccos |x_j' x_i|)``.

    Parameters
    ----------
    {n_clusters}
    n_neighbors : int
        Points that each point is joined to, the paper's q.
    {affinity, affine, assign_labels, n_init, store, n_jobs, random_state, verbose}

    Attributes
    ----------
    {labels_, confidence_, memberships_, explained_, outlier_score_, layers_, tree_}
    codes_ : csr_array of shape (n, n)
    {affine_, first_equal_, fit_X_, graph_, n_connected_components_, n_clusters_, cluster_counts_,
     structure_found_, embedding_, eigenvalues_, n_features_in_}

    Examples
    --------
    >>> from srsg import TSCGraph
    >>> from srsg.datasets import make_union_of_subspaces
    >>> X, _ = make_union_of_subspaces(90, n_subspaces=3, random_state=0)
    >>> TSCGraph(3, random_state=0).fit(X).n_clusters_
    3
    """

    coder: ClassVar[type[Coder]] = TSCCoder
    n_neighbors: int = 10
    affinity: Any = "codes"
    affine: bool | float = False
