"""The paper's tables and figures beside ours: ``python -m paper --data DIR``.

Without --table and --figure, everything is made. Finished results are kept in cells.csv in the
output folder, so that a run that was stopped continues from there.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Sequence
from contextlib import suppress
from pathlib import Path
from time import perf_counter

from paper.datasets import data_folder, dataset_path, list_datasets
from paper.evaluation import Evaluation, RowResults
from paper.figures import FIGURES
from paper.journal import Journal
from paper.tables import TABLES, write_summary, write_tables
from paper.tables.pages import summary_lines
from paper.terminal import Progress, one_line_errors
from srsg.files.errors import needed


def main(arguments: Sequence[str] | None = None) -> None:
    """The command."""
    options = parsed(arguments)
    with one_line_errors():
        reproduce(options)


def parsed(arguments: Sequence[str] | None) -> argparse.Namespace:
    """The options, checked."""
    about, _, more = (__doc__ or "").partition("\n\n")
    parser = argparse.ArgumentParser("python -m paper", description=about, epilog=more)
    add = parser.add_argument
    add("--table", choices=[*map(str, TABLES), "all"], help="a table, or all of them")
    add("--figure", choices=[*FIGURES, "all"], help="a figure, or all of them")
    add("--quick", action="store_true", help="a few small rows only, in about a minute")
    add("--seeds", type=int, default=5, help="starts of K-means to average over (5)")
    add("--data", type=Path, help="folder of the data ($SRSG_DATA or the user's cache)")
    add(
        "--output",
        type=Path,
        help="folder for the results (docs/results/parts, or docs/results/quick)",
    )
    add("--jobs", type=int, help="threads; results do not depend on them (all cores)")
    options = parser.parse_args(arguments)
    if options.seeds < 1:
        parser.error(f"--seeds {options.seeds} must be at least 1.")
    if options.table is options.figure is None:
        options.table = options.figure = "all"
    return options


def reproduce(options: argparse.Namespace) -> None:
    """Make the tables and figures that are asked for."""
    needed("matplotlib", "Pictures need matplotlib", "plot")
    start = perf_counter()
    folder, quick = _folder_with_data(options.data), options.quick
    output = options.output or Path("docs/results/quick" if quick else "docs/results/parts")
    everything = options.table == options.figure == "all"
    journal = Journal(output / "cells.csv")
    evaluation = Evaluation(journal, range(options.seeds), folder=folder, n_jobs=options.jobs)
    tables = [int(name) for name in _named(options.table, map(str, TABLES))]
    rows = _tables(evaluation, tables, output, quick) if tables else []
    figures = [_figure(name, evaluation, output, quick) for name in _named(options.figure, FIGURES)]
    if not rows and not any(figures):
        raise FileNotFoundError(f"{folder} has none of the data that this needs.")
    if rows and everything:
        duration = (
            f"this run took {(perf_counter() - start) / 60:.1f} minutes, figures included; it "
            f"computed {evaluation.n_computed:,} of {evaluation.n_cells:,} results, read the rest"
        )
        write_summary(rows, output, duration)
        print(duration)
    # A part of the evaluation keeps the results of other parts.
    if everything and not quick:
        journal.forget_other_code()
    print(f"written to {output}")


def _folder_with_data(given: Path | None) -> Path:
    """The folder of the data, which must have at least one set."""
    folder = data_folder(given)
    if not folder.is_dir():
        raise FileNotFoundError(
            f"there is no folder of data at {folder}: name it with --data or SRSG_DATA."
        )
    for entry in list_datasets():
        with suppress(FileNotFoundError):
            dataset_path(entry.name, folder=folder)
            return folder
    raise FileNotFoundError(
        f"{folder} has none of the paper's data: python -m paper.datasets says how to get them."
    )


def _named(choice: str | None, names: Iterable[str]) -> list[str]:
    return [name for name in names if choice in (name, "all")]


def _tables(
    evaluation: Evaluation, tables: Sequence[int], output: Path, quick: bool
) -> list[RowResults]:
    """The rows that have data."""
    evaluation.progress = Progress("tables")
    rows = write_tables(evaluation, tables, output, quick)
    evaluation.progress.finish()
    if rows:
        print("\n".join(summary_lines(rows)))
    return rows


def _figure(name: str, evaluation: Evaluation, output: Path, quick: bool) -> bool:
    """Whether there were data to draw it from."""
    evaluation.progress = Progress(name)
    try:
        FIGURES[name](evaluation, output / f"{name}.png", quick)
    except FileNotFoundError as error:
        evaluation.progress.note(f"figure {name} left out: {error}")
        return False
    evaluation.progress.finish()
    return True


if __name__ == "__main__":
    main()
