"""Weights of rows: a row of weight m counts as m equal rows."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils import check_array

from srsg.types import FloatArray

MOST_NAMED = 10
"""Rows that an error names."""


def checked_weights(sample_weight: ArrayLike | None, n_rows: int) -> FloatArray | None:
    """The weights as an array; None if every row counts once.

    Raises
    ------
    ValueError
        If they are not one positive, finite number for each row. A weight of zero is refused too:
        such a row would be in the data and not in the graph. It can be left out, and
        ``predict`` finds its cluster.

    Examples
    --------
    >>> from srsg.weights import checked_weights
    >>> checked_weights([2, 1, 0.5], 3)
    array([2. , 1. , 0.5])
    >>> checked_weights([1, 1, 1], 3)
    """
    if sample_weight is None:
        return None
    weights = check_array(
        sample_weight, ensure_2d=False, dtype=np.float64, input_name="sample_weight"
    )
    if weights.shape != (n_rows,):
        raise ValueError(
            f"sample_weight must have one number for each of {n_rows} rows, got shape "
            f"{weights.shape}."
        )
    for bad, problem in ((weights < 0, "negative"), (weights == 0, "zero")):
        if bad.any():
            rows = np.flatnonzero(bad)
            shown = ", ".join(map(str, rows[:MOST_NAMED])) + ", ..." * (len(rows) > MOST_NAMED)
            raise ValueError(
                f"sample_weight is {problem} in rows {shown}: every row of a fit has a weight "
                "above zero. Leave such rows out; predict finds their clusters."
            )
    return None if (weights == 1).all() else weights


def of_rows(weights: FloatArray | None, rows: Any) -> FloatArray | None:
    """The weights of some rows, where there are weights."""
    return None if weights is None else weights[rows]


def weighted_quantile(values: FloatArray, share: float, weights: FloatArray | None = None) -> float:
    """The quantile of values that occur as often as their weights say, as NumPy interpolates it.

    Examples
    --------
    >>> import numpy as np
    >>> from srsg.weights import weighted_quantile
    >>> weighted_quantile(np.array([1.0, 5.0]), 0.5, np.array([3.0, 1.0]))
    1.0
    >>> float(np.quantile([1.0, 1.0, 1.0, 5.0], 0.5))
    1.0
    """
    if weights is None:
        return float(np.quantile(values, share))
    order = np.argsort(values, kind="stable")
    ends = np.cumsum(weights[order])  # the value at place p of the list has the first end above p
    place = share * max(ends[-1] - 1, 0.0)
    below, above = (
        values[order[min(np.searchsorted(ends, at, side="right"), len(ends) - 1)]]
        for at in (np.floor(place), np.floor(place) + 1)
    )
    return float(below + (place - np.floor(place)) * (above - below))
