"""``srsg compare``: methods side by side."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from srsg.cli import options
from srsg.cli.bars import bars, tell
from srsg.cli.console import fail, note
from srsg.cli.groups import Preparing, Reading

if TYPE_CHECKING:
    from srsg.cli.comparison import MethodResult

SCORES = ("AC", "NMI", "ARI")
PEERS = ("hdbscan", "leiden", "umap+hdbscan", "evoc")
PICTURES = (".png", ".svg")
FULL = {"AC": "accuracy (its spread over seeds)", "stability": "stability (80 % of the points)"}
FORMATS = {
    "AC": ".4f",
    "spread": ".4f",
    "NMI": ".4f",
    "ARI": ".4f",
    "stability": ".3f",
    "seconds": ".2f",
    "megabytes": ".0f",
}

CLUSTERS = options.option(
    "Number of clusters.", "-k", "--clusters", min=1, show_default="that of the known classes"
)
NAMES = options.option(
    "The methods to compare, separated by commas.",
    "--methods",
    parser=lambda text: [options.parse_method(name, PEERS) for name in text.split(",")],
    metavar="NAMES",
    autocompletion=lambda: [*options.METHODS.items(), *((name, "") for name in PEERS)],
    show_default="all, and hdbscan, leiden, umap+hdbscan and evoc if installed",
)
OUTPUT = options.option("The table, .csv or .md, or a picture, .png or .svg.", "-o", "--output")


@dataclass(frozen=True)
class Runs:
    """How each method runs."""

    random_state: int = options.SEED
    n_seeds: int = options.option(
        "Number of seeds: two or more show the spread and the stability of the clusters.",
        "--seeds",
        default=1,
        min=1,
    )
    n_jobs: int | None = options.JOBS


def compare(
    data: list[str] = options.DATA,
    clusters: int | None = CLUSTERS,
    names: Any = NAMES,
    output: Path | None = OUTPUT,
    *,
    reading: Reading,
    preparing: Preparing,
    runs: Runs,
    json: bool = options.JSON,
    quiet: bool = options.QUIET,
) -> None:
    """Cluster with several methods and compare them: accuracy, NMI, ARI, seconds, memory.

    Without known classes, it shows how far the methods agree with each other. Each method runs in
    a process of its own; its memory is the peak beyond what the process held at the start.
    """
    quiet = quiet or json
    with bars(quiet) as progress:
        with progress.stage("loading", 1):
            from srsg.cli import inputs, outputs
            from srsg.cli.comparison import compare_methods
            from srsg.cli.peers import installed_peers
            from srsg.cutting.cut import check_cluster_count
            from srsg.estimators.prepared import Columns

            endings = (".csv", ".md", *PICTURES)
            outputs.check_outputs({"--output": (output, endings)}, [*data, reading.labels])
            if names is None:
                there = installed_peers()
                names = [*options.METHODS, *there]
                missing = ", ".join(name for name in PEERS if name not in there)
                tell(progress, [f"not installed, and so left out: {missing}"] if missing else [])
        table = inputs.read(data, reading, progress, impute=preparing.impute)
        if clusters is None:
            if table.y is None:
                raise typer.BadParameter(
                    "give the number of clusters (-k) or known classes (--labels)."
                )
            clusters = len(set(table.y.tolist()))
        # Checked here, once: otherwise every method would fail with the same error.
        check_cluster_count(clusters, table.X.shape[0])
        X = table.X
        scale, notes = inputs.chosen_scale(X, table, preparing)
        tell(progress, notes)
        if scale is not None or preparing.impute is not None:
            X = Columns.learnt(X, scale, preparing.impute, table.rules).applied(X)
        if not quiet:
            tell(progress, inputs.notes_on_near_rows(X))
        given = {**vars(runs), "affine": scale == "standard"}
        results = compare_methods(X, clusters, y=table.y, names=names, progress=progress, **given)
    show(results, output, json=json, quiet=quiet)


def show(
    results: Sequence[MethodResult], output: Path | None, *, json: bool = False, quiet: bool = False
) -> None:
    """Print the results and write them to a file; raise an error if every method failed."""
    rows = [row_of(result) for result in results]
    if output is not None:
        _write(output, rows)
    if json:
        from srsg.files.writing import as_json

        print(as_json(rows, indent=2))
    else:
        _print_tables(results, rows)
    for result in () if quiet else results:
        for message in filter(None, (result.error, *result.warnings)):
            note(f"{result.method}: {message}")
    if all(result.error for result in results):
        raise fail(f"no method succeeded; {results[0].method}: {results[0].error}")


def row_of(result: MethodResult) -> dict[str, Any]:
    """The row of a method, in tables and JSON."""
    return {
        "method": result.method,
        **{name: round(result.scores[name], 4) if result.scores else None for name in SCORES},
        "spread": result.spread,
        "stability": result.stability,
        "seconds": result.seconds,
        "megabytes": result.megabytes,
        "error": result.error,
    }


def _cells(rows: Sequence[Mapping[str, Any]], heads: Sequence[str], *bold: str) -> list[list[str]]:
    """The rows as text, the best of each score between the two marks for bold."""
    best = {name: max(row[name] or 0.0 for row in rows) for name in (*SCORES, "stability")}

    def cell(name: str, value: Any) -> str:
        text = "" if value is None else format(value, FORMATS.get(name, ""))
        return text.join(bold) if text and value == best.get(name) else text

    return [[cell(name, row[name]) for name in heads] for row in rows]


def _print_tables(results: Sequence[MethodResult], rows: Sequence[Mapping[str, Any]]) -> None:
    """Print the rows and, without scores, how far the methods agree with each other."""
    scored = any(result.scores for result in results)
    heads = ["method", *(name for name in FORMATS if any(row[name] is not None for row in rows))]
    _print_table(heads, _cells(rows, heads, "[bold]", "[/]"))
    good = [result for result in results if result.labels is not None]
    if scored or len(good) < 2:
        return
    from srsg.cli.comparison import pairwise_ari

    names = [result.method for result in good]
    shares = [[f"{share:.2f}" for share in line] for line in pairwise_ari(good)]
    lines = [[name, *line] for name, line in zip(names, shares, strict=True)]
    print()
    _print_table(["", *names], lines, title="agreement (ARI)")


def _print_table(
    heads: Sequence[str], lines: Sequence[Sequence[str]], title: str | None = None
) -> None:
    from rich.console import Console
    from rich.table import Table

    table = Table(title=title, box=None, pad_edge=False, title_justify="left")
    for place, head in enumerate(heads):
        table.add_column(head, justify="right" if place else "left", no_wrap=True)
    for line in lines:
        table.add_row(*line)
    Console(highlight=False).print(table)


def _draw(path: Path, rows: Sequence[Mapping[str, Any]]) -> None:
    """A bar for each method: accuracy and stability, or seconds if neither is known."""
    from srsg.files import atomic_write
    from srsg.files.errors import needed

    plt = needed("matplotlib.pyplot", "Pictures need matplotlib", "plot")
    shown = [name for name in ("AC", "stability") if any(row[name] is not None for row in rows)]
    shown, rows = shown or ["seconds"], rows[::-1]
    figure, axes = plt.subplots(figsize=(7, 1 + 0.45 * len(rows)), layout="constrained")
    for place, name in enumerate(shown):
        lengths = [row[name] or 0.0 for row in rows]
        spread = [row["spread"] or 0.0 for row in rows] if name == "AC" else None
        at = [row + 0.4 * (0.5 - place) * (len(shown) - 1) for row in range(len(rows))]
        axes.barh(at, lengths, 0.75 / len(shown), xerr=spread, label=FULL.get(name, name))
    axes.set_yticks(range(len(rows)), [row["method"] for row in rows])
    axes.legend()
    with atomic_write(path) as temporary:
        figure.savefig(temporary, format=path.suffix[1:].lower())
    plt.close(figure)


def _write(path: Path, rows: Sequence[Mapping[str, Any]]) -> None:
    import csv

    from srsg.files import atomic_write

    if path.suffix.lower() in PICTURES:
        _draw(path, rows)
        return
    heads = ["method", *(name for name in FORMATS if any(row[name] is not None for row in rows))]
    with atomic_write(path) as temporary, temporary.open("w", encoding="utf-8", newline="") as file:
        if path.suffix.lower() == ".csv":
            writer = csv.DictWriter(file, [*heads, "error"], "", "ignore", lineterminator="\n")
            writer.writeheader()
            writer.writerows(rows)
        else:
            rule = ["---", *["---:"] * (len(heads) - 1)]
            lines = [heads, rule, *_cells(rows, heads, "**", "**")]
            file.writelines(f"| {' | '.join(line)} |\n" for line in lines)
