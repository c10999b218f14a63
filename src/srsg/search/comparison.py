"""A comparison of candidates: their numbers of clusters, the stability of their labels."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from numbers import Integral
from typing import Any, NamedTuple

import numpy as np
from sklearn.cluster import KMeans

from srsg.coding.approximate import N_CANDIDATES
from srsg.counting.counts import MAX_SAMPLED_POINTS
from srsg.counting.reproducibility import ScoredCounts
from srsg.estimators import NeighborGraph, RidgeGraph
from srsg.explaining.confidence import confidence
from srsg.explaining.unwrapping import clusterer_of
from srsg.running.config import get_config
from srsg.running.progress import SILENT, Progress, Stage, quietly, send_progress_to
from srsg.search.candidates import Candidates
from srsg.search.fits import (
    CUTS,
    builds_graph,
    cuts_of_graph,
    fresh,
    labels_for_each,
    weight_options,
    with_graph,
)
from srsg.search.sampled import Fitted, Limits, Winner
from srsg.search.stability import Labels, Rounds, Sample, Scores, scores_of
from srsg.types import FloatArray, NClusters
from srsg.weights import of_rows

CLOSE = 0.1
"""If the best two scores are this close, as many samples again are drawn: scores of so few samples
vary by about as much."""

CUT_TIE = 0.05
"""A tree wins if it is worth at most this share less than the cut by eigenvectors, which cost more
the more points there are. From 1 to 6 % left-out families of data decide alike."""

CHEAP, SAMPLE_COSTS, COUNTING_COSTS = (NeighborGraph, RidgeGraph, KMeans), 3, 20
"""For the time left: a fit on a sample counts as one step for what is cheap, as three for others;
to find the number of clusters counts as twenty. Rough means of what was measured on images,
subspaces and tables."""

MANY_POINTS = 30_000
"""Of more points, nearest neighbours come from an index, if faiss is installed: on pictures of 784
features it is then several times as fast as comparing all."""

ENOUGH_FOR_A_MEDIAN = 3
"""So many graphs of a table settle on the median of their numbers: one that is far off has no say.
Of two, each keeps its own number, and the more stable graph decides."""


class Compared(NamedTuple):
    """The result, with an entry for each candidate.

    Attributes
    ----------
    counted : list of ScoredCounts
        Their numbers of clusters.
    scores : Scores
    cuts : list of str or None
        How their graphs are cut.
    models : dict
        Those whose graph of all points was built on the way, by their place.
    """

    counted: list[ScoredCounts]
    scores: Scores
    cuts: list[str | None]
    models: dict[int, Any]


@dataclass(frozen=True)
class Comparison:
    """Candidates on the same points.

    Attributes
    ----------
    candidates : list of (name, estimator)
    X : ndarray or csr_array of shape (n, n_features)
    seed : int
        Random state of candidates that have none.
    progress : Progress
        Told about every step of a candidate.
    whole : Stage
        The progress of the whole comparison.
    both_cuts : bool
        Whether every graph is cut both ways.
    weights : ndarray of shape (n,) or None
        How many times each point counts; None means once.
    """

    candidates: Candidates
    X: Any
    seed: int
    progress: Progress
    whole: Stage
    both_cuts: bool = False
    weights: FloatArray | None = None

    def compared(self, n_clusters: NClusters, rounds: Rounds) -> Compared:
        """Count the clusters of each candidate, and score them."""
        counted, models = self.counted(n_clusters, table=bool(rounds[1]))
        scores, cuts = self.scores([each.n_clusters for each in counted], rounds)
        return Compared(counted, scores, cuts, models)

    def counted(
        self, n_clusters: NClusters, *, table: bool
    ) -> tuple[list[ScoredCounts], dict[int, Any]]:
        """The number of clusters of each candidate, and the graphs of all points built for it."""
        models: dict[int, Any] = {}
        if isinstance(n_clusters, Integral):
            return [ScoredCounts.given(n_clusters)] * len(self.candidates), models
        found: list[ScoredCounts | None] = []
        # More points than samples are drawn from: a cluster needs many to be connected.
        rows = np.arange(self.X.shape[0])
        if len(rows) > MAX_SAMPLED_POINTS:
            drawn = np.random.RandomState(self.seed).choice(rows, MAX_SAMPLED_POINTS, replace=False)
            rows = np.sort(drawn)
        base = self.X[rows]
        for place, (name, candidate) in enumerate(self.candidates):
            counted = None
            with self.progress.stage(f"{name}: number of clusters", 1), quietly():
                if builds_graph(candidate):
                    model = with_graph(candidate, base, self.seed, of_rows(self.weights, rows))
                    counted = clusterer_of(model).count_clusters(random_state=self.seed)
                    counted = counted.within(n_clusters)
                    if len(rows) == self.X.shape[0]:
                        models[place] = model
                    self.whole.advance(COUNTING_COSTS)
            found.append(counted)
        return _settled(found, table=table), models

    def scores(self, own: list[int], rounds: Rounds) -> tuple[Scores, list[str | None]]:
        """The scores of the candidates, given the number of clusters of each, and their cuts.

        The cut of a graph is the one with the larger product of stability and squared modularity,
        as in counting; a tree wins ties, but not for ridge codes. Modularities of different graphs
        cannot be compared.
        """
        if self.both_cuts:
            return self._scores_of_cuts(own, rounds[0])
        return self._scores(own, rounds), [None] * len(own)

    def _scores_of_cuts(
        self, own: list[int], samples: list[Sample]
    ) -> tuple[Scores, list[str | None]]:
        labels: list[list[Labels]] = []
        modular = np.empty((len(CUTS), len(own)))
        for place, (pair, count) in enumerate(zip(self.candidates, own, strict=True)):
            cuts = self._each(*pair, samples, cuts_of_graph, [count])
            labels.append([found for found, _ in cuts])
            modular[:, place] = cuts[0][1]  # that of all points
        by_cut = [scores_of(labels, samples, [cut] * len(own)) for cut in range(len(CUTS))]
        stable = np.array([scores.total for scores in by_cut])
        by_vectors, by_tree = stable * np.maximum(modular, 0.0) ** 2
        # Ridge codes join points from all over a cluster, in which communities find only pieces.
        ridge = [isinstance(clusterer_of(each), RidgeGraph) for _, each in self.candidates]
        chosen = np.where(ridge, 0, by_tree >= (1 - CUT_TIE) * by_vectors)
        parts = [np.choose(chosen, part) for part in zip(*by_cut, strict=True)]
        return Scores(*parts), [CUTS[cut] for cut in chosen]

    def _scores(self, own: list[int], rounds: Rounds) -> Scores:
        counts = sorted(set(own))  # the same for all: labels of more clusters agree less
        first, second = rounds
        labels = [self._each(*pair, first, labels_for_each, counts) for pair in self.candidates]
        if not second:
            return scores_of(labels, first, [counts.index(count) for count in own])
        scores = scores_of(labels, first)
        best = np.sort(scores.total)
        if len(best) == 1 or best[-1] - best[-2] >= CLOSE:
            self.whole.advance(
                len(second) * sum(steps_of_sample(each) for _, each in self.candidates)
            )
            return scores
        # More samples tell more than their number: each is compared with all others.
        more = [self._each(*pair, second, labels_for_each, counts) for pair in self.candidates]
        both = [few + others for few, others in zip(labels, more, strict=True)]
        return scores_of(both, first + second)

    def _each(
        self,
        name: str,
        candidate: Any,
        samples: list[Sample],
        fitted: Callable[..., Any],
        counts: list[int],
    ) -> list[Any]:
        """The fits of a candidate on all samples."""
        fits = []
        with self.progress.stage(f"{name}: samples", len(samples)) as stage, quietly():
            # One sample at a time: all of them would take several times the memory of the points.
            for sample in samples:
                try:
                    weights = of_rows(self.weights, sample.rows)
                    fits.append(fitted(candidate, sample.of(self.X), counts, self.seed, weights))
                except Exception as error:
                    error.add_note(f"Raised by the candidate {name!r} on a sample of the data.")
                    raise
                stage.advance()
                self.whole.advance(steps_of_sample(candidate))
        return fits

    def fitted(
        self,
        place: int,
        counted: ScoredCounts,
        cut: str | None,
        limits: Limits,
        model: Any = None,
        *,
        count_again: bool = False,
    ) -> Fitted:
        """A candidate fitted on all points; ``model`` has their graph, if it was built.

        ``count_again`` lets the tree of all points have the last word where a sample counted: with
        more points, clusters are more distinct.
        """
        name, candidate = self.candidates[place]
        with self.progress.stage(f"{name}: all points", 1):
            if builds_graph(candidate):
                if self.both_cuts and model is None:
                    candidate = self._over_candidates(candidate)
                about = candidate, self.X, counted, cut, self.seed, self.progress, count_again
                return Winner(*about, self.weights).fitted(limits, model)
            options = weight_options(self.weights, candidate)
            with send_progress_to(SILENT):
                model = fresh(candidate, counted.n_clusters, self.seed).fit(self.X, **options)
            labels, sure = clusterer_of(model).labels_, confidence(model, self.X, self.weights)
            return Fitted(model, labels, sure, counted)

    def _over_candidates(self, candidate: Any) -> Any:
        """The candidate, with neighbours from an index if there are very many points.

        Only dense points on threads of this process have an index.
        """
        n_points, clusterer = self.X.shape[0], clusterer_of(candidate)
        possible = isinstance(self.X, np.ndarray) and get_config()["engine"] == "threads"
        if not (possible and isinstance(clusterer, NeighborGraph) and n_points > MANY_POINTS):
            return candidate
        if find_spec("faiss") is None:
            return candidate
        self.progress.note(
            f"Neighbours are found among {N_CANDIDATES} candidates of each point: comparing all "
            f"{n_points:,} points would take far longer. A few of them are missed."
        )
        return fresh(candidate, None, self.seed).set_params(n_candidates=N_CANDIDATES)


def steps_of_sample(candidate: Any) -> int:
    """What a fit on a sample counts for in the progress."""
    return 1 if isinstance(clusterer_of(candidate), CHEAP) else SAMPLE_COSTS


def _settled(found: Sequence[ScoredCounts | None], *, table: bool) -> list[ScoredCounts]:
    """The numbers of clusters to compare the candidates at; None for those that cannot count."""
    counted = [each for each in found if each is not None]
    if not counted:
        raise ValueError(
            "n_clusters='auto' needs a candidate of this package, which finds the number: give "
            "n_clusters, or add one to candidates."
        )
    if table and len(counted) >= ENOUGH_FOR_A_MEDIAN:
        # The smaller of two in the middle, and the first graph that found it.
        middle = sorted(each.n_clusters for each in counted)[(len(counted) - 1) // 2]
        return [next(each for each in counted if each.n_clusters == middle)] * len(found)
    # A candidate that cannot count is compared at the first number found.
    return [each or counted[0] for each in found]
