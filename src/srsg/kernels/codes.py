"""Sparse codes: as the kernels hold them, as a matrix and as a graph."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from srsg.kernels.compiled import helper, kernel
from srsg.kernels.rows import row_count, subtract_row, write_row
from srsg.types import FloatArray, IntArray


class Codes(NamedTuple):
    """One code per row, in rows of equal width: the first ``size[p]`` entries of row p count.

    Kernels take it as it is, since numba knows named tuples; the methods are for Python only.
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
    >>> from srsg.kernels.codes import Codes
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

    def trimmed(self) -> Codes:
        """A copy no wider than the longest code."""
        return self.resized(self.longest)

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


def symmetrized(codes: sparse.csr_array) -> sparse.csr_array:
    """The affinity of eq. (2): ``W = (|Z| + |Z|^T) / 2``.

    Examples
    --------
    >>> from scipy import sparse
    >>> from srsg.kernels.codes import symmetrized
    >>> symmetrized(sparse.csr_array([[0.0, -0.5], [0.0, 0.0]])).toarray()
    array([[0.  , 0.25],
           [0.25, 0.  ]])
    """
    magnitude = abs(codes)
    affinity = sparse.csr_array((magnitude + magnitude.T) / 2)
    affinity.eliminate_zeros()  # half of the smallest number is zero, and no edge
    affinity.sort_indices()  # in one fixed order, sums along rows have the same bits
    return affinity


@helper()
def residual(points, targets, codes, p, out):
    """``x - sum_t z_t x_t`` for the target and the code in row p, in float64."""
    write_row(targets, p, out)
    for k in range(codes.size[p]):
        z = codes.value[p, k]
        # Working sets hold many points that the code does not use. Subtracting each of them zero
        # times would cost as much as subtracting one that it uses.
        if z != 0.0:
            subtract_row(points, codes.index[p, k], z, out)


@kernel()
def residuals(points, targets, codes, out):
    """The residuals of all codes; row p of the codes belongs to ``targets[p]``."""
    for p in range(row_count(targets)):
        residual(points, targets, codes, p, out[p])


def fits_of(points: Any, targets: Any, codes: Codes, n_features: int) -> FloatArray:
    """``||x_i - X z_i||^2`` for every code."""
    resid = np.empty((len(codes.size), n_features))
    residuals(points, targets, codes, resid)
    return np.einsum("ij,ij->i", resid, resid)


@kernel()
def keep_supports(codes):
    """Drop the zeros of all codes and sort each code by index."""
    for p in range(codes.size.shape[0]):
        keep_sorted_support(codes, p)


@helper()
def keep_sorted_support(codes, p):
    """Drop the zeros of one code and sort it by index, in place."""
    count = 0
    for k in range(codes.size[p]):
        value = codes.value[p, k]
        if value != 0.0:
            index = codes.index[p, k]
            # By insertion: codes are short, and mostly sorted already. Entries move to the left or
            # stay, so nothing is overwritten before it is read.
            place = count
            while place > 0 and codes.index[p, place - 1] > index:
                codes.index[p, place] = codes.index[p, place - 1]
                codes.value[p, place] = codes.value[p, place - 1]
                place -= 1
            codes.index[p, place] = index
            codes.value[p, place] = value
            count += 1
    codes.size[p] = count


def renewed(codes: Codes, joining: IntArray, count: IntArray) -> Codes:
    """The codes without their zeros, each with ``count[p]`` points of ``joining[p]`` added.

    Points that a code does not use would only make its next problem larger. They may come back, but
    the objective falls from scan to scan, so this ends. A code that no point joins is done: it is
    sorted by index, while the others stay in the order of joining.
    """
    new = Codes.empty(len(count), int(np.max(codes.size + count, initial=0)))
    renew(codes, joining, count, new)
    return new


@kernel()
def renew(codes, joining, count, new):
    """:func:`renewed`, into codes that are empty and wide enough."""
    kept = min(new.value.shape[1], codes.value.shape[1])
    for p in range(codes.size.shape[0]):
        # A point that joins starts from whatever value the old row has at its place: every start
        # leads to a minimiser.
        for k in range(kept):
            new.value[p, k] = codes.value[p, k]
        size = 0
        for k in range(codes.size[p]):
            if codes.value[p, k] != 0.0:
                new.index[p, size] = codes.index[p, k]
                new.value[p, size] = codes.value[p, k]
                size += 1
        for k in range(count[p]):
            new.index[p, size] = joining[p, k]
            size += 1
        new.size[p] = size
        if count[p] == 0:
            keep_sorted_support(new, p)


class Neighbors(NamedTuple):
    """The neighbours of every point, as the row starts and columns of the matrix S."""

    starts: IntArray
    index: IntArray


@helper()
def neighbors_of(neighbors, i):
    return neighbors.index[neighbors.starts[i] : neighbors.starts[i + 1]]


@kernel()
def support_distances(codes, neighbors):
    """``R_S(Z)`` of eq. (3): the support distances (4), summed over all pairs of neighbours."""
    # A count of integers: unlike a sum of floats, it is the same in any order.
    total = 0
    for i in range(neighbors.starts.shape[0] - 1):
        for j in neighbors_of(neighbors, i):
            # Both supports are sorted, so one walk along the two finds where they differ. Eq. (4)
            # leaves out the indices i and j: that a point cannot use itself is no difference.
            a = 0
            b = 0
            while a < codes.size[i] or b < codes.size[j]:
                if b == codes.size[j] or (
                    a < codes.size[i] and codes.index[i, a] < codes.index[j, b]
                ):
                    total += codes.index[i, a] != j
                    a += 1
                elif a == codes.size[i] or codes.index[j, b] < codes.index[i, a]:
                    total += codes.index[j, b] != i
                    b += 1
                else:
                    a += 1
                    b += 1
    return total
