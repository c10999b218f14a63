"""A comparison of candidates: their numbers of clusters, the stability of their labels."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from srsg.counting.counts import MAX_SAMPLED_POINTS
from srsg.counting.reproducibility import ScoredCounts
from srsg.explaining.unwrapping import clusterer_of
from srsg.running.progress import SILENT, Progress, Stage, quietly, send_progress_to
from srsg.search.candidates import Candidates
from srsg.search.fits import builds_graph, fresh, label_graph, labels_for_each, with_graph
from srsg.search.stability import Labels, Rounds, Sample, Scores, scores_of
from srsg.types import NClusters

CLOSE = 0.1
"""If the best two scores are this close, as many samples again are drawn: scores of so few samples
vary by about as much."""

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
    """

    candidates: Candidates
    X: Any
    seed: int
    progress: Progress
    whole: Stage

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

    def scores(self, own: list[int], rounds: Rounds) -> Scores:
        """The scores of the candidates, given the number of clusters of each."""
        counts = sorted(set(own))  # the same for all: labels of more clusters agree less
        first, second = rounds
        labels = [self._labels(*pair, counts, first) for pair in self.candidates]
        if not second:
            return scores_of(labels, first, [counts.index(count) for count in own])
        scores = scores_of(labels, first)
        best = np.sort(scores.total)
        if len(best) == 1 or best[-1] - best[-2] >= CLOSE:
            self.whole.advance(len(self.candidates) * len(second))
            return scores
        # More samples tell more than their number: each is compared with all others.
        more = [self._labels(*pair, counts, second) for pair in self.candidates]
        both = [few + others for few, others in zip(labels, more, strict=True)]
        return scores_of(both, first + second)

    def _labels(
        self, name: str, candidate: Any, counts: list[int], samples: list[Sample]
    ) -> list[Labels]:
        """The labels of a candidate on all samples."""
        labels = []
        with self.progress.stage(f"{name}: samples", len(samples)) as stage, quietly():
            # One sample at a time: all of them would take several times the memory of the points.
            for sample in samples:
                try:
                    labels.append(labels_for_each(candidate, sample.of(self.X), counts, self.seed))
                except Exception as error:
                    error.add_note(f"Raised by the candidate {name!r} on a sample of the data.")
                    raise
                stage.advance()
                self.whole.advance()
        return labels

    def fitted(self, place: int, n_clusters: int, model: Any = None) -> Any:
        """A candidate fitted on all points; ``model`` has their graph, if it was built."""
        name, candidate = self.candidates[place]
        with self.progress.stage(f"{name}: all points", 1), send_progress_to(SILENT):
            if not builds_graph(candidate):
                model = fresh(candidate, n_clusters, self.seed).fit(self.X)
            else:
                if model is None:
                    model = with_graph(candidate, self.X, self.seed)
                label_graph(model, n_clusters)
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
