"""What is done to the columns before they are clustered: scaling, and filling in what is missing.

The fitted steps become part of the model, so that new points are treated in the same way.
"""

from __future__ import annotations

from dataclasses import dataclass, field
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


@dataclass(frozen=True, eq=False)
class Prepared:
    """Points that were scaled and filled in, and the fitted steps that did it."""

    X: NDArray
    steps: list[tuple[str, Any]] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    centred: bool = False
    """Whether the mean point is the origin, where points and their mirror images look alike."""

    def model(self, estimator: Any) -> Any:
        """The steps and what was fitted on their output as one model, for new points."""
        from sklearn.pipeline import Pipeline

        from srsg.explaining.unwrapping import best_of

        if not self.steps:
            return estimator
        best = best_of(estimator)
        last = best.steps if isinstance(best, Pipeline) else [("clusterer", best)]
        return Pipeline([*self.steps, *last])

    def in_units(self) -> NDArray:
        """The points in the units of the file, with all gaps filled in."""
        scaler = dict(self.steps).get("scale")
        return self.X if scaler is None else scaler.inverse_transform(self.X)


def prepare(X: NDArray, wanted: Preparing, table: Table, *, by_search: bool = False) -> Prepared:
    """Scale the columns and fill in missing values, as the options ask for.

    Parameters
    ----------
    X : ndarray
        The points; missing values are NaN.
    wanted : Preparing
        The options.
    table : Table
        Where the points come from.
    by_search : bool
        Whether a search follows, which tries scaled and unscaled columns itself.
    """
    from scipy.sparse import issparse

    if issparse(X):
        if wanted.impute or wanted.scale in ("standard", "minmax"):
            raise typer.BadParameter("--scale and --impute cannot be used with a sparse matrix.")
        return Prepared(X)
    steps: list[tuple[str, Any]] = []
    scale, notes = _chosen_scale(X, wanted.scale, table, by_search)
    if scale != "none" or wanted.impute is not None:
        from srsg.running.warnings import made_dense

        X = made_dense(X, "--scale and --impute need dense points")
    if scale != "none":
        from sklearn.preprocessing import MinMaxScaler, StandardScaler

        # Before gaps are filled: which rows are most alike depends on the scale.
        scaler = StandardScaler() if scale == "standard" else MinMaxScaler()
        X = scaler.fit_transform(X)  # both ignore what is missing
        steps.append(("scale", scaler))
    if wanted.impute is not None:
        notes += notes_on_gaps(X, wanted.impute)
        from sklearn.impute import KNNImputer, SimpleImputer

        imputers = {"median": SimpleImputer(strategy="median"), "knn": KNNImputer(n_neighbors=5)}
        imputer = imputers[wanted.impute]
        X = imputer.fit_transform(X)
        steps.append(("impute", imputer))
    return Prepared(X, steps, notes, centred=scale == "standard")


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


def notes_on_near_rows(X: NDArray) -> list[str]:
    """A note on rows that nearly repeat another, if they are many."""
    import numpy as np

    from srsg.files.near_rows import MANY, count_near_rows

    if not isinstance(X, np.ndarray):
        return []
    near = count_near_rows(X)
    if near <= MANY * len(X):
        return []
    return [
        f"{near} of {len(X)} rows nearly repeat another, which then explains them alone: graphs "
        "may fall into pieces. Round the columns, so that such rows are equal and count as one "
        "point, or use --method kmeans"
    ]


def has_imputer(model: Any) -> bool:
    """Whether a model fills in missing values."""
    from sklearn.impute import KNNImputer, SimpleImputer
    from sklearn.pipeline import Pipeline

    steps = model.steps if isinstance(model, Pipeline) else []
    return any(isinstance(step, (SimpleImputer, KNNImputer)) for _, step in steps)


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
) -> tuple[str, list[str]]:
    """The scale to use, and what there is to say about it."""
    if scale in ("standard", "minmax"):
        return str(scale), []
    if by_search:  # compares what is standardised with what is not
        return "none", []
    warning = None if scale == "none" else scale_warning(X, table)
    if scale != "auto":
        return "none", [] if warning is None else [warning]
    if warning is None:
        return "none", ["--scale auto: columns share one unit and are left as they are"]
    return "standard", ["--scale auto: columns have different units and are standardised"]
