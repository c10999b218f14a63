"""Named tuples of arrays: what kernels take, and how Python makes them.

Kernels take them as they are, since numba knows named tuples; the methods are for Python only.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from srsg.types import FloatArray, IntArray


class DenseRows(NamedTuple):
    """Points in one of two precisions, as kernels take them; the array of the other has no rows.

    To numba both are of one type, so kernels are compiled once.
    """

    double: FloatArray
    single: NDArray[np.float32]


class SparseRows(NamedTuple):
    """The parts of a CSR matrix, as kernels take them; columns are sorted within every row."""

    data: FloatArray
    indices: NDArray[np.int32]
    indptr: IntArray
    n_columns: int


class LeftOut(NamedTuple):
    """What inner products leave out: the norms of the residuals of the vectors and of the points.

    The exact product of vector p and point t differs by at most ``vectors[p] * points[t]``, and by
    rounding.
    """

    vectors: NDArray[np.float32]
    points: NDArray[np.float32]

    @classmethod
    def nothing(cls, n_vectors: int, n_points: int) -> LeftOut:
        return cls(np.zeros(n_vectors, np.float32), np.zeros(n_points, np.float32))


class Codes(NamedTuple):
    """One code per row, in rows of equal width: the first ``size[p]`` entries of row p count.

    Rows of fixed width can grow and shrink in place, unlike those of a CSR matrix, and several
    threads can write to different rows at once. Whatever lies beyond ``size[p]`` is padding.

    Attributes
    ----------
    index : ndarray of shape (n_rows, width)
        The points that each code uses.
    value : ndarray of shape (n_rows, width)
        Their coefficients.
    size : ndarray of shape (n_rows,)
        How many entries of each row count.

    Examples
    --------
    >>> from scipy import sparse
    >>> from srsg.kernels.arrays import Codes
    >>> codes = Codes.from_csr(sparse.csr_array([[0.0, 0.5], [0.0, 0.0]]))
    >>> codes.size
    array([1, 0])
    >>> codes.to_csr(2).toarray()
    array([[0. , 0.5],
           [0. , 0. ]])
    """

    index: IntArray
    value: FloatArray
    size: IntArray

    @classmethod
    def empty(cls, n_rows: int, width: int = 0) -> Codes:
        """Codes without entries, in rows that have room for ``width``."""
        shape = (n_rows, width)
        return cls(np.zeros(shape, np.int64), np.zeros(shape), np.zeros(n_rows, np.int64))

    @classmethod
    def from_csr(cls, matrix: sparse.csr_array, spare: int = 0) -> Codes:
        """The rows of a matrix, with room for ``spare`` more entries in the longest."""
        size = np.diff(matrix.indptr).astype(np.int64)
        codes = cls.empty(len(size), int(size.max(initial=0)) + spare)._replace(size=size)
        # A mask is filled row by row, in the order in which a CSR matrix stores its entries.
        codes.index[codes.used] = matrix.indices
        codes.value[codes.used] = matrix.data
        return codes

    @classmethod
    def concatenate(cls, parts: Sequence[Codes]) -> Codes:
        """Codes one below the other, as wide as the longest of them."""
        width = max(part.longest for part in parts)
        resized = [part.resized(width) for part in parts]
        return cls(*map(np.concatenate, zip(*resized, strict=True)))

    @property
    def used(self) -> NDArray[np.bool_]:
        """The mask of the entries that count."""
        return np.arange(self.index.shape[1]) < self.size[:, None]

    @property
    def width(self) -> int:
        """How many entries a row has room for."""
        return self.index.shape[1]

    @property
    def longest(self) -> int:
        """Size of the longest code."""
        return int(self.size.max(initial=0))

    def to_csr(self, n_points: int) -> sparse.csr_array:
        """Codes as a CSR matrix of shape (n_rows, n_points)."""
        used = self.used
        starts = np.concatenate(([0], np.cumsum(self.size)))
        shape = (len(self.size), n_points)
        return sparse.csr_array((self.value[used], self.index[used], starts), shape=shape)

    def take(self, rows: slice | NDArray) -> Codes:
        """Some of the rows."""
        return Codes(self.index[rows], self.value[rows], self.size[rows])

    def resized(self, width: int) -> Codes:
        """A copy in rows of the given width."""
        return Codes(padded(self.index, width), padded(self.value, width), self.size.copy())


def padded(rows: NDArray[Any], width: int) -> NDArray[Any]:
    """A copy of a matrix with rows of the given width, cut or filled with zeros."""
    # Zeros, not uninitialised memory: points that join a working set start from what the padding
    # holds (see `renew`), so it must be the same in every run.
    copy = np.zeros((len(rows), width), rows.dtype)
    kept = min(width, rows.shape[1])
    copy[:, :kept] = rows[:, :kept]
    return copy


class Neighbors(NamedTuple):
    """The neighbours of every point, as the row starts and columns of the matrix S."""

    starts: IntArray
    index: IntArray


class Penalty(NamedTuple):
    """For every row: half of lam, and the ridge."""

    half_lam: FloatArray
    ridge: FloatArray


class Pull(NamedTuple):
    """Numbers that add to the correlations of some points with the residuals of a row.

    They add ``-2 q' z`` to the objective of the row. The parts of a CSR matrix, with sorted
    columns. Without rows nothing is pulled, see :data:`NO_PULL`.
    """

    starts: IntArray
    index: IntArray
    value: FloatArray


NO_PULL = Pull(np.zeros(1, np.int64), np.zeros(0, np.int64), np.zeros(0))


class Certificate(NamedTuple):
    """For every row: the largest violation of the optimality conditions, and the duality gap."""

    violation: FloatArray
    gap: FloatArray

    @classmethod
    def empty(cls, n_rows: int) -> Certificate:
        return cls(np.zeros(n_rows), np.zeros(n_rows))


class InsideTerms(NamedTuple):
    """For every row: what its working set contributes to its certificate.

    The largest violation by a point of the working set, and the terms of the duality gap, as
    :func:`gap_terms` has them.
    """

    worst: FloatArray
    power: FloatArray
    inner: FloatArray
    l1_norm: FloatArray


class ScanBounds(NamedTuple):
    """What a scan of some of the points needs to know.

    ``first`` is the index of the first of these points among all points. A point violates the
    conditions if its absolute correlation with the residual is above ``half_lam + tol``.
    Correlations of unit vectors are known up to ``error``, and to what was left out of them.
    """

    first: int
    tol: float
    error: float
    left_out: LeftOut


class SortedLists(NamedTuple):
    """One bounded list of points per row: smallest key first, ties by index.

    Attributes
    ----------
    index : ndarray of shape (n_rows, width)
        The points.
    key : ndarray of shape (n_rows, width)
        What they are sorted by.
    size : ndarray of shape (n_rows,)
        How many entries of each row count; the rest is padding.
    """

    index: IntArray
    key: FloatArray
    size: IntArray


class KeptProblems(NamedTuple):
    """Problems kept from one sweep to the next, one for each row: its number of coordinates (-1 if
    none is kept), its coordinates, and its numbers as :func:`keep` packs them."""

    # Every row has the same room, so that threads can write to their rows without waiting for each
    # other.

    size: IntArray
    active: IntArray
    numbers: FloatArray

    @classmethod
    def empty(cls, n_rows: int, room: int) -> KeptProblems:
        """Room for the problem of every row, on this many coordinates; none is kept yet."""
        # x' x, then b, then the lower triangle of the symmetric Gram matrix with its diagonal.
        length = 1 + room + room * (room + 1) // 2
        active = np.empty((n_rows, room), np.int64)
        return cls(np.full(n_rows, -1), active, np.empty((n_rows, length)))


class SweepOutcome(NamedTuple):
    """For every point: ``||x - X z||^2``, the FPGD-SP iterations, whether its support changed,
    whether its step was cut to the stable bound, and how many coordinates the check let in."""

    fit: FloatArray
    iterations: IntArray
    changed: NDArray[np.bool_]
    cut: NDArray[np.bool_]
    let_in: IntArray

    @classmethod
    def empty(cls, n_points: int) -> SweepOutcome:
        kinds: tuple[Any, ...] = (float, np.int64, bool, bool, np.int64)
        return cls(*(np.zeros(n_points, kind) for kind in kinds))
