"""The part of the page about a search: what was compared, what was chosen, and why."""

from __future__ import annotations

from html import escape
from typing import Any

import numpy as np

from srsg.report.charts import line_chart
from srsg.report.findings import Findings
from srsg.report.sections import bar_cell, section
from srsg.selection import StabilitySearch
from srsg.selection.search import LEAST_STABILITY, TIE

HEADING = "Why this graph, why so many clusters"

MEASURES = {
    "stability_points": "stability of points",
    "stability_features": "stability of features",
    "consensus": "consensus",
}
"""What the score adds up, by the names of the columns in ``results_``."""


def choice(found: Findings) -> str:
    """Why the search chose what it chose; nothing where there was no search."""
    search = found.search
    if search is None:
        return ""
    lead = f"{_winner(search)} {_second(search)} {_number(search)}"
    return section("choice", HEADING, _doubt(search) + _candidates(search) + _counts(found), lead)


def _winner(search: StabilitySearch) -> str:
    results, best = search.results_, search.best_index_
    reasons = [f"on other samples of the points ({results['stability_points'][best]:.2f})"]
    if np.isfinite(results["stability_features"][best]):
        reasons.append(f"on other features ({results['stability_features'][best]:.2f})")
    agreement = f"its labels agree with themselves {' and '.join(reasons)}"
    if len(results["candidate"]) > 1:
        agreement += (
            f", and with those of the other candidates ({results['consensus'][best]:.2f}); "
            "1 is perfect agreement"
        )
    return (
        f"<b>{escape(search.best_name_)}</b> with {search.n_clusters_} clusters was chosen, with a "
        f"score of {results['score'][best]:.2f}: {agreement}."
    )


def _second(search: StabilitySearch) -> str:
    """The best of the others, and how it compares."""
    results = search.results_
    others = [place for place in _by_rank(search) if place != search.best_index_]
    if not others:
        return "There was no other candidate."
    second = others[0]
    words = (
        f"Second is <b>{escape(results['candidate'][second])}</b> with "
        f"{results['n_clusters'][second]} clusters and a score of {results['score'][second]:.2f}"
    )
    if abs(search.margin_) <= TIE:
        words += f": a tie, since scores are within {TIE:g}, which the earlier candidate wins"
    return f"{words}."


def _number(search: StabilitySearch) -> str:
    if search.n_clusters == "auto":
        return "The number of clusters was not given: the candidates found theirs."
    return "The number of clusters was given."


def _doubt(search: StabilitySearch) -> str:
    if search.structure_found_:
        return ""
    agreement = search.results_["stability_points"][search.best_index_]
    return (
        '<p class="warning"><b>No structure found.</b> Even the labels of the winner change from '
        f"one sample of the points to another: they agree by {agreement:.2f}, and below "
        f"{LEAST_STABILITY:g} labels say more about the samples than about the data. The data may "
        "have no clusters at all.</p>"
    )


def _by_rank(search: StabilitySearch) -> list[int]:
    return np.argsort(search.results_["rank"]).tolist()


def _candidates(search: StabilitySearch) -> str:
    """A row for every candidate, the best score first."""
    heads = ("candidate", "clusters", *MEASURES.values(), "score")
    head = "".join(f'<th scope="col">{title}</th>' for title in heads)
    rows = "".join(_row(search, place) for place in _by_rank(search))
    return (
        '<div class="scroll" tabindex="0" role="region" aria-label="Table of candidates">'
        f'<table class="candidates"><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>'
        f'</div><p class="note">{_explained(search)}</p>'
    )


def _row(search: StabilitySearch, place: int) -> str:
    results = search.results_
    chosen = place == search.best_index_
    cells = [
        f'<th scope="row">{escape(results["candidate"][place])}'
        f"{'<small>chosen</small>' if chosen else ''}</th>",
        f"<td>{results['n_clusters'][place]:,}</td>",
        *(_measure(results[name][place]) for name in MEASURES),
        f"<td>{results['score'][place]:.3f}</td>",
    ]
    css = ' class="chosen"' if chosen else ""
    return f"<tr{css}>{''.join(cells)}</tr>"


def _measure(value: float) -> str:
    if not np.isfinite(value):
        return "<td>\N{EN DASH}</td>"
    # Agreement adjusted for chance may be slightly negative; a bar cannot.
    return bar_cell(f"{value:.3f}".replace("-", "\N{MINUS SIGN}"), min(max(value, 0.0), 1.0))


def _explained(search: StabilitySearch) -> str:
    words = (
        "Every candidate was fitted on the same samples of the points. Stability of points: how "
        "far its labels of two samples agree on the points that both have. "
    )
    if np.isfinite(search.results_["stability_features"]).any():
        words += "Stability of features: how far its labels by two halves of the features agree. "
    else:
        words += (
            "Stability of features is not measured on tables: one column may be all that tells two "
            "clusters apart. "
        )
    words += (
        "Consensus: how far its labels agree with those of the other candidates on the same "
        "sample. Each is the adjusted mutual information, 0 by chance and 1 if perfect; the score "
        "is their sum."
    )
    if isinstance(search.candidates, str):
        words += f" The candidates are those for {escape(search.columns_)}."
    return words


def _counts(found: Findings) -> str:
    """The scores of all numbers of clusters that the winner tried, if it did."""
    counts, scores = found.learnt("cluster_counts_"), found.learnt("cluster_count_scores_")
    if counts is None or scores is None or not np.size(counts):
        return ""
    chosen = int(found.model.n_clusters_)
    chart = line_chart(
        scores,
        x_values=counts,
        x_label="number of clusters",
        y_label="score",
        title=f"Scores of {len(counts)} numbers of clusters; {chosen} was found",
        line_at=chosen,
    )
    words = f"The dashed line is at {chosen}, the number found.{_next_best(counts, scores, chosen)}"
    return (
        f'<div class="charts"><figure class="card"><h3>Number of clusters</h3>{chart}'
        f"<figcaption>{words}</figcaption></figure></div>"
    )


def _next_best(counts: Any, scores: Any, chosen: int) -> str:
    order = np.asarray(counts)[np.argsort(-np.asarray(scores), kind="stable")]
    others = [str(count) for count in order if count != chosen][:2]
    return f" The next best: {', '.join(others)}." if others else ""
