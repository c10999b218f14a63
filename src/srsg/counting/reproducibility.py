"""How many clusters are found again in other points: the evidence for a number of clusters.

Two disjoint halves of the points are clustered apart. The graph of all points carries the labels
of each half over to the other, where they are compared with its own labels. A real cluster is found
twice.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Self

import numpy as np
from numpy.typing import NDArray

from srsg.cutting.affinity import cluster_weights
from srsg.types import FloatArray, Graph, IntArray, NClusters

DENSE_UP_TO = 12
"""Up to here every number of clusters is tried."""

GROWTH = 1.08
"""Beyond, each number tried is this many times the one before: scores change slowly there."""

MOST_CLUSTERS = 130
"""The most clusters: nobody would look at more, and eigenvectors cost time."""

POINTS_PER_CLUSTER = 5
"""Points that a cluster needs in each half, on average, to be found again."""

APART = 1.25
"""Numbers of clusters that differ by this factor or more are clearly different."""

CLEAR = 0.8
"""A number is sure if clearly different ones have at most this share of its score. On 29 sets with
many features the best other one had .86 of it and more, and up to .93 only where the number was
within 20 % of the truth: it takes clusters that lie well apart to be sure."""

FOUND_AGAIN = 0.9
"""Where clusters found again are counted, nearly all of them must be for the number to be sure. On
ten tables the shares of numbers that are right or may be so, as 2 of iris, are .97 and more; of
others, at most .79."""


@dataclass(frozen=True)
class OtherCount:
    """Another number of clusters that the data may have.

    Attributes
    ----------
    n_clusters : int
    score : float
        Its evidence, beside that of the number chosen.
    labels : ndarray of shape (n,)
        Labels in this number of clusters.
    parts : dict
        Where one clustering has one cluster and the other several: from the cluster of the coarser
        one to those of the finer one that lie mostly in it. The coarser one has fewer clusters.
    """

    n_clusters: int
    score: float
    labels: NDArray[np.intp]
    parts: dict[int, list[int]]

    @classmethod
    def of(cls, score: float, labels: NDArray[np.intp], chosen: NDArray[np.intp]) -> Self:
        """Compare the labels in another number of clusters with those chosen.

        Examples
        --------
        >>> import numpy as np
        >>> from srsg.counting.reproducibility import OtherCount
        >>> chosen = np.array([0, 0, 1, 1, 2, 2])
        >>> OtherCount.of(0.5, np.array([0, 0, 1, 1, 1, 1]), chosen).parts
        {1: [1, 2]}
        """
        n_other, n_chosen = int(labels.max()) + 1, int(chosen.max()) + 1
        coarse, fine = (labels, chosen) if n_other < n_chosen else (chosen, labels)
        shared = np.zeros((fine.max() + 1, coarse.max() + 1), np.int64)
        np.add.at(shared, (fine, coarse), 1)
        home = shared.argmax(axis=1)
        members = {int(cluster): np.flatnonzero(home == cluster).tolist() for cluster in home}
        parts = {each: members[each] for each in sorted(members) if len(members[each]) > 1}
        return cls(n_other, score, labels, parts)


@dataclass(frozen=True)
class ScoredCounts:
    """Numbers of clusters and their scores.

    Attributes
    ----------
    n_clusters : int
        The number chosen.
    counts : ndarray of shape (n_counts,)
        The numbers tried, in rising order.
    scores : ndarray of shape (n_counts,)
        Clusters found again less clusters dissolved, for each number.
    structure_found : bool
        Whether more clusters were found again than dissolved, for at least one of the numbers.
    by_cluster : bool
        Whether scores count clusters, and not shares of agreement.

    Examples
    --------
    >>> import numpy as np
    >>> from srsg.counting.reproducibility import ScoredCounts
    >>> tried = ScoredCounts(3, np.array([2, 3, 4]), np.array([1.2, 2.7, 1.9]), True)
    >>> tried.best(2)
    [3, 4]
    """

    n_clusters: int
    counts: IntArray
    scores: FloatArray
    structure_found: bool
    by_cluster: bool = False

    @classmethod
    def of(cls, counts: Sequence[int], scores: FloatArray) -> Self:
        """The number with the largest score, the smallest of equal ones."""
        chosen = counts[int(np.argmax(scores))]
        return cls(chosen, np.array(counts, dtype=np.int64), scores, bool(scores.max() > 0))

    @classmethod
    def given(cls, n_clusters: int) -> Self:
        """A number that nobody counted."""
        return cls(n_clusters, np.array([n_clusters]), np.full(1, np.nan), False)

    def within(self, wanted: NClusters) -> Self:
        """The same, limited to the numbers in a range, if one is wanted.

        Examples
        --------
        >>> import numpy as np
        >>> from srsg.counting.reproducibility import ScoredCounts
        >>> tried = ScoredCounts(2, np.array([2, 3, 4]), np.array([0.9, 0.7, 0.8]), True)
        >>> tried.within((3, 6)).n_clusters, tried.within("auto").n_clusters
        (4, 2)
        """
        if not isinstance(wanted, tuple):
            return self
        inside = (self.counts >= wanted[0]) & (self.counts <= wanted[1])
        if not inside.any():  # the nearer end: nothing speaks for another number
            nearest = np.clip([self.n_clusters], *wanted)
            return replace(self, n_clusters=int(nearest[0]), counts=nearest, scores=np.zeros(1))
        counts, scores = self.counts[inside], self.scores[inside]
        chosen = self.n_clusters if self.n_clusters in counts else int(counts[scores.argmax()])
        return replace(self, n_clusters=chosen, counts=counts, scores=scores)

    def others(self) -> list[tuple[int, float]]:
        """The best number below and the best above that are clearly different, with their scores.

        Examples
        --------
        >>> import numpy as np
        >>> from srsg.counting.reproducibility import ScoredCounts
        >>> scores = np.array([0.3, 0.8, 0.9, 0.7, 0.2])
        >>> ScoredCounts.of([4, 7, 8, 9, 12], scores).others()
        [(4, 0.3), (12, 0.2)]
        """
        chosen = self.n_clusters
        sides = self.counts * APART <= chosen, self.counts >= APART * chosen
        places = [np.flatnonzero(side) for side in sides if side.any()]
        best = [side[np.argmax(self.scores[side])] for side in places]
        return [(int(self.counts[place]), float(self.scores[place])) for place in best]

    @property
    def sure(self) -> bool:
        """Whether clusters are found again and clearly different numbers have less evidence.

        Examples
        --------
        >>> import numpy as np
        >>> from srsg.counting.reproducibility import ScoredCounts
        >>> [ScoredCounts(3, np.array([3, 5]), np.array([score, 0.1]), True, True).sure
        ...  for score in (2.9, 2.1)]
        [True, False]
        """
        own = self.scores[self.counts == self.n_clusters].max(initial=0.0)
        least = FOUND_AGAIN * self.n_clusters if self.by_cluster else 0.0
        clear = all(score <= CLEAR * own for _, score in self.others())
        return bool(own > 0 and own >= least and clear)

    def best(self, n_best: int) -> list[int]:
        """The chosen number, then those with the largest scores, smaller ones first in a tie."""
        order = np.argsort(-self.scores, kind="stable")
        ranked = [self.n_clusters, *self.counts[order].tolist()]
        return list(dict.fromkeys(ranked))[:n_best]  # each number once


def carry_labels(weights: Graph, labels: IntArray, n_labels: int) -> IntArray:
    """Labels of points by their edges to labelled points: the label with the most weight.

    Parameters
    ----------
    weights : csr_array or ndarray of shape (n_points, n_labelled)
        The edges from the points to the labelled ones.
    labels : ndarray of shape (n_labelled,)
        From 0 to ``n_labels - 1``.
    n_labels : int
        Number of labels.

    Returns
    -------
    ndarray of shape (n_points,)
        -1 for points without an edge.

    Examples
    --------
    >>> import numpy as np
    >>> from srsg.counting.reproducibility import carry_labels
    >>> weights = np.array([[0.5, 0.4, 0.3], [0.0, 0.0, 1.0], [0.0, 0.0, 0.0]])
    >>> carry_labels(weights, np.array([0, 1, 1]), 2)
    array([ 1,  1, -1])
    """
    votes = cluster_weights(weights, labels, n_labels)
    return np.where(votes.max(axis=1) > 0, votes.argmax(axis=1), -1)


def best_jaccard(first: NDArray, second: NDArray) -> tuple[FloatArray, FloatArray]:
    """For each cluster of two labellings, the Jaccard index with the nearest one of the other.

    The Jaccard index of two sets is the share of their union that is in both.

    Examples
    --------
    >>> import numpy as np
    >>> from srsg.counting.reproducibility import best_jaccard
    >>> best_jaccard(np.array([0, 0, 1, 1]), np.array([5, 5, 5, 7]))
    (array([0.66666667, 0.5       ]), array([0.66666667, 0.5       ]))
    """
    own = np.unique(first, return_inverse=True)[1]
    other = np.unique(second, return_inverse=True)[1]
    shape = (own.max(initial=-1) + 1, other.max(initial=-1) + 1)
    # Every pair of labels has a place of its own in one long count.
    both = np.bincount(own * shape[1] + other, minlength=shape[0] * shape[1]).reshape(shape)
    either = both.sum(axis=1, keepdims=True) + both.sum(axis=0) - both
    index = both / either
    return index.max(axis=1, initial=0.0), index.max(axis=0, initial=0.0)


def reproducibility_score(carried: IntArray, own: IntArray) -> float:
    """Clusters found again less clusters dissolved, of labels carried over and a half's own.

    A cluster counts ``2 J - 1``, with J its best Jaccard index with a cluster of the other
    labelling: 1 if it is found again exactly, -1 if nothing of it is. Below J = 1/2 a cluster is
    called dissolved (Hennig 2007), and counts against the number of clusters. So a sum over
    clusters, unlike a mean, prefers five clusters that are found again to two, and yet does not
    grow when good clusters are split at random.

    Parameters
    ----------
    carried : ndarray of shape (n,)
        Labels from the other half; points with -1 are left out.
    own : ndarray of shape (n,)
        The labels of the half itself.

    Returns
    -------
    float
        From minus to plus the number of clusters, the mean over both labellings.

    References
    ----------
    C. Hennig. Cluster-wise assessment of cluster stability. Computational Statistics & Data
    Analysis 52, 2007.

    Examples
    --------
    >>> import numpy as np
    >>> from srsg.counting.reproducibility import reproducibility_score
    >>> reproducibility_score(np.array([1, 1, 0, 0, -1]), np.array([0, 0, 1, 1, 1]))
    2.0
    """
    reached = carried >= 0
    ours, theirs = best_jaccard(carried[reached], own[reached])
    return float((2 * ours - 1).sum() + (2 * theirs - 1).sum()) / 2


def counts_to_try(n_half: int, least: int = 2, dense_up_to: int = DENSE_UP_TO) -> list[int]:
    """Numbers of clusters to try: all small ones, then in steps of 8 per cent.

    Parameters
    ----------
    n_half : int
        Points that are clustered, half of all.
    least : int
        The smallest number.
    dense_up_to : int
        Up to here every number is tried.

    Returns
    -------
    list of int
        Empty if there are too few points for ``least`` clusters.

    Examples
    --------
    >>> from srsg.counting.reproducibility import counts_to_try
    >>> counts_to_try(80)
    [2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16]
    >>> counts_to_try(80, least=13)
    [13, 14, 15, 16]
    """
    most = int(min(n_half / POINTS_PER_CLUSTER, 3 * np.sqrt(n_half), MOST_CLUSTERS))
    counts, count = [], max(least, 2)
    while count <= most:
        counts.append(count)
        count = count + 1 if count < dense_up_to else max(count + 1, round(GROWTH * count))
    return counts


def search_counts(score: Callable[[int], float], counts: Sequence[int]) -> ScoredCounts:
    """Score the numbers of clusters in rising order, then all between the best's neighbours.

    It stops early where larger numbers cannot be expected to win: beyond three times the best
    number, if that has more than one cluster to its credit and the score fell below half of it.

    Parameters
    ----------
    score : function
        From a number of clusters to its score.
    counts : sequence of int
        Numbers to try, at least one, in rising order.

    Returns
    -------
    ScoredCounts

    Examples
    --------
    >>> from srsg.counting.reproducibility import search_counts
    >>> tried = search_counts(lambda count: 17 - abs(count - 17), [2, 8, 12, 16, 20, 60, 90])
    >>> tried.n_clusters, tried.counts.tolist()
    (17, [2, 8, 12, 13, 14, 15, 16, 17, 18, 19, 20, 60])
    """
    scores: dict[int, float] = {}
    best = counts[0]
    for count in counts:
        scores[count] = score(count)
        if scores[count] > scores[best]:
            best = count
        if count > 3 * best and scores[best] > 1 and scores[count] < scores[best] / 2:
            break
    scores |= {count: score(count) for count in untried_near(best, list(scores))}
    tried = sorted(scores)
    return ScoredCounts.of(tried, np.array([scores[count] for count in tried]))


def untried_near(best: int, tried: Sequence[int]) -> list[int]:
    """The numbers between the neighbours of the best that were not tried yet.

    Examples
    --------
    >>> from srsg.counting.reproducibility import untried_near
    >>> untried_near(8, [2, 5, 8, 10])
    [6, 7, 9]
    """
    place = tried.index(best)
    low, high = tried[max(place - 1, 0)], tried[min(place + 1, len(tried) - 1)]
    return [count for count in range(low, high) if count not in tried]


def effective_number(sizes: IntArray) -> float:
    """How many sets of equal size these sizes amount to, ``(sum s)^2 / sum s^2``.

    Small sets beside a large one count for little.

    Examples
    --------
    >>> import numpy as np
    >>> from srsg.counting.reproducibility import effective_number
    >>> effective_number(np.array([50, 50])), round(effective_number(np.array([97, 3])), 2)
    (2.0, 1.06)
    """
    return float(sizes.sum() ** 2 / (sizes**2).sum())
