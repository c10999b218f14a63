"""A tree of the vertices of a graph: communities, merged one pair after the other.

Communities of a fine resolution are the leaves. Of all pairs of clusters, the one with the most
weight between them, relative to the product of their degrees, is merged next: ``W_AB / (d_A d_B)``
is by how much the weight exceeds that of a random graph with the same degrees. Any number of
clusters is a cut of the same tree, so clusters of different numbers are nested. There is no
eigenproblem to solve, and nothing is random.

The height of a merge is ``1 / (1 + r)``, where r is the weight between the two clusters divided by
that of the random graph: 0.5 if chance alone would join them as strongly, 1 if nothing joins them.
This is average linkage, in which no merge is lower than an earlier one. Only merges within given
clusters come first whatever joins their parts: these have at most the height of all later merges.
"""

from __future__ import annotations

from dataclasses import dataclass
from heapq import heapify, heappop, heappush

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from srsg.cutting.embedding import AUTO_BRIDGE, bridged, connected_components
from srsg.graph import neighbor_graph
from srsg.kernels.communities import move_vertices
from srsg.types import FloatArray, Graph, IntArray

RESOLUTION = 2.0
"""Communities of this resolution are the leaves, if they are at least as many as the clusters. At
1, as in modularity, some communities hold several clusters. At 4 there are about twice as many
leaves, and the first of their merges, which have the fewest edges to go by, are worse."""

FINEST = 1e6
"""Where communities of this resolution are still too few, every vertex is one."""


@dataclass(frozen=True)
class Tree:
    """Clusters within clusters.

    Attributes
    ----------
    leaf : ndarray of shape (n,)
        The leaf of each vertex.
    merges : ndarray of shape (n_leaves - 1, 2)
        The pairs of clusters that are merged, one after the other. The leaves are the clusters
        from 0 on; the merge t makes the cluster ``n_leaves + t``.
    heights : ndarray of shape (n_leaves - 1,)
        The height of each merge, from 0 to 1 and in rising order: 0.5 if two clusters are joined as
        strongly as by chance, 1 if nothing joins them.

    Examples
    --------
    >>> import numpy as np
    >>> from srsg.cutting.tree import Tree
    >>> tree = Tree(np.array([0, 0, 1, 2]), np.array([[1, 2], [0, 3]]), np.array([0.2, 0.7]))
    >>> tree.labels(2)
    array([0, 0, 1, 1])
    >>> tree.cut(0.1)
    array([0, 0, 1, 2])
    >>> tree.linkage()
    array([[1. , 2. , 0.2, 2. ],
           [0. , 3. , 0.7, 3. ]])
    """

    leaf: IntArray
    merges: IntArray
    heights: FloatArray

    @property
    def n_leaves(self) -> int:
        return len(self.merges) + 1

    def labels(self, n_clusters: int) -> NDArray[np.intp]:
        """The cluster of each vertex, in this many clusters."""
        n_merges = self.n_leaves - n_clusters
        name = np.arange(self.n_leaves + n_merges)
        for t in reversed(range(n_merges)):
            name[self.merges[t]] = name[self.n_leaves + t]
        return np.unique(name[self.leaf], return_inverse=True)[1]

    def cut(self, height: float) -> NDArray[np.intp]:
        """The cluster of each vertex, after all merges up to this height."""
        return self.labels(self.n_leaves - int(np.searchsorted(self.heights, height, "right")))

    def linkage(self, *, points: bool = False) -> FloatArray:
        """The merges as a linkage matrix for :mod:`scipy.cluster.hierarchy`.

        Parameters
        ----------
        points : bool
            The observations are the vertices, which are joined within their leaves at height 0. By
            default they are the leaves, of which there are few enough to draw.

        Returns
        -------
        ndarray of shape (n_observations - 1, 4)
        """
        rows: list[tuple[float, ...]] = []
        name, sizes = [*range(self.n_leaves)], [1] * self.n_leaves
        n_observations = len(self.leaf) if points else self.n_leaves
        if points:
            for leaf in range(self.n_leaves):
                name[leaf], *others = np.flatnonzero(self.leaf == leaf).tolist()
                for sizes[leaf], vertex in enumerate(others, 2):
                    rows.append((vertex, name[leaf], 0.0, sizes[leaf]))
                    name[leaf] = n_observations - 1 + len(rows)
        for (a, b), height in zip(self.merges.tolist(), self.heights.tolist(), strict=True):
            sizes.append(sizes[a] + sizes[b])
            rows.append((*sorted((name[a], name[b])), height, sizes[-1]))
            name.append(n_observations - 1 + len(rows))
        return np.array(rows, dtype=np.float64).reshape(-1, 4)

    def spans(self) -> FloatArray:
        """Where to draw each cluster of the tree, leaves first.

        Returns
        -------
        ndarray of shape (2 * n_leaves - 1, 4)
            Left and right end, in vertices; the height at which it comes about, and that at which
            it is merged, 1 for the last.
        """
        sizes = np.zeros(2 * self.n_leaves - 1)
        sizes[: self.n_leaves] = np.bincount(self.leaf, minlength=self.n_leaves)
        for t, pair in enumerate(self.merges, self.n_leaves):
            sizes[t] = sizes[pair].sum()
        left, top = np.zeros_like(sizes), np.ones_like(sizes)
        for t in reversed(range(len(self.merges))):
            a, b = self.merges[t]
            left[[a, b]] = left[self.n_leaves + t] + np.array([0, sizes[a]])
            top[[a, b]] = self.heights[t]
        bottom = np.concatenate([np.zeros(self.n_leaves), self.heights])
        return np.column_stack([left, left + sizes, bottom, top])

    def owners(self, labels: IntArray) -> NDArray[np.intp]:
        """The label that all vertices of each cluster of the tree share, leaves first; else -1."""
        first = np.unique(self.leaf, return_index=True)[1]
        owner = [*labels[first].tolist()]
        for a, b in self.merges.tolist():
            owner.append(owner[a] if owner[a] == owner[b] else -1)
        return np.array(owner)

    def layers(self) -> NDArray[np.intp]:
        """Labels in half as many clusters again and again, from the leaves down to two."""
        counts = [self.n_leaves]
        while counts[-1] > 3:
            counts.append(counts[-1] // 2)
        return np.column_stack([self.labels(count) for count in counts])


def graph_tree(
    graph: Graph,
    neighbors: IntArray | None = None,
    n_leaves: int = 1,
    within: IntArray | None = None,
) -> Tree:
    """The tree of a graph.

    Parameters
    ----------
    graph : csr_array or ndarray of shape (n, n)
        Symmetric, non-negative weights.
    neighbors : ndarray of shape (n, n_neighbors), optional
        Nearest neighbours of every vertex. If the graph has several components, weak links to them
        decide which of these are merged.
    n_leaves : int
        Leaves that are needed at least. More of them split the others, so that clusters do not
        depend on this.
    within : ndarray of shape (n,), optional
        Clusters that are to be a cut of the tree: they are completed before any two are merged.

    Returns
    -------
    Tree

    Examples
    --------
    >>> import numpy as np
    >>> from srsg.cutting.tree import graph_tree
    >>> graph_tree(np.kron(np.eye(2), np.ones((3, 3)))).labels(2)
    array([0, 0, 0, 1, 1, 1])
    """
    graph = sparse.csr_array(graph)
    degree = np.asarray(graph.sum(axis=1)).ravel()
    levels = [np.zeros(len(degree), np.int64)]
    if within is not None:
        levels.append(np.unique(within, return_inverse=True)[1])
    n_given, resolution = len(levels), RESOLUTION
    while len(levels) == n_given or levels[-1].max() + 1 < n_leaves:
        # Without the edges between communities, finer ones are within these.
        inside = graph if len(levels) == 1 else _inside(graph, levels[-1])
        if resolution < FINEST:
            levels.append(find_communities(inside, degree, resolution))
        else:
            levels.append(np.arange(len(degree)))
        resolution *= 2
    linked = graph
    if neighbors is not None and connected_components(graph)[0] > 1:
        linked = bridged(graph, neighbor_graph(neighbors), AUTO_BRIDGE)
    leaf = levels[-1]
    first = np.unique(leaf, return_index=True)[1]
    groups = [level[first] for level in reversed(levels[:-1])]
    merges, heights = _merges(_merged(linked, leaf), groups)
    # Clusters that were given, or more leaves, are completed first, however weak their links are.
    rising = np.minimum.accumulate(heights[::-1])[::-1].astype(np.float64)
    return Tree(leaf, np.array(merges, np.int64).reshape(-1, 2), rising)


def find_communities(graph: sparse.csr_array, degree: FloatArray, resolution: float) -> IntArray:
    """Communities by the Leiden method (Traag, Waltman and van Eck, 2019), for modularity.

    Vertices move in the order of their degrees, largest first, so that nothing is random and the
    communities do not depend on the order of the vertices.

    Parameters
    ----------
    graph : csr_array of shape (n, n)
        Symmetric, non-negative weights.
    degree : ndarray of shape (n,)
        Degrees of the vertices, in this graph or in one with more edges.
    resolution : float
        With larger ones communities are smaller.

    Returns
    -------
    ndarray of shape (n,)
        The community of each vertex.

    Examples
    --------
    >>> import numpy as np
    >>> from scipy import sparse
    >>> from srsg.cutting.tree import find_communities
    >>> graph = sparse.csr_array(np.kron(np.eye(2), np.ones((3, 3))))
    >>> find_communities(graph, np.full(6, 3.0), 1.0)
    array([0, 0, 0, 1, 1, 1])
    """
    penalty = resolution / (degree.sum() or 1.0)
    found = community = np.arange(len(degree))
    while True:
        n_before = len(degree)
        community = _moved(graph, degree, penalty, np.zeros_like(community), community)
        if community.max() + 1 == n_before:
            return found
        # Communities may have parts that hang together by what has left them: each part is joined
        # from single vertices once more, and can then move by itself.
        part = _moved(graph, degree, penalty, community, np.arange(n_before), alone=True)
        if part.max() + 1 == n_before:
            part = community
        found, graph = part[found], _merged(graph, part)
        degree = np.bincount(part, degree).astype(np.float64)
        community = community[np.unique(part, return_index=True)[1]]


def _moved(
    graph: sparse.csr_array,
    degree: FloatArray,
    penalty: float,
    group: IntArray,
    start: IntArray,
    *,
    alone: bool = False,
) -> IntArray:
    """Communities after vertices have moved from those at the start, numbered from 0 on."""
    community = start.copy()
    order = np.argsort(-degree, kind="stable")
    edges = graph.indptr.astype(np.int64), graph.indices.astype(np.int64), graph.data
    move_vertices(*edges, degree, order, group, alone, penalty, community)
    return np.unique(community, return_inverse=True)[1].astype(np.int64)


def _merged(graph: sparse.csr_array, label: IntArray) -> sparse.csr_array:
    """The graph with one vertex for each label; edges between its vertices add up."""
    members = sparse.csr_array((np.ones(len(label)), label, np.arange(len(label) + 1)))
    merged = sparse.csr_array(members.T @ graph @ members)
    merged.sort_indices()
    return merged


def _inside(graph: sparse.csr_array, label: IntArray) -> sparse.csr_array:
    """The edges between vertices of the same label."""
    edges = graph.tocoo()
    same = label[edges.row] == label[edges.col]
    entries = edges.data[same], (edges.row[same], edges.col[same])
    return sparse.csr_array(entries, shape=graph.shape)


def _merges(
    graph: sparse.csr_array, groups: list[IntArray]
) -> tuple[list[tuple[int, int]], list[float]]:
    """The pairs of clusters that are merged, one after the other, until there is one cluster.

    First those of the same group in the first grouping, then those in the second, and so on. And
    the height of each merge.
    """
    degree = np.asarray(graph.sum(axis=1)).ravel().tolist()
    member = list(range(len(degree)))  # one of the first clusters in each cluster
    near: dict[int, dict[int, float]] = {a: {} for a in member}
    edges = graph.tocoo()
    for a, b, weight in zip(*(part.tolist() for part in (*edges.coords, edges.data)), strict=True):
        if a != b:
            near[a][b] = weight
    merges: list[tuple[int, int]] = []
    heights: list[float] = []
    total = sum(degree)

    def merge(a: int, b: int, height: float) -> int:
        new = len(degree)
        merges.append((a, b))
        heights.append(height)
        degree.append(degree[a] + degree[b])
        member.append(member[a])
        near[new] = {}
        for old in (a, b):
            for other, weight in near.pop(old).items():
                if other not in (a, b):
                    del near[other][old]
                    near[new][other] = near[new].get(other, 0.0) + weight
        for other, weight in near[new].items():
            near[other][new] = weight
        return new

    def ranked(a: int, b: int) -> tuple[float, int, int]:
        return -near[a][b] / degree[a] / degree[b], a, b

    for group in groups:
        pairs = [
            ranked(a, b)
            for a in near
            for b in near[a]
            if a < b and group[member[a]] == group[member[b]]
        ]
        heapify(pairs)
        while pairs:
            weight, a, b = heappop(pairs)
            if a in near and b in near:
                new = merge(a, b, 1 / (1 - weight * total))
                for other in near[new]:
                    if group[member[other]] == group[member[new]]:
                        heappush(pairs, ranked(other, new))
        # What no edge joins: the smallest go to the largest, as isolated vertices should.
        apart: dict[int, list[int]] = {}
        for a in sorted(near, key=lambda cluster: degree[cluster]):
            apart.setdefault(int(group[member[a]]), []).append(a)
        for *smaller, largest in apart.values():
            for a in smaller:
                largest = merge(largest, a, 1.0)
    return merges, heights
