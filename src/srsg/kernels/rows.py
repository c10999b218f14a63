"""Rows of points, dense or sparse: the few operations in which the two differ.

A kernel that uses these takes either an array with one point per row or ``SparseRows``, the parts
of a CSR matrix, and numba compiles it for what it gets. So every algorithm is written once, and
what sparse points need is compiled only where there are any.

A vector that rows are compared with is dense in both cases. Sums over a sparse row go along its
non-zeros in the order of the columns, so an inner product depends on its two operands alone.
"""

from __future__ import annotations

import numpy as np
from numba import types
from numba.extending import overload

from srsg.kernels.compiled import helper
from srsg.kernels.linalg import assign, dot, gather, gram_matrix, in_float64, squared_distance
from srsg.types import SparseRows


@helper()
def sparse_dot(rows, k, vector):
    # Not vectorised: the order of the additions must not depend on which operand is the row.
    total = 0.0
    for at in range(rows.indptr[k], rows.indptr[k + 1]):
        total += rows.data[at] * np.float64(vector[rows.indices[at]])
    return total


@helper()
def subtract_sparse(rows, k, factor, out):
    for at in range(rows.indptr[k], rows.indptr[k + 1]):
        out[rows.indices[at]] -= factor * rows.data[at]


@helper()
def subtract_dense(row, factor, out):
    for j in range(out.shape[0]):
        out[j] -= factor * row[j]


@helper()
def write_sparse(rows, k, out):
    for j in range(out.shape[0]):
        out[j] = 0.0
    for at in range(rows.indptr[k], rows.indptr[k + 1]):
        out[rows.indices[at]] = rows.data[at]


@helper()
def gather_sparse(rows, index, size):
    starts = np.zeros(size + 1, rows.indptr.dtype)
    for k in range(size):
        starts[k + 1] = starts[k] + rows.indptr[index[k] + 1] - rows.indptr[index[k]]
    data = np.empty(starts[size])
    indices = np.empty(starts[size], rows.indices.dtype)
    for k in range(size):
        first = rows.indptr[index[k]]
        for at in range(starts[k + 1] - starts[k]):
            data[starts[k] + at] = rows.data[first + at]
            indices[starts[k] + at] = rows.indices[first + at]
    return SparseRows(data, indices, starts, rows.n_columns)


@helper()
def sparse_gram(rows):
    size = rows.indptr.shape[0] - 1
    gram = np.empty((size, size))
    # One row is spread out at a time, which costs less than to merge two rows for every entry. A
    # product has the same bits either way round: the terms that differ are zeros.
    spread = np.zeros(rows.n_columns)
    for a in range(size):
        for at in range(rows.indptr[a], rows.indptr[a + 1]):
            spread[rows.indices[at]] = rows.data[at]
        for b in range(a + 1):
            gram[a, b] = gram[b, a] = sparse_dot(rows, b, spread)
        for at in range(rows.indptr[a], rows.indptr[a + 1]):
            spread[rows.indices[at]] = 0.0
    return gram


@helper()
def find_nonzeros(vector):
    columns = np.empty(vector.shape[0], np.int64)
    count = 0
    for j in range(vector.shape[0]):
        if vector[j] != 0.0:
            columns[count] = j
            count += 1
    return columns[:count]


@helper()
def sparse_distance(rows, k, vector, columns):
    # Both lists of columns are sorted: one walk along both meets every column that either has.
    total = 0.0
    at, end = rows.indptr[k], rows.indptr[k + 1]
    for j in columns:
        while at < end and rows.indices[at] < j:
            total += rows.data[at] ** 2
            at += 1
        difference = np.float64(vector[j])
        if at < end and rows.indices[at] == j:
            difference -= rows.data[at]
            at += 1
        total += difference * difference
    while at < end:
        total += rows.data[at] ** 2
        at += 1
    return total


def row_count(rows):
    """How many rows there are."""


def row_dot(rows, k, vector):
    """Inner product of row k with a vector, in float64."""


def subtract_row(rows, k, factor, out):
    """``out -= factor * row``."""


def write_row(rows, k, out):
    """``out[:] = row``."""


def dense_row(rows, k):
    """A copy of row k as a float64 vector."""


def gather_rows(rows, index, size):
    """Rows ``index[:size]``, copied into contiguous rows of the same kind, in float64."""


def gram_of_rows(rows):
    """Inner products of the rows with each other; each depends on its two rows alone."""


def nonzero_columns(rows, vector):
    """Where a vector is not zero, for :func:`row_distance`; dense rows do not need it."""


def row_distance(rows, k, vector, columns):
    """Squared distance of row k to a vector: exactly zero if they are equal."""


def _choose(operation, dense, sparse):
    """Let numba compile one of two implementations, by the type of the rows."""

    @overload(operation, strict=False, jit_options={"error_model": "numpy"})
    def chosen(rows, *_):
        return sparse if isinstance(rows, types.BaseNamedTuple) else dense


def _sparse_dense_row(rows, k):
    row = np.empty(rows.n_columns)
    write_sparse(rows, k, row)
    return row


_choose(row_count, lambda rows: rows.shape[0], lambda rows: rows.indptr.shape[0] - 1)
_choose(
    row_dot,
    lambda rows, k, vector: dot(rows[k], vector),
    lambda rows, k, vector: sparse_dot(rows, k, vector),
)
_choose(
    subtract_row,
    lambda rows, k, factor, out: subtract_dense(rows[k], factor, out),
    lambda rows, k, factor, out: subtract_sparse(rows, k, factor, out),
)
_choose(
    write_row,
    lambda rows, k, out: assign(out, rows[k]),
    lambda rows, k, out: write_sparse(rows, k, out),
)
_choose(dense_row, lambda rows, k: in_float64(rows[k]), _sparse_dense_row)
_choose(
    gather_rows,
    lambda rows, index, size: gather(rows, index, size),
    lambda rows, index, size: gather_sparse(rows, index, size),
)
_choose(gram_of_rows, lambda rows: gram_matrix(rows), lambda rows: sparse_gram(rows))
_choose(nonzero_columns, lambda rows, vector: None, lambda rows, vector: find_nonzeros(vector))
_choose(
    row_distance,
    lambda rows, k, vector, columns: squared_distance(vector, rows[k]),
    lambda rows, k, vector, columns: sparse_distance(rows, k, vector, columns),
)
