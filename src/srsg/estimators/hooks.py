"""What a fit gets from the estimator: its parameters, and the steps that differ between them."""

from __future__ import annotations

from abc import ABCMeta, abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from srsg.counting.reproducibility import ScoredCounts
from srsg.cutting.embedding import Embedding
from srsg.points import EqualPoints, Points, UnitRows
from srsg.running import Engine
from srsg.types import Cut, FloatArray, Graph, IntArray, Memory, NClusters


class SpectralGraph(NamedTuple):
    """What is embedded: a graph in which equal points are one vertex.

    Attributes
    ----------
    graph : ndarray or csr_array of shape (n_distinct, n_distinct)
    neighbors : ndarray of shape (n_distinct, K) or None
        What bridges its components.
    weights : ndarray of shape (n_distinct,) or None
        How many times each vertex counts; None if once.
    equal : EqualPoints
        The points that each vertex stands for.
    cut : str
        What balances the clusters, see :func:`srsg.cluster_graph`.
    """

    graph: Graph
    neighbors: IntArray | None
    weights: FloatArray | None
    equal: EqualPoints
    cut: Cut


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


class FitHooks(metaclass=ABCMeta):
    """Parameters and learnt attributes of every graph estimator, and what it may do its own way."""

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

    _components_of_few_columns: ClassVar[bool] = True
    """Whether components of the graph mean something with two or three columns."""

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
    n_clusters_: int
    labels_: NDArray[np.intp]
    embedding_: FloatArray
    eigenvalues_: FloatArray

    @abstractmethod
    def _build_graph(self, points: Points, engine: Engine) -> None:
        """Learn ``affinity_matrix_`` from the points that :meth:`_prepared` returned."""

    @abstractmethod
    def _prepared(self, X: NDArray | sparse.csr_array) -> UnitRows:
        """The validated input in the form that is coded, as an array of its own.

        Everything that can be wrong with it is found here, before any long work.
        """

    def _check_size(self, n_points: int) -> None:  # noqa: B027 - nothing to refuse
        """Refuse parameters that ask for more than this many points have."""

    def _find_equal(self, points: Points, engine: Engine) -> EqualPoints:
        """Which points are equal, number by number."""
        return EqualPoints.from_digests(engine.row_digests(points))

    def _points_to_code(self, points: Points, equal: EqualPoints, engine: Engine) -> Points:
        """Those of all points that the graph is built of."""
        return points

    def _spread_to_equal(self, equal: EqualPoints) -> None:  # noqa: B027 - or nothing
        """Give what was learnt of the distinct points to all points."""

    def _graph_is_consistent(self, points: Points, engine: Engine) -> bool:
        """Whether the parts of a graph that was read from a file belong together."""
        return True

    def _counted_graph(self, graph: Graph) -> Graph:
        """The graph whose clusters are counted, given the one that is clustered."""
        return graph
