"""What a run leaves in its folder: a CSV file, a page and a picture for each table; figures."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

from srsg.experiments.adjacency import draw_adjacency
from srsg.experiments.convergence import draw_convergence, draw_supports
from srsg.experiments.idea import draw_idea
from srsg.experiments.report import results_csv, summary_markdown, table_markdown
from srsg.experiments.robustness import draw_robustness
from srsg.experiments.run import Evaluation, RowResults, chosen_rows
from srsg.experiments.sensitivity import draw_sensitivity
from srsg.experiments.table_picture import draw_table

FIGURES: Mapping[str, Callable[[Evaluation, Path, bool], None]] = {
    "sensitivity": draw_sensitivity,
    "adjacency": draw_adjacency,
    "convergence": draw_convergence,
    "supports": draw_supports,
    "idea": draw_idea,
    "robustness": draw_robustness,
}


def write_tables(
    evaluation: Evaluation, tables: Iterable[int], output: Path, quick: bool = False
) -> list[RowResults]:
    """Evaluate the rows of some tables, and write each table and the summary."""
    wanted = sorted(set(tables))
    found = evaluation.rows(chosen_rows(wanted, quick))
    if all(row.absent for row in found):
        return found
    for table in wanted:
        rows = [row for row in found if row.row.table == table]
        stem = output / f"table-{table}"
        _write(stem.with_suffix(".csv"), results_csv(rows))
        _write(stem.with_suffix(".md"), table_markdown(table, rows, len(evaluation.seeds)))
        draw_table(rows, stem.with_suffix(".png"))
    write_summary(found, output)
    return found


def write_summary(rows: Iterable[RowResults], output: Path, duration: str | None = None) -> None:
    """Write the page of the few numbers to look at first."""
    _write(output / "summary.md", summary_markdown(rows, duration))


def write_figure(name: str, evaluation: Evaluation, output: Path, quick: bool = False) -> None:
    """Draw one of :data:`FIGURES`."""
    FIGURES[name](evaluation, output / f"{name}.png", quick)


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
