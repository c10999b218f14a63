"""Options that several commands have."""

from __future__ import annotations

import csv
import re
from pathlib import Path
from typing import Annotated

import typer

from srsg.registry import methods

READING, FITTING, WRITING = "The data", "The method", "What is written"
"""Headings of the options in the help."""

STANDARD_OUTPUT = Path("-")


AUTO = "auto"
"""The method that compares the others and takes the most stable one."""


def known_features(name: str | None) -> str | None:
    if name not in (None, "scattering"):
        raise typer.BadParameter(f"no features are called {name!r}. Known: scattering.")
    return name


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
    typer.Option(
        "-k", "--clusters", callback=_clusters, help="Number of clusters.", show_default="auto"
    ),
]
MethodName = Annotated[
    str | None,
    typer.Option(
        "--method",
        "-m",
        callback=_known_method,
        autocompletion=_method_names_with_auto,
        help=f"auto, which finds the method that suits the data, or one of {', '.join(methods())}.",
        show_default="auto; srsg if one of its options is given",
        rich_help_panel=FITTING,
    ),
]
MethodNames = Annotated[
    str | None,
    typer.Option(
        "--methods",
        callback=_several_methods,
        autocompletion=_method_names,
        help="The methods to compare, separated by commas.",
        show_default="all",
    ),
]
Seed = Annotated[
    int, typer.Option(min=0, help="Seed of K-means; the same seed gives the same labels.")
]
Jobs = Annotated[
    int | None,
    typer.Option(help="Threads; results do not depend on them.", show_default="all cores"),
]
Labels = Annotated[
    str | None,
    typer.Option(
        help="Known classes: a column or array of DATA, or a file with one per row.",
        rich_help_panel=READING,
    ),
]
DropMissing = Annotated[
    bool,
    typer.Option("--drop-missing", help="Drop rows with missing values.", rich_help_panel=READING),
]


def separated(text: str | None) -> list[str] | None:
    """Names that commas separate; one that has a comma itself is in double quotes."""
    return None if text is None else next(csv.reader([text], skipinitialspace=True), [])


def _some_columns(text: str | None) -> str | None:
    if text is not None and not all(separated(text) or [""]):
        raise typer.BadParameter(f"{text!r} has a column without a name.")
    return text


Columns = Annotated[
    str | None,
    typer.Option(
        callback=_some_columns,
        help="Columns of a table to use, separated by commas.",
        show_default="numeric columns",
        rich_help_panel=READING,
    ),
]
Variable = Annotated[
    str | None,
    typer.Option(
        help="The array or sheet to use, in a file with several.", rich_help_panel=READING
    ),
]
ImageSize = Annotated[
    str | None,
    typer.Option(
        metavar="HxW", callback=_size, help="Resize images to this.", rich_help_panel=READING
    ),
]
IdColumn = Annotated[
    str | None,
    typer.Option(
        "--id",
        metavar="COLUMN",
        help="The column that names the rows.",
        show_default="the first identifier",
        rich_help_panel=READING,
    ),
]
KeepIds = Annotated[
    bool,
    typer.Option(
        "--keep-ids",
        help="Use whole numbers that look like identifiers too.",
        rich_help_panel=READING,
    ),
]
Encoding = Annotated[
    str | None,
    typer.Option(
        help="Encoding of a text file, such as latin-1.",
        show_default="utf-8",
        rich_help_panel=READING,
    ),
]
Append = Annotated[
    bool,
    typer.Option(
        "--append",
        help="Write all columns of DATA, with cluster and confidence added.",
        rich_help_panel=WRITING,
    ),
]
Gray = Annotated[
    bool, typer.Option("--gray", help="Convert images to gray.", rich_help_panel=READING)
]
LabelsFile = Annotated[
    Path,
    typer.Option(
        "-o",
        "--output",
        help="Labels: .csv .tsv .csv.gz .json .xlsx .parquet .feather .npy .npz; - is standard "
        "output.",
        rich_help_panel=WRITING,
    ),
]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Print errors and results only.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print a summary as JSON.")]
