"""Some of the points: blocks of rows, points named by index, and queries."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Self

import numpy as np
from numpy.typing import NDArray

from srsg.types import IntArray

if TYPE_CHECKING:
    from srsg.points.unit import Points


BLOCK_SIZE = 256
"""Points that are scanned at once by default."""


@dataclass(frozen=True)
class Rows:
    """Some of the points, or all, for work that names points by their indices.

    Examples
    --------
    >>> import numpy as np
    >>> from srsg.points import Rows
    >>> some = Rows(np.array([[0.6, 0.8], [0.0, 1.0]]), np.array([2, 7]))
    >>> some.places(np.array([7, 2, 7]))
    array([1, 0, 1])
    """

    x: NDArray[np.floating]
    index: IntArray | None = None
    """Which points they are, in rising order; None means all points."""

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
    new: NDArray[np.floating] | None = None

    @classmethod
    def of(cls, points: Points, new: Points | None = None) -> Self:
        """The new points or, without any, the points themselves."""
        if new is None:
            return cls(np.arange(points.n))
        return cls(np.full(new.n, -1), np.ascontiguousarray(new.x, dtype=points.dtype))

    def __len__(self) -> int:
        return len(self.own)

    def __getitem__(self, chosen: slice | IntArray) -> Self:
        new = None if self.new is None else self.new[chosen]
        return replace(self, own=self.own[chosen], new=new)

    def blocks(self, block_size: int) -> list[Self]:
        """The queries in blocks, in their order."""
        return [self[rows] for rows in blocks_of_rows(len(self), block_size)]

    def needed(self, *others: IntArray) -> IntArray:
        """The points that are queries, and the others given, each once, in rising order."""
        return unique_indices(self.own[self.own >= 0], *others)

    def vectors(self, rows: Rows) -> NDArray[np.floating]:
        """One unit vector per query, given the points that are :meth:`needed`."""
        return rows.x[rows.places(self.own)] if self.new is None else self.new


def unique_indices(*indices: IntArray) -> IntArray:
    """All given indices, each once, in rising order; faster than sorting them.

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
