"""From a fitted graph to labels: the spectral step, or a tree.

The graph is embedded by its leading eigenvectors, and the embedded points are clustered. Equal
points are one vertex of the graph that is embedded. It counts as many times as the point occurs: by
the edges that its points add up to, in the balance of a ratio cut, and in K-means.

The restarts of K-means run side by side, with the same labels on any number of threads.

A tree of the graph (:mod:`srsg.cutting.tree`) gives labels without an embedding.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain
from math import log
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn import config_context
from sklearn.cluster import KMeans
from sklearn.cluster._spectral import cluster_qr, discretize
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state

from srsg.cutting.affinity import cluster_weights
from srsg.cutting.constrained import kept_apart, nearest_centres, settled
from srsg.cutting.embedding import (
    Embedding,
    agreement,
    auto_bridge,
    embedded_graph,
    normalized,
    unit_length_rows,
)
from srsg.cutting.tree import Tree, graph_tree
from srsg.graph import FittedGraph
from srsg.points import EqualPoints
from srsg.running import Engine, ThreadEngine, serial_linear_algebra, thread_pools
from srsg.running.warnings import warn_user
from srsg.types import (
    Affinity,
    AssignLabels,
    Cut,
    FloatArray,
    Graph,
    IntArray,
    NClusters,
    RandomState,
)

NO_PAIRS = np.empty((0, 2), np.int64)


@dataclass(frozen=True)
class CutOptions:
    """How a graph is cut.

    Attributes
    ----------
    affinity : {"codes", "agreement"}
        "codes" takes the normalised cut of the graph. "agreement" weighs its edges by what their
        neighbours agree on (:func:`srsg.cutting.embedding.agreement`), and takes the ratio cut.
    assign_labels : {"kmeans", "discretize", "cluster_qr", "tree"}
        How the embedded points get their labels; "tree" cuts a tree of the graph instead.
    n_init : int
        Restarts of K-means.
    """

    affinity: Affinity = "codes"
    assign_labels: AssignLabels = "kmeans"
    n_init: int = 10


@dataclass(frozen=True)
class SpectralGraph:
    """A graph ready to be embedded, in which equal points are one vertex.

    Attributes
    ----------
    graph : ndarray or csr_array of shape (n_distinct, n_distinct)
    neighbors : ndarray of shape (n_distinct, K) or None
        Neighbours whose links may bridge its components.
    weights : ndarray of shape (n_distinct,) or None
        How many times each vertex counts; None if once.
    equal : EqualPoints
        The points that each vertex stands for.
    cut : {"normalized", "ratio"}
        What balances the clusters, see :func:`srsg.cluster_graph`.
    """

    graph: Graph
    neighbors: IntArray | None
    weights: FloatArray | None
    equal: EqualPoints
    cut: Cut

    def embedded(
        self, n_dimensions: int, bridge: float | None, run: Engine, *, weighted: bool = True
    ) -> Embedding:
        """Coordinates of the vertices."""
        weights = self.weights if weighted else None
        return embedded_graph(
            self.graph, n_dimensions, self.neighbors, bridge, self.cut, run, weights=weights
        )

    def bridge(self, n_clusters: int) -> float | None:
        """The weight of links between neighbours, for this many clusters."""
        return None if self.neighbors is None else auto_bridge(self.graph, n_clusters)

    def labels(
        self,
        vectors: FloatArray,
        n_clusters: int,
        options: CutOptions,
        random_state: RandomState,
        run: Engine,
    ) -> NDArray[np.intp]:
        """Labels of all points, given coordinates of the vertices."""
        labels = label_embedding(
            vectors,
            min(n_clusters, len(vectors)),
            assign_labels=options.assign_labels,
            n_init=options.n_init,
            random_state=random_state,
            engine=run,
            weights=self.weights,
        )
        return self.equal.spread_labels(labels)


@dataclass(frozen=True)
class Clusters:
    """The clusters of a graph.

    Attributes
    ----------
    labels : ndarray of shape (n,)
    vectors : ndarray of shape (n, n_clusters)
        The coordinates of the points that the labels were found in. For a tree, the share of each
        point's edge weight that goes to each cluster.
    eigenvalues : ndarray of shape (n_clusters,)
        Those of the normalised graph. For a tree, of the graph whose vertices are the clusters.
    n_clusters : int
    """

    labels: NDArray[np.intp]
    vectors: FloatArray
    eigenvalues: FloatArray
    n_clusters: int


def spectral_graph(fitted: FittedGraph, affinity: Affinity, run: Engine) -> SpectralGraph:
    """The graph that is embedded."""
    graph = counted_graph(fitted, affinity)
    by_agreement = affinity == "agreement"
    equal, neighbors = fitted.equal, fitted.neighbors
    return SpectralGraph(
        agreement(graph, engine=run) if by_agreement else graph,
        None if neighbors is None else equal.merge_neighbors(neighbors),
        equal.weights if fitted.coder.copies_count else None,
        equal,
        "ratio" if by_agreement else "normalized",
    )


def counted_graph(fitted: FittedGraph, affinity: Affinity) -> Graph:
    """The graph whose clusters are counted: that of the distinct points, before agreement.

    Edges that lose their weight for lack of agreement must not count as one more cluster.
    """
    by_agreement = affinity == "agreement"
    return fitted.merged(fitted.coder.agreement_graph(fitted) if by_agreement else fitted.affinity)


def cut_graph(
    fitted: FittedGraph,
    n_clusters: int,
    options: CutOptions,
    random_state: RandomState,
    run: Engine,
    spectral: SpectralGraph | None = None,
) -> Clusters:
    """Cut a fitted graph into clusters.

    Parameters
    ----------
    fitted : FittedGraph
        The graph.
    n_clusters : int
        Number of clusters; if there are fewer distinct points, each of these is one.
    options : CutOptions
        How it is cut.
    random_state : int, RandomState or None
        Starts of K-means.
    run : Engine
        Where the work runs.
    spectral : SpectralGraph, optional
        What :func:`spectral_graph` returned for these options.

    Returns
    -------
    Clusters

    Examples
    --------
    >>> from srsg import L1Graph
    >>> from srsg.cutting.cut import CutOptions, cut_graph
    >>> from srsg.datasets import make_union_of_subspaces
    >>> from srsg.running import ThreadEngine
    >>> X, _ = make_union_of_subspaces(60, random_state=0)
    >>> graph = L1Graph().fit_graph(X).graph_
    >>> cut_graph(graph, 3, CutOptions(), 0, ThreadEngine()).labels.shape
    (60,)
    """
    if fitted.constraints is not None:
        with run.progress.stage("eigenvectors and labels", 1):
            return _cut_constrained(fitted, n_clusters, options, random_state, run)
    n_clusters = _possible(n_clusters, len(fitted.equal.first))
    if options.assign_labels == "tree":
        with run.progress.stage("tree and labels", 1):
            return _cut_tree(fitted, n_clusters, options.affinity)
    if spectral is None:
        spectral = spectral_graph(fitted, options.affinity, run)
    with run.progress.stage("eigenvectors and labels", 1):
        embedding = spectral.embedded(n_clusters, spectral.bridge(n_clusters), run)
        labels = spectral.labels(embedding.vectors, n_clusters, options, random_state, run)
    vectors = spectral.equal.spread(embedding.vectors)
    return Clusters(labels, vectors, embedding.eigenvalues, n_clusters)


def cut_graph_each(
    fitted: FittedGraph,
    counts: Sequence[int],
    options: CutOptions,
    random_state: RandomState,
    run: Engine,
) -> NDArray[np.intp]:
    """Labels for each of several numbers of clusters, one column each.

    The eigenvectors are found once, for the largest number. If the graph has more components than
    the smallest number, bridges join them for all numbers; :func:`cut_graph` decides this for each
    number by itself. A tree is the same for all numbers. Constraints are kept for each by itself.
    """
    if fitted.constraints is not None:
        cuts = [cut_graph(fitted, count, options, random_state, run) for count in counts]
        return np.column_stack([clusters.labels for clusters in cuts])
    if options.assign_labels == "tree":
        most = min(max(counts), len(fitted.equal.first))
        tree = tree_of(fitted, options.affinity, most)
        columns = [tree.labels(min(count, most)) for count in counts]
        return np.column_stack([fitted.equal.spread_labels(labels) for labels in columns])
    spectral = spectral_graph(fitted, options.affinity, run)
    most = min(max(counts), spectral.graph.shape[0])
    # Eigenvectors do not depend on how many of them are wanted.
    vectors = spectral.embedded(most, spectral.bridge(min(counts)), run).vectors
    columns = [
        spectral.labels(unit_length_rows(vectors[:, :count]), count, options, random_state, run)
        for count in counts
    ]
    return np.column_stack(columns)


def tree_of(
    fitted: FittedGraph, affinity: Affinity, n_leaves: int = 1, within: IntArray | None = None
) -> Tree:
    """The tree of a fitted graph, before agreement: what its edges weigh, communities find out.

    Its vertices are the distinct points, and clusters ``within`` which it starts are theirs.
    """
    neighbors = fitted.neighbors
    merged = None if neighbors is None else fitted.equal.merge_neighbors(neighbors)
    return graph_tree(counted_graph(fitted, affinity), merged, n_leaves, within)


def _cut_tree(
    fitted: FittedGraph, n_clusters: int, affinity: Affinity, apart: IntArray = NO_PAIRS
) -> Clusters:
    graph, neighbors = kept_apart(counted_graph(fitted, affinity), apart), fitted.neighbors
    merged = None if neighbors is None else fitted.equal.merge_neighbors(neighbors)
    labels = graph_tree(graph, merged, n_clusters).labels(n_clusters)
    weights = cluster_weights(graph, labels, n_clusters)
    total = weights.sum(axis=1, keepdims=True)
    shares = weights / np.where(total > 0, total, 1.0)
    between = cluster_weights(np.ascontiguousarray(weights.T), labels, n_clusters)
    eigenvalues = np.linalg.eigvalsh(normalized((between + between.T) / 2))[::-1].copy()
    equal = fitted.equal
    return Clusters(equal.spread_labels(labels), equal.spread(shares), eigenvalues, n_clusters)


def _cut_constrained(
    fitted: FittedGraph,
    n_clusters: int,
    options: CutOptions,
    random_state: RandomState,
    run: Engine,
) -> Clusters:
    """The clusters of a graph that keep its constraints, see :mod:`srsg.cutting.constrained`."""
    constraints = fitted.constraints
    assert constraints is not None
    constraints.check(n_clusters)
    groups = constraints.groups(fitted.equal)
    equal, seeds = groups.equal, groups.seeds
    n_clusters = _possible(n_clusters, len(equal.first))
    fitted = replace(fitted, equal=equal, constraints=None)
    if options.assign_labels == "tree":
        tree = _cut_tree(fitted, n_clusters, options.affinity, groups.apart)
        labels, scores, values = (
            tree.labels[equal.first],
            tree.vectors[equal.first],
            tree.eigenvalues,
        )
    else:
        spectral = spectral_graph(fitted, options.affinity, run)
        spectral = replace(spectral, graph=kept_apart(spectral.graph, groups.apart))
        if len(seeds):
            found = embedded_graph(
                *(spectral.graph, 2 * n_clusters, spectral.neighbors, spectral.bridge(1)),
                *(spectral.cut, run),
                commute_time=True,
                weights=spectral.weights,
            )
            of_kmeans = spectral.weights, options.n_init, random_state
            centres = nearest_centres(found.vectors, seeds, n_clusters, *of_kmeans)
        else:
            found = spectral.embedded(n_clusters, spectral.bridge(n_clusters), run)
            of_all = spectral.labels(found.vectors, n_clusters, options, random_state, run)
            labels = of_all[equal.first]
            centres = np.array([found.vectors[labels == c].mean(axis=0) for c in range(n_clusters)])
        with serial_linear_algebra():
            scores = np.clip(found.vectors @ unit_length_rows(centres).T, -1.0, 1.0)
        labels, values = scores.argmax(axis=1) if len(seeds) else labels, found.eigenvalues
    eigenvalues = np.zeros(n_clusters)
    eigenvalues[: len(values)] = values[:n_clusters]
    labels, scores = settled(labels, scores, groups)
    return Clusters(equal.spread_labels(labels), equal.spread(scores), eigenvalues, n_clusters)


def _possible(n_clusters: int, n_distinct: int) -> int:
    """The number of clusters, or a warning and the number of distinct points if it is less."""
    if n_clusters > n_distinct:
        warn_user(
            f"n_clusters={n_clusters} exceeds the number of distinct points, {n_distinct}: "
            "each of these is a cluster.",
            ConvergenceWarning,
        )
    return min(n_clusters, n_distinct)


ELKAN_FROM = 50
"""The number of clusters from which on Elkan's bounds save more time than they take."""

RUNS_PER_TASK, DISTANCES_PER_TASK = 5, 2**22
"""How many restarts draw their starts in one task, and how many distances it may hold at once."""

SECONDS_PER_PRODUCT, LONG_WAIT = 1.3e-9, 60.0
"""Time of all runs for each number of the points, each cluster and each start, as measured, and
the time from which on a warning says how long it may take."""

LEAST_SHARED = 2**15
"""Multiplications of an iteration of K-means from which on threads share its runs."""

Weighted = tuple[FloatArray, FloatArray | None]
"""Points, and how many times each counts, if not once."""


def check_cluster_count(count: NClusters, n_points: int, name: str = "n_clusters") -> None:
    """Raise a ValueError unless it is a number from 1 to that of the points, a range, or "auto"."""
    if count == "auto":
        return
    if isinstance(count, tuple):
        if len(count) != 2 or not all(isinstance(end, Integral) for end in count):
            raise ValueError(f"{name}={count!r} must be a range of two whole numbers.")
        if not 2 <= count[0] <= count[1]:
            raise ValueError(f"{name}={count!r} must be a range from 2 or more, such as (3, 6).")
        count = count[0]
    if not isinstance(count, Integral) or isinstance(count, bool) or count < 1:
        raise ValueError(f"{name}={count!r} must be a whole number, 1 or more.")
    if count > n_points:
        raise ValueError(f"{name}={count} exceeds the number of points, n_samples={n_points}.")


def label_embedding(
    vectors: FloatArray,
    n_clusters: int,
    *,
    assign_labels: AssignLabels = "kmeans",
    random_state: RandomState = None,
    **of_kmeans: Any,
) -> NDArray[np.intp]:
    """Labels of embedded vertices: the last step of :func:`srsg.cluster_graph`.

    The parameters are those of that function, and those of :func:`kmeans_labels`.

    Examples
    --------
    >>> import numpy as np
    >>> from srsg.cutting.cut import label_embedding
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
    return kmeans_labels(vectors, n_clusters, random_state=random_state, **of_kmeans)


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
    >>> from srsg.cutting.cut import kmeans_labels
    >>> labels = kmeans_labels(np.array([[0.0], [0.1], [5.0]]), 2, random_state=0)
    >>> bool(labels[0] == labels[1] != labels[2])
    True
    """
    n_points = len(vectors)
    if n_clusters == n_points == len(np.unique(vectors, axis=0)):
        return np.arange(n_points)  # every point is a cluster: nothing else has an inertia of zero
    seconds = float(vectors.size) * n_clusters * n_init * SECONDS_PER_PRODUCT
    if seconds > LONG_WAIT:
        warn_user(
            f"K-means of {n_points} points into {n_clusters} clusters may take about "
            f"{seconds / 60:.0f} minutes of processor time: take fewer clusters, a smaller n_init "
            "or assign_labels='cluster_qr'.",
            UserWarning,
        )
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
    return min(runs, key=lambda run: run.inertia_).labels_.astype(np.intp)


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


def _runs(data: Weighted, starts: IntArray) -> list[KMeans]:
    """K-means from each of these starts."""
    # Sums over several OpenMP threads have other bits. Each of our threads has its own setting for
    # the number of these, so it must be set here. The parameters are ours and need no checks, which
    # take as long as K-means itself if there are few points.
    unchecked = config_context(skip_parameter_validation=True)
    with thread_pools("openmp").limit(limits=1), unchecked:
        return [_run(*data, start) for start in starts]


def _run(vectors: FloatArray, weights: FloatArray | None, start: IntArray) -> KMeans:
    algorithm = "elkan" if len(start) >= ELKAN_FROM else "lloyd"
    kmeans = KMeans(len(start), init=vectors[start], n_init=1, algorithm=algorithm)
    return kmeans.fit(vectors, sample_weight=weights)
