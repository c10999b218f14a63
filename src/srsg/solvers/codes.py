"""Sparse codes between their two forms: scipy's CSR, and rows of fixed width for the kernels."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from srsg.kernels.codes import Codes


def csr_from_rows(codes: Codes, n_points: int) -> sparse.csr_array:
    """Codes as a CSR matrix of shape (rows, n_points).

    Examples
    --------
    >>> import numpy as np
    >>> from srsg.solvers.codes import csr_from_rows, rows_from_csr
    >>> from scipy import sparse
    >>> codes = sparse.csr_array([[0.0, 0.5], [0.0, 0.0]])
    >>> csr_from_rows(rows_from_csr(codes), 2).toarray()
    array([[0. , 0.5],
           [0. , 0. ]])
    """
    used = np.arange(codes.index.shape[1]) < codes.size[:, None]
    starts = np.concatenate(([0], np.cumsum(codes.size)))
    shape = (len(codes.size), n_points)
    return sparse.csr_array((codes.value[used], codes.index[used], starts), shape=shape)


def rows_from_csr(codes: sparse.csr_array, spare: int = 0) -> Codes:
    """Codes as rows of fixed width, with room for ``spare`` more entries in the longest."""
    size = np.diff(codes.indptr).astype(np.int64)
    width = int(size.max(initial=0)) + spare
    index = np.zeros((len(size), width), np.int64)
    value = np.zeros((len(size), width))
    used = np.arange(width) < size[:, None]
    index[used] = codes.indices
    value[used] = codes.data
    return Codes(index, value, size)


def resized(codes: Codes, width: int) -> Codes:
    """A copy with rows of the given width."""
    return Codes(padded(codes.index, width), padded(codes.value, width), codes.size.copy())


def padded(rows: NDArray, width: int) -> NDArray:
    """A copy with rows of the given width, cut or filled with zeros."""
    copy = np.zeros((len(rows), width), rows.dtype)
    kept = min(width, rows.shape[1])
    copy[:, :kept] = rows[:, :kept]
    return copy


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
    affinity.sort_indices()
    return affinity
