"""Thresholding-based subspace clustering."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from scipy import sparse

from srsg.coding.coder import Coder, fitted_points
from srsg.coding.neighbors import nearest_neighbors
from srsg.cutting.affinity import largest_codes
from srsg.estimators.base import GraphClusterer
from srsg.graph import Coded, FittedGraph
from srsg.points import Points, row_slices
from srsg.running import Engine
from srsg.types import IntArray


@dataclass(frozen=True, kw_only=True)
class TSCCoder(Coder):
    """Weights of the points at the smallest angles."""

    def code(self, points: Points, run: Engine) -> Coded:
        nearest = nearest_neighbors(points, min(self.n_neighbors, points.n - 1), engine=run)
        return Coded(_weights(points, points, nearest, run), nearest)

    def code_new(self, fitted: FittedGraph, new: Points, run: Engine) -> sparse.csr_array:
        points = fitted_points(fitted, run)
        count = min(self.n_neighbors, points.n)
        nearest = nearest_neighbors(points, count, queries=new, engine=run)
        codes = _weights(points, new, nearest, run)
        # A point that equals a fitted one is coded by that alone.
        equal = codes.max(axis=1).toarray().ravel() == 1
        codes.data[(codes.data < 1) & np.repeat(equal, count)] = 0
        codes.eliminate_zeros()
        return codes


def _weights(points: Points, vectors: Points, nearest: IntArray, run: Engine) -> sparse.csr_array:
    """``exp(-2 arccos |x_j' x_i|)`` of every vector and the points at the smallest angles."""
    count = nearest.shape[1]
    # The points nearest to a vector, then those nearest to its mirror image.
    mirrored = nearest_neighbors(points, count, queries=Points(-vectors.x), engine=run)
    columns = np.hstack([nearest, mirrored])
    squares = np.empty(columns.shape)
    for rows in row_slices(vectors.n):
        for place, index in enumerate(columns[rows].T):
            away = vectors.x[rows] - points.x[index]
            squares[rows, place] = (away * away).sum(axis=1, dtype=np.float64)
    # A point in both lists counts in one of them: that of the side it lies on.
    own_side = (squares <= 2) == (np.arange(2 * count) < count)
    # Angles by distances are exact where they are small, and zero for equal points.
    angles = 2 * np.arcsin(np.sqrt(np.clip(np.minimum(squares, 4 - squares), 0, None)) / 2)
    weights = np.where(own_side, np.exp(-2 * angles), 0)
    entries = (weights.ravel(), columns.ravel(), 2 * count * np.arange(vectors.n + 1))
    codes = sparse.csr_array(entries, shape=(vectors.n, points.n))
    codes.sum_duplicates()
    return largest_codes(codes, count)


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
    {affinity}
    {affine}
    {assign_labels, n_init, store, n_jobs, random_state, verbose}

    Attributes
    ----------
    {labels_, confidence_, explained_, outlier_score_}
    codes_ : csr_array of shape (n, n)
        The directed weights.
    {affine_, first_equal_, fit_X_}
    {graph_, n_connected_components_, n_clusters_, cluster_counts_, structure_found_, embedding_,
     eigenvalues_, n_features_in_}

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
