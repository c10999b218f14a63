"""Samples of points and halves of features, on which a clusterer has to find the same clusters."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from srsg.types import IntArray

MAX_POINTS = 3000
"""Points that samples are drawn from: more of them would cost more and tell hardly more."""


@dataclass(frozen=True)
class Resamples:
    """What the fits of a search see.

    Attributes
    ----------
    points : list of ndarray
        The rows of each sample, in rising order.
    halves : list of pairs of ndarray
        Pairs of disjoint halves of the features, for fits on all of ``base``.
    base : ndarray
        The rows that everything is drawn from: all, or ``MAX_POINTS`` of them.
    """

    points: list[IntArray]
    halves: list[tuple[IntArray, IntArray]]
    base: IntArray

    def rounds(self) -> tuple[Resamples, Resamples]:
        """The first half of the samples and of the pairs, and the rest."""
        n_points, n_halves = len(self.points) // 2, len(self.halves) // 2
        first = Resamples(self.points[:n_points], self.halves[:n_halves], self.base)
        return first, Resamples(self.points[n_points:], self.halves[n_halves:], self.base)

    @property
    def n_fits(self) -> int:
        """Fits that each candidate needs."""
        return len(self.points) + 2 * len(self.halves)


def draw_resamples(
    n_points: int,
    n_features: int,
    n_samples: int,
    share: float,
    n_halves: int,
    random_state: np.random.RandomState,
) -> Resamples:
    """Draw samples with this share of the points each, and pairs of halves of the features.

    Examples
    --------
    >>> import numpy as np
    >>> from srsg.search.resampling import draw_resamples
    >>> drawn = draw_resamples(10, 4, 2, 0.7, 1, np.random.RandomState(0))
    >>> [len(rows) for rows in drawn.points], [len(half) for half in drawn.halves[0]]
    ([7, 7], [2, 2])
    """

    def some(rows: IntArray, count: int) -> IntArray:
        return np.sort(random_state.choice(rows, count, replace=False))

    base = some(np.arange(n_points), min(n_points, MAX_POINTS))
    points = [some(base, round(share * len(base))) for _ in range(n_samples)]
    halves = []
    for _ in range(n_halves):
        order = random_state.permutation(n_features)
        first, second = np.split(order, [n_features // 2])
        halves.append((np.sort(first), np.sort(second)))
    return Resamples(points, halves, base)
