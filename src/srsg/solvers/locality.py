"""An order of the points in which the points of a block share what they are coded over.

Blocks of points can be coded in any order. In this one, the working sets of the points of a block
have many members in common: fewer rows have to be fetched from other workers, and those that are
fetched stay in the processor's cache.
"""

from __future__ import annotations

import numpy as np
from scipy import sparse
from scipy.sparse.csgraph import connected_components

from srsg.kernels.codes import Codes
from srsg.types import IntArray


def locality_order(own: IntArray, codes: Codes, n_points: int, group_size: int) -> IntArray:
    """Bring rows together that are coded over each other, or over the same points.

    Every row joins the first point in its working set. Then every group joins another one, that
    which comes first in the working set of one of its rows, and so on until groups are large.

    Parameters
    ----------
    own : ndarray of shape (n_rows,)
        The point that each row codes, or -1 for a new vector.
    codes : Codes
        Working sets, the closest point first.
    n_points : int
        Number of points.
    group_size : int
        Mean size of the groups at the end.

    Returns
    -------
    ndarray of shape (n_rows,)

    Examples
    --------
    >>> import numpy as np
    >>> from srsg.kernels.codes import Codes
    >>> from srsg.solvers.locality import locality_order
    >>> index = np.array([[2], [3], [0], [1]])
    >>> codes = Codes(index, np.zeros((4, 1)), np.ones(4, int))
    >>> locality_order(np.arange(4), codes, 4, 2)
    array([0, 2, 1, 3])
    """
    n_rows = len(own)
    # New vectors get numbers after those of the points: no working set contains them.
    vertex = np.where(own < 0, n_points + np.arange(n_rows), own)
    group = np.arange(n_points + n_rows)
    nested = [vertex]
    while len(np.unique(nested[-1])) * group_size > n_rows:
        # Every round merges at least two groups, or is the last.
        mine, theirs = group[vertex], group[codes.index]
        outside = codes.used & (theirs != mine[:, None])
        linked = np.flatnonzero(outside.any(axis=1))
        if not linked.size:
            break
        rank = outside[linked].argmax(axis=1)
        closest = np.lexsort((rank, mine[linked]))
        groups, first = np.unique(mine[linked][closest], return_index=True)
        row = linked[closest[first]]
        other = theirs[row, rank[closest[first]]]
        links = sparse.coo_array((np.ones(len(row)), (groups, other)), shape=2 * group.shape)
        _, component = connected_components(links, directed=False)
        group = component[group]
        nested.append(group[vertex])
    # Sorted by the last and largest groups first, and by smaller ones within each.
    return np.lexsort(nested)
