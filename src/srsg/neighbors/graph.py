"""The graph S of the nearest neighbours."""

from __future__ import annotations

import numpy as np
from scipy import sparse

from srsg.types import Direction, IntArray


def neighbor_graph(neighbors: IntArray, n_points: int | None = None) -> sparse.csr_array:
    """The adjacency matrix S: row i has ones at the neighbours of point i.

    For new points, whose neighbours are fitted points, ``n_points`` is the number of fitted points.
    An index of -1 means no neighbour: a point that is zero has none.

    Examples
    --------
    >>> import numpy as np
    >>> from srsg.neighbors import neighbor_graph
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


def undirected(graph: sparse.csr_array, direction: Direction) -> sparse.csr_array:
    """The graph S as it is, or with every pair of neighbours linked both ways.

    Parameters
    ----------
    graph : csr_array of shape (n, n)
        Row i has ones at the neighbours of point i.
    direction : {"directed", "either", "mutual"}
        "directed" changes nothing. "either" makes two points neighbours of each other if one is a
        neighbour of the other, "mutual" only if both are.

    Returns
    -------
    csr_array of shape (n, n)

    Examples
    --------
    >>> import numpy as np
    >>> from srsg.neighbors import neighbor_graph, undirected
    >>> graph = neighbor_graph(np.array([[1], [0], [1]]))
    >>> undirected(graph, "either").toarray()
    array([[0., 1., 0.],
           [1., 0., 1.],
           [0., 1., 0.]])
    """
    if direction == "directed":
        return graph
    both = graph.maximum(graph.T) if direction == "either" else graph.minimum(graph.T)
    both = sparse.csr_array(both)
    # The minimum leaves zeros where only one of two points has the other as its neighbour.
    both.eliminate_zeros()
    both.sort_indices()
    return both
