"""From the codes of new points to clusters."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from srsg.cutting.affinity import cluster_weights
from srsg.types import FloatArray, IntArray

FALLBACK_NEIGHBORS = 5
"""Fitted points that vote for a new point whose code is empty."""


def cluster_shares(
    codes: sparse.csr_array, labels: NDArray[np.intp], n_clusters: int
) -> FloatArray:
    """How much of each code's mass, ``sum |z|``, lies in each cluster.

    Parameters
    ----------
    codes : csr_array of shape (n_new, n)
        Codes over the fitted points.
    labels : ndarray of shape (n,)
        The clusters of the fitted points.
    n_clusters : int
        How many there are.

    Returns
    -------
    ndarray of shape (n_new, n_clusters)
        Rows that add up to one; zeros where the code is empty.

    Examples
    --------
    >>> import numpy as np
    >>> from scipy import sparse
    >>> from srsg.explaining.assignment import cluster_shares
    >>> codes = sparse.csr_array([[0.3, -0.3, 0.2], [0.0, 0.0, 0.0]])
    >>> cluster_shares(codes, np.array([0, 0, 1]), 2)
    array([[0.75, 0.25],
           [0.  , 0.  ]])
    """
    masses = cluster_weights(abs(codes), labels, n_clusters)
    total = masses.sum(axis=1, keepdims=True)
    return masses / np.where(total > 0, total, 1.0)


def nearest_shares(nearest: IntArray, labels: NDArray[np.intp], n_clusters: int) -> FloatArray:
    """The shares of the clusters among the few nearest fitted points of each new point.

    Examples
    --------
    >>> import numpy as np
    >>> from srsg.explaining.assignment import nearest_shares
    >>> nearest_shares(np.array([[0, 2, 1, 4]]), np.array([0, 0, 0, 0, 1, 1]), 2)
    array([[0.75, 0.25]])
    """
    shares = np.zeros((len(nearest), n_clusters))
    rows = np.arange(len(nearest))[:, None]
    np.add.at(shares, (rows, labels[nearest]), 1 / nearest.shape[1])
    return shares
