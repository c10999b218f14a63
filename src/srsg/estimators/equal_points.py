"""Equal points in the estimators: merged before the graph, and given the same labels after it."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from srsg.engines import Engine
from srsg.engines.checkpoint import digest_array
from srsg.engines.warnings import warn_user
from srsg.points import EqualPoints, Points, name_rows
from srsg.types import FloatArray, Graph, IntArray


class EqualPointsMixin:
    """Knows which of the fitted points are equal.

    Equal points are one vertex of the graph that is clustered. It counts as many times as the
    point occurs: by the edges that its points add up to, in the balance of a ratio cut, and in
    K-means.
    """

    fit_X_: Any  # noqa: N815 - X is a matrix
    first_equal_: IntArray
    _distinct_: IntArray
    _owner_: IntArray

    @property
    def _equal(self) -> EqualPoints:
        if not hasattr(self, "first_equal_"):  # a model that an older version has saved
            if hasattr(self, "_owner_"):
                return EqualPoints(self._distinct_, self._owner_)
            return EqualPoints.none(self.fit_X_.shape[0])
        return EqualPoints.from_first(self.first_equal_)

    @property
    def _weights(self) -> FloatArray | None:
        """How many times each distinct point counts; None if once."""
        return self._equal.weights

    def _find_equal(self, points: Points, engine: Engine) -> EqualPoints:
        """Which points are equal, number by number."""
        return EqualPoints.of(digest_array(engine.row_digests(points)))

    def _points_to_code(self, points: Points, equal: EqualPoints, engine: Engine) -> Points:
        """Those of all points that the graph is built of."""
        return points

    def _merge_equal(self, points: Points, engine: Engine) -> Points:
        """Note which points are equal, and return those that the graph is built of."""
        equal = self._find_equal(points, engine)
        self.first_equal_ = equal.first_equal
        return self._points_to_code(points, equal, engine)

    def _spread_to_equal(self) -> None:
        """Give what was learnt of the distinct points to all points."""

    def _merged(self, graph: Graph) -> Graph:
        """A graph of all points as one of the distinct points."""
        return self._equal.merge_graph(graph)

    def _merged_neighbors(self) -> IntArray | None:
        """Neighbours of the distinct points among each other, if the estimator has any."""
        neighbors = getattr(self, "neighbors_", None)
        return None if neighbors is None else self._equal.merge_neighbors(neighbors)

    def _spread_labels(self, labels: NDArray[np.intp]) -> NDArray[np.intp]:
        """Labels of all points; rows of zeros go to the cluster that has the most points."""
        equal = self._equal
        sizes = np.bincount(labels, equal.counts)
        return equal.spread(labels, int(np.argmax(sizes)))

    def _shares_of_all(self, labels: NDArray[np.intp], n_clusters: int) -> FloatArray:
        """The share of the points, rows of zeros apart, that each cluster has."""
        sizes = np.bincount(labels[self._equal.owner >= 0], minlength=n_clusters)
        return sizes / sizes.sum()


def warn_of_zero_rows(zero: IntArray) -> None:
    """Say what happens to rows of zeros, given their numbers."""
    if zero.size:
        warn_user(
            f"X has {zero.size} row(s) of zeros, which have no direction: rows {name_rows(zero)}. "
            "They have no code and no edge, and get the label of the largest cluster.",
            UserWarning,
        )
