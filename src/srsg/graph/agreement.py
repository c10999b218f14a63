"""Edges weighted by how far the neighbours of their two ends agree."""

from __future__ import annotations

import numpy as np
from scipy import sparse

from srsg.engines import Engine, ThreadEngine
from srsg.graph.normalization import normalized, unsigned_indices
from srsg.kernels.agreement import walks_along_edges
from srsg.points import BLOCK_SIZE, blocks_of_rows
from srsg.types import FloatArray, IntArray


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
    >>> from srsg.graph.agreement import agreement
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
