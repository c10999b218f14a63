"""What is done to the edges of a graph before its eigenvectors are computed."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from srsg.kernels.graphs import walks_along_edges
from srsg.points import BLOCK_SIZE, blocks_of_rows
from srsg.running import Engine, ThreadEngine
from srsg.types import FloatArray, Graph, IntArray


def normalized(affinity: Graph) -> Graph:
    """``D^-1/2 W D^-1/2``, with D the degrees: every edge relative to the other edges of its ends.

    Examples
    --------
    >>> import numpy as np
    >>> from srsg.cutting.weights import normalized
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
    >>> from srsg.cutting.weights import scaled
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

    With signed indices numba checks each time whether it counts from the end: unsigned ones are
    twice as fast.

    Examples
    --------
    >>> from scipy import sparse
    >>> from srsg.cutting.weights import unsigned_indices
    >>> unsigned_indices(sparse.csr_array([[0.0, 1.0], [1.0, 0.0]]))[1]
    array([1, 0], dtype=uint32)
    """
    unsigned = np.uint32 if graph.nnz < 2**32 else np.uint64
    return graph.indptr.astype(unsigned), graph.indices.astype(unsigned)


def with_equal_degrees(affinity: Graph, weights: FloatArray | None = None) -> Graph:
    """The graph with loops added that make all degrees equal to the largest.

    With ``weights``, degrees become proportional to these: a vertex of weight 3 counts as three.

    The leading eigenvectors of its normalised affinity are then those of the Laplacian ``D - W``
    itself: a cut is measured relative to the number of points it cuts off (the *ratio cut*), and
    not to the sum of their degrees (the *normalised cut*).

    Examples
    --------
    >>> import numpy as np
    >>> from srsg.cutting.weights import with_equal_degrees
    >>> with_equal_degrees(np.array([[0.0, 1.0, 0.0], [1.0, 0.0, 2.0], [0.0, 2.0, 0.0]]))
    array([[2., 1., 0.],
           [1., 0., 2.],
           [0., 2., 1.]])
    """
    degree = np.asarray(affinity.sum(axis=1)).ravel()
    loops = degree.max() - degree if weights is None else _missing_degrees(degree, weights)
    if isinstance(affinity, np.ndarray):
        return affinity + np.diag(loops)
    return sparse.csr_array(affinity + sparse.diags_array(loops))


def _missing_degrees(degree: FloatArray, weights: FloatArray) -> FloatArray:
    """What degrees lack to be proportional to the weights."""
    # Not below zero by rounding, where a vertex has the largest degree for its weight.
    return np.maximum((degree / weights).max() * weights - degree, 0.0)


def bridged(
    affinity: sparse.csr_array, neighbor_graph: sparse.csr_array, strength: float
) -> sparse.csr_array:
    """Add the edges of the neighbour graph, each ``strength`` times the mean edge weight.

    Edges this weak hardly change what the affinity already connects, yet they let the data decide
    which of its connected components belong together.
    """
    mean_weight = affinity.data.mean() if affinity.nnz else 1.0
    links = neighbor_graph.maximum(neighbor_graph.T)
    with np.errstate(over="ignore"):
        found = sparse.csr_array(affinity + strength * mean_weight * links)
    if not np.isfinite(found.data).all():
        raise ValueError(f"bridge={strength:g} is too large: the weights of the graph overflow.")
    return found


def agreement(affinity: sparse.csr_array, *, engine: Engine | None = None) -> sparse.csr_array:
    """Edges weighted by how far the neighbours of their two ends agree on them.

    With ``N = D^-1/2 W D^-1/2``, which measures every edge relative to the other edges of its ends,
    the weight of an edge of W becomes ``(N^2 + N / 2)_ij^2``. The matrix product counts the walks
    of two steps from i to j: the neighbours that they share. An edge between two clusters closes
    few such triangles. The matrix product is the *expansion* of Markov clustering (van Dongen,
    2000); squaring entry by entry is its *inflation*, which makes strong edges even stronger. No
    edge is added, so the graph stays as sparse as it is.

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
    >>> from srsg.cutting.weights import agreement
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
    data = (starts, columns, steps.data)
    blocks = blocks_of_rows(len(starts) - 1, BLOCK_SIZE)
    walks = np.concatenate(engine.map(_walks_along_edges, data, blocks, label="agreement"))
    weights = (walks + steps.data / 2) ** 2
    weighted = sparse.csr_array((weights, steps.indices, steps.indptr), steps.shape)
    return sparse.csr_array((weighted + weighted.T) / 2)  # symmetric to the last bit


def _walks_along_edges(graph: tuple[IntArray, IntArray, FloatArray], rows: IntArray) -> FloatArray:
    starts, columns, weights = graph
    first, end = rows[0], rows[-1] + 1
    walks = np.empty(int(starts[end]) - int(starts[first]))
    walks_along_edges(starts, columns, weights, first, end, walks)
    return walks
