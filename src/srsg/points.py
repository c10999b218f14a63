"""The points: every sample scaled to unit l2 norm, as the paper has it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Self

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from srsg.types import IntArray, Matrix

BLOCK_SIZE = 256
"""Points scanned at once by default."""


@dataclass(frozen=True)
class Points:
    """Unit-norm points, one a row; the paper's X is the transpose.

    Examples
    --------
    >>> from srsg.points import unit_points
    >>> unit_points([[3.0, 4.0], [0.0, 2.0]]).x
    array([[0.6, 0.8],
           [0. , 1. ]])
    """

    x: NDArray[np.floating]

    @property
    def n(self) -> int:
        return len(self.x)

    @cached_property
    def x32(self) -> NDArray[np.float32]:
        """The points in the precision that looks for candidates; float64 decides on them."""
        return self.x.astype(np.float32, copy=False)

    @property
    def correlation_error(self) -> float:
        """Bound on the rounding of a float32 inner product of unit vectors."""
        return (self.x.shape[1] + 8) * 2.0**-24

    def correlations(self, vectors: NDArray[np.floating]) -> NDArray[np.float32]:
        """Inner products of the vectors with every point: one matrix product."""
        return vectors.astype(np.float32) @ self.x32.T


@dataclass(frozen=True)
class Queries:
    """What is coded, and the points it is coded over.

    Attributes
    ----------
    points : Points
        The points that codes may use.
    x : ndarray of shape (n_queries, n_features)
        What is coded, one unit vector a row.
    own : ndarray of shape (n_queries,)
        The one point that a query may not use, itself; -1 for a new point, which may use all.
    """

    points: Points
    x: NDArray[np.floating]
    own: IntArray

    @classmethod
    def of(cls, points: Points, new: Points | None = None) -> Self:
        """New points over all points or, without any, the points each over all others."""
        if new is None:
            return cls(points, points.x, np.arange(points.n))
        x = np.ascontiguousarray(new.x, dtype=points.x.dtype)
        return cls(points, x, np.full(new.n, -1))

    def __len__(self) -> int:
        return len(self.x)

    def __getitem__(self, rows: IntArray) -> Self:
        return replace(self, x=self.x[rows], own=self.own[rows])


def unit_points(X: Matrix) -> Points:
    """Scale every row to unit l2 norm.

    Raises
    ------
    ValueError
        If a row is zero, or so small that its norm is: it has no direction.
    """
    dense = as_dense(X)
    if dense.dtype != np.float32:
        dense = dense.astype(np.float64, copy=False)
    dense = np.ascontiguousarray(dense)  # in another order the sums below have other bits
    # Scaling by the largest entry first keeps the norm of huge and tiny rows finite.
    largest = np.abs(dense).max(axis=1, keepdims=True)
    zero = np.flatnonzero(largest == 0)
    if zero.size:
        raise ValueError(
            f"X has {zero.size} row(s) of zeros, which have no direction: rows "
            f"{name_rows(zero)}. Remove them before clustering."
        )
    scaled = dense / largest
    scaled /= np.linalg.norm(scaled, axis=1, keepdims=True)
    return Points(scaled)


def blocks_of_rows(n_points: int, block_size: int) -> list[IntArray]:
    """The rows 0..n-1 in blocks."""
    return np.split(np.arange(n_points), range(block_size, n_points, block_size))


def as_dense(X: Matrix) -> NDArray:
    """An array of the same values."""
    return X.toarray() if sparse.issparse(X) else np.asarray(X)


def name_rows(rows: NDArray[np.intp], most: int = 10) -> str:
    """The first few row numbers, for an error message."""
    shown = ", ".join(str(row) for row in rows[:most])
    return shown if rows.size <= most else f"{shown}, ..."
