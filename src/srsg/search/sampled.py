"""The winner on all points, within limits of time and memory.

The graph of very many points takes too long. Then a graph of a random sample is cut into clusters,
and all other points are assigned to these as new points are. The sample doubles until the labels
that it assigns hardly change, or until time or memory end.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from srsg.counting.counts import MAX_SAMPLED_POINTS
from srsg.counting.reproducibility import ScoredCounts
from srsg.explaining.confidence import Confidence, confidence, predict_with_confidence
from srsg.explaining.unwrapping import clusterer_of
from srsg.memory import free_memory, in_bytes, in_words
from srsg.metrics import clustering_accuracy
from srsg.points import blocks_of_rows
from srsg.running import ThreadEngine
from srsg.running.config import LEAST_BLOCK, get_config, in_seconds, memory_for, time_in_words
from srsg.running.progress import Progress, quietly
from srsg.search.fits import count_in_tree, label_graph, with_graph
from srsg.types import FloatArray, IntArray
from srsg.weights import of_rows

FIRST = MAX_SAMPLED_POINTS
"""Points of the first sample: as many as decide about the number of clusters."""

LEAST = 100
"""Points of the smallest first sample, where memory has no room for more."""

ENOUGH = 0.99
"""The sample is large enough if one of half its size puts this share of points into the same
cluster."""

HELD_OUT = 2000
"""Points on which the labels of two samples are compared."""

ASSIGNED_AT_ONCE = 20_000
"""Points per block, so that codes of all points are never in memory together."""

LEAST_SQUARE = 0.1
"""At least this share of the time of a sample's fit grows with the square of its size: all points
are compared with each other. Without this bound, a little noise in two short times would promise
any size at once."""


@dataclass(frozen=True)
class Approximation:
    """How labels of all points came from the graph of some.

    Attributes
    ----------
    rows : ndarray of shape (n_fitted,)
        The points of the graph, in rising order.
    n_points : int
        Number of all points.
    agreement : float
        The share of points, held out from a graph of ``n_compared`` points, that it assigns to the
        cluster which they have in a graph of twice that size.
    n_compared : int
        Half of ``n_fitted``, or as many.
    seconds, memory : float
        Estimates for the graph of all points; memory in bytes.

    Examples
    --------
    >>> import numpy as np
    >>> from srsg.search.sampled import Approximation
    >>> str(Approximation(np.arange(12_000), 10**6, 0.998, 6_000, 9e3, 2e9))[:50]
    'The graph has a random 12,000 of 1,000,000 points,'
    """

    rows: IntArray
    n_points: int
    agreement: float
    n_compared: int
    seconds: float
    memory: float

    def __str__(self) -> str:
        cost = f"about {time_in_words(self.seconds)} and {in_words(self.memory)}"
        return (
            f"The graph has a random {len(self.rows):,} of {self.n_points:,} points, and the rest "
            f"was assigned to its clusters: the graph of all would take {cost}. Labels assigned "
            f"by a graph of {self.n_compared:,} points agree with those of a graph of "
            f"{2 * self.n_compared:,} for {self.agreement:.1%} of the points."
        )


class Fitted(NamedTuple):
    """A fitted model, and what it says about all points."""

    model: Any
    labels: NDArray[np.intp]
    certainty: Confidence
    counted: ScoredCounts
    approximation: Approximation | None = None


class Cost(NamedTuple):
    """Seconds as a function of the number of points: ``linear * n + square * n^2``.

    Examples
    --------
    >>> from srsg.search.sampled import Cost
    >>> Cost.through((1000, 2000), (2.0, 6.0), 3.0).at(4000)
    10.0
    """

    linear: float
    square: float

    @classmethod
    def through(
        cls, sizes: tuple[int, int], processor: tuple[float, float], seconds: float
    ) -> Self:
        """The curve through the processor times of two sizes, and the second's time by the clock.

        Other programs disturb the clock more than the processor time.
        """
        (small, large), (first, last) = sizes, processor
        share = large * (1 - first * large / (last * small)) / (large - small)
        share = min(max(share, LEAST_SQUARE), 1.0)
        return cls((1 - share) * seconds / large, share * seconds / large**2)

    def at(self, n_points: int) -> float:
        """The time for so many points."""
        return n_points * (self.linear + self.square * n_points)


class Limits(NamedTuple):
    """When to be done, by the clock of the process, and how many bytes to take."""

    end: float
    memory: float
    timed: bool

    @classmethod
    def starting_now(cls) -> Self:
        """Those that :func:`srsg.config_context` sets; without any, what would not fit at all."""
        config = get_config()
        seconds = np.inf if config["max_time"] is None else in_seconds(config["max_time"])
        given = config["max_memory"]
        memory = free_memory() if given is None else in_bytes(given)
        return cls(time.monotonic() + seconds, memory, seconds < np.inf)

    @property
    def left(self) -> float:
        """Seconds that are left."""
        return self.end - time.monotonic()


class Timed(NamedTuple):
    """A model of a sample, and how long it took: by the clock, and on the processors."""

    model: Any
    rows: IntArray
    seconds: float
    processor: float

    def at_most(self, n_points: int) -> float:
        """An upper bound for so many points: no part grows faster than the square."""
        return self.seconds * (n_points / len(self.rows)) ** 2


@dataclass(frozen=True)
class Winner:
    """The candidate to fit on all points, with its number of clusters and its cut.

    ``count_again`` has the clusters in the tree of all points counted, if a sample counted before.
    ``weights`` say how many times each point counts; None means once.
    """

    candidate: Any
    X: Any
    counted: ScoredCounts
    cut: str | None
    seed: int
    progress: Progress
    count_again: bool = False
    weights: FloatArray | None = None

    def fitted(self, limits: Limits, model: Any = None) -> Fitted:
        """The winner on all points, or on as many as the limits allow.

        ``model`` has the graph of all points, if it was built already.
        """
        n_points, memory = self.X.shape[0], self.memory_of(self.X.shape[0])
        unlimited = not limits.timed and memory <= limits.memory
        if model is not None or n_points <= 2 * FIRST or unlimited:
            return self._exact(model)
        rows, size = self._shuffled(), FIRST
        while size > LEAST and self.memory_of(2 * size) > limits.memory:
            size //= 2  # a sample of twice the size must fit too: they are compared
        first = self._timed(rows[:size])
        most = first.at_most(n_points)
        if memory <= limits.memory and most <= limits.left:
            self._tell(f"at most {time_in_words(most)}", memory)
            return self._exact()
        return self._sampled(rows, first, limits, memory)

    def seconds_of_all(self, enough: float) -> float:
        """An estimate for the graph of all points and its clusters, from those of samples.

        If it is ``enough`` to know that they take at most this long, one sample may do.
        """
        rows = self._shuffled()
        first = self._timed(rows[:FIRST])
        most = first.at_most(len(rows))
        return (
            most if most <= enough else _curve(first, self._timed(rows[: 2 * FIRST])).at(len(rows))
        )

    def memory_of(self, n_points: int) -> float:
        """Bytes that the graph of so many points takes."""
        clusterer, share = clusterer_of(self.candidate), n_points / self.X.shape[0]
        n_nonzero = round(self.X.nnz * share) if sparse.issparse(self.X) else None
        workers = ThreadEngine(clusterer.n_jobs).n_workers
        result = clusterer._coder().result_bytes(n_points)
        shape = n_points, self.X.shape[1]
        fixed, row = memory_for(shape, self.X.dtype, workers, n_nonzero, result)
        return fixed + LEAST_BLOCK * row

    def _tell(self, seconds: str, memory: float) -> None:
        self.progress.note(
            f"The graph of all {self.X.shape[0]:,} points takes {seconds} and about "
            f"{in_words(memory)}."
        )

    def _shuffled(self) -> IntArray:
        return np.random.RandomState(self.seed).permutation(self.X.shape[0])

    def _exact(self, model: Any = None) -> Fitted:
        counted = self.counted
        if model is None:
            model = with_graph(self.candidate, self.X, self.seed, self.weights)
            if self.count_again:
                counted = count_in_tree(clusterer_of(model), self.seed)
        label_graph(model, counted.n_clusters, self.cut)
        return Fitted(model, clusterer_of(model).labels_, confidence(model, self.X), counted)

    def _timed(self, rows: IntArray) -> Timed:
        """The winner on a sample."""
        rows = np.sort(rows)
        start, processor = time.monotonic(), time.process_time()
        with quietly(), self.progress.stage(f"sample of {len(rows):,} points", 1):
            weights = of_rows(self.weights, rows)
            model = with_graph(self.candidate, self.X[rows], self.seed, weights)
            label_graph(model, self.counted.n_clusters, self.cut)
        return Timed(model, rows, time.monotonic() - start, time.process_time() - processor)

    def _sampled(self, rows: IntArray, small: Timed, limits: Limits, memory: float) -> Fitted:
        """The largest sample that is needed and that fits; all points, if they fit after all."""
        n_points = self.X.shape[0]
        while True:
            size = 2 * len(small.rows)
            large = self._timed(rows[:size])
            with quietly():
                agreement, to_assign = self._compared(small, large)
            fitting = _curve(small, large)
            if memory <= limits.memory and fitting.at(n_points) <= limits.left:
                self._tell(f"about {time_in_words(fitting.at(n_points))}", memory)
                return self._exact()
            # A point is assigned in at most twice the time by twice as many points.
            next_cost = fitting.at(2 * size) + 2 * to_assign * n_points
            fits = next_cost <= limits.left and self.memory_of(2 * size) <= limits.memory
            if agreement >= ENOUGH or not fits or 2 * size > n_points:
                break
            small = large
        compared = len(small.rows)
        chosen = large if to_assign * n_points <= limits.left else small
        approximation = Approximation(
            chosen.rows, n_points, agreement, compared, fitting.at(n_points), memory
        )
        with quietly():
            labels, sure = self._assigned(chosen)
        return Fitted(chosen.model, labels, sure, self.counted, approximation)

    def _compared(self, small: Timed, large: Timed) -> tuple[float, float]:
        """How far labels by the smaller sample agree, and the time to assign a point by the larger.

        They are compared with the labels of points in the larger sample only.
        """
        others = np.flatnonzero(~np.isin(large.rows, small.rows))[:HELD_OUT]
        held_out, found = self.X[large.rows[others]], clusterer_of(large.model).labels_[others]
        agreement = clustering_accuracy(found, small.model.predict(held_out))
        predict_with_confidence(large.model, held_out[:1])  # finds once what all points need
        start = time.monotonic()
        predict_with_confidence(large.model, held_out)
        return agreement, (time.monotonic() - start) / len(others)

    def _assigned(self, sample: Timed) -> tuple[NDArray[np.intp], Confidence]:
        """The labels of all points by a model of some, and how sure they are."""
        n_points, rows = self.X.shape[0], sample.rows
        labels, sure = np.empty(n_points, np.intp), np.empty(n_points)
        own = confidence(sample.model, self.X[rows])
        labels[rows], sure[rows] = clusterer_of(sample.model).labels_, own.values
        others = np.setdiff1d(np.arange(n_points), rows, assume_unique=True)
        blocks = blocks_of_rows(len(others), ASSIGNED_AT_ONCE)
        with self.progress.stage(f"assigning {len(others):,} points", len(blocks)) as stage:
            for block in blocks:
                new = others[block]
                labels[new], sure[new] = predict_with_confidence(sample.model, self.X[new])
                stage.advance()
        return labels, Confidence(sure, sure, own.meaning)


def _curve(small: Timed, large: Timed) -> Cost:
    sizes = len(small.rows), len(large.rows)
    return Cost.through(sizes, (small.processor, large.processor), large.seconds)
