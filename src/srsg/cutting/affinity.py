"""From codes to the weighted graph that is clustered."""

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.preprocessing import normalize

from srsg.points import dense_rows
from srsg.types import FloatArray, Graph


def unit_codes(codes: sparse.csr_array) -> sparse.csr_array:
    """Codes scaled to unit l2 norm, so that the edges of all points count equally.

    Examples
    --------
    >>> from scipy import sparse
    >>> from srsg.cutting.affinity import unit_codes
    >>> unit_codes(sparse.csr_array([[0.0, 3.0, 4.0], [0.0, 0.0, 0.0]])).toarray()
    array([[0. , 0.6, 0.8],
           [0. , 0. , 0. ]])
    """
    return sparse.csr_array(normalize(codes, norm="l2", axis=1))


def largest_codes(codes: sparse.csr_array, count: int) -> sparse.csr_array:
    """Codes with their ``count`` largest entries only, ties by index.

    Examples
    --------
    >>> from scipy import sparse
    >>> from srsg.cutting.affinity import largest_codes
    >>> largest_codes(sparse.csr_array([[0.0, 3.0, -4.0]]), 1).toarray()
    array([[ 0.,  0., -4.]])
    """
    owner = np.repeat(np.arange(codes.shape[0]), np.diff(codes.indptr))
    order = np.lexsort((codes.indices, -np.abs(codes.data), owner))
    rank = np.empty_like(order)
    rank[order] = np.arange(len(order)) - codes.indptr[owner]
    kept = sparse.csr_array(codes, copy=True)
    kept.data[rank >= count] = 0.0
    kept.eliminate_zeros()
    return kept


def strong_codes(codes: sparse.csr_array, share: float) -> sparse.csr_array:
    """The largest entries of each code that carry a share of its weight, relative to the largest.

    Ties by index. This is how sparse subspace clustering was published.

    Examples
    --------
    >>> from scipy import sparse
    >>> from srsg.cutting.affinity import strong_codes
    >>> strong_codes(sparse.csr_array([[-4.0, 3.0, 1.0, 1.0]]), 0.7).toarray()
    array([[-1.  ,  0.75,  0.  ,  0.  ]])
    """
    weight = np.abs(codes.data)
    owner = np.repeat(np.arange(codes.shape[0]), np.diff(codes.indptr))
    order = np.lexsort((codes.indices, -weight, owner))  # rows stay where they are
    total = np.bincount(owner, weight, codes.shape[0])
    sums = np.concatenate(([0.0], np.cumsum(weight[order])))
    before = sums[:-1] - sums[codes.indptr[owner]]
    kept = sparse.csr_array(normalize(codes, norm="max", axis=1))
    kept.data[order[before >= share * total[owner]]] = 0.0
    kept.eliminate_zeros()
    return kept


def nearest_codes(codes: sparse.csr_array, n_neighbors: int) -> sparse.csr_array:
    """For every point a one at those whose unit codes, in absolute value, are most similar to its
    own.

    Examples
    --------
    >>> from scipy import sparse
    >>> from srsg.cutting.affinity import nearest_codes
    >>> codes = sparse.csr_array([[1.0, 0.0], [2.0, 0.1], [1.0, 1.0]])
    >>> nearest_codes(codes, 1).toarray()
    array([[0., 1., 0.],
           [1., 0., 0.],
           [0., 1., 0.]])
    """
    unit = unit_codes(abs(codes))
    likeness = sparse.csr_array(unit @ unit.T)
    likeness.sort_indices()  # otherwise old versions of SciPy set wrong entries
    likeness.setdiag(0.0)
    likeness.eliminate_zeros()
    nearest = largest_codes(likeness, n_neighbors)
    nearest.data[:] = 1.0
    return nearest


def cluster_weights(weights: Graph, labels: NDArray[np.integer], n_clusters: int) -> FloatArray:
    """The sum of each row's weights in each cluster of the columns.

    Examples
    --------
    >>> import numpy as np
    >>> from srsg.cutting.affinity import cluster_weights
    >>> cluster_weights(np.array([[3.0, 4.0, 1.0]]), np.array([0, 0, 1]), 2)
    array([[7., 1.]])
    """
    n_columns = len(labels)
    members = sparse.csr_array(
        (np.ones(n_columns), labels, np.arange(n_columns + 1)), shape=(n_columns, n_clusters)
    )
    return np.asarray(dense_rows(weights @ members), dtype=np.float64)
