"""What is done to the columns before they are clustered: scaling, and filling in what is missing.

Both become part of the model, so that new points are treated in the same way.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

import typer

from srsg.cli.options import READING, one_of, option

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from srsg.files import Table

SCALES = ("none", "standard", "minmax", "auto")
IMPUTERS = ("median", "knn")


@dataclass(frozen=True)
class Preparing:
    """How the columns are prepared."""

    scale: Annotated[
        str | None,
        option(
            READING,
            "Give columns equal weight: standard (mean 0, deviation 1), minmax (0 to 1), or auto, "
            "which standardises columns of different units.",
            metavar="|".join(SCALES),
            callback=one_of(SCALES),
            show_default="none; the search for a method tries several",
        ),
    ] = None
    impute: Annotated[
        str | None,
        option(
            READING,
            "Fill in missing values: by the median of the column, or from the rows most like "
            "this one.",
            metavar="|".join(IMPUTERS),
            callback=one_of(IMPUTERS),
        ),
    ] = None


def prepare(
    estimator: Any, X: NDArray, wanted: Preparing, table: Table, *, by_search: bool = False
) -> tuple[Any, list[str]]:
    """The model to fit: the estimator, with its columns scaled and filled as the options ask for.

    Parameters
    ----------
    estimator : estimator
        What is fitted.
    X : ndarray
        The points; missing values are NaN.
    wanted : Preparing
        The options.
    table : Table
        Where the points come from.
    by_search : bool
        Whether it is a search, which tries scaled and unscaled columns itself.

    Returns
    -------
    model : estimator or PreparedClusterer
    notes : list of str
        Notes for the user.
    """
    asked, notes = chosen_columns(X, wanted, table, by_search=by_search)
    if not any(asked.values()):
        return estimator, notes
    from srsg import PreparedClusterer

    return PreparedClusterer(estimator, **asked), notes


def chosen_columns(
    X: NDArray, wanted: Preparing, table: Table, *, by_search: bool = False
) -> tuple[dict[str, Any], list[str]]:
    """How columns are scaled and filled, as parameters of a PreparedClusterer; notes for the user.

    The parameters are those of :func:`prepare`.
    """
    from scipy.sparse import issparse

    if issparse(X):
        if wanted.impute or wanted.scale in ("standard", "minmax"):
            raise typer.BadParameter("--scale and --impute cannot be used with a sparse matrix.")
        return {"scale": None, "impute": None}, []
    scale, notes = _chosen_scale(X, wanted.scale, table, by_search)
    if wanted.impute is not None:
        notes += notes_on_gaps(X, wanted.impute)
    return {"scale": scale, "impute": wanted.impute}, notes


def notes_on_gaps(X: NDArray, how: str = "model") -> list[str]:
    """A note on the missing values that will be filled in; none if there are none."""
    import numpy as np

    from srsg.files.errors import count_of

    if not isinstance(X, np.ndarray):  # a sparse matrix, whose values are all there
        return []
    gaps = np.isnan(X)
    if not gaps.any():
        return []
    by = {
        "median": "by the median of their column",
        "knn": "from the five rows most like theirs",
        "model": "as when the model was fitted",
    }
    rows = int(gaps.any(axis=1).sum())
    values = count_of(int(gaps.sum()), "missing value")
    return [f"{values} in {rows} of {count_of(X.shape[0], 'row')} filled in {by[how]}"]


def notes_on_near_rows(X: NDArray, *, gaps: bool = False) -> list[str]:
    """A note on rows that nearly repeat another, if they are many; rows with gaps do not count."""
    import numpy as np

    from srsg.files.near_rows import MANY, count_near_rows

    if not isinstance(X, np.ndarray):
        return []
    if gaps:
        X = X[~np.isnan(X).any(axis=1)]
    near = count_near_rows(X) if len(X) else 0
    if near <= MANY * len(X):
        return []
    return [
        f"{near} of {len(X)} rows nearly repeat another, which then explains them alone: graphs "
        "may fall into pieces. Round the columns, so that such rows are equal and count as one "
        "point, or use --method kmeans"
    ]


def fills_gaps(model: Any) -> bool:
    """Whether a model fills in missing values."""
    return getattr(model, "impute", None) is not None


def scale_warning(X: NDArray, table: Table) -> str | None:
    """What to say if a few columns outweigh the others; None if none do."""
    import numpy as np

    from srsg.files.inspection import heaviest_column
    from srsg.search.candidates import shares_one_unit

    if table.image_shape or not isinstance(X, np.ndarray):
        return None
    if shares_one_unit(X[~np.isnan(X).any(axis=1)]):
        return None
    name = heaviest_column(table)
    return (
        f"columns have different units, and column {name} outweighs others: --scale standard gives "
        "all the same weight"
    )


def _chosen_scale(
    X: NDArray, scale: str | None, table: Table, by_search: bool
) -> tuple[str | None, list[str]]:
    """The scale to use, and notes for the user."""
    if scale in ("standard", "minmax"):
        return scale, []
    if by_search:  # compares what is standardised with what is not
        return None, []
    warning = None if scale == "none" else scale_warning(X, table)
    if scale != "auto":
        return None, [] if warning is None else [warning]
    if warning is None:
        return None, ["--scale auto: columns share one unit and are left as they are"]
    return "standard", ["--scale auto: columns have different units and are standardised"]
