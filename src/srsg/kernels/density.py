"""The tree along which groups of points meet as the level of density falls."""

import numpy as np

from srsg.kernels.compiled import helper, inlined, kernel
from srsg.kernels.linalg import fill


@inlined()
def reach(points, radius, i, j):
    """The radius at which the dense regions around two points meet."""
    squared = 0.0
    for k in range(points.shape[1]):
        step = points[i, k] - points[j, k]
        squared += step * step
    return max(np.sqrt(squared), radius[i], radius[j])


@kernel()
def spanning_tree(points, radius, ends, lengths):
    """The minimum spanning tree of all points, by Prim's algorithm.

    An edge is as long as the distance of its two points or as the larger ``radius`` of the two,
    whichever is more. Edge e goes from ``ends[e, 0]`` to ``ends[e, 1]``.
    """
    size = radius.shape[0]
    nearest = np.empty(size)
    fill(nearest, np.inf)
    origin = np.zeros(size, np.int64)
    outside = np.arange(1, size)
    last = 0
    for e in range(size - 1):
        best = 0
        # Distances are computed anew and never kept: all of them would be a square matrix.
        for k in range(size - 1 - e):
            j = outside[k]
            length = reach(points, radius, last, j)
            if length < nearest[j]:
                nearest[j] = length
                origin[j] = last
            if nearest[j] < nearest[outside[best]]:
                best = k
        last = outside[best]
        ends[e, 0] = origin[last]
        ends[e, 1] = last
        lengths[e] = nearest[last]
        outside[best] = outside[size - 2 - e]  # the last one takes the place that became free


@helper()
def root(parent, i):
    while parent[i] != i:
        parent[i] = parent[parent[i]]  # later searches have half as far to go
        i = parent[i]
    return i


@kernel()
def absorbed_peaks(ends, order, radius, peaks):
    """Join groups along the edges in this order; of two, the one with the lower peak is absorbed.

    The peak of a group is its point with the smallest ``radius``, its densest. ``peaks[k]`` is
    that of the group which the k-th edge makes an end of.
    """
    parent = np.arange(radius.shape[0])
    for k in range(order.shape[0]):
        e = order[k]
        higher = root(parent, ends[e, 0])
        lower = root(parent, ends[e, 1])
        if radius[higher] > radius[lower]:
            higher, lower = lower, higher
        # The root of a group stays its peak, so groups need no other record.
        parent[lower] = higher
        peaks[k] = lower
