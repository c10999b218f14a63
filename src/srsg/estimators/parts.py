"""Parts of an estimator's points, each with a graph and labels of its own."""

from __future__ import annotations

import warnings
from copy import copy
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from srsg.cutting.embedding import auto_bridge, embedded_graph, unit_length_rows
from srsg.running import Engine
from srsg.running.progress import NO_CHECKPOINT
from srsg.types import IntArray

if TYPE_CHECKING:
    from srsg.estimators.base import GraphClusterer


def deciding_points(
    x: Any, distinct: IntArray, most: int, rng: np.random.RandomState
) -> tuple[IntArray, NDArray]:
    """The vertices that decide on the number of clusters, and their points.

    Of equal points there is only one: a copy in each half would be found again without any cluster.
    """
    vertices = np.arange(len(distinct))
    if len(distinct) > most:
        vertices = np.sort(rng.choice(len(distinct), most, replace=False))
    chosen = x[distinct[vertices]]
    # Those of a dask array are still to be fetched from the workers.
    return vertices, chosen.compute() if hasattr(chosen, "compute") else chosen


class LabelledPart:
    """The labels of different points for any number of clusters."""

    def __init__(
        self, part: GraphClusterer, n_init: int, most: int, seed: int, engine: Engine
    ) -> None:
        self.part, self.seed, self.engine = part, seed, engine
        part.assign_labels, part.n_init = "kmeans", n_init
        self.spectral = part._spectral_graph(engine)
        self.graph = self.spectral.graph
        # The first vectors of one embedding serve every number of clusters, so the components
        # must hang together: else the first vectors are those of arbitrary components.
        bridge = part.bridge if isinstance(part.bridge, float | int) else auto_bridge(self.graph, 2)
        embedding = embedded_graph(
            self.graph, most, self.spectral.neighbors, bridge, self.spectral.cut, engine
        )
        self.vectors = embedding.vectors

    def labels(self, count: int) -> NDArray[np.intp]:
        vectors = unit_length_rows(self.vectors[:, :count])
        with _no_warnings():  # of K-means, where there are fewer different points than clusters
            return self.part._labels_of(self.spectral, vectors, count, self.seed, self.engine)


def graph_of_part(estimator: GraphClusterer, x: NDArray, engine: Engine) -> GraphClusterer:
    """A copy of the estimator with the graph of some of its points."""
    part: Any = copy(estimator)
    if hasattr(part, "init"):
        part.init = "l1"  # codes over all points are none over some of them
    if hasattr(part, "approximate"):
        part.approximate = False  # so few points can all be compared
    part.fit_X_, part.first_equal_ = x, np.arange(x.shape[0])
    with _no_warnings():
        part._build_graph(part._points(engine), engine)
    return part


def quiet_engine(engine: Engine) -> Engine:
    """The same workers, which neither show nor keep what they do."""
    quiet = engine.quiet()
    quiet.checkpoint = NO_CHECKPOINT
    return quiet


def _no_warnings() -> warnings.catch_warnings:
    """Nobody can act on warnings about a part of the points."""
    return warnings.catch_warnings(action="ignore")


def can_fit(estimator: GraphClusterer, n_points: int) -> bool:
    """Whether the parameters ask for no more points than a half has."""
    try:
        estimator._check_size(n_points)
    except ValueError:
        return False
    return True
