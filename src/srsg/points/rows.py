"""Some of the points: blocks of rows, points named by index, and what is coded over which."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Self

import numpy as np
from numpy.typing import NDArray

from srsg.types import IntArray

if TYPE_CHECKING:
    from srsg.points.unit import Points


BLOCK_SIZE = 256
"""Points scanned at once by default."""


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
    """Which points they are, in rising order; None: all."""

    def places(self, index: IntArray) -> IntArray:
        """The rows of ``x`` that hold these points. They are in the order of the indices."""
        return index if self.index is None else np.searchsorted(self.index, index)


@dataclass(frozen=True)
class Queries:
    """What is coded, and the points it is coded over.

    Attributes
    ----------
    points : Points
        The points that codes may use.
    own : ndarray of shape (n_queries,)
        The one point that a query may not use, itself; -1 for a new point, which may use all.
    new : ndarray of shape (n_queries, n_features) or None
        New points, one unit vector a row.
    """

    points: Points
    own: IntArray
    new: NDArray[np.floating] | None = None

    @classmethod
    def of(cls, points: Points, new: Points | None = None) -> Self:
        """New points over all points or, without any, the points each over all others."""
        if new is None:
            return cls(points, np.arange(points.n))
        x = np.ascontiguousarray(new.x, dtype=points.dtype)
        return cls(points, np.full(new.n, -1), x)

    def __len__(self) -> int:
        return len(self.own)

    def __getitem__(self, rows: IntArray) -> Self:
        return replace(self, own=self.own[rows], new=None if self.new is None else self.new[rows])

    @property
    def x(self) -> NDArray[np.floating]:
        """What is coded, one unit vector a row."""
        return self.points.x[self.own] if self.new is None else self.new


def distinct(*indices: IntArray) -> IntArray:
    """The points that are named, each once, in rising order; quicker than sorting them.

    Examples
    --------
    >>> import numpy as np
    >>> from srsg.points import distinct
    >>> distinct(np.array([5, 2]), np.array([2, 0]))
    array([0, 2, 5])
    """
    named = np.zeros(1 + max(int(index.max(initial=-1)) for index in indices), bool)
    for index in indices:
        named[index] = True
    return np.flatnonzero(named)


def row_slices(n_rows: int, length: int = 1024) -> list[slice]:
    """The rows 0..n-1 in slices, which copy nothing."""
    return [slice(start, start + length) for start in range(0, n_rows, length)]


def blocks_of_rows(n_points: int, block_size: int) -> list[IntArray]:
    """The rows 0..n-1 in blocks."""
    return np.split(np.arange(n_points), range(block_size, n_points, block_size))


def name_rows(rows: NDArray[np.intp], most: int = 10) -> str:
    """The first few row numbers, for an error message."""
    shown = ", ".join(str(row) for row in rows[:most])
    return shown if rows.size <= most else f"{shown}, ..."
