"""Clustering on the graph of nearest neighbours."""

from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np
from scipy import sparse
from sklearn.utils._param_validation import StrOptions

from srsg.coding.approximate import approximate_lists
from srsg.coding.coder import Coder, fitted_points
from srsg.coding.local_scaling import moderate_queries
from srsg.coding.neighbors import euclidean_lists, moderate_exponent, nearest_lists
from srsg.estimators.base import AT_LEAST_ONE, GraphClusterer
from srsg.graph import Coded, FittedGraph, symmetrized
from srsg.points import Points, take_rows
from srsg.running import Engine
from srsg.running.config import CODE_BYTES, ENTRY_BYTES
from srsg.types import Affinity, FloatArray, IntArray

SCALE_NEIGHBOR = 7
"""The neighbour whose distance is the scale of a point, as Zelnik-Manor and Perona advise."""


@dataclass(frozen=True, kw_only=True)
class NeighborCoder(Coder):
    """Weights of the nearest neighbours of unit points."""

    results: ClassVar[tuple[str, ...]] = (*Coder.results, "scale")
    on_cluster: ClassVar[bool] = True

    def result_bytes(self, n_points: int) -> float:
        return CODE_BYTES + ENTRY_BYTES * min(self.n_neighbors, n_points)

    def code(self, points: Points, run: Engine) -> Coded:
        count = min(self.n_neighbors, points.n - 1)
        if self.n_candidates is None:
            found = nearest_lists(points, count, engine=run)
        else:
            found = approximate_lists(points, count, n_candidates=self.n_candidates, engine=run)
        distances = np.sqrt(found.key)
        scale = _scales(distances)
        weights = _weights(found.index, distances, scale)
        return Coded(weights, found.index, learnt={"scale": scale})

    def code_new(self, fitted: FittedGraph, new: Points, run: Engine) -> sparse.csr_array:
        points = fitted_points(fitted, run)
        found = nearest_lists(points, min(self.n_neighbors, points.n), queries=new, engine=run)
        scale = fitted.learnt["scale"][fitted.equal.first]
        return _weights(found.index, np.sqrt(found.key), scale)


@dataclass(frozen=True, kw_only=True)
class EuclideanNeighborCoder(NeighborCoder):
    """Weights of the nearest neighbours of points as they are."""

    results: ClassVar[tuple[str, ...]] = (*NeighborCoder.results, "affinity")
    unit: ClassVar[bool] = False

    def check(self, n_points: int, run: Engine) -> None:
        super().check(n_points, run)
        if self.affine:
            raise ValueError(
                f"affine={self.affine} changes no distance: it requires metric='cosine'."
            )
        if self.n_candidates is not None:
            raise ValueError(
                f"n_candidates={self.n_candidates}: the index is one of directions, and requires "
                "metric='cosine'."
            )

    def code(self, points: Points, run: Engine) -> Coded:
        # Only the distinct points: copies would fill up the list of neighbours.
        equal = self.find_equal(points, run)
        count, exponent = (
            min(self.n_neighbors, len(equal.first) - 1),
            moderate_exponent(points.largest),
        )
        if not (points.in_shards and equal.all_differ):
            points = run.points(take_rows(points.lazy_rows(), equal.first), unit=False)
        found = euclidean_lists(points, count, exponent=exponent, engine=run)
        distances = np.sqrt(found.key)
        scale = _scales(distances)
        codes = equal.spread_codes(_weights(found.index, distances, scale))
        neighbors = equal.spread_neighbors(found.index)
        # In the unit of the points again, which a power of two has changed.
        scale = equal.spread(np.ldexp(scale, exponent))
        affinity = symmetrized(equal.weigh_rows(codes))
        return Coded(codes, neighbors, affinity, learnt={"scale": scale})

    def code_new(self, fitted: FittedGraph, new: Points, run: Engine) -> sparse.csr_array:
        first = fitted.equal.first
        points = run.points(take_rows(fitted.points, first), unit=False)
        moderate_queries(new.x, np.array(points.largest))  # refuses those too far for distances
        count, exponent = min(self.n_neighbors, len(first)), moderate_exponent(points.largest)
        found = euclidean_lists(points, count, exponent=exponent, queries=new, engine=run)
        scale = np.ldexp(fitted.learnt["scale"][first], -exponent)
        return fitted.equal.spread_columns(_weights(found.index, np.sqrt(found.key), scale))


def _scales(distances: FloatArray) -> FloatArray:
    """The distance to the seventh neighbour, or to the last if there are fewer."""
    return distances[:, :SCALE_NEIGHBOR].max(axis=1, initial=0.0)


def _weights(neighbors: IntArray, distances: FloatArray, scale: FloatArray) -> sparse.csr_array:
    """``exp(-d_ij^2 / (s_i s_j))``, with ``scale`` that of the points which are neighbours.

    A point that coincides with one of these keeps only that edge, with weight 1.
    """
    own = _scales(distances)[:, None]
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        weights = np.exp(-(distances / own) * (distances / scale[neighbors]))
    copies = distances[:, :1] == 0
    weights = np.where(copies, distances == 0, weights)
    n_rows, width = neighbors.shape
    starts = width * np.arange(n_rows + 1)
    shape = (n_rows, len(scale))
    # A copy of the neighbours, which are to stay in the order of their distances.
    codes = sparse.csr_array((weights.ravel(), neighbors.flatten(), starts), shape=shape)
    codes.eliminate_zeros()
    codes.sort_indices()
    return codes


@dataclass(eq=False, repr=False, kw_only=True)
class NeighborGraph(GraphClusterer):
    """Clustering on the graph of nearest neighbours: exact ones, unless ``n_candidates`` is set.

    Every point is joined to its nearest neighbours by weights ``exp(-d_ij^2 / (s_i s_j))``, where
    ``s_i`` is the distance of point i to its seventh neighbour (Zelnik-Manor and Perona, 2004).
    This suits data in which near points are alike but do not explain each other well: texts
    embedded by a language model, single cells, words counted by TF-IDF.

    Parameters
    ----------
    {n_clusters}
    n_neighbors : int
        Points that each point is joined to.
    metric : {"cosine", "euclidean"}
        "cosine" compares the directions of the points, "euclidean" the points as they are.
    n_candidates : int or None
        Find the neighbours of every point among so many candidates from an index, such as 50,
        instead of among all points (None): for more points than can all be compared. A few are
        missed. Needs faiss: ``pip install 'srsg[approximate]'``.
    {affinity}
    {affine, assign_labels, n_init, store, n_jobs, random_state, verbose}

    Attributes
    ----------
    {labels_, confidence_, memberships_, explained_, outlier_score_, layers_, tree_}
    codes_ : csr_array of shape (n, n)
        Row i has the weights of the neighbours of point i.
    affinity_matrix_ : csr_array of shape (n, n)
        ``(Z + Z^T) / 2``.
    neighbors_ : ndarray of shape (n, n_neighbors)
        Nearest first, ties by index.
    scale_ : ndarray of shape (n,)
        The distance of each point to its seventh neighbour.
    {affine_, first_equal_, fit_X_, graph_, n_connected_components_, n_clusters_, cluster_counts_,
     structure_found_, embedding_, eigenvalues_, n_features_in_}

    See Also
    --------
    LocalScalingSpectralClustering : The same weights between all points.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from srsg import NeighborGraph
    >>> from srsg.metrics import clustering_accuracy
    >>> X, y = load_digits(n_class=5, return_X_y=True)
    >>> clustering_accuracy(y, NeighborGraph(5, random_state=0).fit_predict(X)) > 0.95
    True
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "metric": [StrOptions({"cosine", "euclidean"})],
        "n_candidates": [AT_LEAST_ONE, None],
    }

    coder: ClassVar[type[Coder]] = NeighborCoder

    n_neighbors: int = 15
    metric: Literal["cosine", "euclidean"] = "cosine"
    n_candidates: int | None = None
    affinity: Affinity = "codes"
    affine: bool | float = False

    def _coder(self) -> Coder:
        coder = super()._coder()
        return coder if self.metric == "cosine" else EuclideanNeighborCoder(**vars(coder))
