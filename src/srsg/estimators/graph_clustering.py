"""Clustering of a graph that is given."""

from dataclasses import dataclass, replace
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.utils import Tags
from sklearn.utils._param_validation import StrOptions

from srsg.coding.coder import Coder
from srsg.estimators.base import GraphClusterer
from srsg.estimators.neighbor_graph import SCALE_NEIGHBOR
from srsg.explaining import fitted as explaining
from srsg.graph import Coded, FittedGraph, symmetrized, without_loops
from srsg.points import EqualPoints, Points
from srsg.running import Engine
from srsg.types import Affinity, FloatArray, Matrix

NO_NOVELTY = "a graph alone does not show how unlike the others a new vertex is."


@dataclass(frozen=True, kw_only=True)
class SimilarityCoder(Coder):
    """Edges with weights, as they are given."""

    results: ClassVar[tuple[str, ...]] = ("codes", "affinity")
    unit: ClassVar[bool] = False
    has_points: ClassVar[bool] = False

    def check(self, n_points: int, run: Engine) -> None:
        """Any number of vertices will do."""

    def find_equal(self, points: Points, run: Engine) -> EqualPoints:
        return replace(EqualPoints.of(np.arange(points.n)), row_weights=points.weights)

    def code(self, points: Points, run: Engine) -> Coded:
        edges = checked_edges(points.x)
        if edges.shape[0] != edges.shape[1]:
            raise ValueError(
                f"X must be square, one row and one column for each vertex; got shape "
                f"{edges.shape}. Points instead of a graph are for the other estimators."
            )
        return _coded(edges, points.weights)

    def code_new(self, fitted: FittedGraph, new: Points, run: Engine) -> sparse.csr_array:
        return _as_often(checked_edges(new.x), fitted.equal.row_weights)


@dataclass(frozen=True, kw_only=True)
class DistanceCoder(SimilarityCoder):
    """Edges with lengths, of which weights are made."""

    results: ClassVar[tuple[str, ...]] = (*SimilarityCoder.results, "scale")

    def code(self, points: Points, run: Engine) -> Coded:
        given = super().code(Points(_stored(points.x)), run).codes
        assert given is not None
        scale = _scales(given)
        coded = _coded(_weights(given, scale, scale), points.weights)
        return replace(coded, learnt={"scale": scale})

    def code_new(self, fitted: FittedGraph, new: Points, run: Engine) -> sparse.csr_array:
        lengths = checked_edges(_stored(new.x))
        edges = _weights(lengths, _scales(lengths), fitted.learnt["scale"])
        return _as_often(edges, fitted.equal.row_weights)


def _coded(edges: sparse.csr_array, weights: FloatArray | None) -> Coded:
    """The edges and their graph, in which a vertex of weight m stands for m of them."""
    edges = _as_often(edges, weights)
    own = np.ones(edges.shape[0]) if weights is None else weights
    both = sparse.csr_array(sparse.diags_array(own) @ edges)
    return Coded(without_loops(edges), affinity=symmetrized(both))


def _as_often(edges: sparse.csr_array, weights: FloatArray | None) -> sparse.csr_array:
    """The edges to each vertex as often as it counts."""
    return edges if weights is None else sparse.csr_array(edges @ sparse.diags_array(weights))


def checked_edges(X: Any) -> sparse.csr_array:
    """The edges in float64, or a ValueError if some are negative."""
    edges = sparse.csr_array(X, dtype=np.float64, copy=True)
    edges.sum_duplicates()
    if edges.nnz and edges.data.min() < 0:
        raise ValueError("Negative values in data: edges below zero. Take absolute values of X.")
    return edges


def _stored(X: Any) -> Any:
    """All entries of a dense matrix: a distance of zero is an edge, too."""
    if sparse.issparse(X):
        return X
    n_rows, n_columns = X.shape
    entries = X.ravel(), np.tile(np.arange(n_columns), n_rows), n_columns * np.arange(n_rows + 1)
    return sparse.csr_array(entries, shape=X.shape)


def _scales(lengths: sparse.csr_array) -> FloatArray:
    """The length of the seventh shortest edge of each row, or of its longest if it has fewer."""
    sizes = np.diff(lengths.indptr)
    owner = np.repeat(np.arange(len(sizes)), sizes)
    rising = lengths.data[np.lexsort((lengths.data, owner))]
    scale, some = np.zeros(len(sizes)), sizes > 0
    places = lengths.indptr[:-1] + np.minimum(sizes, SCALE_NEIGHBOR) - 1
    scale[some] = rising[places[some]]
    return scale


def _weights(lengths: sparse.csr_array, own: FloatArray, others: FloatArray) -> sparse.csr_array:
    """``exp(-d_ij^2 / (s_i s_j))``, one where the distance is zero."""
    weights = lengths.copy()
    row = np.repeat(np.arange(len(own)), np.diff(lengths.indptr))
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        shares = (lengths.data / own[row]) * (lengths.data / others[lengths.indices])
    weights.data = np.where(lengths.data == 0, 1.0, np.exp(-shares))
    weights.eliminate_zeros()
    return weights


@dataclass(eq=False, repr=False, kw_only=True)
class GraphClustering(GraphClusterer):
    """Clustering of a graph of one's own: any matrix of similarities, or of nearest neighbours.

    The graph is cut as those of the other estimators are, with all that follows: confidence,
    memberships, a tree, the number of clusters, reports, files. What needs the points themselves is
    left out: ``explained_`` is the share of a vertex's edges that stay in its cluster,
    ``valley_p_value_`` is NaN unless the components are the clusters, and there is no novelty.
    Bridges between components need nearest neighbours, which a graph does not have.

    ``n_clusters="auto"`` takes the number of clusters that samples of the vertices agree on and
    that have few edges between them, see :mod:`srsg.counting.stability`.

    Parameters
    ----------
    {n_clusters}
    metric : "precomputed"
        X is a graph: one row and one column for each vertex. Row i has the edges that vertex i
        chose, such as those to its nearest neighbours; the graph is ``(X + X^T) / 2``.
    weights : {"similarity", "distance"}
        What an edge says. Similarities are taken as they are, such as scanpy's ``connectivities``
        or a kernel. Distances, such as those of scikit-learn's ``kneighbors_graph`` with
        ``mode="distance"``, become ``exp(-d_ij^2 / (s_i s_j))`` with ``s_i`` the length of the
        seventh shortest edge of vertex i. Entries that a sparse matrix does not store are no edges.
    {affinity, assign_labels, n_init, store, n_jobs, random_state, verbose}

    Attributes
    ----------
    {labels_, confidence_, memberships_, explained_, outlier_score_, layers_, tree_}
    codes_ : csr_array of shape (n, n)
        The edges that each vertex chose, without loops.
    affinity_matrix_ : csr_array of shape (n, n)
        The graph; loops of similarities stay.
    scale_ : ndarray of shape (n,)
        For distances, the length of the seventh shortest edge of each vertex.
    {graph_, n_connected_components_, n_clusters_, cluster_counts_, other_counts_, structure_found_,
     valley_p_value_, embedding_, eigenvalues_}
    n_features_in_ : int
        The number of vertices: new ones come with a column for each of these.

    See Also
    --------
    cluster_graph : Labels alone, with more ways to cut.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from sklearn.neighbors import kneighbors_graph
    >>> from srsg import GraphClustering
    >>> from srsg.metrics import clustering_accuracy
    >>> X, y = load_digits(n_class=5, return_X_y=True)
    >>> model = GraphClustering(5, random_state=0).fit(kneighbors_graph(X, 15))
    >>> clustering_accuracy(y, model.labels_) > 0.95
    True
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "metric": [StrOptions({"precomputed"})],
        "weights": [StrOptions({"similarity", "distance"})],
    }

    coder: ClassVar[type[Coder]] = SimilarityCoder

    metric: Literal["precomputed"] = "precomputed"
    weights: Literal["similarity", "distance"] = "similarity"
    affinity: Affinity = "codes"

    def _coder(self) -> Coder:
        return SimilarityCoder() if self.weights == "similarity" else DistanceCoder()

    def novelty_score(self, X: Matrix) -> FloatArray:
        """A graph alone does not show how unlike the others a new vertex is.

        Raises
        ------
        ValueError
            Always.
        """
        raise ValueError(f"There is no novelty: {NO_NOVELTY}")

    def _labels_with_novel(
        self, new: explaining.NewPoints, novelty: float | None
    ) -> NDArray[np.intp]:
        if novelty is not None:
            raise ValueError(f"novelty={novelty}: {NO_NOVELTY}")
        return super()._labels_with_novel(new, novelty)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = True
        tags.input_tags.positive_only = True
        return tags
