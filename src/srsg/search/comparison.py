"""A comparison of candidates: their numbers of clusters, the stability of their labels."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from srsg.counting.counts import MAX_SAMPLED_POINTS
from srsg.counting.reproducibility import ScoredCounts
from srsg.estimators import RidgeGraph
from srsg.explaining.unwrapping import clusterer_of
from srsg.running.progress import SILENT, Progress, Stage, quietly, send_progress_to
from srsg.search.candidates import Candidates
from srsg.search.fits import (
    CUTS,
    builds_graph,
    count_in_tree,
    cuts_of_graph,
    fresh,
    label_graph,
    labels_for_each,
    with_graph,
)
from srsg.search.stability import Labels, Rounds, Sample, Scores, scores_of
from srsg.types import NClusters

CLOSE = 0.1
"""If the best two scores are this close, as many samples again are drawn: scores of so few samples
vary by about as much."""

CUT_TIE = 0.05
"""A tree wins if it is worth at most this share less than the cut by eigenvectors, which cost more
the more points there are. From 1 to 6 % left-out families of data decide alike."""

COUNTING_COSTS, LAST_FIT_COSTS = 4, 2
"""About how many fits on a sample it costs to find a number of clusters, and to fit all points; for
the remaining time that progress shows."""

ENOUGH_FOR_A_MEDIAN = 3
"""So many graphs that count settle on the median of their numbers: one that is far off has no say.
Of two, each keeps its own number, and the more stable graph decides."""


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
        The progress of the whole search.
    both_cuts : bool
        Whether every graph is cut both ways.
    """

    candidates: Candidates
    X: Any
    seed: int
    progress: Progress
    whole: Stage
    both_cuts: bool = False

    def counted(
        self, n_clusters: NClusters, *, settle: bool
    ) -> tuple[list[ScoredCounts], dict[int, Any]]:
        """The number of clusters of each candidate, and the graphs of all points built for it."""
        models: dict[int, Any] = {}
        if n_clusters != "auto":
            given = ScoredCounts(n_clusters, np.array([n_clusters]), np.full(1, np.nan), False)
            return [given] * len(self.candidates), models
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
                    model = with_graph(candidate, base, self.seed)
                    counted = clusterer_of(model).count_clusters(random_state=self.seed)
                    if len(rows) == self.X.shape[0]:
                        models[place] = model
            found.append(counted)
            self.whole.advance(COUNTING_COSTS)
        return _settled(found, ENOUGH_FOR_A_MEDIAN if settle else len(found) + 1), models

    def counted_again(self, place: int) -> tuple[ScoredCounts, Any]:
        """The number of clusters in the tree of all points, where a sample decided, and the model.

        With more points the clusters are more distinct.
        """
        name, candidate = self.candidates[place]
        with self.progress.stage(f"{name}: all points", 1), send_progress_to(SILENT):
            model = with_graph(candidate, self.X, self.seed)
            return count_in_tree(clusterer_of(model), self.seed), model

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
            self.whole.advance(len(self.candidates) * len(second))
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
                    fits.append(fitted(candidate, sample.of(self.X), counts, self.seed))
                except Exception as error:
                    error.add_note(f"Raised by the candidate {name!r} on a sample of the data.")
                    raise
                stage.advance()
                self.whole.advance()
        return fits

    def fitted(self, place: int, n_clusters: int, cut: str | None = None, model: Any = None) -> Any:
        """A candidate fitted on all points; ``model`` has their graph, if it was built."""
        name, candidate = self.candidates[place]
        with self.progress.stage(f"{name}: all points", 1), send_progress_to(SILENT):
            if not builds_graph(candidate):
                model = fresh(candidate, n_clusters, self.seed).fit(self.X)
            else:
                if model is None:
                    model = with_graph(candidate, self.X, self.seed)
                label_graph(model, n_clusters, cut)
        self.whole.advance(LAST_FIT_COSTS)
        return model


def _settled(found: Sequence[ScoredCounts | None], enough: int) -> list[ScoredCounts]:
    """The numbers of clusters to compare the candidates at; None for those that cannot count."""
    counted = [each for each in found if each is not None]
    if not counted:
        raise ValueError(
            "n_clusters='auto' needs a candidate of this package, which finds the number: give "
            "n_clusters, or add one to candidates."
        )
    if len(counted) >= enough:
        # The smaller of two in the middle, and the first graph that found it.
        middle = sorted(each.n_clusters for each in counted)[(len(counted) - 1) // 2]
        return [next(each for each in counted if each.n_clusters == middle)] * len(found)
    # A candidate that cannot count is compared at the first number found.
    return [each or counted[0] for each in found]
