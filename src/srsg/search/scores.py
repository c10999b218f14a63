"""How stable the labels of each candidate are, and how far candidates agree with each other.

*Stability*: labels of two samples of the points, compared on the points that both have, and labels
of two halves of the features. A graph that fits the data finds the same clusters again; one that
does not finds others every time. *Consensus*: labels of different candidates on the same sample.
Some methods are stable by nature, K-means for one: they cut any data in the same way again and
again. What several different methods find is more than the habit of one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from srsg.metrics import adjusted_mutual_info
from srsg.search.resampling import Resamples
from srsg.types import FloatArray, IntArray


@dataclass(frozen=True)
class SampleLabels:
    """Labels that one candidate gave for one number of clusters.

    Attributes
    ----------
    points : list of ndarray
        One labelling per sample of the points.
    halves : list of pairs of ndarray
        Two labellings per pair of halves of the features.
    """

    points: list[NDArray[np.intp]]
    halves: list[tuple[NDArray[np.intp], NDArray[np.intp]]]

    def with_more(self, others: SampleLabels) -> SampleLabels:
        """These labels and those of further samples."""
        return SampleLabels(self.points + others.points, self.halves + others.halves)


def stability_of_points(labels: SampleLabels, samples: Sequence[IntArray]) -> float:
    """Mean agreement of the labels of two samples, on the points that both have.

    Examples
    --------
    >>> import numpy as np
    >>> from srsg.search.scores import SampleLabels, stability_of_points
    >>> samples = [np.arange(40), np.arange(20, 60)]
    >>> labels = SampleLabels([np.arange(40) % 2, 1 - np.arange(20, 60) % 2], [])
    >>> stability_of_points(labels, samples)
    1.0
    """
    agreements = []
    for a, b in combinations(range(len(samples)), 2):
        _, in_a, in_b = np.intersect1d(samples[a], samples[b], return_indices=True)
        agreements.append(adjusted_mutual_info(labels.points[a][in_a], labels.points[b][in_b]))
    return float(np.mean(agreements))


def stability_of_features(labels: SampleLabels) -> float:
    """Mean agreement of the labels of two halves of the features."""
    return float(np.mean([adjusted_mutual_info(*pair) for pair in labels.halves]))


def consensus(candidates: Sequence[SampleLabels]) -> FloatArray:
    """Of every candidate: its mean agreement with the others, on the same samples."""
    if len(candidates) == 1:
        return np.zeros(1)
    agreement = np.zeros((len(candidates), len(candidates)))
    for a, b in combinations(range(len(candidates)), 2):
        pairs = zip(candidates[a].points, candidates[b].points, strict=True)
        agreement[a, b] = agreement[b, a] = np.mean([adjusted_mutual_info(*pair) for pair in pairs])
    return agreement.sum(axis=1) / (len(candidates) - 1)


@dataclass(frozen=True)
class Scores:
    """The scores of all candidates, in their order.

    Attributes
    ----------
    points, features, consensus : ndarray of shape (n_candidates,)
        ``features`` is NaN where there were no halves.
    total : ndarray of shape (n_candidates,)
        What they are ranked by: the sum.
    """

    points: FloatArray
    features: FloatArray
    consensus: FloatArray

    @property
    def total(self) -> FloatArray:
        return self.points + np.nan_to_num(self.features) + self.consensus

    @property
    def gap(self) -> float:
        """From the best to the second; infinite without another candidate."""
        best = np.sort(self.total)
        return float(best[-1] - best[-2]) if len(best) > 1 else np.inf


def score_candidates(candidates: Sequence[SampleLabels], resamples: Resamples) -> Scores:
    """Stability and consensus of all candidates."""
    points = [stability_of_points(each, resamples.points) for each in candidates]
    features = [stability_of_features(each) if resamples.halves else np.nan for each in candidates]
    return Scores(np.array(points), np.array(features), consensus(candidates))


def mean_scores(scores: Sequence[Scores]) -> Scores:
    """The means over several numbers of clusters."""
    return Scores(
        np.mean([each.points for each in scores], axis=0),
        np.mean([each.features for each in scores], axis=0),
        np.mean([each.consensus for each in scores], axis=0),
    )
