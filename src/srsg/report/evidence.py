"""The parts of the page about the way to the result: graph, eigenvalues, sweeps, certificates."""

from __future__ import annotations

from html import escape

import numpy as np

from srsg.graph import symmetrized
from srsg.report.charts import histogram, line_chart
from srsg.report.facts import Facts
from srsg.report.markup import chart_card, filled, prose, row, section, words
from srsg.report.pictures import GraphPicture, graph_picture

Chart = tuple[str, str, str]
"""Heading, drawing and caption."""

SIDE = 480
"""Units along a side of a graph's drawing, as in ``assets/graph.html``."""


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


def measures(facts: Facts) -> str:
    """Charts of how the result came about."""
    charts = [
        None if facts.search is not None else cluster_counts(facts),  # else with the choice
        _eigenvalues(facts),
        _objective(facts),
        _code_sizes(facts),
        _confidence(facts),
    ]
    cards = "".join(chart_card(*chart) for chart in charts if chart)
    return section("measures", "Measures", f'<div class="charts">{cards}</div>')


def cluster_counts(facts: Facts) -> Chart | None:
    """The scores of the numbers of clusters tried, if the number was found and not given."""
    tried = facts.cluster_counts
    if tried is None:
        return None
    chart = line_chart(
        tried.scores,
        x_values=tried.counts,
        x_label="number of clusters",
        y_label="score",
        title=f"Scores of {len(tried.counts)} numbers of clusters; the largest for {tried.chosen}",
        line_at=tried.chosen,
    )
    caption = f"{words(f'by_{tried.rule}')} {words('chosen_count', chosen=tried.chosen)}"
    if tried.next_best:
        caption += words("next_counts", counts=", ".join(map(str, tried.next_best)))
    if not tried.structure_found:
        caption += words("no_count")
    return "Number of clusters", chart, caption


def _eigenvalues(facts: Facts) -> Chart | None:
    if facts.eigenvalues is None:
        return None
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
        gap_after=used if len(values) > used else None,
    )
    return "Eigenvalues", chart, caption


def _objective(facts: Facts) -> Chart | None:
    history = facts.learnt("objective_history_")
    if history is None:
        return None
    first, last = history[0], history[-1]
    title = f"Objective from {first:.6g} to {last:.6g}"
    chart = line_chart(history, x_label="sweep", y_label="objective", title=title)
    ends = {"first": f"{first:,.6g}", "last": f"{last:,.6g}"}
    return "Objective", chart, words("objective", **ends, n_sweeps=len(history) - 1)


def _code_sizes(facts: Facts) -> Chart | None:
    codes, start = facts.learnt("codes_"), facts.learnt("init_codes_")
    if codes is None:
        return None
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
    return title, chart, caption


def _confidence(facts: Facts) -> Chart:
    values = facts.confidence.values
    chart = histogram(
        {"": values},
        x_label="confidence",
        y_label="points",
        title="Confidence of the points",
        within=(0.0, 1.0),
    )
    sure, doubtful = f"{(values >= 0.9).mean():.0%}", f"{(values < 0.5).mean():.0%}"
    return "Confidence", chart, words("confidence", sure=sure, doubtful=doubtful)


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
    table = f'<div class="scroll"><table class="certificates"><tbody>{cells}</tbody></table></div>'
    return section("certificates", "Certificates and run", table if rows else "")
