"""The points: samples scaled to unit length, which of them are equal, and blocks of them.

Sparse points are rows of a CSR matrix, and stay sparse from the input to the kernels. Inner
products with vectors take as many steps as the points have non-zeros. Only blocks of bounded size
are dense: some vectors, and their correlations with all points.
"""

import hashlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from itertools import pairwise
from tempfile import TemporaryFile
from typing import Any, ClassVar, Self, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from srsg.kernels.arrays import DenseRows, LeftOut, SparseRows
from srsg.principal import PrincipalAxes
from srsg.types import FloatArray, Graph, IntArray, Matrix
from srsg.weights import of_rows

UnitRows: TypeAlias = Any
"""Points of unit length, one per row: an array or, for sparse input, a ``csr_array``. It is ``Any``
because SciPy's sparse arrays have no types that mypy knows."""

KernelRows: TypeAlias = DenseRows | SparseRows
"""Points of unit length as the kernels take them."""

BLOCK_SIZE = 256
"""How many points are scanned at once by default: enough for a fast matrix product, while their
correlations take only 1 KB of memory for each of the n points."""

TILE = 16
"""Vectors multiplied by sparse points at once. For every non-zero the product reads one row of the
vectors' transpose: 16 float32 numbers are one cache line, and the tile stays in the cache. With
20,000 features, 256 vectors at once took 4 times as long."""

VALUES_IN_CACHE = 2**17
"""How many values are scaled at once: they stay in the processor's cache."""

FEW_VALUES = 0.05
"""Points with this share of values other than zero, or less, are mostly zero."""

Run: TypeAlias = Callable[[Callable[[slice], Any], Sequence[slice]], Iterable[Any]]
"""Python's ``map``, or that of some threads."""

DIGEST_SIZE = 16
"""Bytes of a digest: with 16, different points will not have the same digest by chance."""

NO_POINT = -1
"""In place of an index: a row of zeros has no direction and belongs to no set of equal points."""


@dataclass(frozen=True)
class Points:
    """Unit-norm points, one per row; the paper's X is the transpose.

    Examples
    --------
    >>> from srsg.points import unit_points
    >>> unit_points([[3.0, 4.0], [0.0, 2.0]]).x
    array([[0.6, 0.8],
           [0. , 1. ]])
    """

    x: UnitRows
    first: int = 0
    """Index of the first point among all points, if these are only a shard."""
    principal: PrincipalAxes | None = None
    """Axes along which scans are cheaper, where that is so."""
    single: UnitRows | None = field(default=None, repr=False)
    """The points in float32, if they are made already."""
    digests: bytes | None = field(default=None, repr=False)
    """The result of :func:`row_digests`, if it is there already."""
    weights: FloatArray | None = field(default=None, repr=False)
    """How many times each counts, where equal points are not merged; None means once."""
    made: dict[Any, Any] = field(default_factory=dict, repr=False, compare=False)
    """What scans have made of the points, for the next block."""

    in_shards: ClassVar[bool] = False
    """Whether they are on the workers of a cluster, so that ``x`` is not available here."""

    @cached_property
    def n(self) -> int:
        return self.x.shape[0]

    @cached_property
    def n_features(self) -> int:
        return self.x.shape[1]

    @property
    def shape(self) -> tuple[int, int]:
        return self.n, self.n_features

    @cached_property
    def dtype(self) -> np.dtype:
        return self.x.dtype

    @cached_property
    def largest(self) -> float:
        """The largest absolute value."""
        return float(abs(self.x).max())

    def lazy_rows(self) -> Any:
        """The points themselves, or a dask array of points that are on workers."""
        return self.x

    @cached_property
    def for_kernels(self) -> KernelRows:
        """The points as kernels take them."""
        return kernel_rows(self.x)

    @cached_property
    def x32(self) -> UnitRows:
        """The points in float32, which is precise enough to find candidates; float64 decides."""
        # A product in float32 takes about half the time of one in float64.
        if self.single is not None:
            return self.single
        if sparse.issparse(self.x):
            parts = (self.x.data.astype(np.float32), self.x.indices, self.x.indptr)
            return sparse.csr_array(parts, shape=self.x.shape)  # shares the arrays of indices
        if self.x.dtype == np.float32:
            return self.x
        if not is_memory_mapped(self.x):
            # Column by column, since that makes the product faster. A few rows at a time stay in
            # the cache while they are turned.
            columns = np.empty(self.x.shape[::-1], np.float32)
            for rows in row_slices(self.n, 16):
                columns[:, rows] = self.x[rows].T
            return columns.T
        # Points that are too many for memory are so in float32, too.
        blocks = (self.x[rows] for rows in row_slices(self.n))
        return stored(blocks, self.x.shape, np.float32)

    @cached_property
    def correlation_error(self) -> float:
        """Bound on the rounding of a float32 inner product of unit vectors."""
        # 2^-24 is the rounding of one operation. The bound grows with the number of terms, in
        # whatever order they are added; zeros of a sparse point add none. A few more terms allow
        # for the rounding of the points themselves to float32.
        terms: int = self.n_features
        if sparse.issparse(self.x):
            terms = np.diff(self.x.indptr).max(initial=0)
        return (terms + 8) * 2.0**-24

    @cached_property
    def _no_rests(self) -> NDArray[np.float32]:
        """What scans without axes leave out of each point, which no kernel changes."""
        return np.zeros(self.n, np.float32)

    def correlations(
        self, vectors: NDArray[np.floating], room: NDArray[np.float32] | None = None
    ) -> NDArray[np.float32]:
        """Inner products of the vectors with every point: one matrix product.

        They are written to the first rows of ``room``, if given.
        """
        out = None if room is None else room[: len(vectors)]
        if not sparse.issparse(self.x):
            return np.matmul(vectors.astype(np.float32), self.x32.T, out=out)
        if out is None:
            out = np.empty((len(vectors), self.n), np.float32)
        for tile in row_slices(len(vectors), TILE):
            out[tile] = (self.x32 @ np.ascontiguousarray(vectors[tile].T, np.float32)).T
        return out

    def bounded_correlations(
        self, vectors: NDArray[np.floating], room: NDArray[np.float32]
    ) -> tuple[NDArray[np.float32], LeftOut]:
        """The :meth:`correlations`, or those along the principal axes, and what these leave out."""
        if self.principal is None:
            nothing = LeftOut(np.zeros(len(vectors), np.float32), self._no_rests)
            return self.correlations(vectors, room), nothing
        correlations, left_out = self.principal.correlations(vectors, room[: len(vectors)])
        far = np.flatnonzero(left_out.vectors > self.principal.longest)
        if len(far):
            correlations[far] = self.correlations(vectors[far])
            left_out.vectors[far] = 0.0
        return correlations, left_out


def kernel_rows(x: UnitRows) -> KernelRows:
    """Points as kernels take them: dense rows in one of two precisions, or the parts of a CSR
    matrix. Nothing is copied.

    Examples
    --------
    >>> from scipy import sparse
    >>> from srsg.points import kernel_rows
    >>> kernel_rows(sparse.csr_array([[0.0, 1.0]])).indices
    array([1], dtype=int32)
    """
    if not sparse.issparse(x):
        n_features = x.shape[1]
        if x.dtype == np.float32:
            return DenseRows(np.empty((0, n_features)), x)
        return DenseRows(x, np.empty((0, n_features), np.float32))
    # SciPy chooses the type of the integers by the size of the matrix; kernels are compiled for one
    # choice.
    indices = x.indices.astype(np.int32, copy=False)
    indptr = x.indptr.astype(np.int64, copy=False)
    return SparseRows(x.data, indices, indptr, x.shape[1])


@dataclass(frozen=True)
class Rows:
    """Some of the points, or all of them, for work that names points by their indices.

    Examples
    --------
    >>> import numpy as np
    >>> from srsg.points import Rows
    >>> some = Rows(np.array([[0.6, 0.8], [0.0, 1.0]]), np.array([2, 7]))
    >>> some.places(np.array([7, 2, 7]))
    array([1, 0, 1])
    """

    x: UnitRows
    index: IntArray | None = None
    """The indices of these points, in rising order; None means all points."""

    @property
    def for_kernels(self) -> KernelRows:
        """The rows, as kernels take them."""
        return kernel_rows(self.x)

    def places(self, index: IntArray) -> IntArray:
        """The rows of ``x`` that hold the points of ``index``, in its order."""
        return index if self.index is None else np.searchsorted(self.index, index)


@dataclass(frozen=True)
class Queries:
    """What is coded or searched for: points themselves, or new vectors.

    Attributes
    ----------
    own : ndarray of shape (n_queries,)
        The index of each query among the points: a point must not be coded over itself. -1 for a
        new vector, which may use all points.
    new : ndarray of shape (n_queries, n_features) or None
        New unit vectors, one per row; None if the queries are points.

    Examples
    --------
    >>> from srsg.points import Queries, Rows, unit_points
    >>> points = unit_points([[3.0, 4.0], [0.0, 2.0]])
    >>> second = Queries.of(points)[1:]
    >>> second.own, second.vectors(Rows(points.x))
    (array([1]), array([[0., 1.]]))
    """

    own: IntArray
    new: UnitRows | None = None

    @classmethod
    def of(cls, points: Points, new: Points | None = None) -> Self:
        """The new points or, without any, the points themselves."""
        if new is None:
            return cls(np.arange(points.n))
        # The type of the points, so that a new point equal to a fitted one has the same bits.
        if not points.in_shards and sparse.issparse(points.x):
            rows = sparse.csr_array(new.x, dtype=points.dtype)
        else:
            rows = np.ascontiguousarray(dense_rows(new.x), dtype=points.dtype)
        return cls(np.full(new.n, -1), rows)

    def __len__(self) -> int:
        return len(self.own)

    def __getitem__(self, chosen: slice | IntArray) -> Self:
        new = None if self.new is None else self.new[chosen]
        return replace(self, own=self.own[chosen], new=new)

    def blocks(self, block_size: int) -> list[Self]:
        """The queries in blocks, in their order."""
        return [self[rows] for rows in blocks_of_rows(len(self), block_size)]

    def needed(self, *others: IntArray) -> IntArray:
        """The points that are queries and the given others, each once, in rising order."""
        return unique_indices(self.own[self.own >= 0], *others)

    def vectors(self, rows: Rows) -> UnitRows:
        """One unit vector per query, given the points that are :meth:`needed`."""
        return rows.x[rows.places(self.own)] if self.new is None else self.new


def unit_points(X: Matrix, *, constant: float = 0.0, keep_zero_rows: bool = False) -> Points:
    """Scale every row to unit l2 norm.

    A ``constant`` other than zero is appended to every row first, as one more coordinate. A row of
    zeros is an error or, with ``keep_zero_rows``, stays as it is: it must then be left out of
    whatever is coded.

    Sparse rows stay sparse. Memory-mapped rows stay out of memory: the points go to a temporary
    file.

    Raises
    ------
    ValueError
        If a row is zero, because it has no direction; not with ``keep_zero_rows``.
    """
    if sparse.issparse(X):
        rows = sparse_unit_rows(X, constant)
        if not keep_zero_rows:
            check_zero_rows(np.flatnonzero(np.diff(rows.indptr) == 0))
        return Points(rows)
    dense = np.asarray(X)
    dtype = float_type(dense)
    shape = (len(dense), dense.shape[1] + (constant != 0))
    # Views of a few rows each, which stay in the processor's cache: the whole work below needs
    # little time and little memory beside the result.
    parts = row_slices(len(dense), max(1, VALUES_IN_CACHE // shape[1]))
    blocks = [dense[rows] for rows in parts]
    # Checked before anything is written. With a constant, no row is zero.
    if not constant and not keep_zero_rows:
        check_zero_rows(np.flatnonzero(np.concatenate([~block.any(axis=1) for block in blocks])))
    unit = (unit_rows(with_constant(block, constant)) for block in blocks)
    if is_memory_mapped(dense):
        return Points(stored(unit, shape, dtype))
    x = np.empty(shape, dtype)
    for rows, block in zip(parts, unit, strict=True):
        x[rows] = block
    return Points(x)


def sparse_unit_rows(X: Matrix, constant: float = 0.0) -> sparse.csr_array:
    """Sparse rows scaled to unit l2 norm, in float64; rows of zeros stay as they are.

    Examples
    --------
    >>> from scipy import sparse
    >>> from srsg.points import sparse_unit_rows
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


def with_constant(rows: NDArray, constant: float) -> NDArray:
    """The rows with one more coordinate, unless the constant is zero."""
    if not constant:
        return rows
    dtype = np.dtype(float_type(rows))
    # Otherwise it would become infinite, and every point NaN.
    if constant > float(np.finfo(dtype).max):
        raise ValueError(
            f"The constant coordinate, {constant:g}, is too large for {dtype}: use a smaller "
            "affine, or points in float64."
        )
    column = np.full((len(rows), 1), constant)
    return np.hstack([rows, column]).astype(dtype, copy=False)


def root_mean_square_length(X: Matrix, weights: FloatArray | None = None) -> float:
    """The root of the mean squared l2 norm of the rows; 1 if all of them are zero.

    With ``weights``, each row counts as often as its weight says.

    Examples
    --------
    >>> from srsg.points import root_mean_square_length
    >>> root_mean_square_length([[3.0, 4.0], [0.0, 5.0]])
    5.0
    """
    if weights is not None:
        lengths = row_lengths(X)
        largest = lengths.max()
        squares = (lengths / (largest or 1.0)) ** 2
        return float(largest * np.sqrt(np.average(squares, weights=weights))) or 1.0
    # Zeros add nothing to the sum of squares, so the non-zeros of a sparse matrix are enough.
    values = sparse.csr_array(X).data if sparse.issparse(X) else np.asarray(X)
    n_rows = X.shape[0] if sparse.issparse(X) else len(values)
    parts = row_slices(len(values))
    largest = max((float(np.abs(values[rows]).max()) for rows in parts), default=0.0)
    if largest == 0:
        return 1.0
    # Scaling by the largest entry first keeps the squares of huge and tiny numbers finite.
    blocks = (values[rows].astype(np.float64) / largest for rows in parts)
    return largest * float(np.sqrt(sum(float((block**2).sum()) for block in blocks) / n_rows))


def row_lengths(X: Any) -> FloatArray:
    """The l2 norms of the rows; the largest number for those beyond.

    Examples
    --------
    >>> import numpy as np
    >>> from srsg.points import row_lengths
    >>> row_lengths(np.array([[3.0, 4.0], [3e200, 4e200]]))
    array([5.e+000, 5.e+200])
    """
    found = np.empty(X.shape[0])
    for rows in row_slices(len(found)):
        block = X[rows].astype(np.float64)
        largest = abs(block).max(axis=1)
        largest = largest.toarray().ravel() if sparse.issparse(largest) else largest
        # Divided by the largest entry, squares of huge and tiny numbers stay finite.
        divisor = np.maximum(largest, np.finfo(np.float64).tiny)
        shares = sparse.diags_array(1 / divisor) @ block
        with np.errstate(over="ignore"):
            found[rows] = divisor * np.sqrt(np.asarray((shares**2).sum(axis=1)).ravel())
    return np.minimum(found, np.finfo(np.float64).max)


def check_zero_rows(zero: NDArray[np.intp]) -> None:
    """Refuse rows of zeros, given their numbers."""
    if zero.size:
        raise ValueError(
            f"X has {zero.size} row(s) of zeros, which have no direction: rows "
            f"{name_rows(zero)}. Remove them."
        )


def float_type(array: NDArray) -> type[np.floating]:
    """The type that points are coded in: float32 if they come as such, else float64."""
    return np.float32 if array.dtype == np.float32 else np.float64


def unit_rows(block: NDArray) -> NDArray[np.floating]:
    """Rows scaled to unit l2 norm; rows of zeros stay zero."""
    # Contiguous, because in another memory order the sums below would have other bits. Scaling by
    # the largest entry first keeps the squares of huge rows finite, and those of tiny rows above
    # zero.
    rows = np.ascontiguousarray(block, float_type(block))
    largest = np.abs(rows).max(axis=1, keepdims=True)
    rows = rows / np.where(largest > 0, largest, 1)
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    # Rows are at least of length one now, but for those of zeros. Adding zero makes -0.0 the same
    # number as 0.0 bit for bit, so equal points have equal bits.
    return rows / np.maximum(lengths, 1) + 0.0


def of_any_length(X: NDArray) -> FloatArray:
    """Points as they are, in float64, contiguous; -0.0 has the same bits as 0.0."""
    return np.array(X, dtype=np.float64, order="C") + 0.0


def dense_rows(x: UnitRows) -> NDArray[np.floating]:
    """A block of points as an array."""
    return x.toarray() if sparse.issparse(x) else x


def mostly_zero(X: Any) -> bool:
    """Whether nearly all entries are zero, as words in texts are."""
    n_values = X.count_nonzero() if sparse.issparse(X) else np.count_nonzero(X)
    return bool(n_values <= FEW_VALUES * np.prod(X.shape))


def is_memory_mapped(array: Any) -> bool:
    """Whether the numbers of an array are in a file, not in memory.

    Examples
    --------
    >>> import numpy as np
    >>> from srsg.points import is_memory_mapped
    >>> is_memory_mapped(np.zeros(3))
    False
    """
    # A view of a memory map is a plain array, so its bases are looked at, too.
    while array is not None and not isinstance(array, np.memmap):
        array = getattr(array, "base", None)
    return array is not None


def is_read_only(x: Any) -> bool:
    """Whether points are an array, or a sparse matrix, that nobody may write to."""
    values = x.data if sparse.issparse(x) else x
    return isinstance(values, np.ndarray) and not values.flags.writeable


def stored(blocks: Iterable[NDArray], shape: tuple[int, ...] | None, dtype: Any) -> NDArray:
    """An array in a file that is deleted together with the array; a flat one without a shape."""
    # The map stays valid after the file is closed; the system frees the file with its last view.
    with TemporaryFile(prefix="srsg-") as file:
        for block in blocks:
            file.write(np.ascontiguousarray(block, dtype).data)
        file.flush()
        # Nobody writes to it, but numba would compile all kernels again for a read-only array.
        return np.asarray(np.memmap(file, dtype, "r+", shape=shape))


def unique_indices(*indices: IntArray) -> IntArray:
    """All given indices, each once, in rising order; a table is faster than sorting them.

    Examples
    --------
    >>> import numpy as np
    >>> from srsg.points import unique_indices
    >>> unique_indices(np.array([5, 2]), np.array([2, 0]))
    array([0, 2, 5])
    """
    named = np.zeros(1 + max(int(index.max(initial=-1)) for index in indices), bool)
    for index in indices:
        named[index] = True
    return np.flatnonzero(named)


def row_slices(n_rows: int, length: int = 1024) -> list[slice]:
    """The rows 0..n-1 in slices; indexing with a slice copies nothing."""
    return [slice(start, start + length) for start in range(0, n_rows, length)]


def blocks_of_rows(n_points: int, block_size: int) -> list[IntArray]:
    """The rows 0..n-1 in blocks."""
    return np.split(np.arange(n_points), range(block_size, n_points, block_size))


def name_rows(rows: NDArray[np.intp], most: int = 10) -> str:
    """The first few row numbers, for an error message."""
    shown = ", ".join(str(row) for row in rows[:most])
    return shown if rows.size <= most else f"{shown}, ..."


@dataclass(frozen=True)
class EqualPoints:
    """Which points are equal: one of each set stands for all, and counts as often as it occurs.

    Nothing decides which of two equal points a code should use. So every set of equal points is
    coded once, over the points that differ from it, and the result is then given to all of them.

    Attributes
    ----------
    first : ndarray of shape (n_distinct,)
        The point that stands for each set, in rising order: the distinct points. It is the first
        of those that are equal.
    owner : ndarray of shape (n,)
        For every point, the place of its set in ``first``; -1 for a row of zeros.
    row_weights : ndarray of shape (n,) or None
        How many times each point counts; None means once.

    Examples
    --------
    >>> from srsg.points import EqualPoints, row_digests, unit_points, zero_digest
    >>> points = unit_points([[1, 2], [3, 4], [2, 4], [0, 0]], keep_zero_rows=True)
    >>> equal = EqualPoints.from_digests(row_digests(points), zero_digest(points))
    >>> equal.first, equal.owner, equal.counts
    (array([0, 1]), array([ 0,  1,  0, -1]), array([2., 1.]))
    """

    first: IntArray
    owner: IntArray
    row_weights: FloatArray | None = None

    @classmethod
    def from_digests(cls, digests: bytes, zero: bytes | None = None) -> Self:
        """Points with the same digest are equal; see :func:`row_digests`."""
        return cls.of(np.frombuffer(digests, dtype=f"S{DIGEST_SIZE}"), zero)

    @classmethod
    def of(cls, keys: NDArray, zero: bytes | None = None) -> Self:
        """Points with the same key are equal; those with the key ``zero`` belong to no set."""
        # ``np.unique`` numbers the sets in the order of their keys; ``from_first`` numbers them in
        # the order of the points.
        _, first, owner = np.unique(keys, return_index=True, return_inverse=True)
        left_out = keys == zero if zero is not None else np.zeros(len(keys), bool)
        return cls.from_first(np.where(left_out, NO_POINT, first[owner]))

    @classmethod
    def from_first(cls, first_equal: IntArray) -> Self:
        """From the first equal of every point; -1 for rows of zeros."""
        # A point that stands for itself is the first of its set.
        first = np.flatnonzero(first_equal == np.arange(len(first_equal)))
        owner = np.searchsorted(first, first_equal)
        return cls(first, np.where(first_equal == NO_POINT, NO_POINT, owner))

    @property
    def n(self) -> int:
        return len(self.owner)

    @property
    def all_differ(self) -> bool:
        """Whether every point is a distinct one, so that there is nothing to merge."""
        return len(self.first) == self.n

    @cached_property
    def first_equal(self) -> IntArray:
        """For every point, the first that equals it; -1 for rows of zeros."""
        return np.where(self.owner == NO_POINT, NO_POINT, self.first[self.owner])

    @cached_property
    def counts(self) -> FloatArray:
        """How many times each distinct point counts: as often as it occurs, without weights."""
        members = self.owner >= 0
        weights = of_rows(self.row_weights, members)
        return np.bincount(self.owner[members], weights, len(self.first)).astype(float)

    @property
    def weights(self) -> FloatArray | None:
        """The counts, or None if all are one."""
        return None if (self.counts == 1).all() else self.counts

    @cached_property
    def zero_rows(self) -> IntArray:
        return np.flatnonzero(self.owner == NO_POINT)

    def spread(self, values: NDArray, zero: float = 0) -> NDArray:
        """Values of the distinct points as values of all points; ``zero`` for rows of zeros."""
        if self.all_differ:
            return values
        # The owner -1 of a row of zeros picks the last value, which the next line corrects.
        spread = values[self.owner]
        spread[self.zero_rows] = zero
        return spread

    def spread_labels(self, labels: NDArray[np.intp]) -> NDArray[np.intp]:
        """Labels of all points; rows of zeros go to the cluster that has the most points."""
        largest = int(np.argmax(np.bincount(labels, self.counts)))
        return self.spread(labels, largest)

    def cluster_shares(self, labels: NDArray[np.intp], n_clusters: int) -> FloatArray:
        """The share of the points that each cluster has; rows of zeros do not count."""
        members = self.owner >= 0
        sizes = np.bincount(labels[members], of_rows(self.row_weights, members), n_clusters)
        return sizes / sizes.sum()

    def weigh_rows(self, edges: sparse.csr_array) -> sparse.csr_array:
        """The edges that points chose, as often as the points count."""
        if self.row_weights is None:
            return edges
        data = edges.data * np.repeat(self.row_weights, np.diff(edges.indptr))
        return sparse.csr_array((data, edges.indices, edges.indptr), edges.shape)

    def spread_neighbors(self, neighbors: IntArray) -> IntArray:
        """Neighbours of all points: the first of each set of equals; -1 for rows of zeros."""
        return neighbors if self.all_differ else self.spread(self.first[neighbors], NO_POINT)

    def spread_codes(self, codes: sparse.csr_array) -> sparse.csr_array:
        """Codes of all points: equal ones have the same, over the first of each set of equals."""
        if self.all_differ:
            return codes
        # Row 0 stands in for rows of zeros at first, and its entries are then left out.
        spread = sparse.csr_array(self.spread_columns(codes)[np.maximum(self.owner, 0)])
        spread.data[np.repeat(self.owner < 0, np.diff(spread.indptr))] = 0.0
        spread.eliminate_zeros()
        return spread

    def spread_columns(self, codes: sparse.csr_array) -> sparse.csr_array:
        """Codes over the distinct points as codes over all: each set is used through its first."""
        if self.all_differ:
            return codes
        columns = self.first[codes.indices].astype(codes.indices.dtype)
        shape = (codes.shape[0], self.n)
        return sparse.csr_array((codes.data, columns, codes.indptr), shape=shape)

    def merge_codes(self, codes: sparse.csr_array) -> sparse.csr_array:
        """Codes of the distinct points over each other: coefficients of equal points add up."""
        if self.all_differ and self.row_weights is None:
            return codes
        # A point that used its own copies would use itself now: no code does.
        return _without_loops(sparse.csr_array(codes[self.first] @ self._members))

    def merge_graph(self, graph: Graph, *, loops: bool = False) -> Graph:
        """The graph in which equal points are one vertex: edges of its points add up.

        Edges between equal points, and loops, become loops; they are kept only if asked for.
        """
        if self.all_differ:
            return graph
        # ``M' W M`` with M the membership: its entry for two sets is the sum over all pairs.
        members = self._members
        if isinstance(graph, np.ndarray):
            merged = members.T @ (members.T @ graph).T
            return merged if loops else merged - np.diag(merged.diagonal())
        merged = sparse.csr_array(members.T @ graph @ members)
        merged = merged if loops else _without_loops(merged)
        # Symmetric to the last bit, whatever the order of the sums above.
        merged = sparse.csr_array((merged + merged.T) / 2)
        merged.sort_indices()
        return merged

    def merge_neighbors(self, neighbors: IntArray) -> IntArray:
        """Neighbours of the distinct points, by their places in ``first``."""
        return neighbors if self.all_differ else self.owner[neighbors[self.first]]

    @cached_property
    def _members(self) -> sparse.csr_array:
        """Row i has a one in the column of the set of point i; it is empty for a row of zeros."""
        members = np.flatnonzero(self.owner >= 0)
        entries = np.ones(len(members)), (members, self.owner[members])
        return sparse.csr_array(entries, shape=(self.n, len(self.first)))


def row_digests(points: Points, run: Run = map) -> bytes:
    """A digest of every point, one after the other; ``run`` is the ``map`` of some threads.

    One hash over all bytes would have to pass its state from worker to worker. Digests of single
    points do not depend on where shards begin, and only 16 bytes per point are sent.
    """
    if points.digests is not None:
        return points.digests
    # Points of another type or width get other digests, even if their bytes are the same.
    key = f"{points.x.dtype.str} {points.x.shape[1]}".encode()
    slices = row_slices(points.n)
    # So few rows are described faster than threads could share them.
    run = run if len(slices) > 1 else map
    return b"".join(run(partial(_digests, points.x, key), slices))


def _digests(x: UnitRows, key: bytes, rows: slice) -> bytes:
    digest = partial(hashlib.blake2b, digest_size=DIGEST_SIZE, key=key)
    return b"".join([digest(row).digest() for row in _bytes_of(x[rows])])


def zero_digest(points: Points) -> bytes:
    """The digest that a row of zeros would have among these points."""
    if not points.in_shards and sparse.issparse(points.x):
        return row_digests(Points(sparse.csr_array((1, points.n_features))))
    return row_digests(Points(np.zeros((1, points.n_features), points.dtype)))


def _bytes_of(x: UnitRows) -> Iterator[Any]:
    """The bytes of every point; for a sparse one, those of its columns and values."""
    if not sparse.issparse(x):
        yield from (row.data for row in np.ascontiguousarray(x))
        return
    # One type of integers: SciPy's choice depends on the size of the whole matrix.
    indices = x.indices.astype(np.int32, copy=False)
    for start, end in pairwise(x.indptr.tolist()):
        yield indices[start:end].tobytes() + x.data[start:end].tobytes()


def take_rows(x: Any, rows: IntArray) -> Any:
    """Some rows of an array of any kind; those of a memory-mapped one go to a file, too."""
    if isinstance(x, np.ndarray) and is_memory_mapped(x):
        blocks = (x[rows[part]] for part in row_slices(len(rows)))
        return stored(blocks, (len(rows), x.shape[1]), x.dtype.type)
    return x[rows]


def _without_loops(graph: sparse.csr_array) -> sparse.csr_array:
    """The graph with an empty diagonal, its rows sorted."""
    rows = np.repeat(np.arange(graph.shape[0]), np.diff(graph.indptr))
    graph.data[graph.indices == rows] = 0.0
    graph.eliminate_zeros()
    graph.sort_indices()
    return graph
