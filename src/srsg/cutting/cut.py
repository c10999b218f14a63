"""The spectral step: from a fitted graph to labels.

The graph is embedded by its leading eigenvectors, and the embedded points are clustered. Equal
points are one vertex of the graph that is embedded. It counts as many times as the point occurs: by
the edges that its points add up to, in the balance of a ratio cut, and in K-means.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning

from srsg.cutting.embedding import (
    Embedding,
    auto_bridge,
    embedded_graph,
    unit_length_rows,
)
from srsg.cutting.kmeans import label_embedding
from srsg.cutting.weights import agreement
from srsg.graph import FittedGraph
from srsg.points import EqualPoints
from srsg.running import Engine
from srsg.running.warnings import warn_user
from srsg.types import AssignLabels, Cut, FloatArray, Graph, IntArray, RandomState

Affinity = Literal["agreement", "codes"]


@dataclass(frozen=True)
class CutOptions:
    """How a graph is cut.

    Attributes
    ----------
    affinity : {"codes", "agreement"}
        "codes" takes the normalised cut of the graph. "agreement" weighs its edges by what their
        neighbours agree on (:func:`srsg.cutting.weights.agreement`), and takes the ratio cut.
    assign_labels : {"kmeans", "discretize", "cluster_qr"}
        How the embedded points get their labels.
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
        return embedded_graph(
            self.graph,
            n_dimensions,
            self.neighbors,
            bridge,
            self.cut,
            run,
            weights=self.weights if weighted else None,
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
        The coordinates of the points that the labels were found in.
    eigenvalues : ndarray of shape (n_clusters,)
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
    """
    if spectral is None:
        spectral = spectral_graph(fitted, options.affinity, run)
    n_clusters = _possible(n_clusters, len(spectral.equal.first))
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
    number by itself.
    """
    spectral = spectral_graph(fitted, options.affinity, run)
    most = min(max(counts), spectral.graph.shape[0])
    # Eigenvectors do not depend on how many of them are wanted.
    vectors = spectral.embedded(most, spectral.bridge(min(counts)), run).vectors
    columns = [
        spectral.labels(unit_length_rows(vectors[:, :count]), count, options, random_state, run)
        for count in counts
    ]
    return np.column_stack(columns)


def _possible(n_clusters: int, n_distinct: int) -> int:
    """The number of clusters, or a warning and the number of distinct points if it is less."""
    if n_clusters > n_distinct:
        warn_user(
            f"n_clusters={n_clusters} exceeds the number of distinct points, {n_distinct}: "
            "each of these is a cluster.",
            ConvergenceWarning,
        )
    return min(n_clusters, n_distinct)
