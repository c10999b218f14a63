"""What all graph estimators share: points in, a graph between, labels out."""

from __future__ import annotations

from abc import ABCMeta, abstractmethod
from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.sparse import csgraph
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.utils import Tags
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import validate_data

from srsg.affinity import symmetrized
from srsg.engine import Engine, ThreadEngine
from srsg.labels import check_cluster_count, cluster_graph
from srsg.points import Points, unit_points
from srsg.progress import progress_for
from srsg.types import FloatArray, IntArray, Matrix

AT_LEAST_ONE = Interval(Integral, 1, None, closed="left")
POSITIVE = Interval(Real, 0, None, closed="neither")
NOT_NEGATIVE = Interval(Real, 0, None, closed="left")


class GraphClusterer(ClusterMixin, BaseEstimator, metaclass=ABCMeta):
    """Base of the estimators that code points, build a graph and cluster it.

    A subclass stores its parameters in ``__init__``, adds their constraints, and writes
    :meth:`_code`, which sets ``codes_``, ``neighbors_`` and whatever else it learns.
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "n_clusters": [AT_LEAST_ONE],
        "n_neighbors": [AT_LEAST_ONE],
        "bridge": [StrOptions({"auto"}), NOT_NEGATIVE, None],
        "assign_labels": [StrOptions({"kmeans", "discretize", "cluster_qr"})],
        "n_init": [AT_LEAST_ONE],
        "block_size": [AT_LEAST_ONE],
        "n_jobs": [Integral, None],
        "random_state": ["random_state"],
        "verbose": ["verbose"],
    }

    # Parameters of every subclass.
    n_clusters: int
    n_neighbors: int
    bridge: Any
    assign_labels: Any
    n_init: int
    block_size: int
    n_jobs: int | None
    random_state: Any
    verbose: bool | int

    labels_: NDArray[np.intp]
    embedding_: FloatArray
    eigenvalues_: FloatArray
    affinity_matrix_: sparse.csr_array
    n_components_: int
    # Set by _code.
    codes_: sparse.csr_array
    neighbors_: IntArray

    @abstractmethod
    def _code(self, points: Points, engine: Engine) -> None:
        """Learn ``codes_`` and ``neighbors_``."""

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
        points = self._validated_points(X)
        check_cluster_count(self.n_clusters, points.n)
        self._build_graph(points)
        self.labels_, embedding = cluster_graph(
            self.affinity_matrix_,
            self.n_clusters,
            neighbors=self.neighbors_,
            bridge=self.bridge,
            assign_labels=self.assign_labels,
            n_init=self.n_init,
            random_state=self.random_state,
            return_embedding=True,
        )
        self.embedding_ = embedding.vectors
        self.eigenvalues_ = embedding.eigenvalues
        return self

    def fit_graph(self, X: Matrix, y: None = None) -> Self:
        """Learn the codes and the affinity only: the dear part.

        ``cluster_graph(self.affinity_matrix_, n_clusters)`` is the cheap part, for as many
        numbers of clusters as you like.

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
        self._build_graph(self._validated_points(X))
        return self

    def _validated_points(self, X: Matrix) -> Points:
        """Everything that can be wrong is found here, before any long work."""
        self._validate_params()
        checked = validate_data(
            self,
            X,
            accept_sparse="csr",
            dtype=[np.float64, np.float32],
            ensure_min_samples=2,
            ensure_min_features=2,
        )
        if self.n_neighbors >= checked.shape[0]:
            raise ValueError(
                f"n_neighbors={self.n_neighbors} must be smaller than the number of points, "
                f"n_samples={checked.shape[0]}."
            )
        return unit_points(checked)

    def _build_graph(self, points: Points) -> None:
        self._code(points, ThreadEngine(self.n_jobs, progress_for(self.verbose)))
        self.affinity_matrix_ = symmetrized(self.codes_)
        self.n_components_ = int(
            csgraph.connected_components(self.affinity_matrix_, directed=False)[0]
        )

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags
