"""Two coordinates for every point, for pictures of a clustering."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse
from sklearn.decomposition import PCA
from sklearn.neighbors import kneighbors_graph

from srsg.cutting.affinity import largest_codes
from srsg.explaining.unwrapping import clusterer_of, points_as_clustered
from srsg.graph import neighbor_graph
from srsg.kernels.graphs import spread_out
from srsg.points import BLOCK_SIZE, blocks_of_rows
from srsg.running import serial_linear_algebra
from srsg.running.warnings import made_dense
from srsg.types import FloatArray

MOST_EDGES = 10
"""Edges that pull a point: its heaviest."""

LINK = 0.1
"""Weight of the links to nearest neighbours, as a share of a point's heaviest edge."""

NEIGHBORS_UP_TO = 10_000
"""Without a graph of the model, up to this many points are placed by nearest neighbours."""


def plane(model: Any, X: FloatArray) -> tuple[FloatArray, str]:
    """Coordinates of the points in the plane, and one line that explains them.

    The model is a fitted clusterer, a pipeline that ends in one, or a search.

    Examples
    --------
    >>> from sklearn.cluster import KMeans
    >>> from sklearn.datasets import load_iris
    >>> from srsg.explaining.layout import plane
    >>> X = load_iris().data
    >>> plane(KMeans(3, n_init=1, random_state=0).fit(X), X)[0].shape
    (150, 2)
    """
    clusterer = clusterer_of(model)
    graph = getattr(clusterer, "affinity_matrix_", None)
    if graph is not None:
        pulls = _pulls(graph, getattr(clusterer, "neighbors_", None))
        line = "Points that are joined in the graph attract each other; random pairs repel."
        return _by_forces(pulls, _start(getattr(clusterer, "embedding_", X))), line
    X = made_dense(
        points_as_clustered(model, X), "a map of points without a graph needs dense ones"
    )
    if len(X) <= NEIGHBORS_UP_TO:
        nearest = kneighbors_graph(X, min(MOST_EDGES, len(X) - 1))
        line = "Nearest neighbours attract each other; random pairs repel."
        return _by_forces(_pulls(nearest, None), _start(X)), line
    return _start(X), "The two principal components of the features."


def _pulls(graph: Any, neighbors: Any) -> sparse.csr_array:
    """How strongly points pull each other, at most 1."""
    # Block by block, so that a dense graph is never turned into a sparse one of the same size.
    blocks = blocks_of_rows(graph.shape[0], BLOCK_SIZE)
    heavy = [largest_codes(sparse.csr_array(graph[rows]), MOST_EDGES + 1) for rows in blocks]
    edges = sparse.csr_array(sparse.vstack(heavy), dtype=np.float64)
    edges.sort_indices()  # otherwise old versions of SciPy set wrong entries
    edges.setdiag(0.0)
    edges.eliminate_zeros()
    heaviest = edges.max(axis=1).toarray()
    edges.data /= np.repeat(heaviest, np.diff(edges.indptr))
    if neighbors is not None:
        edges = edges.maximum(LINK * neighbor_graph(neighbors))
    return sparse.csr_array(edges.maximum(edges.T))


def _start(coordinates: FloatArray) -> FloatArray:
    """The first two principal components, the longer one across, ten units to either side."""
    if not np.ptp(coordinates, axis=0).any():  # all points in one place: one cluster, say
        return np.zeros((len(coordinates), 2))
    with serial_linear_algebra():
        flat = PCA(min(2, *coordinates.shape), random_state=0).fit_transform(coordinates)
    flat = np.pad(flat, ((0, 0), (0, 2 - flat.shape[1])))
    return 10 * flat / max(np.abs(flat).max(), 1e-12)


def _by_forces(pulls: sparse.csr_array, start: FloatArray) -> FloatArray:
    n_points = len(start)
    n_epochs = 400 if n_points <= 10_000 else 150
    edges = pulls.tocoo()
    # Points of one component may share their place in the embedding: shake them apart.
    position = start + np.random.default_rng(0).normal(scale=0.05, size=start.shape)
    strong = edges.data * n_epochs >= 1
    source, target = edges.row[strong].astype(np.int64), edges.col[strong].astype(np.int64)
    spread_out(position, source, target, 1.0 / edges.data[strong], n_epochs, 1)
    return _start(position)
