"""The paper's three tables: a CSV file, a page and a picture each, and a summary of all."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from paper.evaluation import Evaluation, RowResults, chosen_rows
from paper.tables.pages import TABLES, results_csv, summary_markdown, table_markdown
from paper.tables.picture import draw_table

__all__ = ["TABLES", "write_summary", "write_tables"]


def write_tables(
    evaluation: Evaluation, tables: Iterable[int], output: Path, quick: bool = False
) -> list[RowResults]:
    """Evaluate the rows of some tables, write each table and the summary, and return the rows
    that have data."""
    rows = evaluation.rows(chosen_rows(tables, quick))
    present = [row for row in rows if not row.absent]
    if not present:
        return []
    output.mkdir(parents=True, exist_ok=True)
    for table in tables:
        own = [row for row in rows if row.row.table == table]
        page = table_markdown(table, own, len(evaluation.seeds))
        (output / f"table-{table}.csv").write_text(results_csv(own), encoding="utf-8")
        (output / f"table-{table}.md").write_text(page, encoding="utf-8")
        draw_table(own, output / f"table-{table}.png")
    write_summary(present, output)
    return present


def write_summary(rows: Sequence[RowResults], output: Path, duration: str | None = None) -> None:
    """Write the page of the few numbers to look at first."""
    (output / "summary.md").write_text(summary_markdown(rows, duration), encoding="utf-8")
