"""Orders for a sweep on several threads, with the same result as the order 0..n-1."""

import numpy as np

from srsg.kernels.graphs import dependency_levels
from srsg.types import IntArray


def independent_sets(starts: IntArray, neighbors: IntArray) -> list[IntArray]:
    """Sets of points that can be solved at the same time.

    Solving one set after another gives the same result as the order 0..n-1, where each point needs
    the new codes of its neighbours that come before it.

    Parameters
    ----------
    starts, neighbors : ndarray
        The neighbours of every point, as the row starts and columns of a CSR matrix.

    Returns
    -------
    list of ndarray

    Examples
    --------
    >>> import numpy as np
    >>> from srsg.coding.levels import independent_sets
    >>> independent_sets(np.arange(5), np.array([1, 0, 3, 0]))
    [array([0, 2]), array([1, 3])]
    """
    return _levels(starts, neighbors, np.arange(len(starts) - 1))


def independent_stretches(
    starts: IntArray, neighbors: IntArray, n_stretches: int
) -> list[list[IntArray]]:
    """Stretches of points that can be solved at the same time, each in rising order.

    Solving one list of stretches after another gives the same result as the order 0..n-1. That
    order is cut into pieces, one for each stretch. Within a piece, a point comes after those it
    waits for in any case; only points that wait for another piece go to a later list. So there are
    few lists even where clusters follow each other in the order of the points, while
    :func:`independent_sets` gives many small sets there.

    Parameters
    ----------
    starts, neighbors : ndarray
        As for :func:`independent_sets`.
    n_stretches : int
        Maximum number of stretches in a list.

    Returns
    -------
    list of lists of ndarray

    Examples
    --------
    >>> import numpy as np
    >>> from srsg.coding.levels import independent_stretches
    >>> independent_stretches(np.arange(5), np.array([1, 0, 3, 0]), 2)
    [[array([0, 1]), array([2])], [array([3])]]
    """
    n_points = len(starts) - 1
    group = np.arange(n_points) * n_stretches // max(n_points, 1)
    levels = _levels(starts, neighbors, group)
    return [[level[group[level] == g] for g in np.unique(group[level])] for level in levels]


def _levels(starts: IntArray, neighbors: IntArray, group: IntArray) -> list[IntArray]:
    """The points of each level, in rising order."""
    level = np.empty(len(starts) - 1, np.int64)
    dependency_levels(starts, neighbors, group, level)
    # Stable, so that the points of a level stay in rising order.
    order = np.argsort(level, kind="stable")
    return np.split(order, np.cumsum(np.bincount(level))[:-1])
