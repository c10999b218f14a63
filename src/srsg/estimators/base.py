"""What all graph estimators share: data in, a graph between, labels out."""

from __future__ import annotations

from abc import ABCMeta, abstractmethod
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
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
from sklearn.utils.validation import check_is_fitted, validate_data

from srsg.engines import Engine, ThreadEngine
from srsg.engines.progress import Progress, announce_compiling, progress_for
from srsg.engines.warnings import made_dense, warn_user
from srsg.estimators.cluster_counts import BestCountsMixin, score_cluster_counts
from srsg.estimators.equal_points import EqualPointsMixin
from srsg.estimators.fitting import (
    CallbackMixin,
    engine_of,
    fit_task,
    is_dask,
    points_on_workers,
    progress_of,
    with_callbacks,
)
from srsg.estimators.kept_graphs import build_or_load_graph
from srsg.estimators.new_points import NewPointsMixin
from srsg.graph.embedding import (
    Embedding,
    auto_bridge,
    connected_components,
    embedded_graph,
    unit_length_rows,
)
from srsg.graph.kmeans import check_cluster_count, label_embedding
from srsg.graph.reproducibility import ScoredCounts
from srsg.points import Points, UnitRows
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
    EqualPointsMixin,
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
        with self._fit_of(X) as (points, engine):
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
        with self._fit_of(X) as (points, engine):
            self._learn_graph(points, engine)
        return self

    def relabel(
        self, n_clusters: NClusters | None = None, *, random_state: RandomState = None
    ) -> NDArray[np.intp]:
        """Label the points again, on the graph of the last fit: the cheap part.

        Shows in little time what another number of clusters gives, or how much the labels
        depend on the starts of K-means. The estimator does not change.

        Parameters
        ----------
        n_clusters : int, "auto" or None
            Number of clusters; None keeps the embedding of the last fit and its number.
        random_state : int, RandomState or None
            Starts of K-means; with the estimator's own, and its number of clusters, the result
            is ``labels_``.

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        if n_clusters is None:
            check_is_fitted(self, "embedding_")
            engine = ThreadEngine(self.n_jobs)
            return self._labels_of(self.embedding_, self.n_clusters_, random_state, engine)
        check_is_fitted(self, "affinity_matrix_")
        if n_clusters != "auto":
            check_cluster_count(n_clusters, self.affinity_matrix_.shape[0])
        return self._clusters(n_clusters, random_state, ThreadEngine(self.n_jobs)).labels

    def relabel_each(
        self, counts: Sequence[int], *, random_state: RandomState = None
    ) -> NDArray[np.intp]:
        """Label the points for each of several numbers of clusters, on the graph of the last fit.

        The eigenvectors are found once, for the largest number. If the graph has more components
        than the smallest number, bridges join them for all numbers; :meth:`relabel` decides this
        for each number by itself.

        Parameters
        ----------
        counts : sequence of int
            Numbers of clusters.
        random_state : int, RandomState or None
            Starts of K-means, the same for every number.

        Returns
        -------
        ndarray of shape (n_samples, len(counts))
        """
        check_is_fitted(self, "affinity_matrix_")
        for count in counts:
            check_cluster_count(count, self.affinity_matrix_.shape[0])
        engine = ThreadEngine(self.n_jobs)
        graph, neighbors = self._spectral_graph(engine)
        bridge = auto_bridge(graph, min(counts)) if self.bridge == "auto" else self.bridge
        n_dimensions, weights = min(max(counts), graph.shape[0]), self._weights
        embedding = embedded_graph(
            graph, n_dimensions, neighbors, bridge, self._cut, engine, weights=weights
        )
        vectors = self._equal.spread(embedding.vectors)
        columns = [
            self._labels_of(unit_length_rows(vectors[:, :count]), count, random_state, engine)
            for count in counts
        ]
        return np.column_stack(columns)

    def spectrum(self, count: int) -> FloatArray:
        """Leading eigenvalues of the normalised graph that was clustered.

        The first of them are ``eigenvalues_``; those that follow show the gap.

        Parameters
        ----------
        count : int
            How many eigenvalues.

        Returns
        -------
        ndarray of shape (count,)
        """
        check_is_fitted(self, "eigenvalues_")
        engine = ThreadEngine(self.n_jobs)
        graph, neighbors = self._spectral_graph(engine)
        bridge = self.bridge
        if bridge == "auto":  # as for the clusters, whose number decides
            bridge = auto_bridge(graph, self.n_clusters_)
        return embedded_graph(
            graph, count, neighbors, bridge, self._cut, engine, weights=self._weights
        ).eigenvalues

    def _spectral_graph(self, engine: Engine) -> tuple[Graph, IntArray | None]:
        """The graph that is embedded, and the neighbours that bridge its components.

        Equal points are one vertex.
        """
        return self._merged(self.affinity_matrix_), self._merged_neighbors()

    def _counted_graph(self, graph: Graph) -> Graph:
        """The graph whose clusters are counted, given the one that is clustered."""
        return graph

    @property
    def _cut(self) -> Cut:
        """What balances the clusters, see :func:`srsg.cluster_graph`."""
        return "normalized"

    def _labels_of(
        self, vectors: FloatArray, n_clusters: int, random_state: RandomState, engine: Engine
    ) -> NDArray[np.intp]:
        """Labels of all points, whose coordinates are given; equal points get the same."""
        equal = self._equal
        labels = label_embedding(
            vectors if equal.all_differ else vectors[equal.first],
            min(n_clusters, len(equal.first)),
            assign_labels=self.assign_labels,
            n_init=self.n_init,
            random_state=random_state,
            engine=engine,
            weights=self._weights,
        )
        return self._spread_labels(labels)

    def _clusters(
        self, n_clusters: NClusters, random_state: RandomState, engine: Engine
    ) -> Clusters:
        """The clusters of the graph of the last fit."""
        graph, neighbors = self._spectral_graph(engine)
        counted = None
        if n_clusters == "auto":
            counted = score_cluster_counts(self, self._counted_graph(graph), random_state, engine)
            n_clusters = counted.n_clusters
        with engine.progress.stage("eigenvectors and labels", 1):
            found = self._clusters_of(graph, neighbors, n_clusters, random_state, engine)
        return replace(found, counted=counted)

    def _clusters_of(
        self,
        graph: Graph,
        neighbors: IntArray | None,
        n_clusters: int,
        random_state: RandomState,
        engine: Engine,
    ) -> Clusters:
        n_clusters = self._possible(n_clusters)
        bridge = auto_bridge(graph, n_clusters) if self.bridge == "auto" else self.bridge
        embedding = self._embedding(graph, n_clusters, neighbors, bridge, engine)
        embedding = replace(embedding, vectors=self._equal.spread(embedding.vectors))
        labels = self._labels_of(embedding.vectors, n_clusters, random_state, engine)
        return Clusters(labels, embedding, n_clusters)

    def _embedding(
        self,
        graph: Graph,
        n_clusters: int,
        neighbors: IntArray | None,
        bridge: float | None,
        engine: Engine,
    ) -> Embedding:
        weights = self._weights
        return embedded_graph(
            graph, n_clusters, neighbors, bridge, self._cut, engine, weights=weights
        )

    def _possible(self, n_clusters: int) -> int:
        """The number of clusters, or a warning and the number of distinct points if it is less."""
        n_distinct = len(self._equal.first)
        if n_clusters > n_distinct:
            warn_user(
                f"n_clusters={n_clusters} exceeds the number of distinct points, {n_distinct}: "
                "each of these is a cluster.",
                ConvergenceWarning,
            )
        return min(n_clusters, n_distinct)

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

    @contextmanager
    def _fit_of(self, X: Matrix) -> Iterator[tuple[Points, Engine]]:
        """A fit under way: the validated points, and the one engine that does all the work.

        A fit that fails or is interrupted leaves the estimator as it was before.
        """
        self._validate_params()
        self._refuse_truth_values()
        before = self._take_learnt()
        try:
            with fit_task(self, X), announce_compiling(progress_for(self.verbose)):
                yield self._points_and_engine(X, progress_of(self))
        except BaseException:
            self._take_learnt()
            self.__dict__.update(before)
            raise

    def _refuse_truth_values(self) -> None:
        """True and False are integers to Python, and so to scikit-learn; kernels disagree."""
        for name, value in self.get_params(deep=False).items():
            allowed = self._parameter_constraints.get(name, [])
            if isinstance(value, bool) and not {"boolean", "verbose"} & {*map(str, allowed)}:
                raise TypeError(f"{name} must not be {value}: it is a number or a name.")

    def _take_learnt(self) -> dict[str, Any]:
        """Forget everything learnt, and return it."""
        return {name: self.__dict__.pop(name) for name in list(self.__dict__) if name.endswith("_")}

    def _points_and_engine(self, X: Matrix, progress: Progress) -> tuple[Points, Engine]:
        if is_dask(X):
            engine = engine_of(self, progress)
            on_workers = points_on_workers(self, X, engine)
            self._check_size(on_workers.n)
            self.fit_X_ = on_workers.lazy[0]
            return self._merge_equal(on_workers, engine), engine
        checked = self._checked(X, ensure_min_samples=2, ensure_min_features=2)
        self._check_size(checked.shape[0])
        engine = engine_of(self, progress, checked)  # notices too little memory before taking any
        self.fit_X_ = self._prepared(checked)
        return self._merge_equal(Points(self.fit_X_), engine), engine

    def _points(self, engine: Engine) -> Points:
        """The fitted points in the form that :meth:`_build_graph` takes."""
        return Points(self.fit_X_)

    def _checked(self, X: Matrix, **options: Any) -> NDArray | sparse.csr_array:
        return validate_data(self, X, accept_sparse="csr", dtype=ACCEPTED, **options)

    def _graph_is_consistent(self, points: Points, engine: Engine) -> bool:
        """Whether the parts of a graph that was read from a file belong together."""
        return True

    def _learn_graph(self, points: Points, engine: Engine) -> None:
        build_or_load_graph(self, points, engine)
        self._spread_to_equal()
        self.n_components_ = connected_components(self._merged(self.affinity_matrix_))[0]

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags
