"""Clusters that keep what is known about some points.

Points that belong together become one vertex, as equal points do: all rows of a known class are
one. Edges between points that belong apart are cut, and so are edges on the border between them:
a random walk along the edges from each end of the pair says on which side the other points are.

Where classes are known, the vertices are embedded by commute times, in twice as many eigenvectors
as there are clusters: a vertex belongs to the class whose vertex it has the smallest angle with.
Other clusters than the known classes are found by K-means, in which the known ones stay in place.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.optimize import linear_sum_assignment
from sklearn.utils import check_random_state

from srsg.constraints import Groups
from srsg.points import row_slices
from srsg.running import serial_linear_algebra
from srsg.types import FloatArray, Graph, IntArray, RandomState

N_STEPS = 30
"""Steps of the walks that say on which side of a pair a point is."""

MOST_UPDATES = 100
"""Rounds of K-means."""


def kept_apart(graph: Graph, apart: IntArray) -> Graph:
    """The graph with the edges between vertices that belong apart, and between their sides, cut.

    An edge is multiplied by the chance that its ends are not on different sides of a pair. On
    which side a vertex is, is the chance that a walk along the edges comes to that end first.

    Examples
    --------
    >>> import numpy as np
    >>> from srsg.cutting.constrained import kept_apart
    >>> path = np.diag(np.ones(3), 1) + np.diag(np.ones(3), -1)
    >>> kept_apart(path, np.array([[0, 3]])).round(1)
    array([[0. , 0.7, 0. , 0. ],
           [0.7, 0. , 0.4, 0. ],
           [0. , 0.4, 0. , 0.7],
           [0. , 0. , 0.7, 0. ]])
    """
    if not len(apart):
        return graph
    ends, place = np.unique(apart, return_inverse=True)
    one, other = place.reshape(apart.shape).T
    against = np.zeros((len(ends),) * 2)
    against[one, other] = against[other, one] = 1.0
    weights = sparse.csr_array(graph)
    degree = np.asarray(weights.sum(axis=1)).ravel()
    step = sparse.diags_array(1 / np.where(degree > 0, degree, 1.0)) @ weights
    sides = np.zeros((len(degree), len(ends)))
    for _ in range(N_STEPS):
        sides = step @ sides
        sides[ends] = np.eye(len(ends))
    reached = sides.sum(axis=1, keepdims=True)
    sides /= np.where(reached > 0, reached, 1.0)
    edges = weights.tocoo()
    row, column = edges.coords
    for some in row_slices(edges.nnz, max(1, 2**22 // len(ends))):
        conflict = np.einsum("ij,ij->i", sides[row[some]] @ against, sides[column[some]])
        edges.data[some] *= np.maximum(1.0 - conflict, 0.0)
    found = sparse.csr_array(edges)
    found.eliminate_zeros()
    return found if sparse.issparse(graph) else found.toarray()


def nearest_centres(
    vectors: FloatArray,
    seeds: IntArray,
    n_clusters: int,
    weights: FloatArray | None,
    n_init: int,
    random_state: RandomState,
) -> FloatArray:
    """The centres of clusters: the first are at the seeds, the others are found by K-means.

    Parameters
    ----------
    vectors : ndarray of shape (n, n_dimensions)
        Vertices, of unit length.
    seeds : ndarray of shape (n_classes,)
        The vertices of the known classes, whose centres do not move.
    n_clusters, weights, n_init, random_state
        As for :func:`srsg.cutting.cut.kmeans_labels`.

    Returns
    -------
    ndarray of shape (n_clusters, n_dimensions)

    Examples
    --------
    >>> import numpy as np
    >>> from srsg.cutting.constrained import nearest_centres
    >>> vectors = np.array([[1.0, 0.0], [0.9, 0.1], [0.0, 1.0], [0.0, 1.0]])
    >>> nearest_centres(vectors, np.array([1]), 2, None, 1, 0)
    array([[0.9, 0.1],
           [0. , 1. ]])
    """
    fixed, n_more = vectors[seeds], n_clusters - len(seeds)
    if not n_more:
        return fixed
    rng, mass = check_random_state(random_state), np.ones(len(vectors))
    mass = mass if weights is None else weights
    best, least = fixed, np.inf
    with serial_linear_algebra():
        for _ in range(n_init):
            centres = fixed
            for _ in range(n_more):  # as in k-means++
                chance = np.cumsum(mass * _squares(vectors, centres).min(axis=1))
                drawn = np.searchsorted(chance, rng.random_sample() * chance[-1])
                centres = np.vstack([centres, vectors[min(drawn, len(vectors) - 1)]])
            labels: NDArray[np.intp] | None = None
            for _ in range(MOST_UPDATES):
                squares = _squares(vectors, centres)
                before, labels = labels, squares.argmin(axis=1)
                if before is not None and (before == labels).all():
                    break
                centres = centres.copy()
                for more in np.unique(labels[labels >= len(fixed)]):
                    own = labels == more
                    centres[more] = np.average(vectors[own], axis=0, weights=mass[own])
            inertia = float(mass @ squares.min(axis=1))
            if inertia < least:
                best, least = centres, inertia
    return best


def _squares(vectors: FloatArray, centres: FloatArray) -> FloatArray:
    """Squared distances."""
    norms = (vectors**2).sum(axis=1)[:, None] + (centres**2).sum(axis=1)
    return np.maximum(norms - 2 * vectors @ centres.T, 0.0)


def settled(
    labels: NDArray[np.intp], scores: FloatArray, groups: Groups
) -> tuple[NDArray[np.intp], FloatArray]:
    """Labels in which the known classes are the first clusters and pairs are apart, if possible.

    Parameters
    ----------
    labels : ndarray of shape (n_vertices,)
        The clusters of the vertices.
    scores : ndarray of shape (n_vertices, n_clusters)
        How well each vertex would fit into each cluster.
    groups : Groups
        The vertices of known classes, and those that belong apart.

    Returns
    -------
    labels, scores
        With the clusters in a new order; single vertices may have moved.

    Examples
    --------
    >>> import numpy as np
    >>> from srsg.constraints import Groups
    >>> from srsg.cutting.constrained import settled
    >>> groups = Groups(None, np.array([1]), np.array([[1, 2]]))
    >>> scores = np.array([[0.9, 0.1], [0.2, 0.8], [0.4, 0.6]])
    >>> settled(np.array([0, 1, 1]), scores, groups)[0]
    array([1, 0, 1])
    """
    seeds, labels = groups.seeds, labels.copy()
    own = linear_sum_assignment(-scores[seeds])[1]
    order = np.concatenate([own, np.setdiff1d(np.arange(scores.shape[1]), own)])
    labels, scores = np.argsort(order)[labels], scores[:, order]
    labels[seeds] = np.arange(len(seeds))
    # The surest first; a vertex goes where none of those that it belongs apart from is.
    placed = set(seeds.tolist())
    partners: dict[int, set[int]] = {}
    for one, other in groups.apart.tolist():
        partners.setdefault(one, set()).add(other)
        partners.setdefault(other, set()).add(one)
    for vertex in sorted(partners.keys() - placed, key=lambda v: (-scores[v].max(), v)):
        taken = {int(labels[other]) for other in partners[vertex] & placed}
        free = [c for c in range(scores.shape[1]) if c not in taken]
        if free and labels[vertex] in taken:
            labels[vertex] = max(free, key=lambda c: scores[vertex, c])
        placed.add(vertex)
    return labels, scores
