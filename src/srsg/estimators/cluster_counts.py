"""The number of clusters of an estimator's points, by links, by halves or by density.

With 100 features or more, the number is right that leaves hardly any links between clusters
(:mod:`srsg.counting.separation`). In tables clusters touch: there the number is right whose clusters
are found again in the other half of the points (:mod:`srsg.counting.reproducibility`). With three
columns or fewer, any cloud of points can be cut with few links and in the same way again and again.
But there its density can be seen (:mod:`srsg.counting.density`).
"""

from __future__ import annotations

from copy import copy
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.pipeline import Pipeline
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from srsg.counting.density import search_dense
from srsg.counting.eigengaps import estimate_n_clusters, substantial_components
from srsg.counting.reproducibility import (
    DENSE_UP_TO,
    ScoredCounts,
    carry_labels,
    counts_to_try,
    effective_number,
    reproducibility_score,
    search_counts,
)
from srsg.counting.separation import search_separated
from srsg.estimators.parts import (
    LabelledPart,
    can_fit,
    deciding_points,
    graph_of_part,
    quiet_engine,
)
from srsg.explaining.unwrapping import clusterer_of
from srsg.points import dense_rows
from srsg.running import Engine, ThreadEngine
from srsg.types import FloatArray, Graph, IntArray, Matrix, RandomState

if TYPE_CHECKING:
    from srsg.estimators.base import GraphClusterer

MANY_FEATURES = 100
"""From here on a half of the features still describes the points, and directions tell them apart:
images, spectra, gene expression. Fewer columns are taken for those of a table."""

FEW_FEATURES = 3
"""Up to here directions say little, since all of them are taken; distances and densities decide."""

LEAST_FOR_DENSITY = 20
"""With fewer points there is no density to speak of."""

MAX_POINTS = 3000
"""With more points, a random sample of this many decides on the number of clusters."""

MAX_LINKED_POINTS = 6000
"""The same with many features, where only one graph is needed."""

N_SPLITS = 2
"""Splits of the points into halves: scores are means over both directions of each."""

N_INIT = 2
"""Restarts of K-means in a half. Labels that depend on the start are not reproducible anyway."""

SEPARATED_N_INIT = 10
"""Restarts of K-means where links are counted: poor labels would hide a number."""

SEPARATED_DENSE_UP_TO = 24
"""Up to here every number of clusters is tried where links are counted, which costs less."""


class BestCountsMixin:
    """Tells the runner-up numbers of clusters of a fit with ``n_clusters="auto"``."""

    n_clusters: Any
    n_clusters_: int
    cluster_counts_: IntArray
    cluster_count_scores_: FloatArray
    structure_found_: bool

    def best_counts(self, n_best: int = 3) -> list[int]:
        """The numbers of clusters that the data speak for most, best first.

        Parameters
        ----------
        n_best : int
            How many numbers.

        Returns
        -------
        list of int
            The first is ``n_clusters_``; the scores are in ``cluster_count_scores_``.
        """
        check_is_fitted(self, "labels_")
        if not hasattr(self, "cluster_counts_"):
            raise ValueError(
                f"n_clusters={self.n_clusters} was given: only a fit with n_clusters='auto' tries "
                "several numbers."
            )
        counted = ScoredCounts(
            self.n_clusters_,
            self.cluster_counts_,
            self.cluster_count_scores_,
            self.structure_found_,
        )
        return counted.best(n_best)


def count_clusters(
    estimator: Any, X: Matrix | None = None, *, random_state: RandomState = None
) -> ScoredCounts:
    """How many clusters the points have, by the graph of an estimator or of a pipeline's last step.

    Parameters
    ----------
    estimator : estimator of this package, or a Pipeline that ends with one
        With X, an unfitted copy is used; without, the graph of its last fit.
    X : array, sparse matrix or DataFrame of shape (n_samples, n_features), optional
        One point per row.
    random_state : int, RandomState or None
        Halves of the points and starts of K-means.

    Returns
    -------
    ScoredCounts

    Examples
    --------
    >>> from srsg import L1Graph
    >>> from srsg.datasets import make_union_of_subspaces
    >>> from srsg.estimators.cluster_counts import count_clusters
    >>> X, _ = make_union_of_subspaces(120, n_subspaces=3, random_state=0)
    >>> count_clusters(L1Graph(), X, random_state=0).n_clusters
    3
    """
    model = estimator if X is None else clone(estimator)
    clusterer = clusterer_of(model)
    if not hasattr(clusterer, "fit_graph"):
        raise TypeError(f"estimator must build a graph; a {type(clusterer).__name__} has none.")
    if X is not None:
        if isinstance(model, Pipeline) and len(model.steps) > 1:
            X = model[:-1].fit_transform(X)
        clusterer.fit_graph(X)
    engine = ThreadEngine(clusterer.n_jobs)
    graph = clusterer._counted_graph(clusterer._spectral_graph(engine).graph)
    return score_cluster_counts(clusterer, graph, random_state, engine)


def score_cluster_counts(
    estimator: GraphClusterer, graph: Graph, random_state: RandomState, engine: Engine
) -> ScoredCounts:
    """Score numbers of clusters for the points that ``estimator`` was fitted on.

    ``graph`` is the graph of all points. No cluster spans two of its components, so there are at
    least as many clusters as components, apart from tiny ones; and if no component is much larger
    than the others, they are the clusters.

    With many features, clusters are often curved. Half of the points would thin them out, but
    hardly any links join them: the links are counted, see :mod:`srsg.counting.separation`. The
    clusters of tables touch each other, so what counts is whether halves of the points agree on
    them, see :mod:`srsg.counting.reproducibility`. With up to three columns neither the graph nor its
    components are asked, but the density of the points, see :mod:`srsg.counting.density`.
    """
    rng = check_random_state(random_state)
    n_different = len(estimator._equal.first)
    if counted_by(estimator.n_features_in_) == "density" and n_different >= LEAST_FOR_DENSITY:
        return _by_density(estimator, graph, rng, engine)
    components = substantial_components(graph)
    if _share_the_points(components):
        return _by_graph_alone(graph, engine)
    by_links = counted_by(estimator.fit_X_.shape[1]) == "links"
    most_points = MAX_LINKED_POINTS if by_links else MAX_POINTS
    rows, x = deciding_points(estimator.fit_X_, estimator._equal.first, most_points, rng)
    dense_up_to = SEPARATED_DENSE_UP_TO if by_links else DENSE_UP_TO
    counts = counts_to_try(len(rows) // 2, len(components), dense_up_to)
    if not counts or not can_fit(estimator, len(rows) // 2):
        return _by_graph_alone(graph, engine)  # too few points for halves that can be clustered
    quiet = quiet_engine(engine)
    sample = estimator
    if len(rows) < graph.shape[0] or (by_links and not estimator._equal.all_differ):
        sample = graph_of_part(estimator, x, quiet)
        graph = sample._counted_graph(sample._spectral_graph(quiet).graph)
    if by_links:
        return _by_links(sample, counts, _seed(rng), engine, quiet)
    return _by_halves(sample, x, graph, counts, rng, engine, quiet)


def counted_by(n_features: int) -> Literal["density", "halves", "links"]:
    """What tells the number of clusters: valleys of density, halves of the points, or links."""
    if n_features <= FEW_FEATURES:
        return "density"
    return "links" if n_features >= MANY_FEATURES else "halves"


def _by_density(
    estimator: GraphClusterer, graph: Graph, rng: np.random.RandomState, engine: Engine
) -> ScoredCounts:
    """The number of clusters by the valleys between them; links decide where these are in doubt."""
    rows, x = deciding_points(estimator.fit_X_, estimator._equal.first, MAX_POINTS, rng)
    seed = _seed(rng)

    def by_links() -> int:
        if not can_fit(estimator, len(rows)):
            return 0
        quiet, sample = quiet_engine(engine), estimator
        if len(rows) < graph.shape[0] or not estimator._equal.all_differ:
            sample = graph_of_part(estimator, x, quiet)
        counts = counts_to_try(len(rows) // 2, 2, SEPARATED_DENSE_UP_TO)
        return _by_links(sample, counts, seed, engine, quiet).n_clusters

    places, dimension = estimator._places(dense_rows(x))
    found = search_dense(places, dimension, by_links)
    by_components = estimator._components_of_few_columns and not found.structure_found
    if by_components and _share_the_points(substantial_components(graph)):
        return _by_graph_alone(graph, engine)
    return found


def _by_links(
    sample: GraphClusterer, counts: list[int], seed: int, engine: Engine, quiet: Engine
) -> ScoredCounts:
    """The number of clusters by the links between them, in the graph that is clustered."""
    vertices = LabelledPart(copy(sample), SEPARATED_N_INIT, counts[-1], seed, quiet)
    with engine.progress.stage("number of clusters", len(counts)) as stage:

        def labels(count: int) -> NDArray[np.intp]:
            stage.advance()
            return vertices.labels(count)

        return search_separated(vertices.graph, labels, counts)


def _by_halves(
    sample: GraphClusterer,
    x: NDArray,
    graph: Graph,
    counts: list[int],
    rng: np.random.RandomState,
    engine: Engine,
    quiet: Engine,
) -> ScoredCounts:
    """The number of clusters that two halves of the points agree on."""
    with engine.progress.stage("number of clusters", 2 * N_SPLITS + len(counts)) as stage:
        halves: list[_Half] = []
        for half, other, seed in _splits(x.shape[0], rng):
            part = LabelledPart(
                graph_of_part(sample, x[half], quiet), N_INIT, counts[-1], seed, quiet
            )
            halves.append(_Half(part, graph[other][:, half]))
            stage.advance()

        def score(count: int) -> float:
            stage.advance()
            return _mean_score(halves, count)

        return search_counts(score, counts)


def _share_the_points(sizes: IntArray) -> bool:
    """Whether there are several components of which none is much larger than the others.

    Then they are the clusters, as on independent subspaces: the graph of all points says so,
    even where a half has too few points to show it. Halves must not overrule this, since they
    also agree somewhat on the arcs of a ring as soon as points lie unevenly on it. One large
    component beside small ones says nothing about the clusters inside the large one.
    """
    return effective_number(sizes) > (1 + len(sizes)) / 2


def _by_graph_alone(graph: Graph, engine: Engine) -> ScoredCounts:
    """The number of clusters by components and eigengaps.

    Components are found for certain, so their score is their number. Without them the largest
    eigengap is no more than a guess.
    """
    found = estimate_n_clusters(graph, engine=engine)
    certain = found.n_components > 1
    score = float(found.n_clusters) if certain else 0.0
    return ScoredCounts(found.n_clusters, np.array([found.n_clusters]), np.array([score]), certain)


class _Half(NamedTuple):
    """One half of the points, and the edges that carry its labels over to the other."""

    part: LabelledPart
    weights: Graph


def _mean_score(halves: list[_Half], count: int) -> float:
    """The mean score over all pairs of halves, in both directions."""
    labels = [half.part.labels(count) for half in halves]
    # Halves 0 and 1 belong together, then 2 and 3, and so on.
    scores = [
        reproducibility_score(carry_labels(half.weights, labels[place], count), labels[place ^ 1])
        for place, half in enumerate(halves)
    ]
    return float(np.mean(scores))


def _splits(n_points: int, rng: np.random.RandomState) -> list[tuple[IntArray, IntArray, int]]:
    """Halves, each with the other one and a seed for its K-means, two after each other."""
    splits = []
    for _ in range(N_SPLITS):
        first, second = (np.sort(half) for half in np.array_split(rng.permutation(n_points), 2))
        splits += [(first, second, _seed(rng)), (second, first, _seed(rng))]
    return splits


def _seed(rng: np.random.RandomState) -> int:
    return int(rng.randint(np.iinfo(np.int32).max))
