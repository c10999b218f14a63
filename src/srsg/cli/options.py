"""Options that several commands have."""

from __future__ import annotations

import csv
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from srsg.registry import methods

READING, FITTING, WRITING = "Data", "Method", "Output"
"""Headings of the options in the help."""

STANDARD_OUTPUT = Path("-")

AUTO = "auto"
"""The method that compares the others and takes the most stable one."""


def one_of(names: Sequence[str]) -> Callable[[str | None], str | None]:
    """The check of an option that takes one of a few names."""

    def check(value: str | None) -> str | None:
        if value not in (None, *names):
            raise typer.BadParameter(f"{value!r} is not one of {', '.join(names)}.")
        return value

    return check


def _method_names(incomplete: str) -> list[tuple[str, str]]:
    """The names that the shell can complete."""
    found = methods().values()
    return [(each.name, each.title) for each in found if each.name.startswith(incomplete)]


def _method_names_with_auto(incomplete: str) -> list[tuple[str, str]]:
    auto = (AUTO, "the method that suits the data, found by stability")
    return [each for each in [auto] if AUTO.startswith(incomplete)] + _method_names(incomplete)


def _known_method(name: str | None) -> str | None:
    return name if name in (None, AUTO) else _one_method(str(name))


def _one_method(name: str) -> str:
    if name not in methods():
        raise typer.BadParameter(f"no method is called {name!r}. Known: {', '.join(methods())}.")
    return name


def _several_methods(names: str | None) -> str | None:
    for name in names.split(",") if names else ():
        _one_method(name)
    return names


def _clusters(text: str | int | None) -> str | None:
    if text not in (None, "auto") and not re.fullmatch(r"[1-9]\d*", str(text)):
        raise typer.BadParameter(f"{text!r} is neither a number of clusters nor auto.")
    return None if text is None else str(text)


def _size(text: str | None) -> str | None:
    if text is not None and not re.fullmatch(r"[1-9]\d*x[1-9]\d*", text):
        raise typer.BadParameter(f"{text!r} is not a size such as 32x24, height by width.")
    return text


def option(heading: str | None, text: str, *names: str, **more: Any) -> Any:
    """An option with its help text, under a heading of the help.

    Without names it is called as the parameter is; a flag is named here, so that it has no
    opposite such as ``--no-gray``.
    """
    return typer.Option(*names, help=text, rich_help_panel=heading, **more)


Data = Annotated[
    str,
    typer.Argument(
        metavar="DATA",
        help="A file (.csv .tsv, also .gz, .xlsx .xls .ods .parquet .feather .npy .npz .mat .h5 "
        ".hdf5), a folder of images, or - for CSV from standard input.",
        show_default=False,
    ),
]
Clusters = Annotated[
    str | None,
    option(
        None, "Number of clusters.", "-k", "--clusters", callback=_clusters, show_default="auto"
    ),
]
MethodName = Annotated[
    str | None,
    option(
        FITTING,
        f"auto, which finds the method that suits the data, or one of {', '.join(methods())}.",
        "--method",
        "-m",
        callback=_known_method,
        autocompletion=_method_names_with_auto,
        show_default="auto; srsg if one of its options is given",
    ),
]
MethodNames = Annotated[
    str | None,
    option(
        None,
        "The methods to compare, separated by commas.",
        "--methods",
        callback=_several_methods,
        autocompletion=_method_names,
        show_default="all",
    ),
]
Seed = Annotated[int, option(None, "Seed of K-means; the same seed gives the same labels.", min=0)]
Jobs = Annotated[
    int | None, option(None, "Threads; results do not depend on them.", show_default="all cores")
]
Labels = Annotated[
    str | None,
    option(READING, "Known classes: a column or array of DATA, or a file with one per row."),
]
DropMissing = Annotated[bool, option(READING, "Drop rows with missing values.", "--drop-missing")]


def separated(text: str | None) -> list[str] | None:
    """Names that commas separate; one that has a comma itself is in double quotes."""
    return None if text is None else next(csv.reader([text], skipinitialspace=True), [])


def _some_columns(text: str | None) -> str | None:
    if text is not None and not all(separated(text) or [""]):
        raise typer.BadParameter(f"{text!r} has a column without a name.")
    return text


Columns = Annotated[
    str | None,
    option(
        READING,
        "Columns of a table to use, separated by commas.",
        callback=_some_columns,
        show_default="numeric columns",
    ),
]
Variable = Annotated[
    str | None, option(READING, "The array or sheet to use, in a file with several.")
]
ImageSize = Annotated[
    str | None, option(READING, "Resize images to this size.", metavar="HxW", callback=_size)
]
IdColumn = Annotated[
    str | None,
    option(
        READING,
        "The column that names the rows.",
        "--id",
        metavar="COLUMN",
        show_default="the first identifier",
    ),
]
KeepIds = Annotated[
    bool, option(READING, "Use whole numbers that look like identifiers too.", "--keep-ids")
]
Encoding = Annotated[
    str | None,
    option(READING, "Encoding of a text file, such as latin-1.", show_default="utf-8"),
]
Gray = Annotated[bool, option(READING, "Convert images to gray.", "--gray")]
Append = Annotated[
    bool,
    option(WRITING, "Write all columns of DATA, with cluster and confidence added.", "--append"),
]
LabelsFile = Annotated[
    Path,
    option(
        WRITING,
        "Labels: .csv .tsv .csv.gz .json .xlsx .parquet .feather .npy .npz; - is standard output.",
        "-o",
        "--output",
    ),
]
Quiet = Annotated[bool, option(None, "Print errors and results only.", "--quiet", "-q")]
AsJson = Annotated[bool, option(None, "Print a summary as JSON.", "--json")]
