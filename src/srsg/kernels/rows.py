"""Rows of points, dense or sparse: the few operations in which the two differ.

A kernel that uses these takes ``DenseRows``, the parts of a CSR matrix as ``SparseRows``, or an
array, and numba compiles it for the type it gets. So every algorithm is written once, and the code
for sparse points is compiled only if there are any.

``DenseRows`` hold points in float64 or float32, and every operation looks up which. That costs next
to nothing compared with a loop over the features, and points in float32 need no second set of
kernels. The results are always float64.

Rows are compared with dense vectors in both cases. Sums over a sparse row are taken along
its non-zeros in the order of the columns, so an inner product depends on its two operands alone.
"""

import numpy as np
from numba import types
from numba.extending import overload

from srsg.kernels.arrays import SparseRows
from srsg.kernels.compiled import HELPER_OPTIONS, helper, inlined
from srsg.kernels.linalg import assign, dot, find_nonzeros, gather, gram_matrix, squared_distance


@helper()
def sparse_dot(rows, k, vector):
    # Not vectorised: the order of the additions must not depend on which operand is the row.
    total = 0.0
    for at in range(rows.indptr[k], rows.indptr[k + 1]):
        total += rows.data[at] * np.float64(vector[rows.indices[at]])
    return total


@helper()
def subtract_sparse(rows, k, factor, out):
    # Zeros of the row change nothing, so only its non-zeros are visited.
    for at in range(rows.indptr[k], rows.indptr[k + 1]):
        out[rows.indices[at]] -= factor * rows.data[at]


@inlined()
def subtract_vector(row, factor, out):
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
    # Sizes first, so that the arrays can be made in one piece; then the rows are copied.
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
    # One row at a time is spread out, which costs less than merging two rows for every entry. The
    # product of two rows has the same bits whichever of them is spread out: only terms that are
    # zero differ.
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
def nonzeros_of(vector):
    columns = np.empty(vector.shape[0], np.int64)
    return columns[: find_nonzeros(vector, columns)]


@helper()
def sparse_distance(rows, k, vector, columns):
    # Both lists of columns are sorted: one walk along both meets every column that either has. The
    # terms are those of the dense distance without its zeros, so equal rows are at exactly zero.
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


def _source(function):
    """The Python function behind a helper; the helper itself where the compiler is switched off."""
    return getattr(function, "py_func", function)


def _operation(about, array, sparse, dense=None):
    """An operation with one implementation for each kind of rows, chosen by their type.

    That for ``DenseRows`` is that for an array, unless it is given.
    """
    on_array, array, sparse = helper()(_source(array)), _source(array), _source(sparse)

    def on_either(rows, *others):
        # The array of the precision that is not in use has no rows.
        if rows.single.shape[0] == 0:
            return on_array(rows.double, *others)
        return on_array(rows.single, *others)

    dense = dense or on_either

    def operation(rows, *others):
        # Runs only if numba's compiler is switched off, as the mutation tests do.
        if isinstance(rows, np.ndarray):
            return array(rows, *others)
        return (sparse if isinstance(rows, SparseRows) else dense)(rows, *others)

    # numba calls this while it compiles, with types instead of values: the choice costs no time
    # when the kernel runs.
    @overload(operation, strict=False, jit_options=HELPER_OPTIONS)
    def chosen(rows, *_):
        if isinstance(rows, types.Array):
            return array
        return sparse if "indptr" in rows.fields else dense

    operation.__doc__ = about
    return operation


row_count = _operation(
    "The number of rows.",
    lambda rows: rows.shape[0],
    lambda rows: rows.indptr.shape[0] - 1,
    lambda rows: rows.double.shape[0] + rows.single.shape[0],
)
row_length = _operation(
    "The number of features.",
    lambda rows: rows.shape[1],
    lambda rows: rows.n_columns,
    lambda rows: rows.double.shape[1],  # the array without rows has as many
)
row_dot = _operation(
    "``row_dot(rows, k, vector)``: inner product of row k with a vector, in float64.",
    lambda rows, k, vector: dot(rows[k], vector),
    sparse_dot,
)
subtract_row = _operation(
    "``subtract_row(rows, k, factor, out)``: ``out -= factor * row``.",
    lambda rows, k, factor, out: subtract_vector(rows[k], factor, out),
    subtract_sparse,
)
write_row = _operation(
    "``write_row(rows, k, out)``: ``out[:] = row``.",
    lambda rows, k, out: assign(out, rows[k]),
    write_sparse,
)
gather_rows = _operation(
    "``gather_rows(rows, index, size)``: rows ``index[:size]``, copied into contiguous rows, in "
    "float64: an array, or ``SparseRows`` if they are sparse.",
    gather,
    gather_sparse,
)
gram_of_rows = _operation(
    "Inner products of gathered rows with each other; each depends on its two rows alone.",
    gram_matrix,
    sparse_gram,
)
nonzero_columns = _operation(
    "``nonzero_columns(rows, vector)``: the columns where a vector is not zero, for "
    ":data:`row_distance`. Dense rows do not need them.",
    lambda rows, vector: None,
    lambda rows, vector: nonzeros_of(vector),
)
row_distance = _operation(
    "``row_distance(rows, k, vector, columns)``: squared distance of row k to a vector, exactly "
    "zero if they are equal.",
    lambda rows, k, vector, columns: squared_distance(vector, rows[k]),
    sparse_distance,
)


@inlined()
def dense_row(rows, k):
    """A copy of row k as a float64 vector."""
    row = np.empty(row_length(rows))
    write_row(rows, k, row)
    return row
