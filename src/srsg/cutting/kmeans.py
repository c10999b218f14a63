"""Labels of embedded vertices: by scikit-learn's ways, or by K-means.

The restarts of K-means run side by side, with the same labels on any number of threads."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from itertools import chain
from math import log
from numbers import Integral

import numpy as np
from numpy.typing import NDArray
from sklearn import config_context
from sklearn.cluster import KMeans
from sklearn.cluster._spectral import cluster_qr, discretize
from sklearn.utils import check_random_state

from srsg.running import Engine, ThreadEngine, thread_pools
from srsg.types import AssignLabels, FloatArray, IntArray, RandomState

ELKAN_FROM = 50
"""The number of clusters from which on Elkan's bounds save more time than they take."""

RUNS_PER_TASK, DISTANCES_PER_TASK = 5, 2**22
"""How many restarts draw their starts in one task, and how many distances it may hold at once."""

LEAST_SHARED = 2**15
"""Multiplications of an iteration of K-means from which on threads share its runs."""

Weighted = tuple[FloatArray, FloatArray | None]
"""Points, and how many times each counts, if not once."""


@dataclass(frozen=True)
class KMeansRun:
    """The result of one restart."""

    labels: NDArray[np.intp]
    inertia: float


def check_cluster_count(count: int, n_points: int, name: str = "n_clusters") -> None:
    """Raise a ValueError unless it is a number from 1 to that of the points."""
    if not isinstance(count, Integral) or isinstance(count, bool) or count < 1:
        raise ValueError(f"{name}={count!r} must be a whole number, 1 or more.")
    if count > n_points:
        raise ValueError(f"{name}={count} exceeds the number of points, n_samples={n_points}.")


def label_embedding(
    vectors: FloatArray,
    n_clusters: int,
    *,
    assign_labels: AssignLabels = "kmeans",
    n_init: int = 10,
    random_state: RandomState = None,
    engine: Engine | None = None,
    weights: FloatArray | None = None,
) -> NDArray[np.intp]:
    """Labels of embedded vertices: the last step of :func:`srsg.cluster_graph`.

    The parameters are those of that function; in K-means a vertex counts as its weight.

    Examples
    --------
    >>> import numpy as np
    >>> from srsg.cutting.kmeans import label_embedding
    >>> label_embedding(np.array([[0.0, 1.0], [1.0, 0.0]]), 2, assign_labels="cluster_qr")
    array([0, 1])
    """
    if assign_labels == "discretize":
        try:
            turned = discretize(_without_zero_rows(vectors), random_state=random_state)
            return np.asarray(turned, dtype=np.intp)
        except np.linalg.LinAlgError as error:
            raise ValueError(
                "assign_labels='discretize' found no rotation for this embedding: use 'kmeans' or "
                "'cluster_qr'."
            ) from error
    if assign_labels == "cluster_qr":
        return np.asarray(cluster_qr(vectors), dtype=np.intp)
    if assign_labels != "kmeans":
        raise ValueError(
            f"assign_labels must be 'kmeans', 'discretize' or 'cluster_qr', got {assign_labels!r}."
        )
    return kmeans_labels(
        vectors,
        n_clusters,
        n_init=n_init,
        random_state=random_state,
        engine=engine,
        weights=weights,
    )


def _without_zero_rows(vectors: FloatArray) -> FloatArray:
    """Rows of zeros, which have no direction, are given one that favours no cluster."""
    filled = vectors.copy()
    # By their squares: those of tiny numbers are zero, and such rows cannot be scaled either.
    filled[np.flatnonzero((vectors**2).sum(axis=1) == 0)] = 1.0
    return filled


def kmeans_labels(
    vectors: FloatArray,
    n_clusters: int,
    *,
    n_init: int = 10,
    random_state: RandomState = None,
    engine: Engine | None = None,
    weights: FloatArray | None = None,
) -> NDArray[np.intp]:
    """Labels of the best of several runs of K-means, each from starts drawn by k-means++.

    Parameters
    ----------
    vectors : ndarray of shape (n, n_dimensions)
        One point per row.
    n_clusters : int
        Number of clusters.
    n_init : int
        Restarts.
    random_state : int, RandomState or None
        Starts of the runs.
    engine : Engine, optional
        Where the work runs; threads on all cores by default.
    weights : ndarray of shape (n,), optional
        How many times each point counts; once by default.

    Returns
    -------
    ndarray of shape (n,)

    Examples
    --------
    >>> import numpy as np
    >>> from srsg.cutting.kmeans import kmeans_labels
    >>> labels = kmeans_labels(np.array([[0.0], [0.1], [5.0]]), 2, random_state=0)
    >>> bool(labels[0] == labels[1] != labels[2])
    True
    """
    # All random numbers are drawn before the work is shared out, so that no order of threads
    # can change them.
    n_trials = 2 + int(log(n_clusters))  # as Arthur and Vassilvitskii advise, and scikit-learn does
    n_draws = 1 + (n_clusters - 1) * n_trials
    draws = check_random_state(random_state).random_sample((n_init, n_draws))
    together = max(1, min(RUNS_PER_TASK, DISTANCES_PER_TASK // (n_trials * len(vectors))))
    groups = [draws[first : first + together] for first in range(0, n_init, together)]
    task = partial(_starts, n_clusters=n_clusters, n_trials=n_trials)
    data = (vectors, weights)
    engine = (engine or ThreadEngine()).quiet()
    starts = np.concatenate(engine.map(task, data, groups, label="starts of K-means"))
    # A run of few points is mostly Python, of which only one thread runs at a time: sharing such
    # runs out would take longer.
    few = vectors.size * n_clusters < LEAST_SHARED
    shares = [starts] if few else list(starts[:, None])
    runs = chain.from_iterable(engine.map(_runs, data, shares, label="K-means"))
    return min(runs, key=lambda run: run.inertia).labels


def _starts(data: Weighted, draws: FloatArray, n_clusters: int, n_trials: int) -> IntArray:
    """Points to start from, one row per run, by k-means++ (Arthur and Vassilvitskii, 2007).

    A point is drawn with a probability proportional to its weight and to its squared distance from
    the nearest of those drawn before; of several draws, the one that leaves the smallest distances
    is taken. All runs go together, so that their distances are one matrix product.
    """
    vectors, weights = data
    n_runs, n_points = len(draws), len(vectors)
    squares = np.einsum("ij,ij->i", vectors, vectors)
    chosen = np.empty((n_runs, n_clusters), dtype=np.intp)
    if weights is None:
        chosen[:, 0] = np.minimum(draws[:, 0] * n_points, n_points - 1)
    else:
        sums = np.cumsum(weights)
        chosen[:, 0] = np.minimum(np.searchsorted(sums, draws[:, 0] * sums[-1]), n_points - 1)
    nearest = _squared_distances(vectors, squares, chosen[:, 0])
    if weights is not None:
        nearest *= weights  # from here on, weighted: the minimum of two has the same weight
    each_run = np.arange(n_runs)
    trials = draws[:, 1:].reshape(n_runs, n_clusters - 1, n_trials)
    for k in range(1, n_clusters):
        sums = np.cumsum(nearest, axis=1)
        levels = trials[:, k - 1] * sums[:, -1:]
        found = [np.searchsorted(*pair) for pair in zip(sums, levels, strict=True)]
        drawn = np.minimum(np.array(found), n_points - 1)
        distances = _squared_distances(vectors, squares, drawn.ravel())
        distances = distances.reshape(*drawn.shape, n_points)
        if weights is not None:
            distances *= weights
        np.minimum(distances, nearest[:, None], out=distances)
        best = np.argmin(distances.sum(axis=2), axis=1)
        nearest = distances[each_run, best]
        chosen[:, k] = drawn[each_run, best]
    return chosen


def _squared_distances(vectors: FloatArray, squares: FloatArray, points: IntArray) -> FloatArray:
    """From some of the points, one row for each, to all points."""
    distances = vectors[points] @ vectors.T
    distances *= -2
    distances += squares
    distances += squares[points][:, None]
    return np.maximum(distances, 0.0, out=distances)  # not below zero by rounding


def _runs(data: Weighted, starts: IntArray) -> list[KMeansRun]:
    """K-means from each of these starts."""
    # Sums over several OpenMP threads have other bits. Each of our threads has its own setting for
    # the number of these, so it must be set here. The parameters are ours and need no checks, which
    # take as long as K-means itself if there are few points.
    unchecked = config_context(skip_parameter_validation=True)
    with thread_pools("openmp").limit(limits=1), unchecked:
        return [_run(*data, start) for start in starts]


def _run(vectors: FloatArray, weights: FloatArray | None, start: IntArray) -> KMeansRun:
    n_clusters = len(start)
    kmeans = KMeans(
        n_clusters,
        init=vectors[start],
        n_init=1,
        algorithm="elkan" if n_clusters >= ELKAN_FROM else "lloyd",
    )
    labels = kmeans.fit_predict(vectors, sample_weight=weights)
    return KMeansRun(np.asarray(labels, dtype=np.intp), float(kmeans.inertia_))
