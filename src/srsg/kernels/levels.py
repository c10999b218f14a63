"""Which points can be treated at once without changing what a fixed order gives."""

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
