"""The right graph for the data, chosen without labels: the most stable of several candidates."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from numbers import Integral
from typing import Any, ClassVar, Literal, Self

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.utils import Tags, check_random_state
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_is_fitted, validate_data

from srsg.counting.counts import MAX_LINKED_POINTS
from srsg.counting.reproducibility import ScoredCounts
from srsg.cutting.cut import check_cluster_count
from srsg.estimators.base import attributes_of_counts, best_counts, learn, noted_input
from srsg.explaining.confidence import confidence, predict_with_confidence
from srsg.explaining.unwrapping import clusterer_of
from srsg.running.progress import SILENT, Progress, Stage, progress_for, quietly, send_progress_to
from srsg.running.warnings import made_dense
from srsg.search.candidates import (
    Candidates,
    Columns,
    auto_candidates,
    checked_candidates,
    look_at_columns,
)
from srsg.search.fits import builds_graph, fresh, label_graph, labels_for_each, with_graph
from srsg.search.resampling import Resamples, draw_resamples
from srsg.search.scores import SampleLabels, Scores, mean_scores, score_candidates
from srsg.types import FloatArray, Matrix, RandomState

TIE = 0.02
"""Scores that are still this close after the second round of samples are a tie, which the candidate
that comes first wins."""

CLOSE = 0.1
"""If the best two scores are this close, as many samples again are drawn: scores of so few samples
vary by about as much."""

COUNTING_COSTS, LAST_FIT_COSTS = 4, 2
"""About how many fits on a sample it costs to find a number of clusters, and to fit all points; for
the time left that progress shows."""

ENOUGH_FOR_A_MEDIAN = 3
"""So many graphs that count settle on the median of their numbers: one that is far off has no say.
Of two, each keeps its own number, and the more stable graph decides."""

LEAST_POINTS = 10
"""With fewer, there is nothing to draw samples from."""

LEAST_STABILITY = 0.5
"""Agreement between samples below which labels say more about the samples than about the data.
Noise in ten dimensions and more stays below 0.2, in five below 0.4; a solid body in three
dimensions, such as a cube, is cut in the same way again and again, and goes beyond."""


@dataclass(frozen=True)
class Plan:
    """How the data are resampled.

    With many features, samples keep most of the points, since few points thin out curved clusters,
    and the halves of the features are what varies. The columns of a table cannot be halved: one of
    them may be all that tells two clusters apart. Its samples vary more instead.
    """

    share: float
    n_samples: int
    n_halves: int

    @classmethod
    def of(cls, columns: Columns, n_resamples: int) -> Self:
        if columns is Columns.MANY:
            return cls(share=0.9, n_samples=n_resamples, n_halves=max(1, n_resamples // 2))
        return cls(share=0.7, n_samples=n_resamples + 1, n_halves=0)

    def draw(self, shape: tuple[int, int], rng: np.random.RandomState) -> Resamples:
        """Samples for two rounds, of which the second is for scores that are close."""
        return draw_resamples(*shape, 2 * self.n_samples, self.share, 2 * self.n_halves, rng)


class StabilitySearch(ClusterMixin, BaseEstimator):
    """Choose among clusterers, and among numbers of clusters, by the stability of their labels.

    One graph cannot serve all data: sparse codes suit objects that turn, ridge codes faces under
    changing light, and standardised columns with a constant coordinate suit tables. Labels to
    choose by are missing. What tells a good graph from a bad one is that it finds the same
    clusters again on other samples of the points and on other features.

    Every candidate is fitted on the same few samples of the points and, with 100 features or
    more, on two halves of the features. Its score adds the agreement of its own labels between
    samples, the agreement between halves, and the agreement with the other candidates on the same
    samples: see :mod:`srsg.search.scores`. If two candidates are close, as many samples again
    are drawn. The best is then fitted on all points. With many
    points, samples of 3,000 of them decide.

    Parameters
    ----------
    candidates : "auto", "graphs", or mapping or sequence of (name, estimator)
        Clusterers or pipelines that end in one, each with a parameter ``n_clusters``. Earlier ones
        win ties. "auto" looks at the columns: SRSG and ridge codes for 100 features or more;
        spectral clustering by distances for three columns or fewer, where directions say little;
        SRSG, its standardised affine form, that of ridge codes, and K-means for tables whose
        columns share one unit; for other tables only what is standardised. "graphs" leaves out
        what builds no graph.
    n_clusters : int or "auto"
        Number of clusters; "auto" lets every candidate find its own. Three graphs or more settle
        on the median; with fewer, the candidates are compared at all numbers that were found.
    n_resamples : int
        Samples of the points per candidate; tables get one more. Twice as many if the best two
        are close.
    random_state : int, RandomState or None
        Samples and the starts of K-means.
    n_jobs : int or None
        Threads; None takes all cores. The result does not depend on it.
    verbose : bool
        Show progress on standard error.

    Attributes
    ----------
    best_estimator_ : estimator
        The winner, fitted on all points.
    best_name_ : str
    best_index_ : int
    labels_ : ndarray of shape (n,)
    confidence_ : ndarray of shape (n,)
        How sure each label is, from 0 to 1, see :mod:`srsg.explaining.confidence`.
    certainty_ : Confidence
        The confidence, how central each point is, and what both mean.
    n_clusters_ : int
    results_ : dict of lists
        One entry per candidate: ``candidate``, ``n_clusters``, ``stability_points``,
        ``stability_features`` (NaN if there were no halves), ``consensus``, ``score`` and ``rank``.
        ``pandas.DataFrame(search.results_)`` shows it as a table.
    margin_ : float
        By how much the winner's score exceeds the best other; negative if it won as the earlier
        of a tie, and infinite without another candidate. On tables a wide margin is no proof.
    structure_found_ : bool
        False if the winner's labels are hardly more stable than those of noise, or if no number
        of clusters stands out: then the data may have no clusters at all.
    cluster_counts_, cluster_count_scores_ : ndarray
        For ``n_clusters="auto"``: the numbers that the winner tried, or the graph that found the
        median, and their scores.
    columns_ : str
        What the columns look like.
    n_features_in_ : int

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from srsg import StabilitySearch
    >>> X, y = load_wine(return_X_y=True)
    >>> search = StabilitySearch(n_clusters=3, random_state=0).fit(X)
    >>> search.columns_
    'a table whose columns have different units'
    >>> len(search.results_["candidate"])
    2
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "candidates": [StrOptions({"auto", "graphs"}), Mapping, list, tuple],
        "n_clusters": [Interval(Integral, 2, None, closed="left"), StrOptions({"auto"})],
        "n_resamples": [Interval(Integral, 2, None, closed="left")],
        "random_state": ["random_state"],
        "n_jobs": [Integral, None],
        "verbose": ["verbose"],
    }

    def __init__(
        self,
        candidates: Literal["auto", "graphs"]
        | Mapping[str, Any]
        | Sequence[tuple[str, Any]] = "auto",
        n_clusters: int | Literal["auto"] = "auto",
        *,
        n_resamples: int = 2,
        random_state: RandomState = None,
        n_jobs: int | None = None,
        verbose: bool | int = False,
    ) -> None:
        self.candidates = candidates
        self.n_clusters = n_clusters
        self.n_resamples = n_resamples
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def fit(self, X: Matrix, y: None = None) -> Self:
        """Compare the candidates, and fit the best on all points.

        Parameters
        ----------
        X : array, sparse matrix or DataFrame of shape (n_samples, n_features)
            One point per row.
        y : None
            Ignored.

        Returns
        -------
        self
        """
        self._validate_params()
        least = {"ensure_min_samples": LEAST_POINTS, "ensure_min_features": 2}
        X, names = noted_input(self, X, accept_sparse="csr", **least)
        if self.n_clusters != "auto":
            check_cluster_count(self.n_clusters, X.shape[0])
        rng = check_random_state(self.random_state)
        columns = look_at_columns(X)
        X = self._searched(X, columns)
        candidates = self._candidates(columns, X)
        seed = int(rng.randint(2**31 - 1))
        plan = Plan.of(columns, self.n_resamples)
        resamples = plan.draw(X.shape, rng)
        smallest = min(map(len, resamples.points))
        if self.n_clusters != "auto" and self.n_clusters > smallest:
            raise ValueError(
                f"n_clusters={self.n_clusters} exceeds the {smallest} points of the samples that "
                f"the search draws from {X.shape[0]}: ask for fewer, or use one estimator."
            )
        progress = progress_for(self.verbose)
        counting = COUNTING_COSTS if self.n_clusters == "auto" else 0
        total = len(candidates) * (counting + resamples.n_fits) + LAST_FIT_COSTS
        with progress.stage("the whole search", total) as whole:
            counted, models = self._counts(candidates, X, seed, progress, whole)
            counts = [each.n_clusters for each in counted]
            numbers = sorted(set(counts))  # the same for all: more clusters agree less
            scores = self._scores(candidates, numbers, X, resamples, seed, progress, whole)
            best = _winner(scores)
            name, winner = candidates[best]
            with progress.stage(f"{name}: all points", 1), send_progress_to(SILENT):
                model = _fitted(winner, models.get(best), X, counts[best], seed)
            whole.advance(LAST_FIT_COSTS)
        others = np.delete(scores.total, best)
        stable = scores.points[best] >= LEAST_STABILITY
        structure_found = bool(stable and counted[best].structure_found)
        learnt = {
            "best_index_": best,
            "best_name_": name,
            "best_estimator_": model,
            "labels_": clusterer_of(model).labels_,
            "certainty_": confidence(model, X),
            "n_clusters_": counts[best],
            "columns_": columns.value,
            "results_": _results(candidates, counts, scores),
            "margin_": float(scores.total[best] - others.max()) if others.size else np.inf,
            "structure_found_": structure_found,
        }
        if self.n_clusters == "auto":
            evidence = replace(counted[best], structure_found=structure_found)
            learnt |= attributes_of_counts(evidence)
            if builds_graph(model):  # the clusterer has it too, for its report and its file
                vars(clusterer_of(model)).update(attributes_of_counts(evidence))
        learn(self, names | learnt)
        return self

    @property
    def confidence_(self) -> FloatArray:
        """How sure each label is, from 0 to 1."""
        check_is_fitted(self, "certainty_")
        return self.certainty_.values

    def best_counts(self, n_best: int = 3) -> list[int]:
        """The numbers of clusters with the most evidence in the data, best first.

        Parameters
        ----------
        n_best : int
            How many numbers.

        Returns
        -------
        list of int
            The first is ``n_clusters_``; the scores are in ``cluster_count_scores_``.
        """
        return best_counts(self, n_best)

    def predict(self, X: Matrix, novelty: float | None = None) -> NDArray[np.intp]:
        """The clusters of new points, by the best estimator.

        Parameters
        ----------
        X : array, sparse matrix or DataFrame of shape (n_new, n_features)
            One new point per row.
        novelty : float or None
            A share such as 0.05: points that are explained worse than this share of the fitted
            ones get the label -1. Only for a winner that is an estimator of this package.

        Returns
        -------
        ndarray of shape (n_new,)
        """
        check_is_fitted(self, "best_estimator_")
        new = validate_data(self, X, accept_sparse="csr", reset=False)
        new = self._searched(new, Columns(self.columns_))
        if novelty is None:
            return self.best_estimator_.predict(new)
        return predict_with_confidence(self.best_estimator_, new, novelty=novelty)[0]

    def _searched(self, X: Any, columns: Columns) -> Any:
        """The points as the candidates get them.

        Many sparse features stay sparse. Of a table, most of our own candidates standardise the
        columns, after which hardly any entry is zero.
        """
        if isinstance(self.candidates, str) and columns is not Columns.MANY:
            return made_dense(X, "the columns of a table are standardised")
        return X

    def _candidates(self, columns: Columns, X: Any) -> Candidates:
        if isinstance(self.candidates, str):
            found = auto_candidates(columns, {"n_jobs": self.n_jobs})
            if columns is not Columns.MANY and _has_zero_rows(X):
                # A row of zeros has a direction only beside a constant coordinate.
                found = [(name, each) for name, each in found if name != "srsg"]
            if self.candidates == "graphs":
                found = [pair for pair in found if builds_graph(pair[1])]
            return found
        pairs = self.candidates.items() if isinstance(self.candidates, Mapping) else self.candidates
        return checked_candidates(pairs)

    def _counts(
        self,
        candidates: Candidates,
        X: Any,
        seed: int,
        progress: Progress,
        whole: Stage,
    ) -> tuple[list[ScoredCounts], dict[int, Any]]:
        """The number of clusters of each candidate, and the graphs of all points built for it."""
        models: dict[int, Any] = {}
        if self.n_clusters != "auto":
            given = np.array([self.n_clusters])
            counted = ScoredCounts(self.n_clusters, given, np.full(1, np.nan), True)
            return [counted] * len(candidates), models
        found: list[ScoredCounts | None] = []
        # More points than those that samples are drawn from: clusters need many to hang together.
        rows = np.arange(X.shape[0])
        if len(rows) > MAX_LINKED_POINTS:
            drawn = np.random.RandomState(seed).choice(rows, MAX_LINKED_POINTS, replace=False)
            rows = np.sort(drawn)
        base = X[rows]
        for place, (name, candidate) in enumerate(candidates):
            found.append(None)
            with progress.stage(f"{name}: number of clusters", 1), quietly():
                if builds_graph(candidate):
                    model = with_graph(candidate, base, seed)
                    found[-1] = clusterer_of(model).count_clusters(random_state=seed)
                    if len(rows) == X.shape[0]:
                        models[place] = model
            whole.advance(COUNTING_COSTS)
        known = [counted for counted in found if counted is not None]
        if not known:
            raise ValueError(
                "n_clusters='auto' needs a candidate of this package, which finds the number: give "
                "n_clusters, or add one to candidates."
            )
        if len(known) >= ENOUGH_FOR_A_MEDIAN:
            return [_median(known)] * len(candidates), models
        # A clusterer that cannot count is tried with what the first that can has found.
        return [known[0] if counted is None else counted for counted in found], models

    def _scores(
        self,
        candidates: Candidates,
        counts: list[int],
        X: Any,
        resamples: Resamples,
        seed: int,
        progress: Progress,
        whole: Stage,
    ) -> Scores:
        """The scores of the candidates, means over the numbers of clusters."""

        def labels_of(part: Resamples) -> list[list[SampleLabels]]:
            return [
                self._sample_labels(pair, counts, X, part, seed, progress, whole)
                for pair in candidates
            ]

        first, rest = resamples.rounds()
        found = labels_of(first)
        scores = _scores_of(found, first)
        if scores.gap >= CLOSE:
            whole.advance(len(candidates) * rest.n_fits)
            return scores
        # More samples tell more than their number: each is compared with all others.
        both = [
            [few.with_more(others) for few, others in zip(one, two, strict=True)]
            for one, two in zip(found, labels_of(rest), strict=True)
        ]
        return _scores_of(both, resamples)

    def _sample_labels(
        self,
        candidate: tuple[str, Any],
        counts: list[int],
        X: Any,
        resamples: Resamples,
        seed: int,
        progress: Progress,
        whole: Stage,
    ) -> list[SampleLabels]:
        """The labels of one candidate on all samples, for each number of clusters."""
        name, clusterer = candidate
        halves = [half for pair in resamples.halves for half in pair]
        base = X[resamples.base] if halves else X
        # One part at a time: all of them together would take several times the points' memory.
        parts = chain((X[rows] for rows in resamples.points), (base[:, half] for half in halves))
        fits = []
        with progress.stage(f"{name}: samples", resamples.n_fits) as stage, quietly():
            for part in parts:
                try:
                    fits.append(labels_for_each(clusterer, part, counts, seed))
                except Exception as error:
                    error.add_note(f"Raised by the candidate {name!r} on a sample of the data.")
                    raise
                stage.advance()
                whole.advance()
        n_points, found = len(resamples.points), []
        for place in range(len(counts)):
            labels = [columns[:, place] for columns in fits]
            pairs = zip(labels[n_points::2], labels[n_points + 1 :: 2], strict=True)
            found.append(SampleLabels(labels[:n_points], list(pairs)))
        return found

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


def _has_zero_rows(X: Any) -> bool:
    stored = np.diff(X.indptr) if sparse.issparse(X) else X.any(axis=1)
    return bool((stored == 0).any())


def _fitted(candidate: Any, model: Any, X: Any, n_clusters: int, seed: int) -> Any:
    """A candidate fitted on all points; ``model`` has its graph of these, if it was built."""
    if not builds_graph(candidate):
        return fresh(candidate, n_clusters, seed).fit(X)
    if model is None:
        model = with_graph(candidate, X, seed)
    label_graph(model, n_clusters)
    return model


def _median(counted: list[ScoredCounts]) -> ScoredCounts:
    """The first with the median number of clusters, the smaller of two in the middle."""
    middle = sorted(each.n_clusters for each in counted)[(len(counted) - 1) // 2]
    return next(each for each in counted if each.n_clusters == middle)


def _scores_of(found: list[list[SampleLabels]], resamples: Resamples) -> Scores:
    """Scores by the labels of each candidate for each number of clusters."""
    of_counts = zip(*found, strict=True)
    return mean_scores([score_candidates(each, resamples) for each in of_counts])


def _winner(scores: Scores) -> int:
    total = scores.total
    return int(np.flatnonzero(total >= total.max() - TIE)[0])


def _results(candidates: Candidates, counts: list[int], scores: Scores) -> dict[str, list[Any]]:
    order = np.argsort(-scores.total, kind="stable")
    rank = np.empty(len(order), int)
    rank[order] = np.arange(1, len(order) + 1)
    return {
        "candidate": [name for name, _ in candidates],
        "n_clusters": counts,
        "stability_points": scores.points.tolist(),
        "stability_features": scores.features.tolist(),
        "consensus": scores.consensus.tolist(),
        "score": scores.total.tolist(),
        "rank": rank.tolist(),
    }
