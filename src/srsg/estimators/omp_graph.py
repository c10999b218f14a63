"""Subspace clustering by orthogonal matching pursuit."""

from dataclasses import dataclass
from typing import Any, ClassVar

from scipy import sparse

from srsg.coding.coder import Coder, fitted_points
from srsg.coding.omp import omp_codes
from srsg.estimators.base import AT_LEAST_ONE, NOT_NEGATIVE, GraphClusterer
from srsg.estimators.elastic_net_graph import PostprocessedCoder
from srsg.graph import Coded, FittedGraph
from srsg.points import Points
from srsg.running import Engine


@dataclass(frozen=True, kw_only=True)
class OMPCoder(PostprocessedCoder):
    """Codes by orthogonal matching pursuit."""

    n_nonzero: int = 5
    max_residual: float = 1e-6

    def votes(self, codes: sparse.csr_array) -> sparse.csr_array:
        return codes  # they have no more than n_nonzero entries

    def code(self, points: Points, run: Engine) -> Coded:
        count, tol = min(self.n_neighbors, points.n - 1), self.max_residual
        return omp_codes(points, self.n_nonzero, tol=tol, n_neighbors=count, engine=run)

    def code_new(self, fitted: FittedGraph, new: Points, run: Engine) -> sparse.csr_array:
        points, tol = fitted_points(fitted, run), self.max_residual
        codes = omp_codes(points, self.n_nonzero, tol=tol, queries=new, engine=run).codes
        assert codes is not None
        return codes


@dataclass(eq=False, repr=False, kw_only=True)
class OMPGraph(GraphClusterer):
    """Clustering on codes by orthogonal matching pursuit (You, Robinson and Vidal, CVPR 2016).

    Every point, scaled to unit norm, is coded over the others greedily: the point that correlates
    most with what is left joins the code, which is then fitted again by least squares.

    Parameters
    ----------
    {n_clusters}
    n_nonzero : int
        Maximum number of points in a code.
    max_residual : float
        A code is done when the squared norm of its residual is at most this.
    normalize : bool
        Scale codes to unit norm before they make a graph.
    code_neighbors : int or None
        Replace the codes by a graph that joins every point to this many others, those with the most
        similar codes.
    {n_neighbors}
    {affine}
    {assign_labels, n_init, store, n_jobs, random_state, verbose}

    Attributes
    ----------
    {labels_, confidence_, memberships_, explained_, outlier_score_, layers_, tree_}
    codes_ : csr_array of shape (n, n)
        Row i is the code of point i, before any post-processing.
    affinity_matrix_ : csr_array of shape (n, n)
    neighbors_ : ndarray of shape (n, n_neighbors)
        Nearest first, ties by index.
    {affine_, first_equal_, fit_X_}
    {graph_, n_connected_components_, n_clusters_, cluster_counts_, structure_found_, embedding_,
     eigenvalues_, n_features_in_}

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from srsg import OMPGraph
    >>> X, y = load_digits(n_class=3, return_X_y=True)
    >>> model = OMPGraph(n_clusters=3, n_nonzero=4, random_state=0).fit(X)
    >>> int((model.codes_[[0]] != 0).sum())
    4
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "n_nonzero": [AT_LEAST_ONE],
        "max_residual": [NOT_NEGATIVE],
        "normalize": ["boolean"],
        "code_neighbors": [AT_LEAST_ONE, None],
    }

    coder: ClassVar[type[Coder]] = OMPCoder

    n_nonzero: int = 5
    max_residual: float = 1e-6
    normalize: bool = False
    code_neighbors: int | None = None
    n_neighbors: int = 5
    affine: bool | float = False
