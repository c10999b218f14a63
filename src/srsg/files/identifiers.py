"""Columns of whole numbers that only name the rows, such as customer or order numbers."""

from __future__ import annotations

import re

import numpy as np
from numpy.typing import NDArray

ID_WORDS = {"id", "ids", "index", "idx", "uid", "uuid", "guid", "key", "rowid", "row"}
ID_NAMES = {*ID_WORDS, "name", "unnamed: 0"}

ENOUGH_ROWS = 20
"""With fewer rows, numbers that all differ prove nothing."""


def is_identifier_name(name: str) -> bool:
    """Whether a column is called id or the like, or has such a word in its name.

    Examples
    --------
    >>> from srsg.files.identifiers import is_identifier_name
    >>> [is_identifier_name(name) for name in ("customer_id", "PassengerId", "humid", "width")]
    [True, True, False, False]
    """
    # Words in any style: customer_id, customerId, CustomerID.
    words = re.findall(r"[A-Z]*[a-z]+|[A-Z]+|\d+", name)
    return name.strip().lower() in ID_NAMES or bool({w.lower() for w in words} & ID_WORDS)


def looks_like_identifier(
    name: str, place: int, values: NDArray[np.integer], new_to_model: bool = False
) -> bool:
    """Whether whole numbers name the rows: all differ, and their name or their spread says so.

    Numbers that are counted up or drawn at random are spread evenly over their range. Measurements
    and counts, such as salaries or populations, are not: most are in the middle, or most are small.

    Parameters
    ----------
    name : str
        The name of the column.
    place : int
        Its position; a first column of 0, 1, 2, ... needs no further evidence.
    values : ndarray of shape (n,)
        Its values.
    new_to_model : bool
        Whether a fitted model does not have this column. Then it is enough that all values differ.

    Examples
    --------
    >>> import numpy as np
    >>> from srsg.files.identifiers import looks_like_identifier
    >>> rng = np.random.default_rng(0)
    >>> looks_like_identifier("account", 3, rng.permutation(90_000)[:200] + 10_000)
    True
    >>> looks_like_identifier("population", 3, np.exp(rng.normal(15, 2, 200)).astype(int))
    False
    """
    n = len(values)
    ordered = np.sort(values)
    if n < 2 or (ordered[1:] == ordered[:-1]).any():
        return False
    if new_to_model or is_identifier_name(name):
        return True
    if place == 0 and ordered[0] in (0, 1) and ordered[-1] - ordered[0] == n - 1:
        return bool((ordered == values).all())
    return n >= ENOUGH_ROWS and _evenly_spread(ordered)


def _evenly_spread(ordered: NDArray[np.integer]) -> bool:
    """Whether sorted numbers may be uniform on their range: Kolmogorov's test at 1 %."""
    low, high = float(ordered[0]), float(ordered[-1])
    position = (ordered.astype(np.float64) - low) / (high - low)
    expected = np.linspace(0.0, 1.0, len(ordered))
    return bool(np.abs(position - expected).max() < 1.63 / np.sqrt(len(ordered)))
