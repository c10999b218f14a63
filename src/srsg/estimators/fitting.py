"""How a graph estimator is fitted: the points, the engine, the graph, and its clusters."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import Tags
from sklearn.utils._param_validation import HasMethods
from sklearn.utils.validation import validate_data

from srsg.cutting.embedding import Embedding, auto_bridge, connected_components, embedded_graph
from srsg.cutting.kmeans import check_cluster_count, label_embedding
from srsg.estimators.callbacks import reported_to_callbacks, with_callbacks
from srsg.estimators.cluster_counts import score_cluster_counts
from srsg.estimators.dask_points import points_on_workers
from srsg.estimators.hooks import Clusters, FitHooks, SpectralGraph
from srsg.estimators.kept_graphs import build_or_load_graph
from srsg.points import EqualPoints, Points
from srsg.running import Engine, ThreadEngine
from srsg.running.memory import blocks_within
from srsg.running.progress import (
    NO_CHECKPOINT,
    Checkpoint,
    Progress,
    announce_compiling,
    progress_for,
)
from srsg.running.store import FolderCheckpoint
from srsg.running.warnings import warn_user
from srsg.types import Cut, FloatArray, Graph, Matrix, NClusters, RandomState

ENGINE_CONSTRAINTS: dict[str, list[Any]] = {
    "engine": [str, HasMethods(["submit", "scatter", "who_has"])],
    "checkpoint": [str, os.PathLike, None],
}
"""Of the parameters that estimators have which can work on a cluster."""

ACCEPTED = [np.float64, np.float32, *map(np.dtype, np.typecodes["AllInteger"])]
"""Number types that X may have; others are converted to the first. Integers stay as they are:
code that needs floats converts them block by block."""


class FitMixin(FitHooks):
    """The fit of an estimator that builds a graph of the points and clusters it."""

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
        with _fit_under_way(self, X) as (points, engine):
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
        with _fit_under_way(self, X) as (points, engine):
            self._learn_graph(points, engine)
        return self

    def _learn_graph(self, points: Points, engine: Engine) -> None:
        if self.memory is None and engine.checkpoint is NO_CHECKPOINT:
            self._build_graph(points, engine)
        else:
            build_or_load_graph(self, points, engine)
        equal = self._equal
        if not equal.all_differ:
            self._spread_to_equal(equal)
        # Equal points count as connected, whether or not the graph joins them.
        merged = equal.merge_graph(self.affinity_matrix_, loops=self._keeps_loops)
        self.n_components_ = connected_components(merged)[0]

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

    def _merged(self, graph: Graph, cut: Cut = "normalized") -> SpectralGraph:
        """A graph of all points as one of the distinct points."""
        equal, neighbors = self._equal, getattr(self, "neighbors_", None)
        return SpectralGraph(
            equal.merge_graph(graph, loops=self._keeps_loops),
            None if neighbors is None else equal.merge_neighbors(neighbors),
            equal.weights if self._copies_count else None,
            equal,
            cut,
        )

    def _spectral_graph(self, engine: Engine) -> SpectralGraph:
        """The graph that is embedded."""
        return self._merged(self.affinity_matrix_)

    def _clusters(
        self, n_clusters: NClusters, random_state: RandomState, engine: Engine
    ) -> Clusters:
        """The clusters of the graph of the last fit."""
        spectral = self._spectral_graph(engine)
        counted = None
        if n_clusters == "auto":
            clusterer: Any = self  # a GraphClusterer, which has this mixin as its base
            graph = self._counted_graph(spectral.graph)
            counted = score_cluster_counts(clusterer, graph, random_state, engine)
            n_clusters = counted.n_clusters
        n_clusters = _possible(n_clusters, len(spectral.equal.first))
        with engine.progress.stage("eigenvectors and labels", 1):
            embedding = self._embedded(
                spectral,
                self.n_components or n_clusters,
                n_clusters,
                engine,
                commute_time=self.n_components is not None,
            )
            labels = self._labels_of(spectral, embedding.vectors, n_clusters, random_state, engine)
        spread = replace(embedding, vectors=spectral.equal.spread(embedding.vectors))
        return Clusters(labels, spread, n_clusters, counted)

    def _embedded(
        self,
        spectral: SpectralGraph,
        n_dimensions: int,
        n_clusters: int,
        engine: Engine,
        **options: Any,
    ) -> Embedding:
        """Coordinates of the vertices, bridged as for this many clusters."""
        graph, bridge = spectral.graph, self.bridge
        if bridge == "auto":
            bridge = auto_bridge(graph, n_clusters)
        return embedded_graph(
            graph,
            n_dimensions,
            spectral.neighbors,
            bridge,
            spectral.cut,
            engine,
            weights=spectral.weights,
            **options,
        )

    def _labels_of(
        self,
        spectral: SpectralGraph,
        vectors: FloatArray,
        n_clusters: int,
        random_state: RandomState,
        engine: Engine,
    ) -> NDArray[np.intp]:
        """Labels of all points, given coordinates of the vertices."""
        labels = label_embedding(
            vectors,
            min(n_clusters, len(vectors)),
            assign_labels=self.assign_labels,
            n_init=self.n_init,
            random_state=random_state,
            engine=engine,
            weights=spectral.weights,
        )
        return spectral.equal.spread_labels(labels)

    def __sklearn_tags__(self) -> Tags:
        tags: Tags = super().__sklearn_tags__()  # type: ignore[misc]
        tags.input_tags.sparse = True
        return tags


@contextmanager
def _fit_under_way(estimator: Any, X: Any) -> Iterator[tuple[Points, Engine]]:
    """A fit: the validated points, and the one engine that does all the work.

    A fit that fails or is interrupted leaves the estimator as it was before.
    """
    estimator._validate_params()
    _refuse_truth_values(estimator)
    # Nothing that was learnt from other points may survive in the new fit.
    before = _take_learnt(estimator)
    progress = progress_for(estimator.verbose)
    try:
        with ExitStack() as stack:
            # A stack, because only some versions of scikit-learn have callbacks.
            stack.enter_context(announce_compiling(progress))
            if hasattr(estimator, "_skl_callbacks"):
                reported = reported_to_callbacks(estimator, X, progress)
                progress = stack.enter_context(reported)
            yield _points_and_engine(estimator, X, progress)
    except BaseException:
        _take_learnt(estimator)
        vars(estimator).update(before)
        raise


def _points_and_engine(estimator: Any, X: Any, progress: Progress) -> tuple[Points, Engine]:
    points: Points
    if is_dask(X):
        engine = engine_of(estimator, progress)
        points = points_on_workers(estimator, X, engine)
        estimator._check_size(points.n)
        estimator.fit_X_ = points.lazy[0]
    else:
        checked = checked_input(estimator, X, ensure_min_samples=2, ensure_min_features=2)
        estimator._check_size(checked.shape[0])
        # The engine notices too little memory before any is taken.
        engine = engine_of(estimator, progress, checked)
        estimator.fit_X_ = estimator._prepared(checked)
        points = Points(estimator.fit_X_)
    equal = estimator._find_equal(points, engine)
    estimator.first_equal_ = equal.first_equal
    return estimator._points_to_code(points, equal, engine), engine


def checked_input(estimator: Any, X: Any, **options: Any) -> NDArray | sparse.csr_array:
    """X, validated by scikit-learn."""
    return validate_data(estimator, X, accept_sparse="csr", dtype=ACCEPTED, **options)


def _take_learnt(estimator: Any) -> dict[str, Any]:
    """Make an estimator forget everything learnt, and return it."""
    attributes = vars(estimator)
    return {name: attributes.pop(name) for name in list(attributes) if name.endswith("_")}


def _refuse_truth_values(estimator: Any) -> None:
    """Python, and so scikit-learn, takes True and False for integers; kernels do not."""
    for name, value in estimator.get_params(deep=False).items():
        allowed = estimator._parameter_constraints.get(name, [])
        if isinstance(value, bool) and not {"boolean", "verbose"} & {*map(str, allowed)}:
            raise TypeError(f"{name}={value} must be a number or a name, not True or False.")


def engine_of(
    estimator: Any, progress: Progress, x: NDArray | sparse.csr_array | None = None
) -> Engine:
    """The engine that an estimator's parameters ask for, with blocks that fit into memory.

    ``x`` is the input, where it is in this process.
    """
    choice = getattr(estimator, "engine", "threads")
    folder = getattr(estimator, "checkpoint", None)
    checkpoint: Checkpoint = NO_CHECKPOINT if folder is None else FolderCheckpoint(folder)
    if isinstance(choice, str) and choice == "threads":
        engine = ThreadEngine(estimator.n_jobs, progress, checkpoint)
        if x is not None and hasattr(estimator, "max_memory"):
            allowed, n_threads = estimator.max_memory, engine.n_workers
            n_nonzero = getattr(x, "nnz", None)  # of sparse points
            blocks = blocks_within(allowed, x.shape, x.dtype, n_threads, n_nonzero)
            engine.block_size, engine.spare_memory = blocks
        return engine
    from srsg.running.dask.clients import client_of
    from srsg.running.dask.engine import DaskEngine

    return DaskEngine(client_of(choice), progress, checkpoint)


def is_dask(X: Any) -> bool:
    """Whether X is a collection of dask, which is not imported for this."""
    return type(X).__module__.partition(".")[0] == "dask"


def _possible(n_clusters: int, n_distinct: int) -> int:
    """The number of clusters, or a warning and the number of distinct points if it is less."""
    if n_clusters > n_distinct:
        warn_user(
            f"n_clusters={n_clusters} exceeds the number of distinct points, {n_distinct}: "
            "each of these is a cluster.",
            ConvergenceWarning,
        )
    return min(n_clusters, n_distinct)
