"""Points for a command: how they are read, checked and prepared, with notes for the user."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import typer
from scipy.sparse import issparse
from sklearn.base import clone

from srsg.cli.bars import tell
from srsg.cli.cluster_options import SEARCH, Fitting
from srsg.cli.console import flag_of
from srsg.cli.groups import Preparing, Reading
from srsg.cli.inspection import MANY, complete_rows, count_near_rows, outweighing_column
from srsg.explaining.unwrapping import clusterer_of
from srsg.files import FileError, Table, read_points
from srsg.files.errors import count_of
from srsg.files.labels import encode_labels, missing_labels
from srsg.files.reading import display_name
from srsg.files.rules import ColumnRule
from srsg.files.writing import check_appendable
from srsg.memory import in_words
from srsg.registry import Method
from srsg.running.progress import Progress

TYPICAL = 10
"""Number of clusters to estimate the time with, where it is not given."""

WORTH_TIMING = 5
"""A named method is timed on a sample first if this many samples or more make up all points."""

FILLED = {
    "model": "as when the model was fitted",
    "median": "by the median of their column",
    "knn": "from the five rows most like theirs",
}


def read(
    data: Sequence[str],
    reading: Reading,
    progress: Progress,
    *,
    impute: str | None = None,
    append: bool = False,
    scheduler: str | None = None,
    features: Sequence[str] | None = None,
    rules: Sequence[ColumnRule] | None = None,
    aside: Sequence[str] = (),
) -> Table:
    """Read DATA with the given options, and print notes on it.

    Parameters
    ----------
    data : sequence of str
        DATA of the command.
    reading : Reading
        The options.
    progress : Progress
        Shows the reading, and prints the notes.
    impute : {"median", "knn", "model"} or None
        How missing values will be filled in; None refuses them.
    append : bool
        Whether labels will be appended to the table; an error is raised if they cannot be.
    scheduler : str or None
        Address of a Dask scheduler whose workers read the points: the table has a dask array.
    features : sequence of str or None
        Names of a model's features, with which the columns are matched.
    rules : sequence of ColumnRule or None
        How columns became a model's features.
    aside : sequence of str
        Columns that are no features.
    """
    with progress.stage(f"reading {display_name(data)}", 1):
        if scheduler is None:
            kept: Any = {"keep_missing": impute is not None, "keep_frame": append, "aside": aside}
            table = read_points(data, **reading.arguments(), features=features, rules=rules, **kept)
        else:
            from srsg.running.dask.files import read_table_on

            if len(data) > 1:
                raise typer.BadParameter("--scheduler reads one file.")
            chosen = {name: vars(reading)[name] for name in ("labels", "columns", "variable")}
            table = read_table_on(scheduler, data[0], **chosen)
    check_reading(data, reading, table)
    tell(progress, [*table.notes, *_notes_on_gaps(table.X, impute)])
    if append:
        try:
            check_appendable(table, ["cluster", "confidence"])
        except FileError as error:
            raise FileError(f"--append: {error}") from error
    return table


def check_reading(data: Sequence[str], reading: Reading, table: Table) -> None:
    """Raise an error for options that say nothing about a file of this kind."""
    kinds = {
        "images": (table.image_shape, ("image_size", "gray")),
        "tables": (
            table.feature_names,
            ("columns", "treat", "text", "id_column", "keep_ids", "encoding"),
        ),
        "texts (--text)": (table.texts is not None, ("encoder",)),
    }
    for kind, (is_kind, names) in kinds.items():
        given = [name for name in names if getattr(reading, name)]
        if given and not is_kind:
            raise typer.BadParameter(
                f"{flag_of(given[0])} is for {kind}, and {display_name(data)} holds none."
            )


def about_rows(data: Sequence[str], table: Table, fitting: Fitting) -> dict[str, Any]:
    """Weights and known labels of the rows, as arguments of ``fit``."""
    name, found = display_name(data), dict[str, Any]()
    for option, column in fitting.columns_aside().items():
        if column not in table.aside:
            raise typer.BadParameter(f"--{option} is for tables, and {name} holds none.")
        values = table.aside[column]
        if option == "known":
            known = values[~missing_labels(values)]
            codes, names = encode_labels(known)
            found["known_labels"] = np.full(len(values), -1 if names is None else "", object)
            found["known_labels"][~missing_labels(values)] = codes if names is None else known
            if names is None:
                found["known_labels"] = found["known_labels"].astype(np.int64)
        elif values.dtype.kind in "iuf":
            found["sample_weight"] = values
        else:
            raise FileError(f"{name}: column {column} is to have weights, and is no numbers.")
    return found


def check_size(data: Sequence[str], table: Table, method: Method) -> None:
    """Raise an error if a method that builds a graph needs more points or columns."""
    from srsg.search.search import LEAST_POINTS

    name, (n_points, n_features) = display_name(data), table.X.shape
    if method.builds_graph and n_features < 2:
        raise FileError(
            f"{name}: has one column of numbers, and a graph needs two or more. --method kmeans "
            "takes one."
        )
    if method.builds_graph and n_points < 2:
        raise FileError(f"{name}: has one row, and two or more are needed.")
    if method is SEARCH and n_points < LEAST_POINTS:
        raise FileError(
            f"{name}: has {count_of(n_points, 'row')}, and the search for a method needs "
            f"{LEAST_POINTS} or more: name a method with --method."
        )


def check_width(data: Sequence[str], table: Table, expected: int) -> None:
    """Raise an error if a model was fitted on another number of columns."""
    width = table.X.shape[1]
    if width != expected:
        raise FileError(
            f"{display_name(data)}: has {count_of(width, 'column')} of numbers, and the model was "
            f"fitted on {expected}."
        )


def features_of(table: Table, features: str | None, jobs: int | None) -> Any:
    """What is clustered: the values of a table, or features of its images."""
    if features is None:
        return table.X
    if table.image_shape is None or len(table.image_shape) != 2:
        raise typer.BadParameter(
            "--features scattering needs gray images: a folder of images, with --gray if they have "
            "colours, or a file that gives their shape."
        )
    from srsg.features import Scattering

    height, width = table.image_shape
    return Scattering((height, width), n_jobs=jobs).fit_transform(table.X)


def prepare(
    estimator: Any, X: Any, table: Table, preparing: Preparing, fitting: Fitting
) -> tuple[Any, list[str]]:
    """The model to fit, an estimator with its columns prepared, and notes for the user."""
    scale, notes = chosen_scale(X, table, preparing, by_search=fitting.chosen() is SEARCH)
    if scale == "standard" and fitting.affine is None and hasattr(estimator, "affine"):
        # Centring moved the origin inside the data. Two clusters on opposite sides of it would
        # have the same directions up to the sign, which codes do not see.
        estimator.affine = True
        notes.append(
            "columns are centred, so a constant coordinate was added (--no-affine leaves it out)"
        )
    if scale is None and preparing.impute is None and table.rules is None:
        return estimator, notes
    from srsg import PreparedClusterer

    if table.rules is not None and scale and fitting.chosen() is SEARCH:
        estimator.prepared = True  # it would scale columns once more
    prepared = {"scale": scale, "impute": preparing.impute, "rules": table.rules}
    return PreparedClusterer(estimator, **prepared), notes


def chosen_scale(
    X: Any, table: Table, preparing: Preparing, *, by_search: bool = False
) -> tuple[Any, list[str]]:
    """The scale of the columns, and notes on it; a search tries several scales itself."""
    given = preparing.scale in ("standard", "minmax")
    if issparse(X) and (given or preparing.impute):
        raise typer.BadParameter("--scale and --impute cannot be used with a sparse matrix.")
    if given:
        return preparing.scale, []
    if preparing.scale != "none" and table.is_mixed:
        return "standard", ["columns of several kinds are standardised: each has the same weight"]
    if by_search or preparing.scale == "none" or issparse(X):
        return None, []
    heaviest = outweighing_column(X, table)
    if preparing.scale == "auto" and heaviest:
        return "standard", ["--scale auto: columns have different units and are standardised"]
    if preparing.scale == "auto":
        return None, ["--scale auto: columns share one unit and are left as they are"]
    warning = (
        f"columns have different units, and column {heaviest} outweighs others: --scale standard "
        "gives all the same weight"
    )
    return None, [warning] if heaviest else []


def _notes_on_gaps(X: Any, impute: str | None) -> list[str]:
    """A note on missing values that will be filled in, if there are any."""
    if impute is None or not isinstance(X, np.ndarray):  # a sparse matrix has all its values
        return []
    gaps = np.isnan(X)
    if not gaps.any():
        return []
    values, rows = count_of(int(gaps.sum()), "missing value"), count_of(len(X), "row")
    return [f"{values} in {gaps.any(axis=1).sum()} of {rows} filled in {FILLED[impute]}"]


def notes_on_near_rows(X: Any) -> list[str]:
    """A note on rows that nearly repeat another, if they are many."""
    rows: Any = complete_rows(X) if isinstance(X, np.ndarray) else ()
    near = count_near_rows(rows) if len(rows) else 0
    if near <= MANY * len(rows):
        return []
    return [
        f"{near} of {len(rows)} rows nearly repeat another, and the graph may fall into pieces: "
        "round the columns to make such rows equal, or use --method kmeans"
    ]


def notes_on_cost(model: Any, X: Any, clusters: Any, fitting: Fitting, run: Progress) -> list[str]:
    """A note if a method, named by the user, will take longer than the search would."""
    from srsg.counting.reproducibility import ScoredCounts
    from srsg.running.config import in_seconds, time_in_words
    from srsg.search.sampled import FIRST, Winner

    if fitting.scheduler is not None or X.shape[0] <= WORTH_TIMING * FIRST:
        return []
    tried = clone(model)
    clusterer_of(tried).set_params(store=None)  # which is for the graph of all points
    counted = ScoredCounts.given(clusters if isinstance(clusters, int) else TYPICAL)
    winner = Winner(tried, X, counted, None, fitting.random_state, run)
    limit, memory = in_seconds(fitting.max_time), winner.memory_of(X.shape[0])
    seconds = winner.seconds_of_all(limit)
    if seconds <= limit:
        return []
    return [
        f"{fitting.chosen().name} takes about {time_in_words(seconds)} and {in_words(memory)} for "
        f"all {X.shape[0]:,} rows: --method auto aims at --time {fitting.max_time}"
    ]
