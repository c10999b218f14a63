"""Loops over the edges of a graph that find its communities."""

import numpy as np

from srsg.kernels.compiled import kernel
from srsg.kernels.linalg import fill

LEAST_GAIN = 1e-12
"""A vertex moves if it gains more than this share of its degree: less may be rounding, by which
vertices could move back and forth forever."""


@kernel()
def move_vertices(starts, columns, weights, degree, order, group, alone, penalty, community):
    """Move vertices, one after the other, to the community where they gain most, until none gains.

    The gain of vertex v in community C is the weight of its edges into C, less ``penalty`` times
    its degree times that of C. A vertex joins vertices of its own ``group`` only; with ``alone``,
    it moves only as long as it is a community of its own.
    """
    size = degree.shape[0]
    total, members, link = np.empty(size), np.zeros(size, np.int64), np.empty(size)
    fill(total, 0.0)
    fill(link, 0.0)
    for v in range(size):
        total[community[v]] += degree[v]
        members[community[v]] += 1
    near = np.empty(size, np.int64)
    empty, n_empty = np.empty(size, np.int64), 0
    for c in range(size):
        if members[c] == 0:
            empty[n_empty] = c
            n_empty += 1
    waiting = np.ones(size, np.bool_)
    n_waiting = size
    while n_waiting > 0:
        for v in order:
            if not waiting[v]:
                continue
            waiting[v] = False
            n_waiting -= 1
            own = community[v]
            if alone and members[own] > 1:
                continue
            # The communities next to the vertex, with the weight of its edges to them.
            count = 0
            for k in range(starts[v], starts[v + 1]):
                u = columns[k]
                if u != v and group[u] == group[v]:
                    if link[community[u]] == 0.0:
                        near[count] = community[u]
                        count += 1
                    link[community[u]] += weights[k]
            total[own] -= degree[v]
            best = own
            most = link[own] - penalty * degree[v] * total[own] + LEAST_GAIN * degree[v]
            for c in near[:count]:
                gain = link[c] - penalty * degree[v] * total[c]
                if gain > most:
                    best, most = c, gain
                link[c] = 0.0
            # By itself it gains nothing, which may be the best that it can do.
            if most < 0.0 and members[own] > 1:
                n_empty -= 1
                best = empty[n_empty]
            total[best] += degree[v]
            if best == own:
                continue
            members[own] -= 1
            if members[own] == 0:
                empty[n_empty] = own
                n_empty += 1
            members[best] += 1
            community[v] = best
            # Those next to it may want to follow.
            for k in range(starts[v], starts[v + 1]):
                u = columns[k]
                if not waiting[u] and community[u] != best and u != v:
                    waiting[u] = True
                    n_waiting += 1
