"""How the evaluation compares with the paper, in a few numbers."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from statistics import fmean

from srsg.experiments.published import MEASURES, compared_methods
from srsg.experiments.run import RowResults
from srsg.experiments.settings import SETTINGS
from srsg.registry import methods

NEAR, FAR = 0.02, 0.05
"""Differences from a published figure that count as reproduced, and as worth listing."""

EXACT_DATA = ("COIL-20", "UMIST Face", "Heart", "Ionosphere", "Breast")
"""Data sets whose files are those that the paper used, as far as one can tell."""

FIXED_METHODS = ("kmeans", "sc", "l1", "smce")
"""Methods whose settings the paper states, or that have none."""


def summary_markdown(rows: Iterable[RowResults]) -> str:
    """The summary as a Markdown page."""
    found = [row for row in rows if not row.absent]
    parts = [
        "# Summary",
        "Made by `srsg reproduce`; do not edit. Published figures are those the paper prints.",
        "\n".join(f"- {line}" for line in summary_lines(found)),
        "## Mean AC without CMU PIE",
        _mean_table([row for row in found if row.row.dataset != "CMU PIE"]),
        f"## Paper's settings: every figure more than {FAR} off",
        _far_table(found),
    ]
    return "\n\n".join(parts) + "\n"


def summary_lines(rows: Sequence[RowResults]) -> list[str]:
    """The few numbers to look at first."""
    near = [
        abs(row.results["paper", name].mean("AC") - row.row.figures["AC"][name]) <= NEAR
        for row in rows
        if row.row.dataset in EXACT_DATA
        for name in FIXED_METHODS
    ]
    reached = [row for row in rows if _reaches(row)]
    fixed = ", ".join(methods()[name].title for name in FIXED_METHODS)
    lines = [
        f"{len(rows)} rows of the paper's tables evaluated",
        f"defaults: SRSG reaches the paper's SRSG in AC and in NMI on {len(reached)} of "
        f"{len(rows)} rows",
    ]
    if near:
        lines.insert(
            1,
            f"paper's settings: {sum(near)} of {len(near)} figures ({fmean(near):.0%}) of {fixed} "
            f"on {', '.join(EXACT_DATA)} are within {NEAR} of the published AC",
        )
    return lines


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
