"""Codes as a graph."""

from __future__ import annotations

from scipy import sparse


def symmetrized(codes: sparse.csr_array) -> sparse.csr_array:
    """The affinity of eq. (2): ``W = (|Z| + |Z|^T) / 2``.

    Examples
    --------
    >>> from scipy import sparse
    >>> from srsg.solvers.codes import symmetrized
    >>> symmetrized(sparse.csr_array([[0.0, -0.5], [0.0, 0.0]])).toarray()
    array([[0.  , 0.25],
           [0.25, 0.  ]])
    """
    magnitude = abs(codes)
    affinity = sparse.csr_array((magnitude + magnitude.T) / 2)
    affinity.sort_indices()  # in one fixed order, sums along rows have the same bits
    return affinity
