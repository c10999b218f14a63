"""What the Laplacian-regularised l1-graph needs beside the l1 solver."""

import numpy as np

from srsg.kernels.compiled import kernel


@kernel()
def dependency_levels(starts, neighbors, level):
    """Level of every vertex: one above the highest of its neighbours that come before it.

    ``starts`` and ``neighbors`` are a symmetric adjacency matrix in CSR form. No two vertices
    of a level are neighbours, and each comes after those it follows in the order 0..n-1.
    """
    for i in range(level.shape[0]):
        highest = -1
        for k in range(starts[i], starts[i + 1]):
            j = neighbors[k]
            if j < i:
                highest = max(highest, level[j])
        level[i] = highest + 1


@kernel()
def pulled_set(codes, i, neighbors, weights, index, value, pull):
    """The points that point i or its neighbours use, sorted, with i's own code and the pull.

    The pull on point t is the sum of the neighbours' codes at t, each times its weight. Returns
    how many there are; ``index``, ``value`` and ``pull`` have room for all points.
    """
    n_points = codes.size.shape[0]
    total = np.zeros(n_points)
    used = np.zeros(n_points, np.bool_)
    for k in range(neighbors.shape[0]):
        j = neighbors[k]
        for m in range(codes.size[j]):
            t = codes.index[j, m]
            total[t] += weights[k] * codes.value[j, m]
            used[t] = True
    own = np.zeros(n_points)
    for m in range(codes.size[i]):
        own[codes.index[i, m]] = codes.value[i, m]
        used[codes.index[i, m]] = True
    count = 0
    for t in range(n_points):
        if used[t] and t != i:  # no point codes itself
            index[count] = t
            value[count] = own[t]
            pull[count] = total[t]
            count += 1
    return count
