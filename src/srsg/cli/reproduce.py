"""``srsg reproduce``: the paper's evaluation."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Annotated, Literal, get_args

import typer

from srsg.cli.bars import bar
from srsg.cli.console import INTERRUPTED, errors, fail
from srsg.cli.options import Jobs

if TYPE_CHECKING:
    from srsg.experiments.run import Evaluation, RowResults

TableName = Literal["1", "2", "3", "all"]
FigureName = Literal[
    "sensitivity", "adjacency", "convergence", "supports", "idea", "robustness", "all"
]


def reproduce(
    table: Annotated[
        TableName | None, typer.Option(help="A table of the paper, or all of them.")
    ] = None,
    figure: Annotated[FigureName | None, typer.Option(help="A figure, or all of them.")] = None,
    quick: Annotated[
        bool, typer.Option("--quick", help="Only a few small rows, in about a minute.")
    ] = False,
    seeds: Annotated[int, typer.Option(min=1, help="Starts of K-means to average over.")] = 5,
    data: Annotated[
        Path | None,
        typer.Option(help="Folder that holds the data.", show_default="$SRSG_DATA or the cache"),
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option(
            help="Folder for the results.", show_default="docs/results, or docs/results/quick"
        ),
    ] = None,
    jobs: Jobs = None,
) -> None:
    """Run the paper's evaluation: tables as CSV, Markdown and pictures, figures, a summary.

    Without --table and --figure, everything is made. Finished cells are kept in cells.csv in the
    folder of the results, so that a run that was stopped continues from there.
    """
    if find_spec("matplotlib") is None:
        raise fail("pictures need matplotlib: pip install 'srsg[plot]'")
    from srsg.datasets import data_folder

    folder = data_folder(data)
    if not folder.is_dir():
        raise fail(f"there is no folder of data at {folder}: name it with --data or SRSG_DATA.", 2)
    if not _has_data(folder):
        raise fail(
            f"{folder} has none of the paper's data: srsg data list says how to get them.", 2
        )
    output = output or Path("docs/results/quick" if quick else "docs/results")
    all_tables, all_figures = ("1", "2", "3"), get_args(FigureName)[:-1]
    none_named = table is None and figure is None
    tables = _named(table, none_named, all_tables)
    figures = _named(figure, none_named, all_figures)
    everything = tables == all_tables and figures == all_figures

    from srsg.experiments.journal import Journal
    from srsg.experiments.outputs import write_summary
    from srsg.experiments.run import Evaluation

    start = perf_counter()

    journal = Journal(output / "cells.csv")
    evaluation = Evaluation(journal, range(seeds), folder=folder, n_jobs=jobs)
    try:
        rows = _tables(evaluation, [int(name) for name in tables], output, quick)
        n_figures = sum(_figure(name, evaluation, output, quick) for name in figures)
    except KeyboardInterrupt:
        errors.print("stopped; run the same command again to continue.")
        raise typer.Exit(INTERRUPTED) from None
    if not rows and not n_figures:
        raise fail(f"{folder} has none of the data that this needs.")
    if rows and everything:
        duration = (
            f"this run took {(perf_counter() - start) / 60:.1f} minutes, figures included; it "
            f"computed {evaluation.n_computed:,} of {evaluation.n_cells:,} results, read the rest"
        )
        write_summary(rows, output, duration)
        print(duration)
    # A part of the evaluation leaves alone what others have computed.
    if everything and not quick:
        journal.forget_other_code()
    print(f"written to {output}")


def _has_data(folder: Path) -> bool:
    """Whether a folder has any of the data sets."""
    from srsg.datasets import dataset_path, list_datasets

    for entry in list_datasets():
        try:
            dataset_path(entry.name, folder=folder)
        except FileNotFoundError:
            continue
        return True
    return False


def _named(choice: str | None, everything: bool, names: tuple[str, ...]) -> tuple[str, ...]:
    if choice == "all" or everything:
        return names
    return (choice,) if choice else ()


def _tables(
    evaluation: Evaluation, tables: list[int], output: Path, quick: bool
) -> list[RowResults]:
    """The rows that have data."""
    if not tables:
        return []
    from srsg.experiments.outputs import write_tables
    from srsg.experiments.report import summary_lines

    with bar("tables") as evaluation.watcher:
        found = write_tables(evaluation, tables, output, quick)
    present = [row for row in found if not row.absent]
    if present:
        print("\n".join(summary_lines(present)))
    return present


def _figure(name: str, evaluation: Evaluation, output: Path, quick: bool) -> bool:
    """Whether there were data to draw it from."""
    from srsg.experiments.outputs import write_figure

    try:
        with bar(name) as evaluation.watcher:
            write_figure(name, evaluation, output, quick)
    except FileNotFoundError as error:
        errors.print(f"figure {name} left out: {error}", soft_wrap=True, markup=False)
        return False
    return True
