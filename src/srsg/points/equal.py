"""Equal points: one of each set stands for all of them, and counts as often as it occurs.

Nothing decides which of two equal points a code should use. So every set of equal points is coded
once, over the points that differ from it, and the result is then given to all of them.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from itertools import pairwise
from typing import Any, Self, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from srsg.points import Points, UnitRows, is_memory_mapped, row_slices, stored
from srsg.types import FloatArray, Graph, IntArray

Run: TypeAlias = Callable[[Callable[[slice], Any], Sequence[slice]], Iterable[Any]]
"""Python's ``map``, or that of some threads."""

DIGEST_SIZE = 16
"""Bytes of a digest: with 16, different points will not have the same digest by chance."""

NO_POINT = -1
"""In place of an index: a row of zeros has no direction and belongs to no set of equal points."""


@dataclass(frozen=True)
class EqualPoints:
    """Which of some points are equal.

    Attributes
    ----------
    first : ndarray of shape (n_distinct,)
        The point that stands for each set, in rising order: the distinct points. It is the first
        of those that are equal.
    owner : ndarray of shape (n,)
        For every point, the place of its set in ``first``; -1 for a row of zeros.

    Examples
    --------
    >>> from srsg.points import unit_points
    >>> from srsg.points.equal import EqualPoints, row_digests, zero_digest
    >>> points = unit_points([[1, 2], [3, 4], [2, 4], [0, 0]], keep_zero_rows=True)
    >>> equal = EqualPoints.from_digests(row_digests(points), zero_digest(points))
    >>> equal.first, equal.owner, equal.counts
    (array([0, 1]), array([ 0,  1,  0, -1]), array([2., 1.]))
    """

    first: IntArray
    owner: IntArray

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
        """From the point that stands for every point; -1 for rows of zeros."""
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
        """How many times each distinct point occurs."""
        return np.bincount(self.owner[self.owner >= 0], minlength=len(self.first)).astype(float)

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
        sizes = np.bincount(labels[self.owner >= 0], minlength=n_clusters)
        return sizes / sizes.sum()

    def spread_neighbors(self, neighbors: IntArray) -> IntArray:
        """Neighbours of all points: the first of each set of equals; -1 for rows of zeros."""
        return self.spread(self.first[neighbors], NO_POINT)

    def spread_codes(self, codes: sparse.csr_array) -> sparse.csr_array:
        """Codes of all points: equal ones have the same, over the first of each set of equals."""
        return codes if self.all_differ else _rows(self.spread_columns(codes), self.owner)

    def spread_columns(self, codes: sparse.csr_array) -> sparse.csr_array:
        """Codes over the distinct points as codes over all: each set is used through its first."""
        if self.all_differ:
            return codes
        columns = self.first[codes.indices].astype(codes.indices.dtype)
        shape = (codes.shape[0], self.n)
        return sparse.csr_array((codes.data, columns, codes.indptr), shape=shape)

    def merge_codes(self, codes: sparse.csr_array) -> sparse.csr_array:
        """Codes of the distinct points over each other: coefficients of equal points add up."""
        if self.all_differ:
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
        blocks = (x[rows[some]] for some in row_slices(len(rows)))
        return stored(blocks, (len(rows), x.shape[1]), x.dtype.type)
    return x[rows]


def _rows(codes: sparse.csr_array, rows: IntArray) -> sparse.csr_array:
    """The rows with these indices; an empty row for each -1."""
    # Row 0 stands in for -1 at first, and its entries are then left out.
    chosen = sparse.csr_array(codes[np.maximum(rows, 0)])
    lengths = np.where(rows >= 0, np.diff(chosen.indptr), 0)
    kept = np.repeat(rows >= 0, np.diff(chosen.indptr))
    starts = np.concatenate(([0], np.cumsum(lengths))).astype(chosen.indptr.dtype)
    entries = chosen.data[kept], chosen.indices[kept], starts
    return sparse.csr_array(entries, shape=(len(rows), codes.shape[1]))


def _without_loops(graph: sparse.csr_array) -> sparse.csr_array:
    """The graph with an empty diagonal, its rows sorted."""
    rows = np.repeat(np.arange(graph.shape[0]), np.diff(graph.indptr))
    graph.data[graph.indices == rows] = 0.0
    graph.eliminate_zeros()
    graph.sort_indices()
    return graph
