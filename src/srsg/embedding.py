"""The spectral embedding of Ng, Jordan and Weiss, right on disconnected graphs too.

The eigenvalue 1 of the normalised affinity has one eigenvector for every connected component.
A Lanczos solver on the whole graph finds some of these and silently misses others, so each
component is solved by itself, where the eigenvalue is simple.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import linalg, sparse
from scipy.sparse import csgraph
from scipy.sparse.linalg import ArpackNoConvergence, LinearOperator, eigsh

from srsg.types import FloatArray, Graph

DENSE_BELOW = 400
"""Components up to this many vertices are solved by LAPACK."""

DENSE_IF_CROWDED = 5000
"""So are those up to this many whose leading eigenvalues Lanczos cannot tell apart."""

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
    """

    vectors: FloatArray
    eigenvalues: FloatArray
    n_components: int


def spectral_embedding(affinity: Graph, n_dimensions: int) -> Embedding:
    """Rows of the leading eigenvectors of ``D^-1/2 W D^-1/2``, scaled to unit length.

    With more components than dimensions the eigenvectors of the eigenvalue 1 would be an
    arbitrary choice. The graph is then joined by uniform weak links, a small fraction of the
    mean degree spread over all vertices, which ranks large components before small ones and
    lets an isolated vertex follow the bulk instead of becoming a cluster of its own.

    Parameters
    ----------
    affinity : csr_array or ndarray of shape (n, n)
        Symmetric, non-negative weights.
    n_dimensions : int
        Number of eigenvectors.

    Returns
    -------
    Embedding

    Examples
    --------
    >>> import numpy as np
    >>> from scipy import sparse
    >>> from srsg.embedding import spectral_embedding
    >>> pairs = sparse.csr_array(np.kron(np.eye(2), [[0.0, 1.0], [1.0, 0.0]]))
    >>> embedding = spectral_embedding(pairs, 2)
    >>> embedding.n_components, embedding.eigenvalues
    (2, array([1., 1.]))
    """
    n_components, component = connected_components(affinity)
    if n_components > n_dimensions:
        values, vectors = _leading(_uniformly_linked(affinity), n_dimensions)
    else:
        values, vectors = _by_component(affinity, component, n_dimensions)
    return Embedding(_unit_rows(vectors), values, n_components)


def connected_components(affinity: Graph) -> tuple[int, NDArray[np.int32]]:
    """The number of components of a symmetric graph, and that of every vertex."""
    if isinstance(affinity, np.ndarray) and affinity.all():
        return 1, np.zeros(len(affinity), np.int32)  # a search would make it sparse first
    n_components, component = csgraph.connected_components(affinity, directed=False)
    return int(n_components), component


def diffusion_coordinates(affinity: sparse.csr_array, n_coordinates: int) -> FloatArray:
    """Eigenvectors of the random walk on a graph, without the first, which is constant.

    These are ``D^-1/2 v`` for the eigenvectors ``v`` of ``D^-1/2 W D^-1/2``, largest
    eigenvalues first. A graph in several components is joined by uniform weak links, as in
    :func:`spectral_embedding`: else the first eigenvectors would do no more than name the
    components.

    Parameters
    ----------
    affinity : csr_array of shape (n, n)
        Symmetric, non-negative weights.
    n_coordinates : int
        Coordinates a vertex.

    Returns
    -------
    ndarray of shape (n, n_coordinates)
        With columns of zeros where there are not enough vertices.

    Examples
    --------
    >>> import numpy as np
    >>> from scipy import sparse
    >>> from srsg.embedding import diffusion_coordinates
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
    _, vectors = _leading(walk, min(n_coordinates + 1, n_vertices))
    coordinates = np.zeros((n_vertices, n_coordinates))
    if n_vertices > 1:  # a vertex by itself has no degree
        found = vectors[:, 1:] / np.sqrt(degree)[:, None]
        coordinates[:, : found.shape[1]] = found
    return coordinates


def _by_component(
    affinity: Graph, component: NDArray[np.int32], n_dimensions: int
) -> tuple[FloatArray, FloatArray]:
    """Leading eigenpairs of a block-diagonal matrix, from those of its blocks."""
    if not component.any():
        values, vectors = _leading(_normalized(affinity), n_dimensions)
        values[0] = 1.0
        return values, vectors
    members = [np.flatnonzero(component == label) for label in range(component.max() + 1)]
    # Every block has an eigenvalue 1, which leaves so many for the others of any one block.
    most = n_dimensions - len(members) + 1
    pairs: list[tuple[float, FloatArray, NDArray[np.intp]]] = []
    for vertices in members:
        block = _normalized(affinity[vertices][:, vertices])
        values, vectors = _leading(block, min(most, len(vertices)))
        values[0] = 1.0  # exact on a connected block, so no block's second comes before it
        pairs += zip(values, vectors.T, [vertices] * len(values), strict=True)
    pairs.sort(key=lambda pair: -pair[0])
    columns = np.zeros((affinity.shape[0], n_dimensions))
    for k, (_, vector, vertices) in enumerate(pairs[:n_dimensions]):
        columns[vertices, k] = vector
    return np.array([value for value, _, _ in pairs[:n_dimensions]]), columns


def _normalized(affinity: Graph) -> Graph:
    """``D^-1/2 W D^-1/2``; an isolated vertex keeps itself."""
    degree = np.asarray(affinity.sum(axis=1)).ravel()
    isolated = degree == 0
    scaled = _scaled(affinity, 1 / np.sqrt(np.where(isolated, 1.0, degree)))
    return scaled + sparse.diags_array(isolated.astype(float)) if isolated.any() else scaled


def _scaled(affinity: Graph, scale: FloatArray) -> Graph:
    """Rows and columns multiplied by ``scale``."""
    if isinstance(affinity, np.ndarray):
        return affinity * scale * scale[:, None]
    diagonal = sparse.diags_array(scale)
    return sparse.csr_array(diagonal @ affinity @ diagonal)


def _uniformly_linked(affinity: Graph) -> LinearOperator:
    """The normalised affinity of ``W + (tau / n) 1 1^T``."""
    n_vertices = affinity.shape[0]
    degree = np.asarray(affinity.sum(axis=1)).ravel()
    tau = _uniform_links(degree)
    root = 1 / np.sqrt(degree + tau)
    return _plus_low_rank(_scaled(affinity, root), root[:, None], np.array([tau / n_vertices]))


def _uniform_links(degree: FloatArray) -> float:
    """What the uniform links add to the degree of every vertex."""
    return float(UNIFORM_LINKS * (degree.mean() or 1.0))


def _plus_low_rank(
    matrix: Graph | LinearOperator, vectors: FloatArray, weights: FloatArray
) -> LinearOperator:
    """``matrix + vectors diag(weights) vectors^T`` without forming it."""

    def multiply(x: FloatArray) -> FloatArray:
        inner = vectors.T @ x
        return matrix @ x + vectors @ (weights * inner.T).T

    return LinearOperator(matrix.shape, matvec=multiply, matmat=multiply, dtype=np.float64)


def _leading(matrix: Graph | LinearOperator, count: int) -> tuple[FloatArray, FloatArray]:
    """The ``count`` largest eigenvalues of a symmetric matrix, in decreasing order."""
    size = matrix.shape[0]
    if size <= DENSE_BELOW or 3 * count > size:
        return _leading_dense(matrix, count)
    try:
        return _leading_lanczos(matrix, count)
    except ArpackNoConvergence:
        # The eigenvalues crowd at the top, as those of many alike components do.
        if size <= DENSE_IF_CROWDED:
            return _leading_dense(matrix, count)
        return _leading_lanczos(matrix, count, ncv=min(size - 1, 10 * count + 100), tol=1e-6)


def _leading_dense(matrix: Graph | LinearOperator, count: int) -> tuple[FloatArray, FloatArray]:
    size = matrix.shape[0]
    dense = matrix @ np.eye(size)
    values, vectors = linalg.eigh(dense, subset_by_index=[size - count, size - 1])
    return values[::-1].copy(), vectors[:, ::-1]


def _leading_lanczos(
    matrix: Graph | LinearOperator, count: int, ncv: int | None = None, tol: float = 1e-10
) -> tuple[FloatArray, FloatArray]:
    size = matrix.shape[0]
    rng = np.random.default_rng(0)  # start vectors; the result does not depend on them
    start = rng.standard_normal(size)
    values, vectors = eigsh(matrix, count, which="LA", tol=tol, ncv=ncv, v0=start)
    for _ in range(count):
        # Lanczos can miss copies of a repeated eigenvalue. Send what was found to -1: nothing
        # that remains may exceed the smallest of it.
        rest = _plus_low_rank(matrix, vectors, -1 - values)
        most, vector = eigsh(rest, 1, which="LA", tol=1e-6, v0=rng.standard_normal(size))
        smallest = np.argmin(values)
        if most[0] <= values[smallest] + 1e-8:
            break
        values[smallest], vectors[:, smallest] = most[0], vector[:, 0]
    order = np.argsort(-values, kind="stable")
    return values[order], vectors[:, order]


def _unit_rows(vectors: FloatArray) -> FloatArray:
    norm = np.linalg.norm(vectors, axis=1, keepdims=True)
    return vectors / np.where(norm > 0, norm, 1.0)
