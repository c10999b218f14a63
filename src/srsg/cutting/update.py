"""What new points change: clusters keep their numbers, and what is different is said."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Self

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linear_sum_assignment

from srsg.cutting.cut import Clusters
from srsg.types import IntArray


@dataclass(frozen=True)
class Update:
    """What an update has changed.

    Attributes
    ----------
    labels : ndarray of shape (n_new,)
        The clusters of the new points.
    moved : ndarray
        The fitted points, by their rows, that are in another cluster now.
    new : list of int
        Clusters that were not there before.
    gone : list of int
        Clusters, by their old numbers, that no present one continues.
    merged : dict
        For a present cluster, the old ones most of whose points it has, where these are several.
    split : dict
        For an old cluster, the present ones most of whose old points came from it, likewise.

    Examples
    --------
    >>> import numpy as np
    >>> from srsg.cutting.update import Update
    >>> Update.of(np.array([0, 0, 1, 1]), np.array([0, 0, 1, 1, 2])).new
    [2]
    """

    labels: NDArray[np.intp]
    moved: IntArray
    new: list[int]
    gone: list[int]
    merged: dict[int, list[int]]
    split: dict[int, list[int]]

    @classmethod
    def of(cls, before: NDArray[np.intp], now: NDArray[np.intp]) -> Self:
        """Compare labels of the fitted points with the present ones of all points."""
        n_old = len(before)
        shared = _shared(before, now)
        home, origin = shared.argmax(axis=1), shared.argmax(axis=0)
        known = np.flatnonzero(shared.any(axis=0))
        return cls(
            now[n_old:],
            np.flatnonzero(now[:n_old] != before),
            sorted(set(np.unique(now).tolist()) - set(range(len(shared)))),
            sorted(set(np.unique(before).tolist()) - set(now.tolist())),
            _several(home, np.unique(before)),
            _several(origin, known),
        )


def _shared(before: NDArray[np.intp], now: NDArray[np.intp]) -> IntArray:
    """How many fitted points each old cluster shares with each present one."""
    shared = np.zeros((before.max() + 1, now.max() + 1), np.int64)
    np.add.at(shared, (before, now[: len(before)]), 1)
    return shared


def _several(target: IntArray, sources: IntArray) -> dict[int, list[int]]:
    """The sources of each target that has more than one."""
    found = {int(t): sources[target[sources] == t].tolist() for t in target[sources]}
    return {t: found[t] for t in sorted(found) if len(found[t]) > 1}


def with_old_numbers(before: NDArray[np.intp], clusters: Clusters, *, by_cluster: bool) -> Clusters:
    """Clusters of all points, numbered as those of the fitted ones that they share most with.

    New clusters get the next numbers. If there are fewer than before, numbers without a cluster
    are taken by the later ones: from 0 to the number of clusters, none is left out.

    Parameters
    ----------
    before : ndarray of shape (n_fitted,)
        The labels of the fitted points, which come first.
    clusters : Clusters
        Those of all points.
    by_cluster : bool
        Whether the vectors have a column for each cluster.

    Examples
    --------
    >>> import numpy as np
    >>> from srsg.cutting.cut import Clusters
    >>> from srsg.cutting.update import with_old_numbers
    >>> found = Clusters(np.array([1, 1, 0, 2]), np.zeros((4, 3)), np.ones(3), 3)
    >>> with_old_numbers(np.array([0, 0, 1]), found, by_cluster=False).labels
    array([0, 0, 1, 2])
    """
    shared = np.zeros((before.max() + 1, clusters.n_clusters), np.int64)
    found = _shared(before, clusters.labels)
    shared[:, : found.shape[1]] = found
    old, now = linear_sum_assignment(-shared)
    number = np.full(clusters.n_clusters, -1)
    number[now] = old
    number[number < 0] = len(shared) + np.arange((number < 0).sum())
    number = np.unique(number, return_inverse=True)[1]
    vectors = clusters.vectors
    if by_cluster:
        vectors = vectors[:, np.argsort(number)]
    return replace(clusters, labels=number[clusters.labels], vectors=vectors)
