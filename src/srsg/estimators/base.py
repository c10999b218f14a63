"""What all graph estimators share: data in, a graph between, labels out."""

from __future__ import annotations

from abc import ABCMeta, abstractmethod
from dataclasses import dataclass, replace
from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import Tags
from sklearn.utils._param_validation import HasMethods, Interval, StrOptions
from sklearn.utils.validation import validate_data

from srsg.engines import Engine, ThreadEngine
from srsg.engines.progress import NO_CHECKPOINT
from srsg.engines.warnings import made_dense, warn_user
from srsg.estimators.cluster_counts import BestCountsMixin, score_cluster_counts
from srsg.estimators.fitting import CallbackMixin, fit_under_way, with_callbacks
from srsg.estimators.kept_graphs import build_or_load_graph
from srsg.estimators.new_points import NewPointsMixin
from srsg.estimators.relabeling import RelabelMixin
from srsg.graph.embedding import (
    Embedding,
    auto_bridge,
    connected_components,
    embedded_graph,
)
from srsg.graph.kmeans import check_cluster_count, label_embedding
from srsg.graph.reproducibility import ScoredCounts
from srsg.points import EqualPoints, Points, UnitRows
from srsg.types import Cut, FloatArray, Graph, IntArray, Matrix, Memory, NClusters, RandomState

AT_LEAST_ONE = Interval(Integral, 1, None, closed="left")
POSITIVE = Interval(Real, 0, None, closed="neither")
NOT_NEGATIVE = Interval(Real, 0, None, closed="left")

ACCEPTED = [np.float64, np.float32, *map(np.dtype, np.typecodes["AllInteger"])]
"""Number types that X may have; others are converted to the first. Integers stay as they are:
code that needs floats converts them block by block."""


@dataclass(frozen=True)
class Clusters:
    """What clustering a graph gives.

    Attributes
    ----------
    labels : ndarray of shape (n,)
    embedding : Embedding
        The coordinates that the labels were found in.
    n_clusters : int
    counted : ScoredCounts or None
        The evidence for the number of clusters, if it was found and not given.
    """

    labels: NDArray[np.intp]
    embedding: Embedding
    n_clusters: int
    counted: ScoredCounts | None = None


class GraphClusterer(
    BestCountsMixin,
    RelabelMixin,
    NewPointsMixin,
    CallbackMixin,
    ClusterMixin,
    BaseEstimator,
    metaclass=ABCMeta,
):
    """Base of the estimators that build a graph of the points and cluster it.

    A subclass stores its parameters in ``__init__``, adds their constraints, and writes
    :meth:`_build_graph`, which sets ``affinity_matrix_`` and whatever else it learns, and
    :meth:`_codes_of_new`. If it sets ``neighbors_``, these bridge the components of the graph.
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "n_clusters": [AT_LEAST_ONE, StrOptions({"auto"})],
        "bridge": [StrOptions({"auto"}), NOT_NEGATIVE, None],
        "assign_labels": [StrOptions({"kmeans", "discretize", "cluster_qr"})],
        "n_init": [AT_LEAST_ONE],
        "memory": [str, HasMethods(["cache"]), None],
        "n_jobs": [Integral, None],
        "random_state": ["random_state"],
        "verbose": ["verbose"],
    }

    # Parameters of every subclass.
    n_clusters: NClusters
    bridge: Any
    assign_labels: Any
    n_init: int
    memory: Memory
    n_jobs: int | None
    random_state: Any
    verbose: bool | int

    n_components: int | None = None  # a parameter of some
    """Coordinates of the embedding; None means one per cluster."""

    _copies_count: ClassVar[bool] = True
    """Whether a point that occurs several times counts as often."""

    _keeps_loops: ClassVar[bool] = False
    """Whether edges between equal points stay, as a loop, when these become one vertex."""

    fit_X_: Any  # noqa: N815 - X is a matrix
    first_equal_: IntArray
    _distinct_: IntArray
    _owner_: IntArray
    affinity_matrix_: Graph
    neighbors_: IntArray
    cluster_counts_: IntArray
    cluster_count_scores_: FloatArray
    structure_found_: bool
    n_components_: int
    labels_: NDArray[np.intp]
    embedding_: FloatArray
    eigenvalues_: FloatArray

    @abstractmethod
    def _build_graph(self, points: Points, engine: Engine) -> None:
        """Learn ``affinity_matrix_`` from the points that :meth:`_prepared` returned."""

    def _check_size(self, n_points: int) -> None:
        """Refuse parameters that ask for more than this many points have."""

    def _prepared(self, X: NDArray | sparse.csr_array) -> UnitRows:
        """The validated input in the form that is coded, as an array of its own.

        Everything that can be wrong with it is found here, before any long work.
        """
        dense = made_dense(X, f"{type(self).__name__} takes dense points")
        # Adding zero makes -0.0 the same bits as 0.0, so that equal points have equal bits.
        return np.array(dense, dtype=np.float64, order="C") + 0.0

    @with_callbacks
    def fit(self, X: Matrix, y: None = None) -> Self:
        """Build the graph and cluster it.

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
        with fit_under_way(self, X) as (points, engine):
            if self.n_clusters != "auto":
                check_cluster_count(self.n_clusters, len(self.first_equal_))
            self._learn_graph(points, engine)
            self._learn_clusters(engine)
        return self

    @with_callbacks
    def fit_graph(self, X: Matrix, y: None = None) -> Self:
        """Learn only the graph: the expensive part.

        :meth:`relabel` is the cheap part, for as many numbers of clusters as you like.

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
        with fit_under_way(self, X) as (points, engine):
            self._learn_graph(points, engine)
        return self

    @property
    def _equal(self) -> EqualPoints:
        """Which of the fitted points are equal.

        Equal points are one vertex of the graph that is clustered. It counts as many times as the
        point occurs: by the edges that its points add up to, in the balance of a ratio cut, and in
        K-means.
        """
        if hasattr(self, "first_equal_"):
            return EqualPoints.from_first(self.first_equal_)
        if hasattr(self, "_owner_"):  # a model that an older version has saved
            return EqualPoints(self._distinct_, self._owner_)
        return EqualPoints.none(self.fit_X_.shape[0])

    def _find_equal(self, points: Points, engine: Engine) -> EqualPoints:
        """Which points are equal, number by number."""
        return EqualPoints.from_digests(engine.row_digests(points))

    def _points_to_code(self, points: Points, equal: EqualPoints, engine: Engine) -> Points:
        """Those of all points that the graph is built of."""
        return points

    def _spread_to_equal(self, equal: EqualPoints) -> None:
        """Give what was learnt of the distinct points to all points."""

    def _weights(self, equal: EqualPoints) -> FloatArray | None:
        """How many times each distinct point counts; None if once."""
        return equal.weights if self._copies_count else None

    def _merged(self, graph: Graph) -> tuple[Graph, IntArray | None]:
        """A graph of all points as one of the distinct points, and the neighbours of these."""
        equal, neighbors = self._equal, getattr(self, "neighbors_", None)
        if neighbors is not None:
            neighbors = equal.merge_neighbors(neighbors)
        return equal.merge_graph(graph, loops=self._keeps_loops), neighbors

    def _spectral_graph(self, engine: Engine) -> tuple[Graph, IntArray | None]:
        """The graph that is embedded, and the neighbours that bridge its components.

        Equal points are one vertex.
        """
        return self._merged(self.affinity_matrix_)

    def _counted_graph(self, graph: Graph) -> Graph:
        """The graph whose clusters are counted, given the one that is clustered."""
        return graph

    @property
    def _cut(self) -> Cut:
        """What balances the clusters, see :func:`srsg.cluster_graph`."""
        return "normalized"

    def _clusters(
        self, n_clusters: NClusters, random_state: RandomState, engine: Engine
    ) -> Clusters:
        """The clusters of the graph of the last fit."""
        graph, neighbors = self._spectral_graph(engine)
        counted = None
        if n_clusters == "auto":
            counted = score_cluster_counts(self, self._counted_graph(graph), random_state, engine)
            n_clusters = counted.n_clusters
        equal = self._equal
        weights = self._weights(equal)
        n_clusters = _possible(n_clusters, equal)
        with engine.progress.stage("eigenvectors and labels", 1):
            embedding = embedded_graph(
                graph,
                self.n_components or n_clusters,
                neighbors,
                self._bridge_for(graph, n_clusters),
                self._cut,
                engine,
                commute_time=self.n_components is not None,
                weights=weights,
            )
            labels = self._labels_of(embedding.vectors, n_clusters, random_state, engine, equal)
        spread = replace(embedding, vectors=equal.spread(embedding.vectors))
        return Clusters(labels, spread, n_clusters, counted)

    def _bridge_for(self, graph: Graph, n_clusters: int) -> float | None:
        """The weight of the edges between the components of a graph."""
        return auto_bridge(graph, n_clusters) if self.bridge == "auto" else self.bridge

    def _labels_of(
        self,
        vectors: FloatArray,
        n_clusters: int,
        random_state: RandomState,
        engine: Engine,
        equal: EqualPoints,
    ) -> NDArray[np.intp]:
        """Labels of all points, given coordinates of the distinct ones."""
        labels = label_embedding(
            vectors,
            min(n_clusters, len(vectors)),
            assign_labels=self.assign_labels,
            n_init=self.n_init,
            random_state=random_state,
            engine=engine,
            weights=self._weights(equal),
        )
        return equal.spread_labels(labels)

    def _learn_clusters(self, engine: Engine) -> None:
        # The graph is in this process, wherever the points were coded.
        local = engine
        if not isinstance(engine, ThreadEngine):
            local = ThreadEngine(self.n_jobs, engine.progress)
        found = self._clusters(self.n_clusters, self.random_state, local)
        self.n_clusters_ = found.n_clusters
        if found.counted is not None:
            self.cluster_counts_ = found.counted.counts
            self.cluster_count_scores_ = found.counted.scores
            self.structure_found_ = found.counted.structure_found
        self.labels_ = found.labels
        self.embedding_ = found.embedding.vectors
        self.eigenvalues_ = found.embedding.eigenvalues

    def _points(self, engine: Engine) -> Points:
        """The fitted points in the form that :meth:`_build_graph` takes."""
        return Points(self.fit_X_)

    def _checked(self, X: Matrix, **options: Any) -> NDArray | sparse.csr_array:
        return validate_data(self, X, accept_sparse="csr", dtype=ACCEPTED, **options)

    def _learn_graph(self, points: Points, engine: Engine) -> None:
        if self.memory is None and engine.checkpoint is NO_CHECKPOINT:
            self._build_graph(points, engine)
        else:
            build_or_load_graph(self, points, engine)
        equal = self._equal
        self._spread_to_equal(equal)
        merged = equal.merge_graph(self.affinity_matrix_, loops=self._keeps_loops)
        self.n_components_ = connected_components(merged)[0]

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


def _possible(n_clusters: int, equal: EqualPoints) -> int:
    """The number of clusters, or a warning and the number of distinct points if it is less."""
    n_distinct = len(equal.first)
    if n_clusters > n_distinct:
        warn_user(
            f"n_clusters={n_clusters} exceeds the number of distinct points, {n_distinct}: "
            "each of these is a cluster.",
            ConvergenceWarning,
        )
    return min(n_clusters, n_distinct)
