"""The parts of the page about the result: summary, map, clusters, classes."""

from __future__ import annotations

import inspect
from collections.abc import Iterable
from html import escape
from typing import Any

import numpy as np
from scipy import sparse

from srsg.report.findings import Findings

MOST_CELLS = 24
"""With more classes than this, the confusion matrix is drawn without figures."""


def section(name: str, heading: str, body: str, lead: str = "", *, short: str = "") -> str:
    """One part of the page; nothing where there is no body.

    ``short`` takes the place of a long heading in the navigation.
    """
    if not body:
        return ""
    line = f'<p class="lead">{lead}</p>' if lead else ""
    start = f'<section id="{name}" data-title="{escape(short or heading)}">'
    return f"{start}<h2>{escape(heading)}</h2>{line}{body}</section>"


def chart_card(title: str, chart: str, words: str) -> str:
    """A chart with its heading above and its caption below."""
    return f'<figure class="card"><h3>{title}</h3>{chart}<figcaption>{words}</figcaption></figure>'


def table(label: str, heads: Iterable[str], rows: Iterable[str], css: str = "") -> str:
    """A table that scrolls by itself where the page is too narrow for it.

    ``label`` is what a screen reader calls it.
    """
    head = "".join(f'<th scope="col">{title}</th>' for title in heads)
    return (
        f'<div class="scroll {css}" tabindex="0" role="region" aria-label="{label}">'
        f"<table><thead><tr>{head}</tr></thead><tbody>{''.join(rows)}</tbody></table></div>"
    )


def swatch(place: int) -> str:
    """A dot in the colour of a cluster or class."""
    return f'<i class="swatch" style="--colour:var(--c{place})"></i>'


def show_button(words: str, *, cluster: int | None = None, true_class: int | None = None) -> str:
    """A button that shows only the points of a cluster, of a class, or of both at once."""
    which = "" if cluster is None else f' data-show-cluster="{cluster}"'
    which += "" if true_class is None else f' data-show-class="{true_class}"'
    return f'<button type="button" class="show"{which}>{words}</button>'


def summary(found: Findings) -> str:
    """Figures, and the parameters."""
    n_points, n_features = found.X.shape
    figures = [
        ("points", f"{n_points:,}"),
        ("features", f"{n_features:,}"),
        ("clusters", f"{found.n_clusters:,}"),
    ]
    graph = found.learnt("affinity_matrix_")
    if sparse.issparse(graph):
        figures.append(("edges", f"{sparse.triu(graph, 1).nnz:,}"))
    n_components = found.learnt("n_connected_components_")
    if n_components is not None:
        noun = "component" if n_components == 1 else "components"
        figures.append((noun, f"{n_components:,}"))
    if found.seconds is not None:
        figures.append(("seconds to fit", f"{found.seconds:,.3g}"))
    figures.append(("mean confidence", f"{found.confidence.values.mean():.3f}"))
    scores = [(name, f"{value:.4f}") for name, value in found.scores.items()]
    body = f'<div class="glance">{_figures(scores, "scores")}{_figures(figures, "figures")}</div>'
    body += f'<p class="note">{_score_line(found)}</p>{_parameters(found.model)}'
    return section("summary", "Summary", body)


def _score_line(found: Findings) -> str:
    if not found.scores:
        return (
            "No true classes were given, so this page can say how sure the clusters are, but not "
            "how right."
        )
    right = round(found.scores["accuracy"] * len(found.X))
    return (
        f"{right:,} of {len(found.X):,} points are in the cluster matched with their class. "
        "Accuracy is their share; NMI and ARI compare the two partitions as a whole. 1 is perfect."
    )


def _figures(items: list[tuple[str, str]], css: str) -> str:
    if not items:
        return ""
    inner = "".join(f"<div><dt>{escape(a)}</dt><dd>{escape(b)}</dd></div>" for a, b in items)
    return f'<dl class="{css}">{inner}</dl>'


def _parameters(model: Any) -> str:
    if not hasattr(model, "get_params"):
        return ""
    signature = inspect.signature(type(model).__init__).parameters
    cells = []
    for name, value in model.get_params(deep=False).items():
        default = signature[name].default if name in signature else inspect.Parameter.empty
        # As text, because arrays cannot be compared to a single truth value.
        changed = _shown(value) != _shown(default)
        mark = ' class="changed"' if changed else ""
        cells.append(f"<div{mark}><dt>{escape(name)}</dt><dd>{escape(_shown(value))}</dd></div>")
    return (
        "<details><summary>Parameters <small>in bold: not the default</small>"
        f'</summary><dl class="parameters">{"".join(cells)}</dl></details>'
    )


def _shown(value: Any) -> str:
    if isinstance(value, np.ndarray) or sparse.issparse(value):
        return f"array of shape {value.shape}"
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "..."


def map_of_points(found: Findings, line: str) -> str:
    """Where the script draws its map, with all its controls."""
    modes = [("cluster", "Cluster"), ("confidence", "Confidence")]
    if found.classes is not None:
        modes.insert(1, ("class", "True class"))
    buttons = "".join(
        f'<button type="button" data-colour="{key}" aria-pressed="{str(key == "cluster").lower()}">'
        f"{label}</button>"
        for key, label in modes
    )
    rows = "a row of the table of clusters"
    filters = (
        f" or {rows}" if found.classes is None else f", {rows} or a cell of the table of classes"
    )
    body = f"""
<div class="toolbar">
  <div class="choice" role="group" aria-label="Colour by"><span>Colour by</span>{buttons}</div>
  <form id="find" role="search"><label for="row">Find</label>
    <input id="row" type="search" placeholder="row, id or part of it" autocomplete="off" size="16">
    <button type="submit">Go</button></form>
</div>
<div class="map" id="map-area">
  <canvas id="points" tabindex="0" role="application" aria-describedby="map-help"
    aria-label="Map of {len(found.X):,} points in {found.n_clusters} clusters"></canvas>
  <canvas id="marks" aria-hidden="true"></canvas>
  <div class="choice zoom" role="group" aria-label="Zoom">
    <button type="button" data-zoom="in" aria-label="Zoom in">+</button>
    <button type="button" data-zoom="out" aria-label="Zoom out">\N{MINUS SIGN}</button>
    <button type="button" data-zoom="all">All</button></div>
  <div id="tip" class="tip" hidden></div>
</div>
<div class="below"><p id="picked" class="picked" role="status" aria-live="polite">No point
chosen.</p>
<p id="shown" class="picked" role="status" aria-live="polite"></p>
<button type="button" id="show-all" hidden>Show all</button></div>
<div id="legend" class="legend" role="group" aria-label="Show only"></div>
<p class="note" id="map-help">{escape(line)} Distances between groups that are far apart mean
little. To move, drag or use the arrow keys; to zoom, use the wheel, + and \N{MINUS SIGN}, or two
fingers on a phone. Press n and p for the next and the previous point, 0 to see everything. To see
only some points, click a button below the map{filters}.
Confidence: {escape(found.confidence.meaning)}.</p>
<noscript><p class="note">The map needs JavaScript. The rest of the page does not.</p></noscript>"""
    return section("map", "Map of the points", body)


def clusters(found: Findings) -> str:
    """A row for every cluster: size, confidence, class."""
    sizes = np.bincount(found.cluster, minlength=found.n_clusters)
    rows = []
    for place, name in enumerate(found.cluster_names):
        share = found.confidence.values[found.cluster == place]
        cells = [
            f'<th scope="row">{show_button(f"{swatch(place)}{escape(name)}", cluster=place)}</th>',
            bar_cell(f"{sizes[place]:,}", sizes[place] / sizes.max()),
            bar_cell(f"{share.mean():.2f}", share.mean()),
            f"<td>{(share < 0.5).sum():,}</td>",
        ]
        if found.classes is not None:
            counts = np.bincount(found.classes[found.cluster == place])
            largest = int(counts.argmax())
            cells.append(f'<td class="text">{escape(found.class_names[largest])}</td>')
            cells.append(
                bar_cell(f"{counts[largest] / sizes[place]:.0%}", counts.max() / sizes[place])
            )
        rows.append(f'<tr data-row-cluster="{place}">{"".join(cells)}</tr>')
    heads = ["cluster", "points", "mean confidence", "points below 0.5"]
    if found.classes is not None:
        heads += ["most common class", "its share"]
    body = table("Table of clusters", heads, rows, "tall")
    lead = (
        f"The clusters have {_sizes_in_words(sizes)}. Click a row to see only its points on the "
        "map."
    )
    return section("clusters", "Clusters", body, lead)


def _sizes_in_words(sizes: np.ndarray) -> str:
    smallest, largest = sizes.min(), sizes.max()
    if smallest == largest:
        return f"{largest:,} points each"
    return f"{smallest:,} to {largest:,} points"


def bar_cell(text: str, share: float) -> str:
    """A cell of a table with a bar behind its text."""
    # Agreement adjusted for chance may be slightly negative; a bar cannot.
    length = min(max(share, 0.0), 1.0)
    return f'<td class="bar" style="--share:{length:.3f}"><span>{text}</span></td>'


def signed(value: float, digits: int) -> str:
    """A number with a true minus sign, which is as wide as a digit, where it is negative."""
    return f"{value:.{digits}f}".replace("-", "\N{MINUS SIGN}")


def confusion(found: Findings) -> str:
    """True classes against clusters, matched."""
    if found.classes is None:
        return ""
    small = max(found.confusion.table.shape) <= MOST_CELLS
    drawn = _cells(found) if small else _blocks(found)
    lead = (
        "One row per class, one column per cluster. Each cluster is matched with at most one "
        "class, so that as many points as possible agree (blue), and the columns are in the order "
        "of these classes. Click a cell to see its points on the map."
    )
    return section("classes", "True classes", drawn + _largest_disagreements(found), lead)


def _largest_disagreements(found: Findings) -> str:
    wrong, matched = found.confusion.table.copy(), found.confusion.classes
    columns = np.flatnonzero(matched >= 0)
    wrong[matched[columns], columns] = 0
    lines = []
    for place in np.argsort(-wrong, axis=None, kind="stable")[:8]:
        a, b = divmod(int(place), wrong.shape[1])
        if not wrong[a, b]:
            break
        own = f", matched with {escape(found.class_names[matched[b]])}" if matched[b] >= 0 else ""
        cluster = int(found.confusion.clusters[b])
        words = (
            f"<b>{wrong[a, b]:,}</b> of class {escape(found.class_names[a])} in cluster "
            f"{escape(found.cluster_names[cluster])}{own}"
        )
        lines.append(f"<li>{show_button(words, cluster=cluster, true_class=a)}</li>")
    return f'<h3>Largest disagreements</h3><ol class="worst">{"".join(lines)}</ol>' if lines else ""


def _cells(found: Findings) -> str:
    """The confusion matrix as a table."""
    table, matched = found.confusion.table, found.confusion.classes
    shares = table / table.sum(axis=1, keepdims=True)
    clusters = [int(c) for c in found.confusion.clusters]
    names = [f"{swatch(c)}{escape(found.cluster_names[c])}" for c in clusters]
    head = "".join(
        f'<th scope="col">{show_button(name, cluster=c)}</th>'
        for name, c in zip(names, clusters, strict=True)
    )
    rows = []
    for a, name in enumerate(found.class_names):
        cells = "".join(
            f'<td class="{"on" if matched[b] == a else "off"}" style="--share:{shares[a, b]:.3f}">'
            f"{show_button(f'{count:,}', cluster=clusters[b], true_class=a) if count else ''}</td>"
            for b, count in enumerate(table[a])
        )
        heading = show_button(escape(name), true_class=a)
        rows.append(f'<tr><th scope="row">{heading}</th>{cells}</tr>')
    return (
        '<div class="scroll" tabindex="0" role="region" aria-label="Confusion matrix">'
        '<table class="confusion"><thead><tr><td></td>'
        f'<th scope="colgroup" colspan="{len(clusters)}" class="axis">cluster</th></tr>'
        f'<tr><th scope="col">class</th>{head}</tr></thead>'
        f"<tbody>{''.join(rows)}</tbody></table></div>"
    )


def _blocks(found: Findings) -> str:
    """The confusion matrix of many classes, as a drawing."""
    table, matched = found.confusion.table, found.confusion.classes
    height, width = table.shape
    shares = table / table.sum(axis=1, keepdims=True)
    places = [int(c) for c in found.confusion.clusters]
    clusters = [found.cluster_names[c] for c in places]
    cells = "".join(
        f'<rect class="{"on" if matched[b] == a else "off"}" x="{b}" y="{a}" width="1" height="1" '
        f'data-show-cluster="{places[b]}" data-show-class="{a}" '
        f'fill-opacity="{0.25 + 0.75 * shares[a, b]:.2f}"><title>class '
        f"{escape(found.class_names[a])}, cluster {escape(clusters[b])}: {table[a, b]:,}"
        "</title></rect>"
        for a, b in np.argwhere(table)
    )
    return (
        '<div class="framed"><span class="axis left">class</span>'
        f'<svg class="blocks" viewBox="0 0 {width} {height}" role="img" aria-label="Confusion '
        f'matrix of {height} classes and {width} clusters">{cells}</svg>'
        '<span class="axis">cluster</span></div>'
    )
