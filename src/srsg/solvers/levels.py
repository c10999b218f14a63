"""An order for a sweep on several threads that gives the same result as the order 0..n-1."""

from __future__ import annotations

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
    >>> from srsg.solvers.levels import independent_sets
    >>> independent_sets(np.arange(5), np.array([1, 0, 3, 0]))
    [array([0, 2]), array([1, 3])]
    """
    level = np.empty(len(starts) - 1, np.int64)
    dependency_levels(starts, neighbors, level)
    # Stable, so that the points of a set stay in rising order.
    order = np.argsort(level, kind="stable")
    return np.split(order, np.cumsum(np.bincount(level))[:-1])
