"""From codes to the weighted graph that is clustered."""

from __future__ import annotations

from scipy import sparse


def symmetrized(codes: sparse.csr_array) -> sparse.csr_array:
    """The affinity of eq. (2): ``W = (|Z| + |Z|^T) / 2``.

    Examples
    --------
    >>> from scipy import sparse
    >>> from srsg.affinity import symmetrized
    >>> symmetrized(sparse.csr_array([[0.0, -0.5], [0.0, 0.0]])).toarray()
    array([[0.  , 0.25],
           [0.25, 0.  ]])
    """
    magnitude = abs(codes)
    affinity = sparse.csr_array((magnitude + magnitude.T) / 2)
    affinity.sort_indices()
    return affinity


def bridged(
    affinity: sparse.csr_array, neighbor_graph: sparse.csr_array, strength: float
) -> sparse.csr_array:
    """Add the edges of the neighbour graph, each ``strength`` times the mean edge weight.

    Edges this weak hardly move what the affinity joins, yet they settle by the data which of
    its connected components belong together.
    """
    mean_weight = affinity.data.mean() if affinity.nnz else 1.0
    links = neighbor_graph.maximum(neighbor_graph.T)
    return sparse.csr_array(affinity + strength * mean_weight * links)
