"""``srsg compare``: methods side by side."""

from __future__ import annotations

import json as jsonlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from srsg.cli import options
from srsg.cli.bars import bars
from srsg.cli.console import fail, note
from srsg.cli.groups import Reading
from srsg.cli.outputs import check_not_inputs, check_output
from srsg.cli.preparation import Preparing, chosen_columns, notes_on_near_rows
from srsg.registry import methods

if TYPE_CHECKING:
    from srsg.cli.comparison import MethodResult
    from srsg.files import Table

SCORES = ("AC", "NMI", "ARI")


def compare(
    data: options.Data,
    clusters: Annotated[
        int | None,
        typer.Option(
            "-k",
            "--clusters",
            min=1,
            help="Number of clusters.",
            show_default="that of the known classes",
        ),
    ] = None,
    names: options.MethodNames = None,
    output: Annotated[
        Path | None,
        typer.Option("-o", "--output", help="The table: .csv or .md.", show_default=False),
    ] = None,
    *,
    reading: Reading,
    preparing: Preparing,
    seed: options.Seed = 0,
    jobs: options.Jobs = None,
    json: options.AsJson = False,
    quiet: options.Quiet = False,
) -> None:
    """Cluster by several methods and compare them: accuracy, NMI, ARI, seconds, memory.

    Without known classes it shows how far the methods agree with each other. Each method runs in a
    process of its own; its memory is the most that it held beyond what it started with.
    """
    quiet = quiet or json
    check_output(output, (".csv", ".md"), "--output")
    check_not_inputs({"--output": output}, [data, reading.labels])
    with bars(quiet) as progress:
        table = reading.read(data, progress, quiet=quiet, keep_missing=preparing.impute is not None)
        asked, notes = chosen_columns(table.X, preparing, table)
        from srsg.estimators.prepared import Columns

        X = Columns.learnt(table.X, **asked).applied(table.X)
        for line in () if quiet else (*notes, *notes_on_near_rows(X)):
            note(line)
        from srsg.cli.comparison import compare_methods
        from srsg.cutting.cut import check_cluster_count

        # Checked here, once: otherwise every method would fail with the same error.
        k = clusters or _number_of_classes(table)
        check_cluster_count(k, table.X.shape[0])
        chosen = names.split(",") if names else list(methods())
        outcomes = []
        with progress.stage("all methods", len(chosen)) as stage:
            for found in compare_methods(
                X,
                k,
                y=table.y,
                names=chosen,
                random_state=seed,
                n_jobs=jobs,
                affine=asked["scale"] == "standard",
                progress=progress,
            ):
                outcomes.append(found)
                stage.advance()
    show(outcomes, table.y is not None, output, json=json, quiet=quiet)


def show(
    outcomes: Sequence[MethodResult],
    has_classes: bool,
    output: Path | None,
    *,
    json: bool = False,
    quiet: bool = False,
) -> None:
    """Print the results and write them to a file; an error if every method failed."""
    rows = [row_of(found) for found in outcomes]
    if output is not None:
        _write(output, rows)
    if json:
        print(jsonlib.dumps(rows, indent=2))
    else:
        _print_table(rows, has_classes)
    good = [found for found in outcomes if found.labels is not None]
    if not has_classes and len(good) > 1 and not json:
        _print_agreement(good)
    for found in outcomes:
        for message in (found.error, *found.warnings):
            if message and not quiet:
                note(f"{found.method}: {message}")
    if not good:
        raise fail(f"no method succeeded; {outcomes[0].method}: {outcomes[0].error}")


def _number_of_classes(table: Table) -> int:
    if table.y is None:
        raise typer.BadParameter(
            "say how many clusters there are (-k) or which classes are known (--labels)."
        )
    return len(set(table.y.tolist()))


def row_of(found: MethodResult) -> dict[str, Any]:
    """What a table or JSON shows of a method."""
    return {
        "method": found.method,
        **{name: _rounded(found.scores.get(name), 4) for name in SCORES},
        "seconds": None if found.error else round(found.seconds, 3),
        "megabytes": _rounded(found.megabytes, 1),
        "error": found.error,
    }


def _rounded(value: float | None, digits: int) -> float | None:
    return None if value is None else round(value, digits)


def _cells(
    rows: Sequence[Mapping[str, Any]], names: Sequence[str], bold: tuple[str, str]
) -> list[list[str]]:
    """The rows as text, the best of each score between the marks."""
    best = {name: max((row[name] or 0.0 for row in rows), default=0.0) for name in SCORES}
    formats = {**dict.fromkeys(SCORES, ".4f"), "seconds": ".2f", "megabytes": ".0f"}
    lines = []
    for row in rows:
        line = []
        for name in names:
            value = row[name]
            text = "" if value is None else format(value, formats.get(name, ""))
            is_best = name in SCORES and value == best[name]
            line.append(f"{bold[0]}{text}{bold[1]}" if is_best else text)
        lines.append(line)
    return lines


def _print_table(rows: Sequence[Mapping[str, Any]], has_classes: bool) -> None:
    from rich.console import Console
    from rich.table import Table as Drawn

    names = ["method", *(SCORES if has_classes else ()), "seconds", "megabytes"]
    drawn = Drawn(box=None, pad_edge=False)
    for name in names:
        drawn.add_column(name, justify="left" if name == "method" else "right", no_wrap=True)
    for line in _cells(rows, names, ("[bold]", "[/]")):
        drawn.add_row(*line)
    Console(highlight=False).print(drawn)


def _print_agreement(outcomes: Sequence[MethodResult]) -> None:
    from rich.console import Console
    from rich.table import Table as Drawn

    from srsg.cli.comparison import pairwise_ari

    names = [found.method for found in outcomes]
    drawn = Drawn(title="agreement (ARI)", box=None, pad_edge=False, title_justify="left")
    drawn.add_column("")
    for name in names:
        drawn.add_column(name, justify="right", no_wrap=True)
    for name, values in zip(names, pairwise_ari(outcomes), strict=True):
        drawn.add_row(name, *(f"{value:.2f}" for value in values))
    print()
    Console(highlight=False).print(drawn)


def _write(path: Path, rows: Sequence[Mapping[str, Any]]) -> None:
    import csv

    from srsg.files import atomic_write

    names = list(rows[0])
    with (
        atomic_write(path) as temporary,
        temporary.open("w", encoding="utf-8", newline="") as file,
    ):
        if path.suffix.lower() == ".csv":
            writer = csv.DictWriter(file, names, lineterminator="\n")
            writer.writeheader()
            writer.writerows(rows)
            return
        names.remove("error")
        lines = [names, ["---", *["---:"] * (len(names) - 1)], *_cells(rows, names, ("**", "**"))]
        file.writelines(f"| {' | '.join(line)} |\n" for line in lines)
