"""How options are declared, and those that several commands share."""

import csv
import re
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

import typer

from srsg.registry import methods

AUTO = "auto"
STANDARD_OUTPUT = Path("-")
METHODS = {method.name: method.title for method in methods().values()}


def option(text: str, *names: str, default: Any = None, **more: Any) -> Any:
    """An option: the default value of a command's parameter, or of a field of a group.

    Without names, it has the name of the parameter. Flags are given names, so that they have no
    opposite such as ``--no-gray``. A parameter whose parser returns a list or a tuple has the type
    Any, because typer treats these types in its own way.
    """
    return typer.Option(default, *names, help=text, **more)


reading = partial(option, rich_help_panel="Data")
fitting = partial(option, rich_help_panel="Method", show_default="the method's")
writing = partial(option, rich_help_panel="Output")


def parse_count(text: str) -> int | str | tuple[int, int]:
    """A number of clusters, a range of numbers, or auto."""
    if text == AUTO:
        return AUTO
    found = re.fullmatch(r"([1-9]\d*)(?:-([1-9]\d*))?", text)
    if found is None or (found[2] and not 1 < int(found[1]) <= int(found[2])):
        raise typer.BadParameter(
            f"{text!r} is neither a number of clusters, nor a range such as 3-6, nor auto."
        )
    return (int(found[1]), int(found[2])) if found[2] else int(found[1])


def parse_method(text: str, others: Sequence[str] = ()) -> str:
    """The name of a method."""
    known = [*METHODS, *others]
    if text not in known:
        raise typer.BadParameter(f"no method is called {text!r}. Known: {', '.join(known)}.")
    return text


def parse_columns(text: str) -> list[str]:
    """Names separated by commas; a name that contains a comma is in double quotes."""
    names = next(csv.reader([text], skipinitialspace=True), [])
    if not names or "" in names:
        raise typer.BadParameter(f"{text!r} has a column without a name.")
    return names


def parse_size(text: str) -> tuple[int, int]:
    """Height and width of images, such as 32x24."""
    size = re.fullmatch(r"([1-9]\d*)x([1-9]\d*)", text)
    if size is None:
        raise typer.BadParameter(f"{text!r} is not a size such as 32x24, height by width.")
    return int(size[1]), int(size[2])


TREATMENTS = ("number", "category", "date", "text", "ignore")


def parse_treatments(given: list[str]) -> dict[str, str]:
    """Columns and what they are to be treated as, from words such as zip=category."""
    treat = {}
    for text in given:
        column, _, kind = text.rpartition("=")
        if not column or kind not in TREATMENTS:
            raise typer.BadParameter(
                f"--treat: {text!r} is not a column and what to treat it as, such as "
                f"zip=category; known: {', '.join(TREATMENTS)}."
            )
        treat[column] = kind
    return treat


DATA: Any = typer.Argument(
    metavar="DATA",
    help="A file (.csv .tsv, also .gz, .xlsx .xls .ods .json .jsonl .parquet .feather .npy .npz "
    ".mat .h5 .hdf5), several tables to be read as one, a folder of images, or - for CSV from "
    "standard input.",
    show_default=False,
)
CLUSTERS = option(
    "Number of clusters, a range such as 3-6 to choose from, or auto.",
    *("-k", "--clusters"),
    default=AUTO,
    parser=parse_count,
    metavar="NUMBER",
)
SEED = option("Seed of K-means; the same seed gives the same labels.", "--seed", default=0, min=0)
JOBS = option(
    "Number of threads; results do not depend on it.", "--jobs", min=1, show_default="all cores"
)
LABELS_FILE = writing(
    "Labels: .csv .tsv .csv.gz .json .xlsx .parquet .feather .npy .npz; - is standard output.",
    *("-o", "--output"),
    default=STANDARD_OUTPUT,
)
APPEND = writing("Append cluster and confidence to all columns of DATA.", "--append", default=False)
QUIET = option("Print errors and results only.", "--quiet", "-q", default=False)
JSON = option("Print a summary as JSON.", "--json", default=False)
