"""The spectral embedding of Ng, Jordan and Weiss, correct on disconnected graphs too.

The eigenvalue 1 of the normalised affinity has one eigenvector for every connected component.
Each component is solved by itself, where this eigenvalue is simple, so the eigenvectors of
clusters that do not touch are exact.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.sparse import csgraph
from scipy.sparse.linalg import LinearOperator

from srsg.cutting.eigenvectors import leading_eigenpairs, plus_low_rank, unsigned_indices
from srsg.graph import neighbor_graph
from srsg.kernels.graphs import walks_along_edges
from srsg.points import BLOCK_SIZE, blocks_of_rows
from srsg.running import Engine, ThreadEngine
from srsg.types import Cut, FloatArray, Graph, IntArray

AUTO_BRIDGE = 0.01
"""Weight of the bridges that ``bridge="auto"`` adds."""

UNIFORM_LINKS = 0.01
"""Weight of the uniform links, as a share of the mean degree (see :func:`spectral_embedding`)."""


@dataclass(frozen=True)
class Embedding:
    """Coordinates of the vertices.

    Attributes
    ----------
    vectors : ndarray of shape (n, n_dimensions)
        Leading eigenvectors of the normalised affinity, rows scaled to unit length.
    eigenvalues : ndarray of shape (n_dimensions,)
        In decreasing order; 1 once for every connected component.
    n_components : int
        Connected components of the graph.

    Examples
    --------
    >>> import numpy as np
    >>> from srsg.cutting.embedding import spectral_embedding
    >>> found = spectral_embedding(np.kron(np.eye(2), np.ones((3, 3))), 2)
    >>> found.vectors.shape, found.n_components
    ((6, 2), 2)
    """

    vectors: FloatArray
    eigenvalues: FloatArray
    n_components: int


def auto_bridge(graph: Graph, n_clusters: int) -> float | None:
    """Bridges where components outnumber clusters."""
    return AUTO_BRIDGE if connected_components(graph)[0] > n_clusters else None


def embedded_graph(
    graph: Graph,
    n_dimensions: int,
    neighbors: IntArray | None,
    bridge: float | None,
    cut: Cut,
    engine: Engine | None = None,
    *,
    commute_time: bool = False,
    weights: FloatArray | None = None,
) -> Embedding:
    """The embedding of a graph with its bridges, for the cut that is wanted.

    With ``commute_time``, that of :func:`commute_time_embedding`. A vertex counts as its weight in
    the ratio cut; it counts as its degree in the normalised cut anyway.
    """
    if neighbors is not None and bridge:
        graph = bridged(sparse.csr_array(graph), neighbor_graph(neighbors), bridge)
    if cut == "ratio":
        graph = with_equal_degrees(graph, weights)
    elif cut != "normalized":
        raise ValueError(f"cut must be 'normalized' or 'ratio', got {cut!r}.")
    embed = commute_time_embedding if commute_time else spectral_embedding
    return embed(graph, n_dimensions, engine=engine)


def spectral_embedding(
    affinity: Graph, n_dimensions: int, *, engine: Engine | None = None
) -> Embedding:
    """Rows of the leading eigenvectors of ``D^-1/2 W D^-1/2``, scaled to unit length.

    With more components than dimensions, the choice among the eigenvectors of the eigenvalue 1
    would be arbitrary. The graph is then connected by uniform weak links, a small fraction of the
    mean degree spread over all vertices. This ranks large components before small ones and lets an
    isolated vertex follow the bulk instead of becoming a cluster of its own.

    Parameters
    ----------
    affinity : csr_array or ndarray of shape (n, n)
        Symmetric, non-negative weights.
    n_dimensions : int
        Number of eigenvectors.
    engine : Engine, optional
        Where the work runs; threads on all cores by default.

    Returns
    -------
    Embedding

    Examples
    --------
    >>> import numpy as np
    >>> from scipy import sparse
    >>> from srsg.cutting.embedding import spectral_embedding
    >>> pairs = sparse.csr_array(np.kron(np.eye(2), [[0.0, 1.0], [1.0, 0.0]]))
    >>> embedding = spectral_embedding(pairs, 2)
    >>> embedding.n_components, embedding.eigenvalues
    (2, array([1., 1.]))
    """
    n_components, component = connected_components(affinity)
    if n_components > n_dimensions:
        values, vectors = leading_eigenpairs(
            _uniformly_linked(affinity), n_dimensions, engine=engine
        )
    else:
        values, vectors = _by_component(affinity, component, n_dimensions, engine)
    return Embedding(unit_length_rows(vectors), values, n_components)


def commute_time_embedding(
    affinity: Graph, n_dimensions: int, *, engine: Engine | None = None
) -> Embedding:
    """Leading eigenvectors after the constant one, weighed by commute times, rows of unit length.

    Each eigenvector is divided by ``sqrt(1 - eigenvalue)``: distances are then those of the mean
    time that a random walk takes from one vertex to another and back. Eigenvectors beyond the
    number of clusters still help to separate clusters that the first ones merge, and weigh less.

    Parameters
    ----------
    affinity : csr_array or ndarray of shape (n, n)
        Symmetric, non-negative weights. A graph in several components is embedded by
        :func:`spectral_embedding`, since walks between components would take forever.
    n_dimensions : int
        Number of eigenvectors, without the constant one.
    engine : Engine, optional
        Where the work runs; threads on all cores by default.

    Returns
    -------
    Embedding

    Examples
    --------
    >>> import numpy as np
    >>> from scipy import sparse
    >>> from srsg.cutting.embedding import commute_time_embedding
    >>> W = np.kron(np.eye(3), np.ones((4, 4))) + 0.01
    >>> commute_time_embedding(sparse.csr_array(W), 2).vectors.shape
    (12, 2)
    """
    if connected_components(affinity)[0] > 1:
        return spectral_embedding(affinity, n_dimensions, engine=engine)
    count = min(n_dimensions + 1, affinity.shape[0])
    values, vectors = leading_eigenpairs(_normalized(affinity), count, engine=engine)
    # An eigenvalue that rounding brought to 1 would get all the weight.
    apart = np.maximum(1 - values[1:], np.finfo(float).eps)
    return Embedding(unit_length_rows(vectors[:, 1:] / np.sqrt(apart)), values[1:], 1)


def connected_components(affinity: Graph) -> tuple[int, NDArray[np.int32]]:
    """The number of components of a symmetric graph, and the component of every vertex."""
    if isinstance(affinity, np.ndarray) and affinity.all():
        return 1, np.zeros(len(affinity), np.int32)  # a search would make it sparse first
    # SciPy takes entries of a dense graph below 1e-8 for zeros.
    affinity = sparse.csr_array(affinity)
    n_components, component = csgraph.connected_components(affinity, directed=False)
    return int(n_components), component


def diffusion_coordinates(
    affinity: sparse.csr_array, n_coordinates: int, *, engine: Engine | None = None
) -> FloatArray:
    """Eigenvectors of the random walk on a graph, without the first, which is constant.

    These are ``D^-1/2 v`` for the eigenvectors ``v`` of ``D^-1/2 W D^-1/2``, largest eigenvalues
    first. A graph in several components is connected by uniform weak links, as in
    :func:`spectral_embedding`: otherwise the first eigenvectors would only tell the components
    apart.

    Parameters
    ----------
    affinity : csr_array of shape (n, n)
        Symmetric, non-negative weights.
    n_coordinates : int
        Coordinates per vertex.
    engine : Engine, optional
        Where the work runs; threads on all cores by default.

    Returns
    -------
    ndarray of shape (n, n_coordinates)
        With columns of zeros where there are not enough vertices.

    Examples
    --------
    >>> import numpy as np
    >>> from scipy import sparse
    >>> from srsg.cutting.embedding import diffusion_coordinates
    >>> path = sparse.csr_array(np.diag(np.ones(4), 1) + np.diag(np.ones(4), -1))
    >>> steps = np.diff(diffusion_coordinates(path, 1)[:, 0])
    >>> bool((steps > 0).all() or (steps < 0).all())
    True
    """
    n_vertices = affinity.shape[0]
    degree = np.asarray(affinity.sum(axis=1)).ravel()
    connected = connected_components(affinity)[0] == 1
    walk: sparse.csr_array | LinearOperator
    if connected:
        walk = _normalized(affinity)
    else:
        walk = _uniformly_linked(affinity)
        degree = degree + _uniform_links(degree)
    _, vectors = leading_eigenpairs(walk, min(n_coordinates + 1, n_vertices), engine=engine)
    coordinates = np.zeros((n_vertices, n_coordinates))
    if n_vertices > 1:  # a vertex by itself has no degree
        found = vectors[:, 1:] / np.sqrt(degree)[:, None]
        coordinates[:, : found.shape[1]] = found
    return coordinates


def _by_component(
    affinity: Graph, component: NDArray[np.int32], n_dimensions: int, engine: Engine | None
) -> tuple[FloatArray, FloatArray]:
    """Leading eigenpairs of a block-diagonal matrix, from those of its blocks."""
    if not component.any():
        values, vectors = leading_eigenpairs(_normalized(affinity), n_dimensions, engine=engine)
        values[0] = 1.0
        return values, vectors
    members = [np.flatnonzero(component == label) for label in range(component.max() + 1)]
    # Every block has an eigenvalue 1, so no block can have more than this many of the leading ones.
    most = n_dimensions - len(members) + 1
    pairs: list[tuple[float, FloatArray, NDArray[np.intp]]] = []
    for vertices in members:
        block = _normalized(affinity[vertices][:, vertices])
        values, vectors = leading_eigenpairs(block, min(most, len(vertices)), engine=engine)
        values[0] = 1.0  # exactly, on a connected block: no second eigenvalue may come before it
        pairs += zip(values, vectors.T, [vertices] * len(values), strict=True)
    pairs.sort(key=lambda pair: -pair[0])
    columns = np.zeros((affinity.shape[0], n_dimensions))
    for k, (_, vector, vertices) in enumerate(pairs[:n_dimensions]):
        columns[vertices, k] = vector
    return np.array([value for value, _, _ in pairs[:n_dimensions]]), columns


def _normalized(affinity: Graph) -> Graph:
    """The normalised affinity, in which an isolated vertex has a loop of weight 1."""
    isolated = np.asarray(affinity.sum(axis=1)).ravel() == 0
    walk = normalized(affinity)
    return walk + sparse.diags_array(isolated.astype(float)) if isolated.any() else walk


def _uniformly_linked(affinity: Graph) -> LinearOperator:
    """The normalised affinity of ``W + (tau / n) 1 1^T``."""
    n_vertices = affinity.shape[0]
    degree = np.asarray(affinity.sum(axis=1)).ravel()
    tau = _uniform_links(degree)
    root = 1 / np.sqrt(degree + tau)
    return plus_low_rank(scaled(affinity, root), root[:, None], np.array([tau / n_vertices]))


def _uniform_links(degree: FloatArray) -> float:
    """What the uniform links add to the degree of every vertex."""
    return float(UNIFORM_LINKS * (degree.mean() or 1.0))


def unit_length_rows(vectors: FloatArray) -> FloatArray:
    """Rows scaled to unit length; rows of zeros stay zero."""
    norm = np.linalg.norm(vectors, axis=1, keepdims=True)
    return vectors / np.where(norm > 0, norm, 1.0)


def normalized(affinity: Graph) -> Graph:
    """``D^-1/2 W D^-1/2``, with D the degrees: every edge relative to the other edges of its ends.

    Examples
    --------
    >>> import numpy as np
    >>> from srsg.cutting.embedding import normalized
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
    >>> from srsg.cutting.embedding import scaled
    >>> scaled(np.array([[0.0, 1.0], [1.0, 0.0]]), np.array([2.0, 3.0]))
    array([[0., 6.],
           [6., 0.]])
    """
    if isinstance(affinity, np.ndarray):
        return affinity * scale * scale[:, None]
    rows = np.repeat(scale, np.diff(affinity.indptr))
    data = rows * affinity.data * scale[affinity.indices]
    return sparse.csr_array((data, affinity.indices, affinity.indptr), affinity.shape)


def with_equal_degrees(affinity: Graph, weights: FloatArray | None = None) -> Graph:
    """The graph with loops added that make all degrees equal to the largest.

    With ``weights``, degrees become proportional to these: a vertex of weight 3 counts as three.

    The leading eigenvectors of its normalised affinity are then those of the Laplacian ``D - W``
    itself: a cut is measured relative to the number of points it cuts off (the *ratio cut*), and
    not to the sum of their degrees (the *normalised cut*).

    Examples
    --------
    >>> import numpy as np
    >>> from srsg.cutting.embedding import with_equal_degrees
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
    >>> from srsg.cutting.embedding import agreement
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
