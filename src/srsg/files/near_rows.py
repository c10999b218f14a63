"""Count rows that nearly repeat another, without being equal to it.

Equal rows are merged into one point with a weight. Rows that differ by a little noise are not: each
is explained by its copies and needs nothing else, so the graph of the codes falls into as many
pieces as there are sets of copies.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.spatial import cKDTree

from srsg.points import row_slices
from srsg.types import FloatArray, IntArray

NEAR = 1e-2
"""Rows are nearly equal if they differ by less than this fraction of the spread of all rows."""

EQUAL = 3e-8
"""Rows that differ by less than this are merged by the estimators, and do no harm."""

MANY = 0.05
"""A graph is likely to fall into pieces if more than this share of the rows nearly repeat
another."""

LEAST_COLUMNS = 4
"""With fewer columns, rows are close to each other because there are many of them."""

N_DIRECTIONS = 8
"""Rows with more columns are compared by their products with this many random directions."""

MOST_LOOKED_AT = 20_000
"""Of more rows, a random sample is compared with all others."""


def count_near_rows(X: NDArray) -> int:
    """The number of rows that are close to another row but not equal to it.

    Columns are divided by their standard deviations, so that units do not matter.

    Parameters
    ----------
    X : ndarray of shape (n_rows, n_columns)
        Finite numbers.

    Returns
    -------
    int
        Estimated from a sample if there are more than 20,000 rows; zero if there are fewer than
        four columns.

    Examples
    --------
    >>> import numpy as np
    >>> from srsg.files.near_rows import count_near_rows
    >>> X = np.eye(5)
    >>> count_near_rows(np.vstack([X, X[:3] + 1e-6])), count_near_rows(np.vstack([X, X]))
    (6, 0)
    """
    scale = _scale(X)
    if np.count_nonzero(scale) < LEAST_COLUMNS:
        return 0
    sketches = _sketches(X, scale)
    # One of several equal rows is enough: the nearest to each of the others would be its copy.
    distinct = np.unique(np.round(sketches / EQUAL), axis=0, return_index=True)[1]
    looked_at = distinct
    if len(distinct) > MOST_LOOKED_AT:
        looked_at = np.random.default_rng(0).choice(distinct, MOST_LOOKED_AT, replace=False)
    # On average, sketches are as far apart as the rows. Rows that seem close are compared below.
    tree = cKDTree(sketches[distinct])
    _, nearest = tree.query(sketches[looked_at], 2, distance_upper_bound=4 * NEAR)
    close = nearest[:, 1] < len(distinct)  # otherwise, none is within the bound
    near = _nearly_equal(X, scale, looked_at[close], distinct[nearest[close, 1]])
    return round(near * len(distinct) / len(looked_at))


def _scale(X: NDArray) -> FloatArray:
    """Factors of the columns that make the mean squared length of the rows 1."""
    # In blocks, since the rows may be in a file that is larger than memory.
    blocks = row_slices(len(X))
    with np.errstate(over="ignore", invalid="ignore"):  # such columns are left out
        mean = sum(X[rows].sum(axis=0, dtype=np.float64) for rows in blocks) / len(X)
        squares = sum(((X[rows] - mean) ** 2).sum(axis=0) for rows in blocks)
    spread = np.sqrt(squares / len(X))
    varying = (spread > 0) & np.isfinite(spread)
    scale = np.zeros(X.shape[1])
    scale[varying] = 1 / (spread[varying] * np.sqrt(varying.sum()))
    return scale


def _sketches(X: NDArray, scale: FloatArray) -> FloatArray:
    """The rows with their columns scaled, or a few inner products of each."""
    directions = np.diag(scale)
    if X.shape[1] > N_DIRECTIONS:
        random = np.random.default_rng(0).standard_normal((X.shape[1], N_DIRECTIONS))
        directions = scale[:, np.newaxis] * random / np.sqrt(N_DIRECTIONS)
    return np.concatenate([X[rows] @ directions for rows in row_slices(len(X))])


def _nearly_equal(X: NDArray, scale: FloatArray, one: IntArray, other: IntArray) -> int:
    """The number of pairs of rows that differ by little, but do differ."""
    count = 0
    for some in row_slices(len(one)):
        apart = (X[one[some]].astype(np.float64) - X[other[some]]) * scale
        squared = (apart**2).sum(axis=1)
        count += int(((squared > EQUAL**2) & (squared < NEAR**2)).sum())
    return count
