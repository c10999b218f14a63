"""What all graph estimators share: data in, a graph between, labels out."""

from __future__ import annotations

from abc import ABCMeta, abstractmethod
from copy import copy
from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.utils import Tags
from sklearn.utils._param_validation import HasMethods, Interval, StrOptions
from sklearn.utils.validation import check_is_fitted, validate_data

from srsg.engines import Engine, ThreadEngine
from srsg.engines.budget import block_size_within
from srsg.engines.progress import Progress, progress_for
from srsg.estimators.callbacks import (
    CallbackMixin,
    fit_task,
    told_to_callbacks,
    with_callbacks,
)
from srsg.estimators.engines import engine_of, is_dask, placed
from srsg.estimators.memory import learnt_by
from srsg.estimators.new_points import NewPointsMixin
from srsg.graph.embedding import connected_components
from srsg.graph.labels import (
    auto_bridge,
    check_cluster_count,
    cluster_graph,
    embedded_graph,
    label_embedding,
)
from srsg.graph.n_clusters import estimate_n_clusters
from srsg.neighbors import nearest_neighbors
from srsg.points import BLOCK_SIZE, Points, as_dense, unit_points
from srsg.solvers.codes import symmetrized
from srsg.types import Cut, FloatArray, Graph, IntArray, Matrix, Memory, NClusters, RandomState

AT_LEAST_ONE = Interval(Integral, 1, None, closed="left")
POSITIVE = Interval(Real, 0, None, closed="neither")
NOT_NEGATIVE = Interval(Real, 0, None, closed="left")

ACCEPTED = [np.float64, np.float32, *map(np.dtype, np.typecodes["AllInteger"])]
"""What X may be made of; other numbers become the first. Integers stay as they are: who needs
floats makes them block by block."""

OF_CLUSTERS = ("labels_", "embedding_", "eigenvalues_", "n_clusters_", "eigengaps_", "spectrum_")
"""What clustering learns: gone as soon as there is another graph."""


class GraphClusterer(NewPointsMixin, CallbackMixin, ClusterMixin, BaseEstimator, metaclass=ABCMeta):
    """Base of the estimators that build a graph of the points and cluster it.

    A subclass stores its parameters in ``__init__``, adds their constraints, and writes
    :meth:`_build_graph`, which sets ``affinity_matrix_`` and whatever else it learns, and
    :meth:`_codes_of_new`. ``neighbors_``, where it sets them, bridge the components of the graph.
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
    eigengaps_: FloatArray
    spectrum_: FloatArray
    n_components_: int
    labels_: NDArray[np.intp]
    embedding_: FloatArray
    eigenvalues_: FloatArray

    @abstractmethod
    def _build_graph(self, x: NDArray, engine: Engine) -> None:
        """Learn ``affinity_matrix_`` from what :meth:`_prepared` returned."""

    def _check_size(self, n_points: int) -> None:
        """Refuse parameters that ask for more than so many points have."""

    def _prepared(self, X: NDArray | sparse.csr_array) -> NDArray:
        """The validated input as it is coded, an array of its own.

        Everything that can be wrong with it is found here, before any long work.
        """
        return np.array(as_dense(X), dtype=np.float64, order="C")

    @with_callbacks
    def fit(self, X: Matrix, y: None = None) -> Self:
        """Build the graph and cluster it.

        Parameters
        ----------
        X : array, sparse matrix or DataFrame of shape (n_samples, n_features)
            One point a row.
        y : None
            Ignored.

        Returns
        -------
        self
        """
        checked = self._validated(X)
        if self.n_clusters != "auto":
            check_cluster_count(self.n_clusters, checked.shape[0])
        with fit_task(self, X):
            self._learn_graph(checked)
            with self._progress().stage("eigenvectors and labels", 1):
                self._cluster(*self._spectral_graph())
        return self

    @with_callbacks
    def fit_graph(self, X: Matrix, y: None = None) -> Self:
        """Learn the graph only: the dear part.

        :meth:`relabel` is the cheap part, for as many numbers of clusters as you like.

        Parameters
        ----------
        X : array, sparse matrix or DataFrame of shape (n_samples, n_features)
            One point a row.
        y : None
            Ignored.

        Returns
        -------
        self
        """
        checked = self._validated(X)
        with fit_task(self, X):
            self._learn_graph(checked)
        return self

    def relabel(
        self, n_clusters: NClusters | None = None, *, random_state: RandomState = None
    ) -> NDArray[np.intp]:
        """Label the points anew, on the graph of the last fit: the cheap part.

        Shows for little time what another number of clusters gives, or how much the labels
        depend on the starts of K-means. The estimator stays as it is.

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
            return self._labelled(self.embedding_, random_state)
        check_is_fitted(self, "affinity_matrix_")
        if n_clusters != "auto":
            check_cluster_count(n_clusters, self.affinity_matrix_.shape[0])
        other = copy(self)
        other.n_clusters, other.random_state = n_clusters, random_state
        other._cluster(*other._spectral_graph())
        return other.labels_

    def spectrum(self, count: int) -> FloatArray:
        """Leading eigenvalues of the normalised graph that was clustered.

        ``eigenvalues_`` has the first of them; what follows shows the gap.

        Parameters
        ----------
        count : int
            How many.

        Returns
        -------
        ndarray of shape (count,)
        """
        check_is_fitted(self, "eigenvalues_")
        graph, neighbors = self._spectral_graph()
        bridge = self.bridge
        if bridge == "auto":  # as for the clusters, whose number decides
            bridge = auto_bridge(graph, self.n_clusters_)
        return embedded_graph(graph, count, neighbors, bridge, self._cut).eigenvalues

    def _spectral_graph(self) -> tuple[Graph, IntArray | None]:
        """The graph that is embedded, and the neighbours that bridge its components."""
        return self.affinity_matrix_, getattr(self, "neighbors_", None)

    def _counted_graph(self, graph: Graph) -> Graph:
        """The graph whose clusters are counted, given the one that is clustered."""
        return graph

    @property
    def _cut(self) -> Cut:
        """What balances the clusters, see :func:`srsg.cluster_graph`."""
        return "normalized"

    def _labelled(self, vectors: FloatArray, random_state: RandomState) -> NDArray[np.intp]:
        return label_embedding(
            vectors,
            self.n_clusters_,
            assign_labels=self.assign_labels,
            n_init=self.n_init,
            random_state=random_state,
        )

    def _cluster(self, graph: Graph, neighbors: IntArray | None) -> None:
        if self.n_clusters == "auto":
            count = estimate_n_clusters(self._counted_graph(graph))
            self.n_clusters_ = count.n_clusters
            self.eigengaps_, self.spectrum_ = count.eigengaps, count.eigenvalues
        else:
            self.n_clusters_ = self.n_clusters
        self.labels_, embedding = cluster_graph(
            graph,
            self.n_clusters_,
            neighbors=neighbors,
            bridge=self.bridge,
            cut=self._cut,
            assign_labels=self.assign_labels,
            n_init=self.n_init,
            random_state=self.random_state,
            return_embedding=True,
        )
        self.embedding_ = embedding.vectors
        self.eigenvalues_ = embedding.eigenvalues

    def _validated(self, X: Matrix) -> Any:
        self._validate_params()
        if is_dask(X):
            checked: Any = placed(self, X, self._engine())
        else:
            checked = self._checked(X, ensure_min_samples=2, ensure_min_features=2)
        self._check_size(checked.shape[0])
        return checked

    def _checked(self, X: Matrix, **options: Any) -> NDArray | sparse.csr_array:
        return validate_data(self, X, accept_sparse="csr", dtype=ACCEPTED, **options)

    def _learn_graph(self, X: Any) -> None:
        for name in OF_CLUSTERS:
            self.__dict__.pop(name, None)
        on_cluster = isinstance(X, Points)
        x = X if on_cluster else self._prepared(X)
        self.fit_X_ = X.lazy[0] if on_cluster else x
        for name, value in learnt_by(self, x, self._engine()).items():
            setattr(self, name, value)
        self.n_components_ = connected_components(self.affinity_matrix_)[0]

    def _progress(self) -> Progress:
        return told_to_callbacks(self, progress_for(self.verbose))

    def _engine(self) -> Engine:
        return engine_of(self, self._progress())

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


class CodeClusterer(GraphClusterer):
    """Base of the estimators that code every unit-norm point over the others.

    A subclass writes :meth:`_code`, which sets ``codes_`` and ``neighbors_``, and
    :meth:`_code_new`.
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **GraphClusterer._parameter_constraints,
        "n_neighbors": [AT_LEAST_ONE],
        "block_size": [AT_LEAST_ONE, None],
        "max_memory": [AT_LEAST_ONE, str, None],
    }

    n_neighbors: int
    block_size: int | None
    max_memory: int | str | None
    codes_: sparse.csr_array

    @abstractmethod
    def _code(self, points: Points, engine: Engine) -> None:
        """Learn ``codes_`` and ``neighbors_``."""

    @abstractmethod
    def _code_new(self, points: Points, new: Points, engine: Engine) -> sparse.csr_array:
        """Codes of new points over all fitted ones."""

    def _check_size(self, n_points: int) -> None:
        check_neighbor_count(self.n_neighbors, n_points)

    def _prepared(self, X: NDArray | sparse.csr_array) -> NDArray:
        self._blocks(X, self._engine())  # too little memory is noticed before it is taken
        return unit_points(X).x

    def _blocks(self, x: NDArray | sparse.csr_array | Points, engine: Engine) -> dict[str, Any]:
        """What the solvers take: how many points to scan at once, and where."""
        size = self.block_size
        if size is None and not isinstance(engine, ThreadEngine):  # the workers' memory counts
            size = BLOCK_SIZE
        elif size is None:
            size = block_size_within(self.max_memory, x.shape, x.dtype, engine.n_workers)
        return {"block_size": size, "engine": engine}

    def _build_graph(self, x: NDArray, engine: Engine) -> None:
        self._code(engine.points(x), engine)
        self.affinity_matrix_ = self._affinity()

    def _codes_of_new(self, new: NDArray, engine: Engine) -> sparse.csr_array:
        return self._code_new(engine.points(self.fit_X_), Points(new), engine)

    def _nearest_fitted(self, new: NDArray, count: int) -> IntArray:
        engine = self._engine()
        return nearest_neighbors(
            engine.points(self.fit_X_), count, queries=Points(new), engine=engine
        )

    def _affinity(self) -> sparse.csr_array:
        return symmetrized(self.codes_)


def check_neighbor_count(n_neighbors: int, n_points: int) -> None:
    if n_neighbors >= n_points:
        raise ValueError(
            f"n_neighbors={n_neighbors} must be smaller than the number of points, "
            f"n_samples={n_points}."
        )
