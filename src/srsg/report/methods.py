"""The part of the page about other methods on the same points."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

from srsg.registry import methods as known_methods
from srsg.report.findings import Findings
from srsg.report.sections import bar_cell, section, signed, table

SCORES = {"AC": "accuracy", "NMI": "NMI", "ARI": "ARI"}
COSTS = {"seconds": "seconds", "megabytes": "megabytes"}


def methods_compared(found: Findings) -> str:
    """One row per method, in the order given, this page's in bold; nothing if none were given."""
    if not found.methods:
        return ""
    heads = {**SCORES, **COSTS}
    shown = {key: title for key, title in heads.items() if _values(found.methods, key)}
    best = {key: max(_values(found.methods, key)) for key in SCORES if key in shown}
    rows = (_row(found, row, shown, best) for row in found.methods)
    lead = (
        "All methods on the same points, each with its defaults and in a process of its own. "
        "The best score of each kind is in bold, and so is the method of this page."
    )
    body = table("Table of methods", ("method", *shown.values()), rows, "candidates")
    return section("methods", "Methods compared", body, lead, short="Methods")


def _row(
    found: Findings, row: Mapping[str, Any], shown: dict[str, str], best: dict[str, float]
) -> str:
    name = str(row["method"])
    method = known_methods().get(name)
    title = name if method is None else method.title
    chosen = ' class="chosen"' if title == found.method else ""
    if row.get("error"):
        words = f'<td class="text" colspan="{len(shown)}">failed: {escape(str(row["error"]))}</td>'
        return f'<tr{chosen}><th scope="row">{escape(title)}</th>{words}</tr>'
    cells = "".join(_cell(row.get(key), key, best.get(key)) for key in shown)
    return f'<tr{chosen}><th scope="row">{escape(title)}</th>{cells}</tr>'


def _cell(value: float | None, key: str, best: float | None) -> str:
    if value is None:
        return "<td>\N{EN DASH}</td>"
    if key not in SCORES:
        return f"<td>{value:,.3g}</td>" if value < 100 else f"<td>{value:,.0f}</td>"
    text = signed(value, 3)
    return bar_cell(f"<b>{text}</b>" if value == best else text, value)


def _values(rows: Sequence[Mapping[str, Any]], key: str) -> list[float]:
    return [row[key] for row in rows if row.get(key) is not None]
