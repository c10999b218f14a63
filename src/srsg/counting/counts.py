"""The number of clusters of a fitted graph, by samples, by halves or by density.

With 100 features or more, the clusters of the right number are found again in samples of the
points and features, and have few links between them (:mod:`srsg.counting.stability`). The clusters
of tables touch each other: there, the clusters of the right number are found again in the other
half of the points (:mod:`srsg.counting.reproducibility`). With three columns or fewer, any cloud of
points can be cut with few links, and in the same way again and again. But there the density of the
points can be measured (:mod:`srsg.counting.density`).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics.cluster import contingency_matrix
from sklearn.utils import check_random_state

from srsg.coding.coder import graph_of_points
from srsg.counting.density import dense_groups, search_dense
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
from srsg.counting.stability import Labels, Sampled, search_combined, search_stable
from srsg.cutting.cut import Clusters, CutOptions, counted_graph, spectral_graph, tree_of
from srsg.cutting.embedding import auto_bridge, unit_length_rows
from srsg.explaining.fitted import fitted_rows
from srsg.explaining.valleys import LEVEL, some_rows, valley_p_value
from srsg.graph import FittedGraph
from srsg.points import Points, dense_rows, mostly_zero, unit_points
from srsg.running import Engine
from srsg.running.progress import quietly
from srsg.types import Graph, IntArray, RandomState

MANY_FEATURES = 100
"""From here on a half of the features still describes the points, and directions tell them apart:
images, spectra, gene expression. Fewer columns are taken for those of a table."""

FEW_FEATURES = 3
"""Up to here directions say little, since points lie in all of them: distances and densities
decide."""

LEAST_FOR_DENSITY = 20
"""The fewest points for which a density can be measured."""

ALIKE = 0.9
"""Clusters are dense groups if this share of each lies in groups that are mostly its own."""

IN_A_CONE = 0.5
"""Many features of unit points whose mean is at least this long: they lie in a cone, as images do.
There, scaling to unit length makes no valley, and takes away lengths that may hide some, such as
those of light. In few columns, scaled noise lies on an arc, with a valley inside."""

MAX_POINTS = 3000
"""With more points, a random sample of this many decides on the number of clusters."""

MAX_SAMPLED_POINTS = 6000
"""The same with many features."""

N_SPLITS = 2
"""Splits of the points into halves: scores are means over both directions of each."""

N_INIT = 2
"""Restarts of K-means in a half. Labels that depend on the start are not reproducible anyway."""

STABLE_N_INIT = 4
"""Restarts of K-means where samples are compared: poor labels would hide a number."""

SAMPLED = 0.75
"""Share of the points in each sample."""


def count_clusters(
    fitted: FittedGraph, options: CutOptions, random_state: RandomState, run: Engine
) -> ScoredCounts:
    """How many clusters a fitted graph has, and the evidence.

    No cluster spans two components of the graph, so there are at least as many clusters as
    components, apart from tiny ones; and if no component is much larger than the others, they are
    the clusters. Otherwise samples, halves or density decide, by the number of features.

    Parameters
    ----------
    fitted : FittedGraph
        The graph.
    options : CutOptions
        How it is cut.
    random_state : int, RandomState or None
        Halves of the points and starts of K-means.
    run : Engine
        Where the work runs.

    Returns
    -------
    ScoredCounts

    Examples
    --------
    >>> from srsg import L1Graph
    >>> from srsg.counting.counts import count_clusters
    >>> from srsg.cutting.cut import CutOptions
    >>> from srsg.datasets import make_union_of_subspaces
    >>> from srsg.running import ThreadEngine
    >>> X, _ = make_union_of_subspaces(120, n_subspaces=3, random_state=0)
    >>> graph = L1Graph().fit_graph(X).graph_
    >>> count_clusters(graph, CutOptions(), 0, ThreadEngine()).n_clusters
    3
    """
    counting = _Counting(fitted, options, check_random_state(random_state), run)
    graph = counted_graph(fitted, options.affinity)
    if counted_by(fitted.n_features) == "density" and len(fitted.equal.first) >= LEAST_FOR_DENSITY:
        return counting.by_density(graph)
    components = substantial_components(graph)
    if _share_the_points(components):
        return _by_graph_alone(graph, run)
    by_samples = fitted.points is None or counted_by(fitted.points.shape[1]) == "samples"
    x = counting.deciding_points(MAX_SAMPLED_POINTS if by_samples else MAX_POINTS)
    counts = counts_to_try(x.shape[0] // 2, len(components), DENSE_UP_TO)
    if not counts or not counting.can_fit(x.shape[0] // 2):
        return _by_graph_alone(graph, run)  # too few points for halves that can be clustered
    if by_samples:
        return counting.by_samples(x, counts, counting.seed())
    if x.shape[0] < graph.shape[0]:
        graph = counted_graph(counting.graph_of(x), options.affinity)
    return counting.by_halves(x, graph, counts)


def p_value_of_valleys(fitted: FittedGraph, clusters: Clusters) -> float:
    """How likely the valleys between the clusters of a graph are if there are none.

    See :func:`srsg.explaining.valleys.valley_p_value`. Curved clusters have no valley along a
    straight line. But all clusters lie apart if they are dense groups of points of a few columns,
    or if the graph of a method by distances falls into components that share the points. Of
    another graph without points it is not known: NaN.
    """
    distinct = fitted.equal.first
    rows = distinct[some_rows(len(distinct))]
    if counted_by(fitted.n_features) == "density" and len(rows) >= LEAST_FOR_DENSITY:
        places, dimension = _places(fitted, dense_rows(fitted_rows(fitted)[rows]))
        dense = search_dense(places, dimension)
        if dense.structure_found and dense.n_clusters >= clusters.n_clusters:
            groups = dense_groups(places, dense.n_clusters)
            table = contingency_matrix(clusters.labels[rows], groups)
            # Groups belong to the cluster that has most of their points.
            own = np.where(table == table.max(axis=0), table, 0).sum(axis=1)
            if (own >= ALIKE * table.sum(axis=1)).all():
                return 0.0
    merged = fitted.merged(fitted.affinity)
    if not fitted.coder.unit and _share_the_points(substantial_components(merged)):
        return 0.0
    if fitted.points is None:
        return np.nan
    p_value = valley_p_value(fitted.given_points(rows), clusters.labels[rows])
    unit = fitted_rows(fitted)[rows]
    by_direction = fitted.coder.unit and counted_by(fitted.n_features) == "samples"
    if by_direction and np.linalg.norm(unit.mean(axis=0)) >= IN_A_CONE:
        p_value = min(1.0, 2 * min(p_value, valley_p_value(unit, clusters.labels[rows])))
    return p_value


def with_structure(counted: ScoredCounts, fitted: FittedGraph, clusters: Clusters) -> ScoredCounts:
    """The evidence for a number of clusters, with whether these clusters lie apart.

    Of a graph without points, samples that agree are all that says so.
    """
    if fitted.points is None:
        return counted
    return replace(counted, structure_found=p_value_of_valleys(fitted, clusters) <= LEVEL)


def counted_by(n_features: int) -> Literal["density", "halves", "samples"]:
    """How clusters are counted: by valleys of density, by halves or by samples of the points."""
    if n_features <= FEW_FEATURES:
        return "density"
    return "samples" if n_features >= MANY_FEATURES else "halves"


@dataclass(frozen=True)
class _Counting:
    """A fitted graph, how it is cut, random numbers, and where the work runs."""

    fitted: FittedGraph
    options: CutOptions
    rng: np.random.RandomState
    run: Engine

    def by_density(self, graph: Graph) -> ScoredCounts:
        """The number of clusters by the valleys between them; samples decide in doubtful cases."""
        x, seed = self.deciding_points(MAX_POINTS), self.seed()

        def by_samples() -> int:
            if not self.can_fit(x.shape[0] // 2):
                return 0
            counts = counts_to_try(x.shape[0] // 2, 2, DENSE_UP_TO)
            return self.by_samples(x, counts, seed).n_clusters

        counted = search_dense(*_places(self.fitted, dense_rows(x)), by_samples)
        # Two or three points code any other in so few columns: noise falls into many components.
        by_components = not self.fitted.coder.unit and not counted.structure_found
        if by_components and _share_the_points(substantial_components(graph)):
            return _by_graph_alone(graph, self.run)
        return counted

    def by_samples(self, x: Any, counts: list[int], seed: int) -> ScoredCounts:
        """The number of clusters that samples of the points ``x`` agree on and their graph has."""
        n_points, rng = x.shape[0], np.random.RandomState(seed)
        size = round(SAMPLED * n_points)
        samples = [np.sort(rng.choice(n_points, size, replace=False)) for _ in range(2)]
        all_count_once = n_points == self.fitted.n and self.fitted.equal.weights is None
        whole = self.fitted if all_count_once else self.graph_of(x)
        by_vectors, trees, most = [], [self.tree(whole, counts[-1])], counts[-1]
        every, graph = np.arange(n_points), whole.merged(whole.affinity)
        with self.run.progress.stage("number of clusters", 5) as stage:
            for fitted in (whole, *map(self.graph_of, self.parts(x, samples, rng))):
                by_vectors.append(self.labeller(fitted, STABLE_N_INIT, most, seed)[1])
                stage.advance()
            if self.fitted.points is None:  # parts of the one graph, not graphs of their own
                return search_stable(graph, by_vectors, [every, *samples], counts)
            halves = [np.sort(half) for half in np.array_split(rng.permutation(n_points), 2)]
            for half in halves:
                trees.append(self.tree(self.graph_of(x[half]), most))
                stage.advance()
        sampled = Sampled([every, *samples], by_vectors), Sampled([every, *halves], trees)
        return search_combined(graph, *sampled, counts)

    def tree(self, fitted: FittedGraph, most: int) -> Labels:
        """A function that cuts the tree of a graph into up to ``most`` clusters."""
        tree = tree_of(fitted, self.options.affinity, min(most, len(fitted.equal.first)))

        def labels(count: int) -> IntArray:
            return fitted.equal.spread_labels(tree.labels(min(count, tree.n_leaves)))

        return labels

    def parts(self, x: Any, samples: list[IntArray], rng: np.random.RandomState) -> Iterator[Any]:
        """Two samples of the points ``x``, with different halves of the features if these are many.

        Labels that depend on some features alone are not found again. Sparse features are not
        halved, since their halves share hardly anything.
        """
        n_features = self.fitted.n_features
        if self.fitted.points is None or counted_by(n_features) != "samples" or mostly_zero(x):
            yield from (x[rows] for rows in samples)
            return
        constant = np.arange(n_features, x.shape[1])  # belongs to both halves
        halves = np.split(rng.permutation(n_features), [n_features // 2])
        for rows, half in zip(samples, halves, strict=True):
            part = x[rows][:, np.sort(np.concatenate([half, constant]))]
            yield unit_points(part, keep_zero_rows=True).x if self.fitted.coder.unit else part

    def by_halves(self, x: Any, graph: Graph, counts: list[int]) -> ScoredCounts:
        """The number of clusters that halves of the points ``x`` agree on; ``graph`` is theirs."""
        with self.run.progress.stage("number of clusters", 2 * N_SPLITS + len(counts)) as stage:
            labellers, links = [], []
            for half, other, seed in self.splits(x.shape[0]):
                labellers.append(self.labeller(self.graph_of(x[half]), N_INIT, counts[-1], seed)[1])
                links.append(graph[other][:, half])  # they carry labels over to the other half
                stage.advance()

            def score(count: int) -> float:
                stage.advance()
                labels = [labelled(count) for labelled in labellers]
                carried = [carry_labels(*pair, count) for pair in zip(links, labels, strict=True)]
                # Halves 0 and 1 belong together, then 2 and 3, and so on.
                scores = [reproducibility_score(c, labels[k ^ 1]) for k, c in enumerate(carried)]
                return float(np.mean(scores))

            return search_counts(score, counts)

    def labeller(
        self, fitted: FittedGraph, n_init: int, most: int, seed: int
    ) -> tuple[Graph, Labels]:
        """The graph that is cut, and a function that cuts it into up to ``most`` clusters."""
        run, options = (
            self.run.quiet(),
            replace(self.options, assign_labels="kmeans", n_init=n_init),
        )
        spectral = spectral_graph(fitted, options.affinity, run)
        # The first vectors of one embedding serve every number of clusters, so the graph must be
        # connected: else the first vectors are those of arbitrary components.
        bridge = auto_bridge(spectral.graph, 2)
        vectors = spectral.embedded(most, bridge, run, weighted=False).vectors

        def labels(count: int) -> IntArray:
            with quietly():  # K-means warns if there are fewer different points than clusters
                first = unit_length_rows(vectors[:, :count])
                return spectral.labels(first, count, options, seed, run)

        return spectral.graph, labels

    def deciding_points(self, most: int) -> Any:
        """The points that decide on the number of clusters; their numbers, if there are none.

        Of equal points only the first: a copy in each half would be found again without any
        cluster.
        """
        distinct = self.fitted.equal.first
        if len(distinct) > most:
            distinct = distinct[np.sort(self.rng.choice(len(distinct), most, replace=False))]
        if self.fitted.points is None:
            return distinct
        chosen = self.fitted.points[distinct]
        # Those of a dask array are still on the workers.
        return chosen.compute() if hasattr(chosen, "compute") else chosen

    def can_fit(self, n_points: int) -> bool:
        """Whether a sample has enough points for the parameters."""
        try:
            replace(self.fitted.coder, n_candidates=None).check(n_points, self.run)
        except ValueError:
            return False
        return True

    def graph_of(self, x: Any) -> FittedGraph:
        """The graph of some of the fitted points."""
        if self.fitted.points is None:
            return self.fitted.part(x)
        coder = replace(self.fitted.coder, n_candidates=None)
        with quietly():
            return graph_of_points(coder, Points(x), x, self.fitted.constant, self.run.quiet())

    def splits(self, n_points: int) -> list[tuple[IntArray, IntArray, int]]:
        """Each half with the other one and a seed for its K-means."""
        splits = []
        for _ in range(N_SPLITS):
            first, second = map(np.sort, np.array_split(self.rng.permutation(n_points), 2))
            splits += [(first, second, self.seed()), (second, first, self.seed())]
        return splits

    def seed(self) -> int:
        return int(self.rng.randint(np.iinfo(np.int32).max))


def _places(fitted: FittedGraph, x: NDArray) -> tuple[NDArray, int]:
    """Coordinates of the points as the method sees them, and the number of dimensions.

    A point and its mirror image have the same code, so they share a place: the products of their
    coordinates are the same. With a constant coordinate no point is the mirror image of another,
    and lengths are not lost.
    """
    if not fitted.coder.unit or fitted.constant:
        return x, fitted.n_features
    products = (x[:, :, None] * x[:, None, :]).reshape(len(x), -1)
    return products, fitted.n_features - 1


def _share_the_points(sizes: IntArray) -> bool:
    """Whether there are several components, none of them much larger than the others.

    Then they are the clusters, as on independent subspaces: the graph of all points says so,
    even where a half has too few points to show it. Halves must not overrule this, since they
    also agree somewhat on the arcs of a ring as soon as points lie unevenly on it. One large
    component beside small ones says nothing about the clusters inside the large one.
    """
    return effective_number(sizes) > (1 + len(sizes)) / 2


def _by_graph_alone(graph: Graph, run: Engine) -> ScoredCounts:
    """The number of clusters by components and eigengaps.

    Components are certain, so their score is their number. Without them, the largest eigengap is
    no more than a guess.
    """
    counted = estimate_n_clusters(graph, engine=run)
    certain = counted.n_components > 1
    score = float(counted.n_clusters) if certain else 0.0
    counts = np.array([counted.n_clusters])
    return ScoredCounts(counted.n_clusters, counts, np.array([score]), certain)
