"""One cell of the evaluation: one data set, one estimator, several starts of K-means."""

from __future__ import annotations

import json
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from statistics import fmean, stdev
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.cluster import KMeans
from threadpoolctl import threadpool_limits

from paper.datasets import Dataset
from srsg.estimators import GraphClusterer
from srsg.metrics import clustering_accuracy, normalized_mutual_info
from srsg.running import ThreadEngine

NOT_PART_OF_THE_RESULT = {
    *("n_clusters", "random_state"),  # kept beside the parameters
    *("algorithm", "copy_x", "n_jobs", "store", "verbose"),  # how, not what
}


@dataclass(frozen=True)
class Score:
    """The scores of one start of K-means; ``seconds`` is the duration of a whole fit."""

    seed: int
    ac: float
    nmi: float
    seconds: float


@dataclass(frozen=True)
class CellResult:
    """The scores of one estimator over all seeds.

    Examples
    --------
    >>> from paper.evaluate import CellResult, Score
    >>> result = CellResult("sc", {}, (Score(0, 0.5, 0.2, 1.0), Score(1, 0.7, 0.2, 1.0)))
    >>> round(result.mean("AC"), 4), round(result.std("AC"), 4)
    (0.6, 0.1414)
    """

    method: str
    parameters: Mapping[str, Any]
    scores: tuple[Score, ...]

    def values(self, measure: str) -> list[float]:
        """The measure for every seed."""
        return [getattr(score, measure.lower()) for score in self.scores]

    def mean(self, measure: str) -> float:
        """The mean over the seeds."""
        return fmean(self.values(measure))

    def std(self, measure: str) -> float:
        """The standard deviation over the seeds; zero if there is only one."""
        return stdev(self.values(measure)) if len(self.scores) > 1 else 0.0

    @property
    def seconds(self) -> float:
        """The mean duration of one fit."""
        return fmean(score.seconds for score in self.scores)


def parameters_of(estimator: Any) -> dict[str, Any]:
    """The parameters that the result depends on, as JSON represents them.

    Examples
    --------
    >>> from srsg import LocalScalingSpectralClustering
    >>> from paper.evaluate import parameters_of
    >>> parameters_of(LocalScalingSpectralClustering(3, n_jobs=2))
    {'assign_labels': 'kmeans', 'n_init': 10, 'scale_neighbor': 7}
    """
    chosen = {
        name: value
        for name, value in sorted(estimator.get_params().items())
        if name not in NOT_PART_OF_THE_RESULT
    }
    return json.loads(json.dumps(chosen, default=str))


def evaluate(
    estimator: Any, data: Dataset, seeds: Sequence[int], n_jobs: int | None = None
) -> tuple[list[Score], list[str]]:
    """Fit once, label from several starts of K-means, and compare with the known classes.

    The graph and its embedding do not depend on the seed, so only the labels are computed again.
    K-means on the features is repeated as a whole. Seeds run side by side on threads, each
    serially, so the result does not depend on the number of threads.

    Returns
    -------
    scores : list of Score
        In the order of the seeds.
    messages : list of str
        The warnings of the estimator.
    """
    engine = ThreadEngine(n_jobs)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        if isinstance(estimator, GraphClusterer):
            model = clone(estimator).set_params(random_state=seeds[0], n_jobs=n_jobs)
            start = perf_counter()
            model.fit(data.X)
            times = [perf_counter() - start] * len(seeds)
            # The first seed has its labels from the fit itself.
            others = engine.map(_relabelled, model, seeds[1:], label="seeds")
            labels = [model.labels_, *others]
        else:
            task = partial(_fitted, estimator)
            runs = engine.map(task, data.X, seeds, label="seeds")
            labels, times = [list(part) for part in zip(*runs, strict=True)]
    scores = [
        Score(
            seed,
            # As many digits as the journal keeps, so that a result read back is the same.
            round(clustering_accuracy(data.y, predicted), 6),
            round(normalized_mutual_info(data.y, predicted), 6),
            round(seconds, 3),
        )
        for seed, predicted, seconds in zip(seeds, labels, times, strict=True)
    ]
    return scores, sorted({str(warning.message) for warning in caught})


def _relabelled(model: GraphClusterer, seed: int) -> NDArray[np.intp]:
    return model.relabel(random_state=seed)


def _fitted(estimator: Any, X: NDArray, seed: int) -> tuple[NDArray[np.intp], float]:
    model = clone(estimator).set_params(random_state=seed)
    if isinstance(model, KMeans) and model.n_clusters > 1:
        model.set_params(algorithm="elkan")  # the same steps with fewer distances
    start = perf_counter()
    with threadpool_limits(1):
        model.fit(X)
    return model.labels_, perf_counter() - start
