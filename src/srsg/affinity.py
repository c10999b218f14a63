"""From codes to the weighted graph that is clustered."""

from __future__ import annotations

from functools import partial

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.metrics.pairwise import euclidean_distances
from sklearn.preprocessing import normalize

from srsg.engine import Engine, ThreadEngine, serial_linear_algebra
from srsg.kernels.agreement import walks_along_edges
from srsg.neighbors import Searchable
from srsg.points import BLOCK_SIZE, blocks_of_rows
from srsg.types import FloatArray, Graph, IntArray


def symmetrized(codes: sparse.csr_array) -> sparse.csr_array:
    """The affinity of eq. (2): ``W = (|Z| + |Z|^T) / 2``.

    Examples
    --------
    >>> from scipy import sparse
    >>> from srsg.affinity import symmetrized
    >>> symmetrized(sparse.csr_array([[0.0, -0.5], [0.0, 0.0]])).toarray()
    array([[0.  , 0.25],
           [0.25, 0.  ]])
    """
    magnitude = abs(codes)
    affinity = sparse.csr_array((magnitude + magnitude.T) / 2)
    affinity.sort_indices()
    return affinity


def unit_codes(codes: sparse.csr_array) -> sparse.csr_array:
    """Codes scaled to unit l2 norm, so that every point's edges weigh alike.

    Examples
    --------
    >>> from scipy import sparse
    >>> from srsg.affinity import unit_codes
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
    >>> from srsg.affinity import largest_codes
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


def code_neighbors(codes: sparse.csr_array, n_neighbors: int) -> sparse.csr_array:
    """The graph that joins every point with those whose unit codes, in absolute value, are most
    like its own; an edge weighs 1, or 1/2 if only one of the two asks for it.

    Examples
    --------
    >>> from scipy import sparse
    >>> from srsg.affinity import code_neighbors
    >>> codes = sparse.csr_array([[1.0, 0.0], [2.0, 0.1], [0.0, 1.0], [0.0, 3.0]])
    >>> code_neighbors(codes, 1).toarray()
    array([[0., 1., 0., 0.],
           [1., 0., 0., 0.],
           [0., 0., 0., 1.],
           [0., 0., 1., 0.]])
    """
    unit = unit_codes(abs(codes))
    likeness = sparse.csr_array(unit @ unit.T)
    likeness.setdiag(0.0)
    likeness.eliminate_zeros()
    nearest = largest_codes(likeness, n_neighbors)
    nearest.data[:] = 1.0
    return symmetrized(nearest)


def agreement(affinity: sparse.csr_array, *, engine: Engine | None = None) -> sparse.csr_array:
    """Edges weighted by how far the neighbours of their ends agree on them.

    With ``N = D^-1/2 W D^-1/2``, which looks at every edge beside the others of its ends, the
    weight of an edge of W becomes ``(N^2 + N / 2)_ij^2``. The matrix product counts the walks of
    two steps from i to j: the neighbours that they share. An edge between two clusters closes
    few such triangles. Squaring entry by entry, the *inflation* of Markov clustering (van
    Dongen, 2000) as the product is its *expansion*, makes strong edges stronger yet. No edge is
    added, so the graph stays as sparse as it is.

    Parameters
    ----------
    affinity : csr_array of shape (n, n)
        Symmetric, non-negative weights W.
    engine : Engine, optional
        Where blocks run; threads on all cores by default.

    Returns
    -------
    csr_array of shape (n, n)

    Examples
    --------
    A triangle and an edge that hangs on it:

    >>> from scipy import sparse
    >>> from srsg.affinity import agreement
    >>> W = sparse.csr_array([[0, 1, 1, 0], [1, 0, 1, 0], [1, 1, 0, 1], [0, 0, 1, 0]])
    >>> agreement(W).toarray().round(3)
    array([[0.   , 0.174, 0.167, 0.   ],
           [0.174, 0.   , 0.167, 0.   ],
           [0.167, 0.167, 0.   , 0.083],
           [0.   , 0.   , 0.083, 0.   ]])
    """
    steps = normalized(affinity)
    starts, columns = unsigned_indices(steps)
    engine = engine or ThreadEngine()
    data = engine.share((starts, columns, steps.data))
    blocks = [(rows[0], rows[-1] + 1) for rows in blocks_of_rows(len(starts) - 1, BLOCK_SIZE)]
    walks = np.concatenate(engine.map(_walks_along_edges, data, blocks, label="agreement"))
    weights = (walks + steps.data / 2) ** 2
    weighted = sparse.csr_array((weights, steps.indices, steps.indptr), steps.shape)
    return sparse.csr_array((weighted + weighted.T) / 2)  # symmetric to the last bit


def _walks_along_edges(
    graph: tuple[IntArray, IntArray, FloatArray], rows: tuple[int, int]
) -> FloatArray:
    starts, columns, weights = graph
    walks = np.empty(int(starts[rows[1]]) - int(starts[rows[0]]))
    walks_along_edges(starts, columns, weights, *rows, walks)
    return walks


def normalized(affinity: Graph) -> Graph:
    """``D^-1/2 W D^-1/2``, with D the degrees: every edge beside the others of its ends.

    Examples
    --------
    >>> import numpy as np
    >>> from srsg.affinity import normalized
    >>> normalized(np.array([[0.0, 4.0], [4.0, 0.0]]))
    array([[0., 1.],
           [1., 0.]])
    """
    degree = np.asarray(affinity.sum(axis=1)).ravel()
    return scaled(affinity, 1 / np.sqrt(np.where(degree > 0, degree, 1.0)))


def scaled(affinity: Graph, scale: FloatArray) -> Graph:
    """Rows and columns multiplied by ``scale``.

    Examples
    --------
    >>> import numpy as np
    >>> from srsg.affinity import scaled
    >>> scaled(np.array([[0.0, 1.0], [1.0, 0.0]]), np.array([2.0, 3.0]))
    array([[0., 6.],
           [6., 0.]])
    """
    if isinstance(affinity, np.ndarray):
        return affinity * scale * scale[:, None]
    rows = np.repeat(scale, np.diff(affinity.indptr))
    data = rows * affinity.data * scale[affinity.indices]
    return sparse.csr_array((data, affinity.indices, affinity.indptr), affinity.shape)


def unsigned_indices(graph: sparse.csr_array) -> tuple[NDArray, NDArray]:
    """Row starts and columns for the kernels.

    Of a signed index numba asks whether it counts from the end: these are twice as fast.

    Examples
    --------
    >>> from scipy import sparse
    >>> from srsg.affinity import unsigned_indices
    >>> unsigned_indices(sparse.csr_array([[0.0, 1.0], [1.0, 0.0]]))[1]
    array([1, 0], dtype=uint32)
    """
    unsigned = np.uint32 if graph.nnz < 2**32 else np.uint64
    return graph.indptr.astype(unsigned), graph.indices.astype(unsigned)


def evened(affinity: Graph) -> Graph:
    """The graph with loops that make all degrees equal to the largest.

    The leading eigenvectors of its normalised affinity are those of the Laplacian ``D - W``
    itself: a cut is then weighed by the number of points it cuts off (the *ratio cut*), and not
    by the sum of their degrees (the *normalised cut*).

    Examples
    --------
    >>> import numpy as np
    >>> from srsg.affinity import evened
    >>> evened(np.array([[0.0, 1.0, 0.0], [1.0, 0.0, 2.0], [0.0, 2.0, 0.0]]))
    array([[2., 1., 0.],
           [1., 0., 2.],
           [0., 2., 1.]])
    """
    degree = np.asarray(affinity.sum(axis=1)).ravel()
    loops = degree.max() - degree
    if isinstance(affinity, np.ndarray):
        return affinity + np.diag(loops)
    return sparse.csr_array(affinity + sparse.diags_array(loops))


def local_scaling(X: NDArray, scale_neighbor: int) -> FloatArray:
    """``exp(-d_ij^2 / (s_i s_j))`` with s the distance from the ``scale_neighbor``-th neighbour.

    Points that coincide with as many others have no scale: they are joined with those at no
    distance only, with weight 1.

    Examples
    --------
    >>> import numpy as np
    >>> from srsg.affinity import local_scaling
    >>> local_scaling(np.array([[0.0, 0.0], [0.0, 1.0], [0.0, 3.0]]), 1).round(4)
    array([[1.    , 0.3679, 0.0111],
           [0.3679, 1.    , 0.1353],
           [0.0111, 0.1353, 1.    ]])
    """
    with serial_linear_algebra():
        squared = euclidean_distances(X.astype(np.float64), squared=True)
    squared = (squared + squared.T) / 2
    np.fill_diagonal(squared, 0.0)
    # The nearest to a point is the point itself, at place 0.
    scale = np.sqrt(np.partition(squared, scale_neighbor, axis=1)[:, scale_neighbor])
    return _gaussian(squared, np.outer(scale, scale))


def local_scaling_rows(
    x: FloatArray, queries: FloatArray, scale_neighbor: int, *, engine: Engine | None = None
) -> sparse.csr_array:
    """The kernel of :func:`local_scaling` between new points and their nearest fitted points.

    A new point has ``scale_neighbor`` of them, the last of which is its scale. One that equals a
    fitted point is that point: its row is a one there. Rows are empty where the kernel
    underflows.

    Examples
    --------
    >>> import numpy as np
    >>> from srsg.affinity import local_scaling_rows
    >>> x = np.array([[0.0, 0.0], [0.0, 1.0], [0.0, 3.0]])
    >>> local_scaling_rows(x, np.array([[0.0, 2.0], [0.0, 3.0]]), 2).toarray().round(4)
    array([[0.    , 0.6065, 0.7165],
           [0.    , 0.    , 1.    ]])
    """
    engine = engine or ThreadEngine()
    points = Searchable.of(x)
    data = engine.share((points, queries))
    blocks = blocks_of_rows(len(queries), BLOCK_SIZE)
    task = partial(_nearest_of_new, n_neighbors=scale_neighbor)
    found = engine.map(task, data, blocks, label="nearest neighbours")
    nearest, squared = (np.concatenate(part) for part in zip(*found, strict=True))

    used, place = np.unique(nearest, return_inverse=True)
    own_task = partial(_scale_of_points, scale_neighbor=scale_neighbor)
    own_blocks = [used[rows] for rows in blocks_of_rows(len(used), BLOCK_SIZE)]
    scales = np.concatenate(engine.map(own_task, data, own_blocks, label="scales"))

    products = np.sqrt(squared[:, -1:]) * scales[place.reshape(nearest.shape)]
    weights = _gaussian(squared, products)
    weights[squared[:, 0] == 0, 1:] = 0.0
    row, column = np.nonzero(weights)
    entries = weights[row, column], (row, nearest[row, column])
    return sparse.csr_array(entries, shape=(len(queries), len(x)))


def _nearest_of_new(
    data: tuple[Searchable, FloatArray], rows: IntArray, *, n_neighbors: int
) -> tuple[IntArray, FloatArray]:
    """Nearest fitted points of new ones, and the squared distances."""
    points, targets = data[0], data[1][rows]
    nearest = points.nearest(targets, np.full(len(rows), -1), n_neighbors)
    return nearest, _squared_distances(targets[:, None], points.x[nearest])


def _scale_of_points(
    data: tuple[Searchable, FloatArray], rows: IntArray, *, scale_neighbor: int
) -> FloatArray:
    """The scales of some fitted points."""
    x = data[0].x
    last = data[0].nearest(x[rows], rows, scale_neighbor)[:, -1]
    return np.sqrt(_squared_distances(x[rows], x[last]))


def _squared_distances(a: FloatArray, b: FloatArray) -> FloatArray:
    return np.asarray(((a - b) ** 2).sum(axis=-1))


def _gaussian(squared: FloatArray, products: FloatArray) -> FloatArray:
    """``exp(-squared / products)``; without a scale, 1 at no distance and 0 elsewhere."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.exp(-np.where(squared > 0, squared / products, 0.0))


def bridged(
    affinity: sparse.csr_array, neighbor_graph: sparse.csr_array, strength: float
) -> sparse.csr_array:
    """Add the edges of the neighbour graph, each ``strength`` times the mean edge weight.

    Edges this weak hardly move what the affinity joins, yet they settle by the data which of
    its connected components belong together.
    """
    mean_weight = affinity.data.mean() if affinity.nnz else 1.0
    links = neighbor_graph.maximum(neighbor_graph.T)
    return sparse.csr_array(affinity + strength * mean_weight * links)
