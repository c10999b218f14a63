"""The problem (7) of one point on a few coordinates, through their Gram matrix.

Every entry is an inner product of two points, whatever the other coordinates are. So a part of a
larger problem has the same bits as if it had been made by itself, and it does not matter where,
when and on how many coordinates a problem was made.
"""

from __future__ import annotations

from collections import namedtuple
from typing import Any, NamedTuple

import numpy as np

from srsg.kernels.compiled import helper, kernel
from srsg.kernels.linalg import dot, gather, gram_matrix, in_float64, multiply
from srsg.types import FloatArray, IntArray

Problem = namedtuple("Problem", "gram b power")
"""``X_A' X_A``, ``X_A' x`` and ``x' x`` for the coordinates A of a point x."""


class KeptProblems(NamedTuple):
    """Problems kept from one sweep to the next, one for each row: its number of coordinates (-1 if
    none is kept), how many there is room for, where its coordinates begin in ``active``, and where
    its numbers, packed by :func:`pack`, begin in ``numbers``."""

    size: IntArray
    room: int
    active_at: IntArray
    active: IntArray
    numbers_at: IntArray
    numbers: FloatArray

    @classmethod
    def empty(cls, n_rows: int, room: int) -> KeptProblems:
        """Room for the problem of every row, on this many coordinates; none is kept yet."""
        rows = np.arange(n_rows)
        length = packed_length(room) if room else 0
        numbers = np.empty(n_rows * length)
        active = np.empty(n_rows * room, np.int64)
        return cls(np.full(n_rows, -1), room, rows * room, active, rows * length, numbers)


def packed_length(size: Any) -> Any:
    """How many numbers a packed problem of ``size`` coordinates has.

    Examples
    --------
    >>> packed_length(2)
    6
    """
    return 1 + size + size * (size + 1) // 2


@helper()
def new_problem(points, target, active):
    # Points are gathered and converted once: each of them enters many inner products.
    own = in_float64(target)
    atoms = gather(points, active, active.shape[0])
    b = np.empty(active.shape[0])
    multiply(atoms, own, b)
    return Problem(gram_matrix(atoms), b, dot(own, own))


@helper()
def row_of(k):
    """Where row k of a packed problem begins."""
    return 1 + k + k * (k + 1) // 2


@helper()
def pack(problem, numbers):
    """``x' x``, then for every coordinate its entry of b and its row of the lower triangle.

    In this order :func:`part_of_kept` can read any part of a problem without unpacking the rest.
    """
    numbers[0] = problem.power
    for k in range(problem.b.shape[0]):
        start = row_of(k)
        numbers[start] = problem.b[k]
        for j in range(k + 1):
            numbers[start + 1 + j] = problem.gram[k, j]


@helper()
def find_in_kept(kept, row, active, places):
    """Find the places of active coordinates in the problem of a row; False if one is missing.

    Both lists are sorted, so one walk along the longer one finds them all.
    """
    size = kept.size[row]
    start = kept.active_at[row]
    at = 0
    for k in range(active.shape[0]):
        while at < size and kept.active[start + at] < active[k]:
            at += 1
        if at >= size or kept.active[start + at] != active[k]:
            return False
        places[k] = at
    return size >= 0


@helper()
def part_of_kept(kept, row, places):
    """The problem of a row on the coordinates at some places."""
    # Read, not computed: an inner product takes as many steps as there are features.
    size = places.shape[0]
    numbers = kept.numbers[kept.numbers_at[row] :]
    gram = np.empty((size, size))
    b = np.empty(size)
    for k in range(size):
        start = row_of(places[k])
        b[k] = numbers[start]
        for j in range(k + 1):
            gram[k, j] = gram[j, k] = numbers[start + 1 + places[j]]
    return Problem(gram, b, numbers[0])


@helper()
def keep(kept, row, active, problem):
    """Keep a problem for the next sweep, if there is room for it."""
    size = active.shape[0]
    if size > kept.room:
        kept.size[row] = -1
        return
    kept.size[row] = size
    start = kept.active_at[row]
    for k in range(size):
        kept.active[start + k] = active[k]
    pack(problem, kept.numbers[kept.numbers_at[row] :])


@kernel()
def make_problems(points, targets, starts, index, numbers_at, numbers):
    """Make and pack the problem of every target.

    Its coordinates are the rows ``index[starts[p]:starts[p + 1]]`` of ``points``.
    """
    for p in range(targets.shape[0]):
        problem = new_problem(points, targets[p], index[starts[p] : starts[p + 1]])
        pack(problem, numbers[numbers_at[p] :])
