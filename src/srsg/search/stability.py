"""How stable the labels of each candidate are, and how far the candidates agree with each other.

*Stability*: labels of two samples of the points, compared on the points in both, and labels of two
halves of the features. A graph that fits the data finds the same clusters again; one that does not
finds others every time. *Consensus*: labels of different candidates on the same sample. Some
methods are stable by nature, K-means for one: they cut any data in the same way again and again.
Clusters that several different methods find are more than the habit of one.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from srsg.metrics import adjusted_mutual_info
from srsg.types import FloatArray, IntArray

MAX_POINTS = 3000
"""Samples are drawn from at most this many points: more would cost more and tell hardly more."""

Labels = NDArray[np.intp]
"""Labels of a sample, one column for each number of clusters."""


class Sample(NamedTuple):
    """Part of the data, in rising order: some points, or a half of the features."""

    rows: IntArray
    columns: IntArray | None = None
    """None means all columns."""

    def of(self, X: Any) -> Any:
        """The sample itself."""
        return X[self.rows] if self.columns is None else X[self.rows][:, self.columns]


Rounds = tuple[list[Sample], list[Sample]]
"""Samples, and more of them in case the scores of the first are close."""


def draw_rounds(
    shape: tuple[int, int], n_resamples: int, halve: bool, rng: np.random.RandomState
) -> Rounds:
    """Draw samples for two rounds.

    With many features, samples keep most of the points, since few points thin out curved clusters,
    and halves of the features vary instead. The columns of a table cannot be halved: one of them
    may be all that tells two clusters apart. Its samples vary more instead.

    Parameters
    ----------
    shape : tuple of int
        Numbers of points and features.
    n_resamples : int
        Samples of the points per round; one more for tables.
    halve : bool
        Whether to draw halves of the features, too.
    rng : RandomState

    Returns
    -------
    first, second : list of Sample
        Samples of the points, then halves of the features: those of a pair follow each other.

    Examples
    --------
    >>> import numpy as np
    >>> from srsg.search.stability import draw_rounds
    >>> first, second = draw_rounds((10, 4), 2, True, np.random.RandomState(0))
    >>> [sample.of(np.zeros((10, 4))).shape for sample in first]
    [(9, 4), (9, 4), (10, 2), (10, 2)]
    """
    share, n_samples, n_halves = 0.7, n_resamples + 1, 0
    if halve:
        share, n_samples, n_halves = 0.9, n_resamples, 2 * max(1, n_resamples // 2)

    def some(rows: IntArray, count: int) -> IntArray:
        return np.sort(rng.choice(rows, count, replace=False))

    base = some(np.arange(shape[0]), min(shape[0], MAX_POINTS))
    points = [Sample(some(base, round(share * len(base)))) for _ in range(2 * n_samples)]
    halves: list[Sample] = []
    while len(halves) < 2 * n_halves:
        pair = np.split(rng.permutation(shape[1]), [shape[1] // 2])
        halves += [Sample(base, np.sort(half)) for half in pair]
    return points[:n_samples] + halves[:n_halves], points[n_samples:] + halves[n_halves:]


class Scores(NamedTuple):
    """The scores of all candidates, in their order.

    Attributes
    ----------
    points, features, consensus : ndarray of shape (n_candidates,)
        Stability between samples of the points, between halves of the features (NaN without any),
        and agreement with the other candidates.
    """

    points: FloatArray
    features: FloatArray
    consensus: FloatArray

    @property
    def total(self) -> FloatArray:
        """The sum, by which candidates are ranked."""
        return self.points + np.nan_to_num(self.features) + self.consensus

    def table(self) -> dict[str, list[float]]:
        """The columns of a table with one row per candidate."""
        order = np.argsort(-self.total, kind="stable")
        return {
            "stability_points": self.points.tolist(),
            "stability_features": self.features.tolist(),
            "consensus": self.consensus.tolist(),
            "score": self.total.tolist(),
            "rank": (np.argsort(order) + 1).tolist(),
        }


def scores_of(labels: Sequence[Sequence[Labels]], samples: Sequence[Sample]) -> Scores:
    """Stability and consensus: means over the numbers of clusters.

    Parameters
    ----------
    labels : sequence of sequences of ndarray
        Labels of every candidate for every sample.
    samples : sequence of Sample
        As :func:`draw_rounds` returns them.
    """
    points = [place for place, sample in enumerate(samples) if sample.columns is None]
    halves = [place for place, sample in enumerate(samples) if sample.columns is not None]
    rows = [samples[place].rows for place in points]
    on_points = [[fits[place] for place in points] for fits in labels]
    on_halves = [[fits[place] for place in halves] for fits in labels]
    features = np.full((1, len(labels)), np.nan)
    if halves:
        features = np.stack([stability_of_features(fits) for fits in on_halves], axis=1)
    stability = np.stack([stability_of_points(fits, rows) for fits in on_points], axis=1)
    by_count = stability, features, consensus(on_points)
    return Scores(*(score.mean(axis=0) for score in by_count))


def stability_of_points(labels: Sequence[Labels], samples: Sequence[IntArray]) -> FloatArray:
    """Mean agreement of the labels of two samples on their common points, per number of clusters.

    Examples
    --------
    >>> import numpy as np
    >>> from srsg.search.stability import stability_of_points
    >>> samples = [np.arange(40), np.arange(20, 60)]
    >>> labels = [np.arange(40) % 2, 1 - np.arange(20, 60) % 2]
    >>> stability_of_points([column[:, None] for column in labels], samples)
    array([1.])
    """
    agreements = []
    for a, b in combinations(range(len(samples)), 2):
        _, in_a, in_b = np.intersect1d(samples[a], samples[b], return_indices=True)
        agreements.append(_agreement(labels[a][in_a], labels[b][in_b]))
    return np.column_stack(agreements).mean(axis=1)


def stability_of_features(labels: Sequence[Labels]) -> FloatArray:
    """Mean agreement of the labels of two halves of the features, per number of clusters."""
    pairs = zip(labels[::2], labels[1::2], strict=True)
    return np.column_stack([_agreement(*pair) for pair in pairs]).mean(axis=1)


def consensus(candidates: Sequence[Sequence[Labels]]) -> FloatArray:
    """Mean agreement of each candidate with the others on the same samples.

    Returns
    -------
    ndarray of shape (n_counts, n_candidates)
    """
    n_candidates = len(candidates)
    agreement = np.zeros((candidates[0][0].shape[1], n_candidates, n_candidates))
    for a, b in combinations(range(n_candidates), 2):
        pairs = zip(candidates[a], candidates[b], strict=True)
        mean = np.column_stack([_agreement(*pair) for pair in pairs]).mean(axis=1)
        agreement[:, a, b] = agreement[:, b, a] = mean
    return agreement.sum(axis=2) / max(n_candidates - 1, 1)


def _agreement(first: Labels, second: Labels) -> FloatArray:
    """Agreement of two labellings, for each number of clusters."""
    columns = zip(first.T, second.T, strict=True)
    return np.array([adjusted_mutual_info(*pair) for pair in columns])
