"""What is in a table, and whether it is fit for clustering."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from srsg.files import Table
from srsg.files.near_rows import LEAST_COLUMNS, MANY, count_near_rows
from srsg.points import name_rows

MOSTLY_FILLED = 0.1
"""With a larger share of non-zeros than this, points are coded faster as an array."""


@dataclass(frozen=True)
class Fact:
    """One line about a table.

    Attributes
    ----------
    about : str
        What it is about.
    found : str
        What there is.
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
    >>> from srsg.files import Table
    >>> from srsg.files.inspection import inspect_table
    >>> X = np.array([[1.0, 2.0], [1.0, 2.0], [0.0, 0.0]])
    >>> for fact in inspect_table(Table(X, np.arange(3)))[4:7]:
    ...     print(f"{fact.about}: {fact.found}")
    duplicates: 1 row repeats another
    near-duplicates: not counted: in few columns, rows are close to each other
    rows of zeros: 1 (row 2)
    """
    X = table.X
    if sparse.issparse(X):
        return _facts_of_sparse(table)
    return [
        _enough("rows", len(X)),
        _columns(table),
        _classes(table),
        _missing(table),
        _repeated(len(X) - len(np.unique(X, axis=0))),
        _nearly_repeated(X),
        _zero_rows(np.flatnonzero(~X.any(axis=1))),
        _constant(table),
        _scales(table),
    ]


def _facts_of_sparse(table: Table) -> list[Fact]:
    """The same about a sparse matrix, which is never made dense for it."""
    X = table.X
    n_rows, n_columns = X.shape
    dense, held = X.nnz / (n_rows * n_columns), X.nnz * (X.dtype.itemsize + 4)
    stored = f"{X.nnz} non-zeros, {dense:.2%} of all values; {X.nnz / n_rows:.0f} per row"
    advice = "as an array it would be coded faster" if dense > MOSTLY_FILLED else ""
    size = f"{held / 1e6:.1f} MB; as an array {n_rows * n_columns * X.dtype.itemsize / 1e6:.1f} MB"
    # Rows are canonical here, so equal rows have equal bytes.
    parts = pairwise(X.indptr.tolist())
    distinct = {X.indices[at:end].tobytes() + X.data[at:end].tobytes() for at, end in parts}
    empty = int((np.bincount(X.indices, minlength=n_columns) == 0).sum())
    return [
        _enough("rows", n_rows),
        _enough("columns", n_columns),
        Fact("sparse matrix", stored, advice),
        Fact("memory", size),
        _classes(table),
        _missing(table),
        _repeated(n_rows - len(distinct)),
        _zero_rows(np.flatnonzero(np.diff(X.indptr) == 0)),
        Fact("empty columns", f"{empty}" if empty else "none"),
    ]


def _enough(about: str, number: int, text: str = "") -> Fact:
    """How many there are, which must be two or more."""
    few = number < 2
    return Fact(about, f"{number}{text}", "two or more are needed" if few else "", few)


def _columns(table: Table) -> Fact:
    X, n_columns = table.X, table.X.shape[1]
    integers = (np.round(X) == X).all(axis=0)
    binary = ((X == 0) | (X == 1)).all(axis=0)
    kinds = {
        "binary": int(binary.sum()),
        "of whole numbers": int((integers & ~binary).sum()),
        "of real numbers": int((~integers).sum()),
    }
    text = ", ".join(f"{count} {kind}" for kind, count in kinds.items() if count)
    image = f"; images of {' x '.join(map(str, table.image_shape))}" if table.image_shape else ""
    return _enough("columns", n_columns, f": {text}{image}")


def _classes(table: Table) -> Fact:
    if table.y is None:
        return Fact("known classes", "none", "name them with --labels to get scores")
    sizes = np.unique(table.y, return_counts=True)[1]
    advice = (
        "more classes than a column of labels usually has" if len(sizes) > len(table.y) / 2 else ""
    )
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


def _repeated(repeated: int) -> Fact:
    if not repeated:
        return Fact("duplicates", "none")
    advice = "none needed: equal rows count as one point of their number, and get one label"
    return Fact(
        "duplicates", f"{repeated} row{'s repeat' if repeated > 1 else ' repeats'} another", advice
    )


def _nearly_repeated(X: NDArray) -> Fact:
    if X.shape[1] < LEAST_COLUMNS:
        return Fact("near-duplicates", "not counted: in few columns, rows are close to each other")
    near = count_near_rows(X)
    if not near:
        return Fact("near-duplicates", "none")
    advice = "round the columns to make them equal" if near > MANY * len(X) else ""
    return Fact(
        "near-duplicates", f"{near} row{'s' if near > 1 else ''} nearly equal to another", advice
    )


def _zero_rows(zero: NDArray[np.intp]) -> Fact:
    if not zero.size:
        return Fact("rows of zeros", "none")
    advice = "no direction: all methods but sc, smce and kmeans put them into the largest cluster"
    named = f"row{'s' if zero.size > 1 else ''} {name_rows(zero)}"
    return Fact("rows of zeros", f"{zero.size} ({named})", advice)


def _constant(table: Table) -> Fact:
    constant = np.flatnonzero(np.ptp(table.X, axis=0) == 0)
    if not constant.size:
        return Fact("constant columns", "none")
    offset = table.X[0, constant].any()
    advice = "leave them out: they make all rows alike" if offset else "harmless: they are zero"
    return Fact("constant columns", f"{constant.size} ({_names(table, constant)})", advice)


def _scales(table: Table) -> Fact:
    spread = table.X.std(axis=0, dtype=np.float64)
    varying = np.flatnonzero(spread)
    if not varying.size:
        return Fact("scales", "nothing varies", "there is nothing to cluster by", True)
    least, most = varying[spread[varying].argmin()], varying[spread[varying].argmax()]
    return Fact("scales", f"standard deviations from {spread[least]:.3g} to {spread[most]:.3g}")


def heaviest_column(table: Table) -> str:
    """The name of the column that varies most."""
    spread = np.nanstd(table.X, axis=0, dtype=np.float64)
    return _names(table, np.array([spread.argmax()]))


def _names(table: Table, columns: NDArray[np.intp]) -> str:
    if table.feature_names is None:
        return name_rows(columns, 5)
    shown = ", ".join(table.feature_names[column] for column in columns[:5])
    return shown if len(columns) <= 5 else f"{shown}, ..."
