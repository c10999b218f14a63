"""The parts of the page that compare: candidates of a search, and methods on the same points."""

from __future__ import annotations

from collections.abc import Mapping
from html import escape
from typing import Any

import numpy as np

from srsg.registry import methods as all_methods
from srsg.report.evidence import cluster_counts
from srsg.report.facts import Facts
from srsg.report.markup import bar_cell, chart_card, row, section, signed, table, words
from srsg.search import StabilitySearch
from srsg.search.search import LEAST_STABILITY, TIE

CHOSEN = ' class="chosen"'
NOTHING = "<td>\N{EN DASH}</td>"

MEASURES = {
    "stability_points": "stability of points",
    "stability_features": "stability of features",
    "consensus": "consensus",
}
"""The terms of the score, by the names of the columns in ``results_``."""

SCORES = {"AC": "accuracy", "NMI": "NMI", "ARI": "ARI"}
COSTS = {"seconds": "seconds", "megabytes": "megabytes"}


def choice(facts: Facts) -> str:
    """Why the search chose what it chose; nothing if there was no search."""
    search = facts.search
    if search is None:
        return ""
    number = words("count_found" if search.n_clusters == "auto" else "count_given")
    lead = f"{_winner(search)} {_second(search)} {number}"
    body = _doubt(search) + _candidates(search)
    curve = cluster_counts(facts)
    if curve is not None:
        body += f'<div class="charts">{chart_card(*curve)}</div>'
    heading = "Why this graph, and why this many clusters"
    return section("choice", heading, body, lead, short="Choice")


def _winner(search: StabilitySearch) -> str:
    best = {name: values[search.best_index_] for name, values in search.results_.items()}
    agreements = [f"between samples of the points {signed(best['stability_points'], 2)}"]
    if np.isfinite(best["stability_features"]):
        halves = signed(best["stability_features"], 2)
        agreements.append(f"between halves of the features {halves}")
    if len(search.results_["candidate"]) > 1:
        agreements.append(f"with the other candidates {signed(best['consensus'], 2)}")
    return words(
        "winner",
        name=escape(search.best_name_),
        n_clusters=search.n_clusters_,
        score=signed(best["score"], 2),
        agreements=", ".join(agreements),
    )


def _second(search: StabilitySearch) -> str:
    """The best of the others, and how it compares."""
    # The winner of a tie may have a lower score than the second.
    others = [place for place in _by_rank(search) if place != search.best_index_]
    if not others:
        return words("no_second")
    second = {name: values[others[0]] for name, values in search.results_.items()}
    return words(
        "second",
        name=escape(second["candidate"]),
        n_clusters=second["n_clusters"],
        score=signed(second["score"], 2),
        tie=words("tie", tie=f"{TIE:g}") if abs(search.margin_) <= TIE else "",
    )


def _doubt(search: StabilitySearch) -> str:
    """A warning if no structure was found, and why."""
    if search.structure_found_:
        return ""
    agreement = search.results_["stability_points"][search.best_index_]
    reason = words("no_count_stands_out")
    if agreement < LEAST_STABILITY:
        reason = words("unstable", agreement=signed(agreement, 2), least=f"{LEAST_STABILITY:g}")
    return f'<p class="warning">{words("no_structure", reason=reason)}</p>'


def _by_rank(search: StabilitySearch) -> list[int]:
    return np.argsort(search.results_["rank"]).tolist()


def _candidates(search: StabilitySearch) -> str:
    """A row for every candidate, the best score first."""
    results = search.results_
    # The columns of a table are not halved.
    shown = [name for name in MEASURES if np.isfinite(results[name]).any()]
    rows = []
    for place in _by_rank(search):
        chosen = place == search.best_index_
        values = [results[name][place] for name in shown]
        cells = [
            f"<td>{results['n_clusters'][place]:,}</td>",
            *(bar_cell(signed(v, 3), v) if np.isfinite(v) else NOTHING for v in values),
            f"<td>{signed(results['score'][place], 3)}</td>",
        ]
        name = escape(results["candidate"][place]) + ("<small>chosen</small>" if chosen else "")
        rows.append(row(name, cells, CHOSEN if chosen else ""))
    heads = ("candidate", "clusters", *(MEASURES[name] for name in shown), "score")
    drawn = table("Table of candidates", heads, rows, "candidates")
    halved = "stability_features" in shown
    note = words("candidates", features=words("features_halved" if halved else "features_whole"))
    if isinstance(search.candidates, str):
        note += words("default_candidates", columns=escape(search.columns_))
    return f'{drawn}<p class="note">{note}</p>'


def methods(facts: Facts) -> str:
    """One row per method, in the order given, this page's in bold; nothing if none were given."""
    if not facts.methods:
        return ""
    values = {
        key: [row[key] for row in facts.methods if row.get(key) is not None]
        for key in (*SCORES, *COSTS)
    }
    shown = {key: title for key, title in {**SCORES, **COSTS}.items() if values[key]}
    best = {key: max(values[key]) for key in SCORES if key in shown}
    rows = (_method(facts, given, shown, best) for given in facts.methods)
    body = table("Table of methods", ("method", *shown.values()), rows, "candidates")
    return section("methods", "Methods compared", body, words("methods"), short="Methods")


def _method(
    facts: Facts, given: Mapping[str, Any], shown: Mapping[str, str], best: Mapping[str, float]
) -> str:
    name = str(given["method"])
    title = all_methods()[name].title if name in all_methods() else name
    cells = [_cell(given.get(key), key, best.get(key)) for key in shown]
    if given.get("error"):
        error = escape(str(given["error"]))
        cells = [f'<td class="text" colspan="{len(shown)}">failed: {error}</td>']
    return row(escape(title), cells, CHOSEN if title == facts.method else "")


def _cell(value: float | None, key: str, best: float | None) -> str:
    if value is None:
        return NOTHING
    if key in COSTS:
        return f"<td>{value:,.3g}</td>" if value < 100 else f"<td>{value:,.0f}</td>"
    text = signed(value, 3)
    return bar_cell(f"<b>{text}</b>" if value == best else text, value)
