"""Sparse points: rows of a CSR matrix, which stay sparse from the input to the kernels.

Inner products of points with vectors take as many steps as the points have non-zeros. Only blocks
of bounded size are dense: some vectors, and their correlations with all points.
"""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from srsg.types import Matrix

UnitRows: TypeAlias = Any
"""Points of unit length, one per row: an array or, for sparse input, a ``csr_array``. It is ``Any``
because SciPy's sparse arrays have no types that mypy knows."""

TILE = 16
"""Vectors multiplied by sparse points at once. For every non-zero the product reads one row of the
vectors' transpose: 16 float32 numbers are one cache line, and the tile stays in the cache. With
20,000 features, 256 vectors at once took 4 times as long."""


def sparse_unit_rows(X: Matrix, constant: float = 0.0) -> sparse.csr_array:
    """Sparse rows scaled to unit l2 norm, in float64; rows of zeros stay as they are.

    Examples
    --------
    >>> from scipy import sparse
    >>> from srsg.points.sparse import sparse_unit_rows
    >>> sparse_unit_rows(sparse.csr_array([[3.0, 4.0], [0.0, 2.0]])).toarray()
    array([[0.6, 0.8],
           [0. , 1. ]])
    """
    rows = sparse.csr_array(X, dtype=np.float64, copy=True)
    # Equal points must have equal bytes, so there is one form: sorted columns, no column twice, no
    # zero stored.
    rows.sum_duplicates()
    rows.eliminate_zeros()
    if constant:
        column = np.full((rows.shape[0], 1), constant)
        rows = sparse.csr_array(sparse.hstack([rows, sparse.csr_array(column)], format="csr"))
    # Rows of zeros are left out below: ``reduceat`` would give them an entry of the next row.
    sizes = np.diff(rows.indptr)
    filled = sizes > 0
    starts, sizes = rows.indptr[:-1][filled], sizes[filled]
    if not len(starts):
        return rows
    # Scaling by the largest entry first keeps the norms of huge and tiny rows finite.
    rows.data /= np.repeat(np.maximum.reduceat(np.abs(rows.data), starts), sizes)
    rows.data /= np.repeat(np.sqrt(np.add.reduceat(rows.data**2, starts)), sizes)
    return rows


def sparse_correlations(
    x32: sparse.csr_array, vectors: NDArray[np.floating], out: NDArray[np.float32] | None
) -> NDArray[np.float32]:
    """Inner products of dense vectors with sparse points, one row per vector."""
    if out is None:
        out = np.empty((len(vectors), x32.shape[0]), np.float32)
    for start in range(0, len(vectors), TILE):
        part = slice(start, start + TILE)
        out[part] = (x32 @ np.ascontiguousarray(vectors[part].T, np.float32)).T
    return out


def longest_row(x: sparse.csr_array) -> int:
    """The largest number of non-zeros in a row."""
    return int(np.diff(x.indptr).max(initial=0))


def same_kind(x: Any, like: UnitRows) -> UnitRows:
    """Rows of the same kind and type as others: an array, or a CSR matrix."""
    if sparse.issparse(like):
        return sparse.csr_array(x, dtype=like.dtype)
    return np.ascontiguousarray(dense_rows(x), dtype=like.dtype)


def dense_rows(x: UnitRows) -> NDArray[np.floating]:
    """A block of points as an array."""
    return x.toarray() if sparse.issparse(x) else x
