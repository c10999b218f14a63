"""The small problems of the sweeps: inner products of the few points that a code may use.

Most problems of a sweep are parts of those of the sweep before, so they are kept. An entry is an
inner product of two points, whatever the other coordinates are, so a part of a larger problem has
the same bits as a problem made for that part alone.
"""

from collections import namedtuple

import numpy as np

from srsg.kernels.compiled import helper, inlined
from srsg.kernels.linalg import dot
from srsg.kernels.rows import dense_row, gather_rows, gram_of_rows, row_dot

Problem = namedtuple("Problem", "gram b power")
"""``X_A' X_A``, ``X_A' x`` and ``x' x`` for the coordinates A of a point x."""


@inlined()
def new_problem(points, targets, p, active):
    """The problem of target p on the active coordinates, computed from the points."""
    # Points are gathered and converted once: each of them enters many inner products.
    own = dense_row(targets, p)
    atoms = gather_rows(points, active, active.shape[0])
    b = np.empty(active.shape[0])
    for k in range(active.shape[0]):
        b[k] = row_dot(atoms, k, own)
    return Problem(gram_of_rows(atoms), b, dot(own, own))


@helper()
def row_of(k):
    """Where row k of a packed problem begins."""
    return 1 + k + k * (k + 1) // 2


@inlined()
def keep(kept, row, active, problem):
    """Keep a problem for the next sweep, if there is room for it.

    Packed as ``x' x``, then for every coordinate its entry of b and its row of the lower triangle:
    :func:`part_of_kept` can read any part of it without unpacking the rest.
    """
    size = active.shape[0]
    # The few larger problems are made again in every sweep.
    if size > kept.active.shape[1]:
        kept.size[row] = -1
        return
    kept.size[row] = size
    numbers = kept.numbers[row]
    numbers[0] = problem.power
    for k in range(size):
        kept.active[row, k] = active[k]
        start = row_of(k)
        numbers[start] = problem.b[k]
        for j in range(k + 1):
            numbers[start + 1 + j] = problem.gram[k, j]


@inlined()
def find_in_kept(kept, row, active, places):
    """Find the places of the active coordinates in the problem kept for a row.

    Returns False if one of them is missing.
    """
    # Both lists are sorted, so one walk along the longer one finds them all.
    size = kept.size[row]
    at = 0
    for k in range(active.shape[0]):
        while at < size and kept.active[row, at] < active[k]:
            at += 1
        if at >= size or kept.active[row, at] != active[k]:
            return False
        places[k] = at
    # With no active coordinates the loop finds nothing missing, even where nothing is kept.
    return size >= 0


@inlined()
def part_of_kept(kept, row, places):
    """The problem of a row, restricted to the coordinates at the given places."""
    # Reading a number instead of computing it saves as many steps as there are features.
    size = places.shape[0]
    numbers = kept.numbers[row]
    gram = np.empty((size, size))
    b = np.empty(size)
    for k in range(size):
        start = row_of(places[k])
        b[k] = numbers[start]
        # Places rise, so place j is not beyond place k: the entry is in the lower triangle.
        for j in range(k + 1):
            gram[k, j] = gram[j, k] = numbers[start + 1 + places[j]]
    return Problem(gram, b, numbers[0])
