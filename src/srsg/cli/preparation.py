"""What happens to columns before they are clustered: scaling, and filling in missing values.

Both become part of the model, so that new points are treated in the same way.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import typer

from srsg.cli.options import reading

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from srsg.files import Table

FILLED = {
    None: "as when the model was fitted",
    "median": "by the median of their column",
    "knn": "from the five rows most like theirs",
}


@dataclass(frozen=True)
class Preparing:
    """How the columns are prepared."""

    scale: Literal["none", "standard", "minmax", "auto"] | None = reading(
        "Give columns equal weight: standard (mean 0, deviation 1), minmax (0 to 1), or auto, "
        "which standardises columns of different units.",
        show_default="none; the search for a method tries several",
    )
    impute: Literal["median", "knn"] | None = reading(
        "Fill in missing values: by the median of the column, or from the most similar rows."
    )

    def chosen_scale(
        self, X: Any, table: Table, *, by_search: bool = False
    ) -> tuple[Any, list[str]]:
        """The scale of a PreparedClusterer, and notes for the user.

        Parameters
        ----------
        X : array, sparse matrix or dask array
            The points; missing values are NaN.
        table : Table
            Where the points come from.
        by_search : bool
            Whether a search tries scaled and unscaled columns itself.
        """
        from scipy.sparse import issparse

        given = self.scale in ("standard", "minmax")
        if issparse(X) and (given or self.impute):
            raise typer.BadParameter("--scale and --impute cannot be used with a sparse matrix.")
        if given:
            return self.scale, []
        if by_search or self.scale == "none" or issparse(X):
            return None, []
        warning = scale_warning(X, table)
        if self.scale is None:
            return None, [warning] if warning else []
        if warning is None:
            return None, ["--scale auto: columns share one unit and are left as they are"]
        return "standard", ["--scale auto: columns have different units and are standardised"]


def notes_on_gaps(X: Any, impute: str | None = None) -> list[str]:
    """A note on missing values that will be filled in, if there are any."""
    import numpy as np

    from srsg.files.errors import count_of

    if not isinstance(X, np.ndarray):  # a sparse matrix, whose values are all there
        return []
    gaps = np.isnan(X)
    if not gaps.any():
        return []
    values, rows = count_of(int(gaps.sum()), "missing value"), count_of(len(X), "row")
    return [f"{values} in {gaps.any(axis=1).sum()} of {rows} filled in {FILLED[impute]}"]


def notes_on_near_rows(X: Any) -> list[str]:
    """A note on rows that nearly repeat another, if they are many."""
    import numpy as np

    from srsg.files.near_rows import MANY, count_near_rows

    if not isinstance(X, np.ndarray):
        return []
    near = count_near_rows(_complete(X))
    if near <= MANY * len(X):
        return []
    return [
        f"{near} of {len(X)} rows nearly repeat another, which then explains them alone: graphs "
        "may fall into pieces. Round the columns, so that such rows are equal and count as one "
        "point, or use --method kmeans"
    ]


def scale_warning(X: Any, table: Table) -> str | None:
    """A warning if a few columns outweigh the others."""
    import numpy as np

    from srsg.files.inspection import heaviest_column
    from srsg.search.candidates import shares_one_unit

    if table.image_shape or not isinstance(X, np.ndarray) or shares_one_unit(_complete(X)):
        return None
    return (
        f"columns have different units, and column {heaviest_column(table)} outweighs others: "
        "--scale standard gives all the same weight"
    )


def _complete(X: NDArray) -> NDArray:
    """The rows without missing values."""
    import numpy as np

    return X[~np.isnan(X).any(axis=1)]
