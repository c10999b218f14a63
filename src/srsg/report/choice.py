"""The part of the page about what was chosen, and why: among candidates, and how many clusters."""

from __future__ import annotations

from html import escape
from typing import Any

import numpy as np

from srsg.counting.counts import counted_by
from srsg.report.charts import line_chart
from srsg.report.findings import Findings
from srsg.report.sections import bar_cell, chart_card, section, signed, table
from srsg.search import StabilitySearch
from srsg.search.search import LEAST_STABILITY, TIE

HEADING = "Why this graph, and why this many clusters"

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
    body = _doubt(search) + _candidates(search)
    curve = cluster_counts(found)
    if curve is not None:
        body += f'<div class="charts">{chart_card(*curve)}</div>'
    return section("choice", HEADING, body, lead, short="Choice")


def _winner(search: StabilitySearch) -> str:
    results, best = search.results_, search.best_index_
    agreements = [f"between samples of the points {_of(search, 'stability_points')}"]
    if np.isfinite(results["stability_features"][best]):
        agreements.append(f"between halves of the features {_of(search, 'stability_features')}")
    if len(results["candidate"]) > 1:
        agreements.append(f"with the other candidates {_of(search, 'consensus')}")
    return (
        f"<b>{escape(search.best_name_)}</b> with {search.n_clusters_} clusters was chosen. Its "
        f"score of {_of(search, 'score')} is the sum of how well its labels agree (1 is perfect): "
        f"{', '.join(agreements)}."
    )


def _of(search: StabilitySearch, name: str) -> str:
    """A score of the winner, for a sentence."""
    return signed(search.results_[name][search.best_index_], 2)


def _second(search: StabilitySearch) -> str:
    """The best of the others, and how it compares."""
    results = search.results_
    # The winner of a tie may have a lower score than the second.
    others = [place for place in _by_rank(search) if place != search.best_index_]
    if not others:
        return "There was no other candidate."
    second = others[0]
    words = (
        f"Second is <b>{escape(results['candidate'][second])}</b> with "
        f"{results['n_clusters'][second]} clusters and a score of "
        f"{signed(results['score'][second], 2)}"
    )
    if abs(search.margin_) <= TIE:
        words += (
            f": a tie, because the scores differ by no more than {TIE:g}, and the candidate that "
            "comes first in the list wins ties"
        )
    return f"{words}."


def _number(search: StabilitySearch) -> str:
    if search.n_clusters == "auto":
        return "The number of clusters was not given, so the candidates found it."
    return "The number of clusters was given."


def _doubt(search: StabilitySearch) -> str:
    if search.structure_found_:
        return ""
    return (
        f'<p class="warning"><b>No structure found.</b> {_reason(search)} The data may have no '
        "clusters at all.</p>"
    )


def _reason(search: StabilitySearch) -> str:
    """Why no structure was found."""
    agreement = _of(search, "stability_points")
    if search.results_["stability_points"][search.best_index_] >= LEAST_STABILITY:
        return "No number of clusters stands out from what noise would show."
    return (
        "Even the labels of the winner change from one sample of the points to another: they agree "
        f"by {agreement}, and below {LEAST_STABILITY:g} labels say more about the samples than "
        "about the data."
    )


def _by_rank(search: StabilitySearch) -> list[int]:
    return np.argsort(search.results_["rank"]).tolist()


def _candidates(search: StabilitySearch) -> str:
    """A row for every candidate, the best score first."""
    shown = _measured(search)
    heads = ("candidate", "clusters", *(MEASURES[name] for name in shown), "score")
    rows = (_row(search, place, shown) for place in _by_rank(search))
    drawn = table("Table of candidates", heads, rows, "candidates")
    return f'{drawn}<p class="note">{_explained(search)}</p>'


def _measured(search: StabilitySearch) -> list[str]:
    """The measures that at least one candidate has: the columns of a table are not halved."""
    return [name for name in MEASURES if np.isfinite(search.results_[name]).any()]


def _row(search: StabilitySearch, place: int, shown: list[str]) -> str:
    results = search.results_
    chosen = place == search.best_index_
    cells = [
        f'<th scope="row">{escape(results["candidate"][place])}'
        f"{'<small>chosen</small>' if chosen else ''}</th>",
        f"<td>{results['n_clusters'][place]:,}</td>",
        *(_measure(results[name][place]) for name in shown),
        f"<td>{signed(results['score'][place], 3)}</td>",
    ]
    css = ' class="chosen"' if chosen else ""
    return f"<tr{css}>{''.join(cells)}</tr>"


def _measure(value: float) -> str:
    if not np.isfinite(value):
        return "<td>\N{EN DASH}</td>"
    return bar_cell(signed(value, 3), value)


def _explained(search: StabilitySearch) -> str:
    words = (
        "All candidates were fitted on the same random samples of the points. Stability of points: "
        "how well the labels from two samples agree on the points they share. "
    )
    if "stability_features" in _measured(search):
        words += "Stability of features: how well the labels of two halves of the features agree. "
    else:
        words += (
            "Stability of features is not measured on tables, because a single column may be all "
            "that separates two clusters. "
        )
    words += (
        "Consensus: how well a candidate agrees with the others on the same sample. Each is an "
        "adjusted mutual information (0 by chance, 1 if perfect), and the score is their sum."
    )
    if isinstance(search.candidates, str):
        words += f" These candidates are the ones for {escape(search.columns_)}."
    return words


def cluster_counts(found: Findings) -> tuple[str, str, str] | None:
    """The scores of the numbers of clusters tried, if the number was found and not given."""
    # A search knows the numbers of whatever it chose, K-means included.
    counted: Any = found.search if hasattr(found.search, "cluster_counts_") else found.model
    counts = getattr(counted, "cluster_counts_", None)
    if counts is None or len(counts) == 1:  # components alone, or too few points to say more
        return None
    chosen = int(counted.n_clusters_)
    chart = line_chart(
        counted.cluster_count_scores_,
        x_values=counts,
        x_label="number of clusters",
        y_label="score",
        title=f"Scores of {len(counts)} numbers of clusters; the largest for {chosen}",
        line_at=chosen,
    )
    words = f"{_what_counts(found)} The dashed line is at {chosen}, the number chosen."
    next_best = counted.best_counts(3)[1:]
    if next_best:
        words += f" Next: {', '.join(map(str, next_best))}."
    if not counted.structure_found_:
        words += " <b>No structure found</b>: no number of clusters stands out."
    return "Number of clusters", chart, words


def _what_counts(found: Findings) -> str:
    """What the scores of the numbers of clusters mean."""
    rule = counted_by(found.model.n_features_in_)
    if rule == "density":
        return (
            "Clusters are dense, and the valleys between them are deeper than those that noise has "
            "by chance. The score says how much the depth that counts as a valley could change "
            "before another number would be right. Below zero: how much it would have to change "
            "for this number to be right."
        )
    if rule == "links":
        return (
            "Real clusters have far fewer links between them than chance would give. How few can "
            "be set more or less strictly; the score is the share of these settings for which this "
            "number is the best. Below zero, it is the best for none."
        )
    return (
        "Two random halves of the points are clustered separately. The score is the number of "
        "clusters that both halves find, minus those that only one finds."
    )
