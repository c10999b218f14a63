"""Facts about a table, and whether it can be clustered."""

from collections import Counter
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.spatial import cKDTree

from srsg.files import Table
from srsg.files.errors import count_of
from srsg.points import name_rows, row_slices
from srsg.types import FloatArray, IntArray

# Equal rows are merged into one point with a weight. Rows that differ by a little noise are not:
# each is explained by its copies and needs nothing else, so the graph of the codes falls into as
# many pieces as there are sets of copies.

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


@dataclass(frozen=True)
class Fact:
    """One line about a table.

    Attributes
    ----------
    about : str
        The subject.
    found : str
        The fact.
    advice : str
        What to do; empty if all is well.
    prevents : bool
        Whether the table cannot be clustered until that is done.
    """

    about: str
    found: str
    advice: str = ""
    prevents: bool = False


def inspect_table(table: Table) -> list[Fact]:
    """Facts about a table that was read with ``drop_missing=True``.

    Examples
    --------
    >>> import numpy as np
    >>> from srsg.cli.inspection import inspect_table
    >>> from srsg.files import Table
    >>> X = np.array([[1.0, 2.0], [1.0, 2.0], [0.0, 0.0]])
    >>> for fact in inspect_table(Table(X, np.arange(3)))[4:7]:
    ...     print(f"{fact.about}: {fact.found}")
    duplicates: 1 row repeats another
    rows of zeros: 1 (row 2, counted from 0)
    near-duplicates: not counted: in few columns, rows are close to each other
    """
    X = table.X
    if sparse.issparse(X):
        filled = f"{X.nnz} non-zeros, {X.nnz / np.prod(X.shape):.2%} of all values"
        # Rows are canonical here, so equal rows have equal bytes.
        parts = pairwise(X.indptr.tolist())
        n_distinct = len({(X.indices[a:b].tobytes(), X.data[a:b].tobytes()) for a, b in parts})
        n_empty = X.shape[1] - len(np.unique(X.indices))
        kinds, others = "", [Fact("sparse matrix", filled), _counted("empty columns", n_empty)]
    else:
        kinds, n_distinct = _kinds(table), len(np.unique(X, axis=0))
        others = [_nearly_repeated(X), _constant(table), _scales(table)]
    return [
        _enough("rows", X.shape[0]),
        _enough("columns", X.shape[1], kinds),
        _classes(table),
        _missing(table),
        _repeated(X.shape[0] - n_distinct),
        _zero_rows(table, np.flatnonzero((X != 0).sum(axis=1) == 0)),
        *others,
    ]


def _enough(about: str, number: int, text: str = "") -> Fact:
    """A number that must be two or more."""
    few = number < 2
    return Fact(about, f"{number}{text}", "two or more are needed" if few else "", few)


def _counted(about: str, number: int, text: str = "", advice: str = "") -> Fact:
    """A number with a text about it, or none."""
    return Fact(about, f"{number}{text}", advice) if number else Fact(about, "none")


def _kinds(table: Table) -> str:
    """How many columns are of which kind, and the shape of images."""
    X = table.X
    if table.is_mixed:
        counts = Counter(rule.kind for rule in table.rules or ())
        return f", made of {', '.join(_counted_kind(n, kind) for kind, n in counts.items())}"
    integers = (np.round(X) == X).all(axis=0)
    binary = ((X == 0) | (X == 1)).all(axis=0)
    kinds = {"binary": binary, "of whole numbers": integers & ~binary, "of real numbers": ~integers}
    text = ", ".join(f"{where.sum()} {kind}" for kind, where in kinds.items() if where.any())
    image = f"; images of {' x '.join(map(str, table.image_shape))}" if table.image_shape else ""
    return f": {text}{image}"


def _counted_kind(number: int, kind: str) -> str:
    return f"{number} categories" if kind == "category" and number > 1 else count_of(number, kind)


def _classes(table: Table) -> Fact:
    if table.y is None:
        return Fact("known classes", "none", "name them with --labels to get scores")
    sizes = np.unique(table.y, return_counts=True)[1]
    many = len(sizes) > len(table.y) / 2
    advice = "more classes than a column of labels usually has" if many else ""
    return Fact("known classes", f"{len(sizes)}, of {sizes.min()} to {sizes.max()} rows", advice)


def _missing(table: Table) -> Fact:
    if not table.n_dropped:
        return Fact("missing values", "none")
    return Fact(
        "missing values",
        f"in {table.n_dropped} of {table.n_dropped + table.X.shape[0]} rows",
        "fill in what is missing with --impute median, or drop these rows with --drop-missing",
        True,
    )


def _repeated(number: int) -> Fact:
    text = " rows repeat another" if number > 1 else " row repeats another"
    advice = "none needed: equal rows count as one point of their number, and get one label"
    return _counted("duplicates", number, text, advice)


def _nearly_repeated(X: NDArray) -> Fact:
    if X.shape[1] < LEAST_COLUMNS:
        return Fact("near-duplicates", "not counted: in few columns, rows are close to each other")
    number = count_near_rows(X)
    text = f" row{'s' if number > 1 else ''} nearly equal to another"
    advice = "round the columns to make them equal" if number > MANY * len(X) else ""
    return _counted("near-duplicates", number, text, advice)


def _zero_rows(table: Table, rows: NDArray[np.intp]) -> Fact:
    if table.kept_rows is not None:  # rows are counted as the file does
        rows = table.kept_rows[rows]
    text = f" (row{'s' if rows.size > 1 else ''} {name_rows(rows)}, counted from 0)"
    advice = "no direction: all methods but sc, smce and kmeans put them into the largest cluster"
    return _counted("rows of zeros", rows.size, text, advice)


def _constant(table: Table) -> Fact:
    constant = np.flatnonzero(np.ptp(table.X, axis=0) == 0)
    offset = table.X[0, constant].any()
    advice = "leave them out: they make all rows alike" if offset else "harmless: they are zero"
    return _counted("constant columns", constant.size, f" ({_names(table, constant)})", advice)


def _scales(table: Table) -> Fact:
    spread = table.X.std(axis=0, dtype=np.float64)
    if not spread.any():
        return Fact("scales", "nothing varies", "there is nothing to cluster by", True)
    least, most = spread[spread > 0].min(), spread.max()
    if table.is_mixed:
        return Fact("scales", "each column of the file has the same weight")
    column = outweighing_column(table.X, table)
    advice = (
        f"column {column} outweighs others: srsg cluster standardises the columns by itself; if "
        "you choose a --method, add --scale standard"
    )
    found = f"standard deviations from {least:.3g} to {most:.3g}"
    return Fact("scales", found, advice if column else "")


def outweighing_column(X: Any, table: Table) -> str | None:
    """The name of the column that varies most, if columns have different units, else None."""
    from srsg.search.candidates import shares_one_unit

    if table.image_shape or not isinstance(X, np.ndarray):
        return None
    rows = complete_rows(X)
    if not len(rows) or shares_one_unit(rows):
        return None
    return _names(table, np.nanstd(table.X, axis=0, dtype=np.float64).argmax()[np.newaxis])


def complete_rows(X: NDArray) -> NDArray:
    """The rows without missing values."""
    gaps = np.isnan(X.min(axis=1))  # one number per row: X may be larger than memory
    return X[~gaps] if gaps.any() else X


def _names(table: Table, columns: NDArray[np.intp]) -> str:
    if table.feature_names is None:
        return name_rows(columns, 5)
    shown = ", ".join(table.feature_names[column] for column in columns[:5])
    return shown if len(columns) <= 5 else f"{shown}, ..."


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
    >>> from srsg.cli.inspection import count_near_rows
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
