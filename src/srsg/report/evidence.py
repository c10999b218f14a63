"""The parts of the page about the way to the result: search, methods, graph, measures, proofs."""

from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

import numpy as np

from srsg.counting.counts import counted_by
from srsg.counting.stability import LEAST_STABILITY
from srsg.estimators.base import scored_counts
from srsg.graph import symmetrized
from srsg.registry import methods as all_methods
from srsg.report.charts import histogram, icicle, line_chart
from srsg.report.facts import Facts
from srsg.report.markup import bar_cell, filled, prose, row, section, signed, table, words
from srsg.report.pictures import GraphPicture, graph_picture
from srsg.search import StabilitySearch
from srsg.search.search import TIE

SIDE = 480
"""Units along a side of a graph's drawing, as in ``assets/graph.html``."""

MOST_MERGES = 8
"""Merges of clusters that are told in words."""

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
    """Why the search chose this graph; nothing if there was no search."""
    search = facts.search
    if search is None:
        return ""
    number = words("count_found" if isinstance(search.n_clusters, str | tuple) else "count_given")
    lead = f"{_winner(search)} {_second(search)} {number}"
    body = _doubt(search) + _candidates(search)
    if curve := cluster_counts(facts):
        body += f'<div class="charts">{curve}</div>'
    heading = "Why this graph, and why this many clusters"
    return section("choice", heading, body, lead, short="Choice")


def _candidate(search: StabilitySearch, place: int) -> dict[str, Any]:
    """A row of the results, by the names of their columns."""
    return {name: values[place] for name, values in search.results_.items()}


def _winner(search: StabilitySearch) -> str:
    best = _candidate(search, search.best_index_)
    agreements = [f"between samples of the points {signed(best['stability_points'], 2)}"]
    if np.isfinite(best["stability_features"]):
        halves = signed(best["stability_features"], 2)
        agreements.append(f"between halves of the features {halves}")
    if len(search.results_["candidate"]) > 1 and np.isfinite(best["consensus"]):
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
    second = _candidate(search, others[0])
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


def methods(facts: Facts, compared: Sequence[Mapping[str, Any]]) -> str:
    """One row per method, in the order given, this page's in bold; nothing if none were given."""
    if not compared:
        return ""
    titles = {**SCORES, **COSTS}
    values = {key: [row[key] for row in compared if row.get(key) is not None] for key in titles}
    shown = [key for key in titles if values[key]]
    rows = []
    for method in compared:
        name = str(method["method"])
        title = all_methods()[name].title if name in all_methods() else name
        cells = [_cell(method.get(key), key, max(values[key])) for key in shown]
        if method.get("error"):
            error = escape(str(method["error"]))
            cells = [f'<td class="text" colspan="{len(shown)}">failed: {error}</td>']
        rows.append(row(escape(title), cells, CHOSEN if title == facts.method else ""))
    heads = ("method", *(titles[key] for key in shown))
    body = table("Table of methods", heads, rows, "candidates")
    return section("methods", "Methods compared", body, words("methods"), short="Methods")


def _cell(value: float | None, key: str, best: float) -> str:
    if value is None:
        return NOTHING
    if key in COSTS:
        return f"<td>{value:,.3g}</td>" if value < 100 else f"<td>{value:,.0f}</td>"
    text = signed(value, 3)
    return bar_cell(f"<b>{text}</b>" if value == best else text, value)


def graphs(facts: Facts) -> str:
    """The affinity in order of the clusters, beside that of the codes it started from."""
    graph, start = facts.learnt("affinity_matrix_"), facts.learnt("init_codes_")
    if graph is None:
        return ""
    drawn = {facts.method: graph}
    if start is not None:
        drawn = {"l1-graph, where it started": symmetrized(start), **drawn}
    figures = "".join(
        _framed(facts, name, graph_picture(matrix, facts.cluster, facts.classes))
        for name, matrix in drawn.items()
    )
    return section("graph", "The graph", f'<div class="pair">{figures}</div>', words("graph"))


def _framed(facts: Facts, name: str, picture: GraphPicture) -> str:
    sizes = np.bincount(facts.cluster, minlength=facts.n_clusters) * SIDE / len(facts.X)
    frames, labels = "", ""
    for cluster, size, end in zip(facts.cluster_names, sizes, np.cumsum(sizes), strict=True):
        start = f"{end - size:.1f}"
        frames += f'<rect x="{start}" y="{start}" width="{size:.1f}" height="{size:.1f}"/>'
        # Labels of smaller clusters would overlap.
        if size >= 11:
            middle = f"{end - size / 2 + 4:.1f}"
            labels += f'<text x="-6" y="{middle}" class="end">{escape(cluster[:4])}</text>'
    caption = f"{picture.n_edges:,} edges, {picture.between_clusters:.1%} of them between clusters"
    if picture.between_classes is not None:
        caption += f", {picture.between_classes:.1%} between different true classes"
    return filled(
        "graph.html",
        name=escape(name),
        picture=picture.uri,
        frames=frames,
        labels=labels,
        caption=caption,
    )


def tree(facts: Facts) -> str:
    """Clusters within clusters, and which of them are merged first."""
    found = facts.learnt("tree_")
    if found is None or facts.n_clusters < 2:
        return ""
    owner = found.owners(facts.cluster)
    texts = {"x_label": "points", "y_label": "height", "title": "Tree of the clusters"}
    chart = icicle(found.spans(), owner, facts.cluster_names, **texts)
    inside = [{int(each)} for each in owner[: found.n_leaves]]
    lines: list[str] = []
    for t, (pair, height) in enumerate(zip(found.merges, found.heights, strict=True)):
        inside.append(inside[pair[0]] | inside[pair[1]])
        if owner[found.n_leaves + t] < 0 and len(lines) < MOST_MERGES:
            names = ", ".join(escape(facts.cluster_names[c]) for c in sorted(inside[-1]))
            left = len(owner) - found.n_leaves - t
            lines.append(words("merge", left=left, names=names, height=f"{height:.2f}"))
    merges = f"<ul><li>{'</li><li>'.join(lines)}</li></ul>"
    body = f'<div class="pair"><figure class="card">{chart}</figure><div>{merges}</div></div>'
    return section("tree", "Clusters within clusters", body, words("tree"), short="Tree")


def measures(facts: Facts) -> str:
    """Charts of how the result came about."""
    # A search shows the numbers of clusters with its choice.
    counts = cluster_counts(facts) if facts.search is None else ""
    others = (_eigenvalues, _objective, _code_sizes, _confidence)
    cards = counts + "".join(chart(facts) for chart in others)
    return section("measures", "Measures", f'<div class="charts">{cards}</div>')


def _card(title: str, chart: str, text: str) -> str:
    """A chart with its heading above and its caption below."""
    return f'<figure class="card"><h3>{title}</h3>{chart}<figcaption>{text}</figcaption></figure>'


def cluster_counts(facts: Facts) -> str:
    """The scores of the numbers of clusters tried, if the number was found and not given."""
    # A search knows the numbers even if it chose a model that does not, such as K-means.
    source: Any = facts.search if hasattr(facts.search, "cluster_counts_") else facts.model
    counts = getattr(source, "cluster_counts_", ())
    if len(counts) < 2:  # components alone, or too few points to say more
        return ""
    chosen = int(source.n_clusters_)
    chart = line_chart(
        source.cluster_count_scores_,
        x_values=counts,
        x_label="number of clusters",
        y_label="score",
        title=f"Scores of {len(counts)} numbers of clusters; the largest for {chosen}",
        line_at=chosen,
    )
    rule = words(f"by_{counted_by(facts.model.n_features_in_)}")
    caption = f"{rule} {words('chosen_count', chosen=chosen)}"
    counted = scored_counts(source)
    others = " and ".join(f"{count} ({score:.2g})" for count, score in counted.others())
    if others:
        caption += words("sure_count" if counted.sure else "other_counts", counts=others)
    if not source.structure_found_:
        caption += words("no_count")
    return _card("Number of clusters", chart, caption)


def _eigenvalues(facts: Facts) -> str:
    if facts.eigenvalues is None:
        return ""
    values, used = facts.eigenvalues
    caption = words("eigenvalues")
    if len(values) > used:
        caption += words("gap", used=used, gap=f"{values[used - 1] - values[used]:.3g}")
    chart = line_chart(
        values,
        x_values=np.arange(1, len(values) + 1),
        x_label="eigenvalue",
        y_label="size",
        title=f"Eigenvalues: {', '.join(f'{v:.3f}' for v in values[:20])}",
        line_at=used + 0.5 if len(values) > used else None,
        beyond=True,
    )
    return _card("Eigenvalues", chart, caption)


def _objective(facts: Facts) -> str:
    history = facts.learnt("objective_history_")
    if history is None:
        return ""
    first, last = history[0], history[-1]
    title = f"Objective from {first:.6g} to {last:.6g}"
    chart = line_chart(history, x_label="sweep", y_label="objective", title=title)
    ends = {"first": f"{first:,.6g}", "last": f"{last:,.6g}"}
    caption = words("objective", **ends, n_sweeps=len(history) - 1)
    return _card("Objective", chart, caption)


def _code_sizes(facts: Facts) -> str:
    codes, start = facts.learnt("codes_"), facts.learnt("init_codes_")
    if codes is None:
        return ""
    after = np.diff(codes.tocsr().indptr)
    series = {"after": after}
    caption = f"{after.mean():.2f} points code a point on average"
    if start is not None:
        before = np.diff(start.tocsr().indptr)
        series = {"l1 codes": before, facts.method: after}
        caption += f", {before.mean():.2f} before the sweeps"
    caption += f"; at most {after.max()}."
    if not after.all():
        caption += f" {(after == 0).sum():,} codes are empty."
    title = "Sizes of the codes"
    chart = histogram(series, x_label="non-zeros of a code", y_label="points", title=title)
    return _card(title, chart, caption)


def _confidence(facts: Facts) -> str:
    values = facts.confidence.values
    texts = {"x_label": "confidence", "y_label": "points", "title": "Confidence of the points"}
    chart = histogram({"": values}, (0.0, 1.0), **texts)
    sure, doubtful = f"{(values >= 0.9).mean():.0%}", f"{(values < 0.5).mean():.0%}"
    return _card("Confidence", chart, words("confidence", sure=sure, doubtful=doubtful))


def certificates(facts: Facts) -> str:
    """Proofs of exactness, and notes on the run, as far as the model has them."""
    of_start = "" if facts.learnt("init_codes_") is None else ", l1 codes at the start"
    rows = [
        (title + of_start, f"{np.max(facts.learnt(name)):.2e}", meaning)
        for name, (title, meaning) in prose()["certificates"].items()
        if facts.learnt(name) is not None
    ]
    certified = facts.learnt("certified_")
    if certified is not None and len(certified) < len(facts.X):
        quantiles = facts.learnt("kkt_quantiles_").items()
        shares = ", ".join(f"{share:.0%} {value:.2e}" for share, value in quantiles)
        meaning = words("quantiles", n_certified=f"{len(certified):,}")
        rows.append(("KKT violation by quantiles" + of_start, shares, meaning))
    rows += [
        (title, f"{facts.learnt(name):,.6g}", meaning)
        for name, (title, meaning) in prose()["run"].items()
        if facts.learnt(name) is not None
    ]
    cells = "".join(
        row(title, (f"<td>{value}</td>", f'<td class="text">{meaning}</td>'))
        for title, value, meaning in rows
    )
    body = f'<div class="scroll"><table class="certificates"><tbody>{cells}</tbody></table></div>'
    return section("certificates", "Certificates and run", body if rows else "")
