"""Which points of a sweep can be solved at the same time."""

from srsg.kernels.compiled import kernel


@kernel()
def dependency_levels(starts, neighbors, level):
    """Level of every point: one above the highest of its neighbours that come before it.

    ``starts`` and ``neighbors`` are an adjacency matrix in CSR form. A point waits for those of
    its neighbours that come before it in the order 0..n-1, and for no others, so the points of a
    level can be solved at the same time. If the matrix is symmetric, no two of them are
    neighbours.
    """
    # In rising order, so that the levels of all earlier points are known.
    for i in range(level.shape[0]):
        highest = -1
        for k in range(starts[i], starts[i + 1]):
            j = neighbors[k]
            if j < i:
                highest = max(highest, level[j])
        level[i] = highest + 1
