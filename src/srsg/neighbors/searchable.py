"""Nearest neighbours among points of any length."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np

from srsg.kernels.correlations import ScanBounds, SortedLists, nearest
from srsg.types import FloatArray, IntArray


@dataclass(frozen=True)
class Searchable:
    """Points of any length, and what is needed to find the nearest by a matrix product.

    The nearer ``x_j`` is to ``x``, the larger is ``x' x_j - ||x_j||^2 / 2``. Its rounding error is
    smallest where the mean of the points is zero, so they are centred first.

    Examples
    --------
    >>> import numpy as np
    >>> from srsg.neighbors import Searchable
    >>> line = Searchable.of(np.array([[0.0], [1.0], [5.0]]))
    >>> line.nearest(np.array([[4.0]]), np.array([-1]), 2)
    array([[2, 1]])
    """

    x: FloatArray
    mean: FloatArray
    centered: FloatArray
    half_power: FloatArray

    @classmethod
    def of(cls, x: FloatArray) -> Self:
        mean = x.mean(axis=0)
        centered = x - mean
        return cls(x, mean, centered, (centered**2).sum(axis=1) / 2)

    def nearest(self, targets: FloatArray, own: IntArray, n_neighbors: int) -> IntArray:
        """Nearest first, ties by index: float64 distances decide what the product leaves open.

        ``own`` is the index of each target among the points, or -1.
        """
        centered = targets - self.mean
        nearness = centered @ self.centered.T - self.half_power
        power = max(self.half_power.max(), (centered**2).sum(axis=1).max() / 2)
        # Sums over the features, each product at most the largest power.
        error = float(np.finfo(float).eps * 2 * (self.x.shape[1] + 8) * power)
        found = SortedLists.empty(len(targets), n_neighbors)
        if n_neighbors:
            nearest(self.x, targets, own, nearness, ScanBounds(0, 0.0, error), found)
        return found.index
