"""Tables and summary as CSV and Markdown, beside what the paper prints."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Mapping, Sequence
from io import StringIO
from statistics import fmean

from paper.evaluate import CellResult
from paper.evaluation import RowResults
from paper.journal import dumped, made_by
from paper.published import MEASURES, compared_methods
from paper.settings import GRIDS, MOST_POINTS, SETTINGS
from srsg.registry import methods

COLUMNS = (
    *("table", "dataset", "n_clusters", "method", "settings", "label_tuned"),
    *("ac_published", "ac_mean", "ac_std", "nmi_published", "nmi_mean", "nmi_std"),
    *("n_seeds", "seconds", "parameters"),
)

TABLES = {
    1: "Table 1: COIL-20 and COIL-100",
    2: "Table 2: faces",
    3: "Table 3: UCI data sets",
}

NEAR, CLOSE, FAR = 0.02, 0.03, 0.05
"""Differences from a published figure: reproduced, close, and worth listing."""

EXACT_DATA = ("COIL-20", "UMIST Face", "Heart", "Ionosphere", "Breast")
"""Data sets whose files are those that the paper used, as far as one can tell."""

FIXED_METHODS = ("kmeans", "sc", "l1", "smce", "srsg")
"""Methods whose settings the paper states, or that have none. It does not state SRSG's step."""


def results_csv(rows: Iterable[RowResults]) -> str:
    """One line per data set, number of clusters, method and settings: means over the seeds."""
    text = StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(COLUMNS)
    for row in rows:
        published = row.row
        for (setting, name), result in row.results.items():
            label_tuned = "yes" if setting == "tuned" else "no"
            figures = [
                f"{figure:.4f}"
                for m in MEASURES
                for figure in (published.figures[m][name], result.mean(m), result.std(m))
            ]
            writer.writerow(
                (
                    *(published.table, published.dataset, published.n_clusters or ""),
                    *(name, setting, label_tuned, *figures),
                    *(len(result.scores), f"{result.seconds:.2f}", dumped(dict(result.parameters))),
                )
            )
    return text.getvalue()


def table_markdown(table: int, rows: Sequence[RowResults], n_seeds: int) -> str:
    """The paper's figures and ours, one under the other; the best of each line in bold."""
    parts = [
        f"# {TABLES[table]}",
        _PREFACE.format(made_by=made_by(), n_seeds=n_seeds, most=MOST_POINTS),
        f"![The paper's figures and ours](table-{table}.png)",
    ]
    for measure in MEASURES:
        parts += [f"## {measure}", _measure_table(measure, rows)]
    absent = [row.row.title for row in rows if row.absent]
    if absent:
        parts.append("Data absent, so only the paper's figures: " + "; ".join(absent) + ".")
    tuned = _tuned_weights(rows)
    if tuned:
        parts += ["## Weights that were best with the labels", tuned]
    return "\n\n".join(parts) + "\n"


_PREFACE = """Made by `make paper` {made_by};
do not edit. Means over {n_seeds} seeds, each the best of ten restarts of K-means (one restart for
K-means at its default); ± is the standard deviation.

- *published*: printed in the paper.
- *paper's settings*: its protocol, run here.
- *defaults*: what a user gets who sets nothing but the number of clusters.
- *tuned with the labels*: the best accuracy on a coarse grid in the paper's range, for the two
  methods that the paper tunes so. Labels choose the weights, which no user without labels can do:
  not to be compared with the other lines. With more than {most} points the grid of the Laplacian
  l1-graph has two values of lambda and one of gamma."""


def _measure_table(measure: str, rows: Sequence[RowResults]) -> str:
    names = compared_methods()
    lines = [
        "| data | | " + " | ".join(str(methods()[name].column) for name in names) + " |",
        "|---|---|" + "---:|" * len(names),
    ]
    for row in rows:
        printed = row.row.figures[measure]
        lines.append(_line(row.row.title, "published", {n: (printed[n], None) for n in names}))
        for setting, title in SETTINGS.items():
            cells = {
                name: (result.mean(measure), result.std(measure))
                for name in names
                if (result := row.results.get((setting, name)))
            }
            if cells:
                lines.append(_line("", title, cells))
    return "\n".join(lines)


def _line(title: str, source: str, cells: Mapping[str, tuple[float, float | None]]) -> str:
    names = compared_methods()
    # The best of some methods only would mean little.
    complete = all(name in cells for name in names)
    best = max(round(mean, 4) for mean, _ in cells.values())
    shown = []
    for name in names:
        if name not in cells:
            shown.append("")
            continue
        mean, std = cells[name]
        figure = f"{mean:.4f}"
        if complete and round(mean, 4) == best:
            figure = f"**{figure}**"
        shown.append(figure if std is None else f"{figure} ± {std:.3f}")
    return f"| {title} | {source} | " + " | ".join(shown) + " |"


def _tuned_weights(rows: Sequence[RowResults]) -> str:
    lines = []
    for row in rows:
        chosen = [
            f"{methods()[name].title}: {_weights(name, row.results['tuned', name])}"
            for name in GRIDS
            if ("tuned", name) in row.results
        ]
        if chosen:
            lines.append(f"- {row.row.title}: " + "; ".join(chosen))
    return "\n".join(lines)


def _weights(name: str, result: CellResult) -> str:
    return ", ".join(f"{weight} = {result.parameters[weight]:g}" for weight in GRIDS[name][0])


def summary_markdown(rows: Sequence[RowResults], duration: str | None = None) -> str:
    """The summary as a Markdown page; ``duration`` says how long the run took."""
    parts = [
        "# Summary",
        f"Made by `make paper` {made_by()}; do not edit. Published figures are those the "
        "paper prints.",
        "\n".join(f"- {line}" for line in [*summary_lines(rows), duration] if line),
        "## Mean AC without CMU PIE",
        _mean_table([row for row in rows if row.row.dataset != "CMU PIE"]),
        f"## Paper's settings: every figure more than {FAR} off",
        _far_table(rows),
    ]
    return "\n\n".join(parts) + "\n"


def summary_lines(rows: Sequence[RowResults]) -> list[str]:
    """The few numbers to look at first."""
    comparable = [row for row in rows if row.row.dataset in EXACT_DATA]
    reached = [row for row in rows if _reaches(row)]
    best = [row for row in rows if _is_best(row)]
    lines = [f"{len(rows)} rows of the paper's tables evaluated"]
    if comparable:
        gaps = [_gap(row, name) for row in comparable for name in FIXED_METHODS]
        fixed = ", ".join(methods()[name].title for name in FIXED_METHODS)
        lines.append(
            f"paper's settings: of {len(gaps)} figures of {fixed} on {', '.join(EXACT_DATA)}, "
            f"{_within(gaps, CLOSE)} are within {CLOSE} of the published AC and "
            f"{_within(gaps, NEAR)} within {NEAR}"
        )
    own = [_gap(row, "srsg") for row in rows]
    lines += [
        f"paper's settings: SRSG itself, on all {len(own)} rows, is within {CLOSE} of the "
        f"published AC on {_within(own, CLOSE)} and within {NEAR} on {_within(own, NEAR)}",
        f"paper's settings: SRSG has the highest AC of the six methods on {len(best)} of "
        f"{len(rows)} rows (the paper says: always)",
        f"defaults: SRSG reaches the paper's SRSG in AC and in NMI on {len(reached)} of "
        f"{len(rows)} rows",
    ]
    return lines


def _gap(row: RowResults, name: str) -> float:
    return abs(row.results["paper", name].mean("AC") - row.row.figures["AC"][name])


def _within(gaps: Sequence[float], bound: float) -> str:
    count = sum(gap <= bound for gap in gaps)
    return f"{count} ({count / len(gaps):.0%})"


def _is_best(row: RowResults) -> bool:
    figures = {name: row.results["paper", name].mean("AC") for name in compared_methods()}
    return figures["srsg"] >= max(figures.values())


def _reaches(row: RowResults) -> bool:
    ours, printed = row.results["default", "srsg"], row.row.figures
    return all(round(ours.mean(m), 4) >= printed[m]["srsg"] for m in MEASURES)


def _mean_table(rows: Sequence[RowResults]) -> str:
    if not rows:
        return "No such row."
    names = compared_methods()
    lines = [
        f"| {len(rows)} rows | " + " | ".join(str(methods()[name].column) for name in names) + " |",
        "|---|" + "---:|" * len(names),
    ]
    means = [f"{fmean(row.row.figures['AC'][name] for row in rows):.4f}" for name in names]
    lines.append("| published | " + " | ".join(means) + " |")
    for setting, title in SETTINGS.items():
        means = [
            f"{fmean(row.results[setting, name].mean('AC') for row in rows):.4f}"
            if all((setting, name) in row.results for row in rows)
            else ""
            for name in names
        ]
        lines.append(f"| {title} | " + " | ".join(means) + " |")
    return "\n".join(lines)


def _far_table(rows: Sequence[RowResults]) -> str:
    lines = [
        "| data | method | measure | published | ours | difference |",
        "|---|---|---|---:|---:|---:|",
    ]
    for row in rows:
        for name in compared_methods():
            for measure in MEASURES:
                printed = row.row.figures[measure][name]
                ours = row.results["paper", name].mean(measure)
                if abs(ours - printed) > FAR:
                    lines.append(
                        f"| {row.row.title} | {methods()[name].title} | {measure} "
                        f"| {printed:.4f} | {ours:.4f} | {ours - printed:+.4f} |"
                    )
    return "\n".join(lines) if len(lines) > 2 else "None."
