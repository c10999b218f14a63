"""How many clusters have hardly any links between them: the evidence of one graph.

A random graph with the same degrees would join two clusters by a certain weight. Clusters of their
own are joined by a small share of it, while two arcs of one ring are joined by much more. How
small the share has to be depends on the data, so all shares up to a third are tried: the number of
clusters that is best for the widest range of them wins.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from srsg.counting.reproducibility import ScoredCounts, untried_near
from srsg.types import FloatArray, Graph, IntArray

LARGEST_SHARE = 1 / 3
"""Clusters joined by more than this share of what chance would give are not told apart. Settled on
COIL and UMIST, where limits from 0.25 to 0.5 do equally well; beyond, rings fall into arcs."""


class Split(NamedTuple):
    """What a graph says about one labelling of its vertices.

    Attributes
    ----------
    inside : float
        Share of the weight that is inside of clusters.
    expected : float
        The same in a random graph with the same degrees.

    Examples
    --------
    >>> from srsg.counting.separation import Split, share_ranges
    >>> share_ranges([Split(inside=0.9, expected=0.5)], largest=0.4).round(3)
    array([0.5])
    """

    inside: float
    expected: float


def split_of(graph: Graph, labels: NDArray[np.integer]) -> Split:
    """The weight inside of clusters, and what chance would give.

    Examples
    --------
    >>> import numpy as np
    >>> from srsg.counting.separation import split_of
    >>> split_of(np.kron(np.eye(2), np.ones((3, 3))), np.array([0, 0, 0, 1, 1, 1]))
    Split(inside=1.0, expected=0.5)
    """
    degrees = np.asarray(graph.sum(axis=1)).ravel()
    total = degrees.sum()
    volumes = np.bincount(labels, weights=degrees) / total
    if isinstance(graph, np.ndarray):  # a list of all edges would take several times its memory
        clusters = (np.flatnonzero(labels == label) for label in np.unique(labels))
        inside = sum(graph[np.ix_(rows, rows)].sum() for rows in clusters)
    else:
        edges = sparse.coo_array(graph)
        inside = edges.data[labels[edges.row] == labels[edges.col]].sum()
    return Split(float(inside) / float(total), float((volumes**2).sum()))


def share_ranges(splits: Sequence[Split], largest: float = LARGEST_SHARE) -> FloatArray:
    """For how many of the shares from 0 to ``largest`` each of several labellings is the best.

    For a share g the best labelling has the largest ``inside - g * expected``, the modularity with
    resolution g (Reichardt & Bornholdt 2006): to merge two clusters pays if the weight between
    them is more than g times what chance would give. Each labelling is a line over g; the best
    are the upper envelope of the lines.

    Parameters
    ----------
    splits : sequence of Split
        One per labelling. ``Split(1, 1)``, all vertices in one cluster, competes in any case.
    largest : float
        The largest share.

    Returns
    -------
    ndarray of shape (n_splits,)
        The part of the range, from 0 to 1; for a labelling that is best nowhere, minus what it
        lacks where it comes nearest.

    References
    ----------
    J. Reichardt, S. Bornholdt. Statistical mechanics of community detection. Physical Review E 74,
    2006.

    Examples
    --------
    >>> from srsg.counting.separation import Split, share_ranges
    >>> two, three, four = Split(0.99, 0.5), Split(0.98, 0.34), Split(0.88, 0.25)
    >>> share_ranges([two, three, four], largest=0.5).round(3)
    array([ 0.085,  0.875, -0.055])
    """
    inside, expected = np.array([Split(1.0, 1.0), *splits]).T
    # Lines cross where the envelope turns, so between two crossings the best is the same.
    rise, run = inside[:, None] - inside, expected[:, None] - expected
    with np.errstate(divide="ignore", invalid="ignore"):
        crossings = (rise / run)[run != 0]
    within = crossings[(crossings > 0) & (crossings < largest)]
    ends = np.unique(np.concatenate([[0.0], within, [largest]]))
    middles = (ends[1:] + ends[:-1]) / 2
    best = np.array([np.argmax(inside - share * expected) for share in middles])
    length = np.bincount(best, weights=np.diff(ends), minlength=len(inside)) / largest
    # The distance to the envelope is convex along each line, so its minimum is at a crossing.
    lacking = np.full(len(inside), np.inf)
    for share in ends:
        values = inside - share * expected
        np.minimum(lacking, values.max() - values, out=lacking)
    return np.where(length > 0, length, -lacking)[1:]


def search_separated(
    graph: Graph, labels: Callable[[int], IntArray], counts: Sequence[int]
) -> ScoredCounts:
    """Score numbers of clusters by the links between them, then all between the best's neighbours.

    Parameters
    ----------
    graph : csr_array or ndarray of shape (n, n)
        Symmetric, non-negative weights.
    labels : function
        From a number of clusters to the labels of the vertices.
    counts : sequence of int
        Numbers to try, at least one, in rising order.

    Returns
    -------
    ScoredCounts
        The scores are those of :func:`share_ranges`.

    Examples
    --------
    >>> import numpy as np
    >>> from srsg.counting.separation import search_separated
    >>> graph = np.kron(np.eye(6), np.ones((4, 4))) + 0.01
    >>> found = search_separated(graph, lambda count: np.arange(24) // 4 * count // 6, [2, 4, 8])
    >>> found.n_clusters, found.counts.tolist()
    (6, [2, 4, 5, 6, 7, 8])
    """
    splits = {count: split_of(graph, labels(count)) for count in counts}
    best = counts[int(np.argmax(share_ranges(list(splits.values()))))]
    splits |= {count: split_of(graph, labels(count)) for count in untried_near(best, counts)}
    tried = sorted(splits)
    return ScoredCounts.of(tried, share_ranges([splits[count] for count in tried]))
