"""A graph of points as one value: what labels, counts, confidence, files and reports are made of.

A fit hands on values: points, codes, graph, clusters. :class:`Coded` is what a method makes of the
points that differ, and :class:`FittedGraph` the graph of all points that follows from it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse

from srsg.constraints import Constraints
from srsg.points import EqualPoints
from srsg.running.checking import Rule
from srsg.types import FloatArray, Graph, IntArray

if TYPE_CHECKING:
    from srsg.coding.coder import Coder

OF_POINTS = {"kkt_violation", "dual_gap", "residual", "lam", "scale"}
"""What is learnt of every point: one number for each, or for those that were certified."""

LEARNT: dict[str, Rule] = {
    "certified": Rule("int", ("certified",), least=0, below="n"),
    "kkt_violation": Rule("float", ("certified",), least=0),
    "dual_gap": Rule("float", ("certified",), least=0),
    "residual": Rule("float", ("n",), least=0),
    "scale": Rule("float", ("n",), least=0),
    "lam": Rule("float", ("n",), least=0, or_number=True),
    "objective_history": Rule("float", (None,)),
    "step": Rule("float", (), least=0),
    **{
        name: Rule("int", (), least=0)
        for name in ("n_scans", "n_sweeps", "n_iter", "n_steps_cut", "n_let_in")
    },
}
"""Rules for what a coder may learn beside codes, where it comes from a file."""


@dataclass(frozen=True)
class Coded:
    """What a coder makes of points.

    Attributes
    ----------
    codes : csr_array of shape (n, n) or None
        Row i is the code of point i; None for a method without codes.
    neighbors : ndarray of shape (n, n_neighbors) or None
        Nearest neighbours, which bridge the components of the graph.
    affinity : csr_array or ndarray of shape (n, n) or None
        The graph, if it is not ``(|Z| + |Z|^T) / 2``.
    init_codes : csr_array of shape (n, n) or None
        The codes that the method started from.
    learnt : mapping
        Further results by name: certificates, the objective, counts. The names are in ``LEARNT``.
    """

    codes: sparse.csr_array | None
    neighbors: IntArray | None = None
    affinity: Graph | None = None
    init_codes: sparse.csr_array | None = None
    learnt: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class FittedGraph:
    """A graph of points, and everything that later steps need to know about it.

    Attributes
    ----------
    coder : Coder
        The method: how points were coded, and how new ones are.
    points : ndarray, csr_array or dask.array.Array of shape (n, n_features), or None
        The points as they were coded: of unit length or as given. None if the graph was given.
    equal : EqualPoints
        Which of them are equal.
    affinity : csr_array or ndarray of shape (n, n)
        The graph.
    codes, init_codes : csr_array of shape (n, n) or None
        The codes, and those that the method started from.
    neighbors : ndarray of shape (n, n_neighbors) or None
        Nearest neighbours.
    learnt : mapping
        Certificates and other results of the method, by name.
    constant : float
        The constant coordinate that was appended to every point; 0 if none was.
    lengths : ndarray of shape (n,) or None
        The lengths of the points before they were scaled to unit length; None where they were not
        scaled in this process.
    constraints : Constraints or None
        What is known about some points, which every cut of the graph keeps.

    Examples
    --------
    >>> from srsg import L1Graph
    >>> from srsg.datasets import make_union_of_subspaces
    >>> X, _ = make_union_of_subspaces(60, random_state=0)
    >>> graph = L1Graph().fit_graph(X).graph_
    >>> graph.coder.lam, graph.codes.shape
    (0.1, (60, 60))
    """

    coder: Coder
    points: Any
    equal: EqualPoints
    affinity: Graph
    codes: sparse.csr_array | None = None
    init_codes: sparse.csr_array | None = None
    neighbors: IntArray | None = None
    learnt: Mapping[str, Any] = field(default_factory=dict)
    constant: float = 0.0
    lengths: FloatArray | None = None
    constraints: Constraints | None = None

    @property
    def n(self) -> int:
        """Number of points."""
        return self.equal.n

    @property
    def n_features(self) -> int:
        """Features of the input, without the constant coordinate; of a given graph, its columns."""
        if self.points is None:
            return self.n
        return self.points.shape[1] - (self.constant != 0)

    def given_points(self, rows: IntArray) -> Any:
        """Some of the points as they were given; of unit length if their lengths are not known."""
        points = self.points[rows]
        # Those of a dask array are still on the workers.
        points = points.compute() if hasattr(points, "compute") else points
        if self.lengths is None:
            return points
        # As shares of the longest: what could be given can be given back.
        lengths = np.hypot(self.lengths, self.constant)
        shares = lengths[rows] / (lengths.max() or 1.0)
        return sparse.diags_array(shares) @ points[:, : self.n_features]

    @classmethod
    def of(
        cls, coder: Coder, points: Any, equal: EqualPoints, coded: Coded, constant: float = 0.0
    ) -> FittedGraph:
        """The graph of all points, given what a coder made of them or of the distinct ones.

        Equal points have the same code, over the first of each set of equals.
        """
        if not coder.unit:  # it has coded all points itself
            assert coded.affinity is not None
            graph = coded.affinity
            points = points if coder.has_points else None
            return cls(
                coder, points, equal, graph, coded.codes, None, coded.neighbors, coded.learnt
            )
        assert coded.codes is not None
        assert coded.neighbors is not None
        edges, codes, init = coder.edges(coded.codes), coded.codes, coded.init_codes
        neighbors, learnt = coded.neighbors, coded.learnt
        if not equal.all_differ:
            # Every point brings the edges of its code; edges to it go to the first of its kind.
            edges, codes = equal.spread_codes(edges), equal.spread_codes(codes)
            init = None if init is None else equal.spread_codes(init)
            neighbors, learnt = equal.spread_neighbors(neighbors), _spread(learnt, equal)
        graph = symmetrized(equal.weigh_rows(edges))
        return cls(coder, points, equal, graph, codes, init, neighbors, learnt, constant)

    def part(self, rows: IntArray) -> FittedGraph:
        """Some of the vertices of a graph without points, and the edges between them."""
        codes = None if self.codes is None else self.codes[rows][:, rows]
        equal, graph = EqualPoints.of(np.arange(len(rows))), self.affinity[rows][:, rows]
        return FittedGraph(self.coder, None, equal, graph, codes)

    def distinct_codes(self) -> sparse.csr_array:
        """The codes of the distinct points over each other."""
        assert self.codes is not None
        return self.equal.merge_codes(self.codes)

    def merged(self, graph: Graph) -> Graph:
        """A graph of all points with every set of equal points as one vertex."""
        return self.equal.merge_graph(graph, loops=self.coder.keeps_loops)


def _spread(learnt: Mapping[str, Any], equal: EqualPoints) -> dict[str, Any]:
    """What was learnt of the distinct points as what is learnt of all points."""
    spread = dict(learnt)
    for name in OF_POINTS & learnt.keys():
        if np.shape(learnt[name]) == equal.first.shape:
            spread[name] = equal.spread(learnt[name])
    if "certified" in learnt:
        all_certified = len(learnt["certified"]) == len(equal.first)
        spread["certified"] = (
            np.arange(equal.n) if all_certified else equal.first[learnt["certified"]]
        )
    return spread


def neighbor_graph(neighbors: IntArray, n_points: int | None = None) -> sparse.csr_array:
    """The adjacency matrix S: row i has ones at the neighbours of point i.

    For new points, whose neighbours are fitted points, ``n_points`` is the number of fitted points.
    An index of -1 means no neighbour: a point that is zero has none.

    Examples
    --------
    >>> import numpy as np
    >>> from srsg.graph import neighbor_graph
    >>> neighbor_graph(np.array([[1], [0], [1]])).toarray()
    array([[0., 1., 0.],
           [1., 0., 0.],
           [0., 1., 0.]])
    """
    n_rows = len(neighbors)
    found = neighbors >= 0
    starts = np.concatenate(([0], np.cumsum(found.sum(axis=1))))
    shape = (n_rows, n_rows if n_points is None else n_points)
    # A mask is read row by row, so the columns come out in the order of a CSR matrix.
    columns = neighbors[found]
    graph = sparse.csr_array((np.ones(columns.size), columns, starts), shape=shape)
    # Neighbours came nearest first. Sorted by index, all that follows has one fixed order.
    graph.sort_indices()
    return graph


def without_loops(graph: Graph) -> sparse.csr_array:
    """The edges between different vertices; those of weight zero stay if they are stored.

    Examples
    --------
    >>> import numpy as np
    >>> from srsg.graph import without_loops
    >>> without_loops(np.array([[1.0, 0.5], [0.5, 0.0]])).toarray()
    array([[0. , 0.5],
           [0.5, 0. ]])
    """
    edges = sparse.coo_array(graph)
    others = edges.row != edges.col
    entries = (edges.data[others], (edges.row[others], edges.col[others]))
    return sparse.csr_array(entries, shape=edges.shape)


def symmetrized(codes: sparse.csr_array) -> sparse.csr_array:
    """The affinity of eq. (2): ``W = (|Z| + |Z|^T) / 2``.

    Examples
    --------
    >>> from scipy import sparse
    >>> from srsg.graph import symmetrized
    >>> symmetrized(sparse.csr_array([[0.0, -0.5], [0.0, 0.0]])).toarray()
    array([[0.  , 0.25],
           [0.25, 0.  ]])
    """
    magnitude = abs(codes)
    affinity = sparse.csr_array((magnitude + magnitude.T) / 2)
    affinity.eliminate_zeros()  # half of the smallest number is zero, and no edge
    affinity.sort_indices()  # in one fixed order, sums along rows have the same bits
    return affinity
