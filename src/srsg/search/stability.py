"""How stable the labels of each candidate are, and how far the candidates agree with each other.

*Stability*: labels of two samples of the points, compared on the points in both, and labels of all
points and of two halves of the features. A graph that fits the data finds the same clusters again;
one that does not finds others every time. *Consensus*, for tables: labels of different candidates
on the same sample. Some methods are stable by nature, K-means for one: they cut any data in the
same way again and again. Clusters that several different methods find are more than the habit of
one.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from srsg.counting.stability import stability
from srsg.metrics import adjusted_mutual_info
from srsg.types import FloatArray, IntArray

MAX_POINTS = 3000
"""Samples are drawn from at most this many points: more would cost more and tell hardly more."""

NEARLY_ALL = 0.95
"""A candidate with this share of the points, or more, in one cluster scores nothing."""

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
    shape: tuple[int, int],
    n_resamples: int,
    rng: np.random.RandomState,
    *,
    table: bool,
    halve: bool = True,
) -> Rounds:
    """Draw samples for two rounds.

    With many features, the labels of all points are compared with those of samples and of halves of
    the features. The columns of a table cannot be halved: one of them may be all that tells two
    clusters apart. Its samples vary more instead, and are drawn twice if the scores are close.

    Parameters
    ----------
    shape : tuple of int
        Numbers of points and features.
    n_resamples : int
        Samples of the points per round, and halves of the features; one more sample for tables.
    rng : RandomState
    table : bool
        Whether the features are the columns of a table.
    halve : bool
        Whether to halve many features. Halves of sparse ones share hardly anything.

    Returns
    -------
    first, second : list of Sample
        With many features, all points come first; a second round is not needed.

    Examples
    --------
    >>> import numpy as np
    >>> from srsg.search.stability import draw_rounds
    >>> first, _ = draw_rounds((8, 4), 2, np.random.RandomState(0), table=False)
    >>> [sample.of(np.zeros((8, 4))).shape for sample in first]
    [(8, 4), (6, 4), (6, 4), (8, 2), (8, 2)]
    """

    def some(rows: IntArray, count: int) -> IntArray:
        return np.sort(rng.choice(rows, count, replace=False))

    base = some(np.arange(shape[0]), min(shape[0], MAX_POINTS))
    if table:
        n_samples = n_resamples + 1
        points = [Sample(some(base, round(0.7 * len(base)))) for _ in range(2 * n_samples)]
        return points[:n_samples], points[n_samples:]
    points = [Sample(some(base, round(0.75 * len(base)))) for _ in range(n_resamples)]
    halves: list[Sample] = []
    while halve and len(halves) < n_resamples:
        pair = np.split(rng.permutation(shape[1]), [shape[1] // 2])
        halves += [Sample(base, np.sort(half)) for half in pair]
    return [Sample(base), *points, *halves], []


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
        return np.nansum(self, axis=0)

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


def scores_of(
    labels: Sequence[Sequence[Labels]], samples: Sequence[Sample], own: Sequence[int] | None = None
) -> Scores:
    """Stability and, for tables, consensus.

    Parameters
    ----------
    labels : sequence of sequences of ndarray
        Labels of every candidate for every sample.
    samples : sequence of Sample
        As :func:`draw_rounds` returns them.
    own : sequence of int, optional
        For many features: which number of clusters, by its place, is the candidate's own. For
        tables the scores are means over all numbers.
    """
    rows = [sample.rows for sample in samples]
    points = [place for place, sample in enumerate(samples) if sample.columns is None]
    halves = [place for place, sample in enumerate(samples) if sample.columns is not None]

    def stability_on(places: Sequence[int]) -> FloatArray:
        chosen = [rows[place] for place in places]
        fits = ([candidate[place] for place in places] for candidate in labels)
        return np.stack([stability_of(own_fits, chosen) for own_fits in fits], axis=1)

    if own is None:
        on_points = [[candidate[place] for place in points] for candidate in labels]
        by_count = stability_on(points), np.full((1, len(labels)), np.nan), consensus(on_points)
        return Scores(*(score.mean(axis=0) for score in by_count))
    # Consensus would let relatives outvote a stranger.
    nothing, places = np.full(len(labels), np.nan), np.arange(len(labels))
    # Nearly all points in one cluster, and a few outliers found again, are no answer.
    answer = [
        _largest_share(fits[0][:, place]) < NEARLY_ALL
        for fits, place in zip(labels, own, strict=True)
    ]
    features = stability_on([0, *halves])[own, places] * answer if halves else nothing
    return Scores(stability_on(points)[own, places] * answer, features, nothing)


def _largest_share(labels: NDArray[np.intp]) -> float:
    """The share of the points that are in the largest cluster."""
    return float(np.bincount(labels).max()) / len(labels)


def stability_of(labels: Sequence[Labels], samples: Sequence[IntArray]) -> FloatArray:
    """The stability of the labels of a candidate, for each number of clusters.

    Examples
    --------
    >>> import numpy as np
    >>> from srsg.search.stability import stability_of
    >>> samples = [np.arange(40), np.arange(20, 60)]
    >>> labels = [np.arange(40) % 2, 1 - np.arange(20, 60) % 2]
    >>> stability_of([column[:, None] for column in labels], samples)
    array([1.])
    """
    columns = zip(*(part.T for part in labels), strict=True)
    return np.array([stability(column, samples) for column in columns])


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
