"""Fits of one candidate: its graph, and its labels for each number of clusters."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import clone
from sklearn.pipeline import Pipeline

from srsg.counting.counts import SAMPLED
from srsg.counting.reproducibility import ScoredCounts, counts_to_try
from srsg.counting.stability import modularity, search_stable
from srsg.cutting.cut import counted_graph
from srsg.cutting.tree import graph_tree
from srsg.estimators import GraphClusterer, PreparedClusterer
from srsg.explaining.unwrapping import clusterer_of
from srsg.types import FloatArray, Matrix

TREE = "tree"
CUTS = ("kmeans", TREE)
"""How the graphs of the search are cut: by eigenvectors, or as a tree."""


def fresh(candidate: Any, n_clusters: int | None, seed: int) -> Any:
    """An unfitted copy with this number of clusters, and this seed if it has none of its own."""
    copy = clone(candidate)
    last = clusterer_of(copy)
    if n_clusters is not None:
        last.set_params(n_clusters=n_clusters)
    if last.get_params(deep=False).get("random_state", seed) is None:
        last.set_params(random_state=seed)
    return copy


def builds_graph(candidate: Any) -> bool:
    """Whether a candidate, or the last step of its pipeline, is an estimator of this package."""
    return isinstance(clusterer_of(candidate), GraphClusterer)


def with_graph(candidate: Any, X: Matrix, seed: int, weights: FloatArray | None = None) -> Any:
    """A copy of a candidate, with the graph of these points, each of which counts its weight."""
    model = fresh(candidate, None, seed)
    if isinstance(model, Pipeline) and len(model.steps) > 1:
        X = model[:-1].fit_transform(X)
    _last_step(model).fit_graph(X, **weight_options(weights))
    return model


def weight_options(weights: FloatArray | None, model: Any = None) -> dict[str, Any]:
    """The argument of ``fit`` that tells a model, or the last step of a pipeline, the weights."""
    if weights is None:
        return {}
    step = f"{model.steps[-1][0]}__" if isinstance(model, Pipeline) else ""
    return {f"{step}sample_weight": weights}


def label_graph(model: Any, n_clusters: int, cut: str | None = None) -> None:
    """Give a model that has its graph its labels, for this number of clusters, by this cut."""
    given = last = _last_step(model)
    while isinstance(given, PreparedClusterer):
        given = given.clusterer
    given.set_params(n_clusters=n_clusters)
    if cut is not None:
        given.set_params(assign_labels=cut)
    last.fit_labels()


def _last_step(model: Any) -> Any:
    return model.steps[-1][1] if isinstance(model, Pipeline) else model


def labels_for_each(
    candidate: Any,
    X: Matrix,
    counts: Sequence[int],
    seed: int,
    weights: FloatArray | None = None,
) -> NDArray[np.intp]:
    """Labels of the points, one column for each number of clusters.

    A graph is built once for all numbers; other clusterers are fitted again for each.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from srsg import L1Graph
    >>> from srsg.search.fits import labels_for_each
    >>> labels_for_each(L1Graph(), load_digits().data[:60], [2, 3], seed=0).max(axis=0)
    array([1, 2])
    """
    if builds_graph(candidate):
        return clusterer_of(with_graph(candidate, X, seed, weights)).relabel_each(counts)
    options = weight_options(weights, candidate)
    columns = [fresh(candidate, count, seed).fit_predict(X, **options) for count in counts]
    for labels in columns:
        if np.shape(labels) != (X.shape[0],):
            raise ValueError(
                f"fit_predict of {type(candidate).__name__} returned labels of shape "
                f"{np.shape(labels)} for {X.shape[0]} points."
            )
    return np.column_stack(columns)


def cuts_of_graph(
    candidate: Any,
    X: Matrix,
    counts: Sequence[int],
    seed: int,
    weights: FloatArray | None = None,
) -> tuple[NDArray[np.intp], FloatArray]:
    """Labels by each of :data:`CUTS`, and their modularity; all numbers of one cut come first.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from srsg import NeighborGraph
    >>> from srsg.search.fits import cuts_of_graph
    >>> labels, modular = cuts_of_graph(NeighborGraph(), load_digits().data[:60], [2, 3], seed=0)
    >>> labels.max(axis=0)
    array([1, 2, 1, 2])
    """
    model = clusterer_of(with_graph(candidate, X, seed, weights))
    each = [model.set_params(assign_labels=cut).relabel_each(counts) for cut in CUTS]
    labels = np.column_stack(each)
    graph, first = model.graph_, model.graph_.equal.first
    merged = graph.merged(graph.affinity)
    return labels, np.array([modularity(merged, column[first]) for column in labels.T])


def count_in_tree(model: GraphClusterer, seed: int) -> ScoredCounts:
    """How many clusters the tree of a graph has: found again in samples of its vertices.

    The samples keep the edges of the graph, so that this takes no fits and hardly longer than one
    tree, whatever the number of points. Graphs of few points fall into small pieces that any
    sample shows again: there samples must be fitted, as :mod:`srsg.counting` does.

    Examples
    --------
    >>> from sklearn.datasets import make_blobs
    >>> from srsg import NeighborGraph
    >>> from srsg.search.fits import count_in_tree
    >>> X, _ = make_blobs(2000, 8, centers=6, cluster_std=2.0, random_state=0)
    >>> count_in_tree(NeighborGraph().fit_graph(X), seed=0).n_clusters
    6
    """
    graph = sparse.csr_array(counted_graph(model.graph_, model._cut_options().affinity))
    every, rng = np.arange(graph.shape[0]), np.random.RandomState(seed)
    size = round(SAMPLED * len(every))
    samples = [every, *(np.sort(rng.choice(every, size, replace=False)) for _ in range(2))]
    counts = counts_to_try(len(every) // 2)
    trees = [graph_tree(graph[rows][:, rows], None, counts[-1]) for rows in samples]
    return search_stable(graph, [tree.labels for tree in trees], samples, counts)
