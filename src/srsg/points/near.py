"""Points too close to each other for their codes to differ: found by a few numbers of each point.

Two unit vectors that are closer than the square root of float64's precision have an inner product
that rounds to one. Codes are made of inner products, so nothing but rounding decides which of the
two a code uses. Such points are treated as equal.

Points may lie on the workers of a cluster, and there are too many pairs to compare. So every point
is described by its *sketch*, its inner products with a few fixed random directions, and points
whose sketches are close are taken to be close.
"""

from __future__ import annotations

import numpy as np
from scipy import sparse

from srsg.points.sparse import UnitRows
from srsg.points.unit import row_slices
from srsg.types import FloatArray, IntArray

N_DIRECTIONS = 8
"""Numbers in a sketch. Points a hundred times as far apart as those that are merged have equal
sketches with a chance of 1e-11."""

SPREAD = 4.0
"""How many times their distance the sketches of two points may differ in one number. The difference
is normally distributed with the distance as its deviation: more is rare."""

SEED = 20230731
"""Of the directions: always the same, so that the same points are merged in every fit."""


def direction_precision(dtype: np.dtype) -> float:
    """The distance up to which unit vectors of this type cannot be told apart.

    Examples
    --------
    >>> import numpy as np
    >>> from srsg.points.near import direction_precision
    >>> [f"{direction_precision(np.dtype(kind)):.1e}" for kind in ("float64", "float32")]
    ['1.5e-08', '2.4e-07']
    """
    # Points in float32 have rounding of their own, from the scaling to unit length.
    return float(max(np.sqrt(np.finfo(np.float64).eps), 2 * np.finfo(dtype).eps))


def row_sketches(x: UnitRows) -> FloatArray:
    """The sketch of every point, one per row; it depends on the point alone.

    Examples
    --------
    >>> import numpy as np
    >>> from srsg.points.near import row_sketches
    >>> first, second, third = row_sketches(np.array([[0.6, 0.8], [0.6, 0.8 + 1e-12], [0.8, 0.6]]))
    >>> bool(abs(first - second).max() < 1e-11), bool(abs(first - third).max() > 1e-3)
    (True, True)
    """
    directions = np.random.default_rng(SEED).standard_normal((N_DIRECTIONS, x.shape[1]))
    if sparse.issparse(x):
        return np.asarray(x @ directions.T)
    sketches = np.empty((x.shape[0], N_DIRECTIONS))
    # A sum along each row instead of a matrix product, whose bits would depend on the other rows of
    # a block. Few rows at a time stay in the processor's cache.
    for rows in row_slices(x.shape[0], 64):
        block = x[rows].astype(np.float64, copy=False)
        for k, direction in enumerate(directions):
            sketches[rows, k] = (block * direction).sum(axis=1)
    return sketches


def near_sets(sketches: FloatArray, precision: float) -> IntArray:
    """For every point the one that stands for its set of points that are close.

    All points are one set at first. Sets are then split wherever a number of the sketches leaves a
    gap, until none is left. So two points whose sketches are close are always in one set, and the
    sets and the points that stand for them, those with the smallest sketches, do not depend on the
    order of the points.

    Examples
    --------
    >>> import numpy as np
    >>> from srsg.points.near import near_sets
    >>> near_sets(np.array([[0.5, 1.0], [0.2, 1.0], [0.5, 1.0 - 1e-9]]), 1e-8)
    array([2, 1, 2])
    """
    n_points, n_numbers = sketches.shape
    sets = np.zeros(n_points, np.int64)
    n_sets, unchanged = min(n_points, 1), 0
    k = 0
    while unchanged < n_numbers and n_sets < n_points:
        order = np.lexsort((sketches[:, k], sets))
        gap = np.diff(sketches[order, k]) > SPREAD * precision
        starts = np.concatenate(([True], gap | (np.diff(sets[order]) > 0)))
        sets[order] = np.cumsum(starts) - 1
        before, n_sets = n_sets, int(starts.sum())
        # A split by one number may open gaps in the others: the end is a round without a split.
        unchanged = unchanged + 1 if n_sets == before else 0
        k = (k + 1) % n_numbers
    order = np.lexsort((*sketches.T[::-1], sets))
    _, first = np.unique(sets[order], return_index=True)
    return order[first][sets]
