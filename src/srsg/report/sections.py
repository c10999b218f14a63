"""The parts of the page about the result: summary, map, clusters, their members, classes."""

from collections.abc import Collection, Mapping
from html import escape

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from srsg.report.facts import Facts
from srsg.report.markup import (
    bar_cell,
    filled,
    row,
    section,
    show_button,
    swatch,
    table,
    words,
)
from srsg.report.pictures import Thumbnails

MOST_CELLS = 24
"""With more classes than this, the confusion matrix is drawn without figures."""

PICTURES = 8
"""Central members shown of a cluster, and doubtful ones."""

Chosen = list[tuple[NDArray[np.intp], NDArray[np.intp]]]


def summary(facts: Facts, seconds: float | None = None) -> str:
    """Figures, and the parameters."""
    n_points, n_features = facts.X.shape
    figures = {
        "points": f"{n_points:,}",
        "features": f"{n_features:,}",
        "clusters": f"{facts.n_clusters:,}",
    }
    graph, n_components = facts.learnt("affinity_matrix_"), facts.learnt("n_connected_components_")
    if sparse.issparse(graph):
        figures["edges"] = f"{sparse.triu(graph, 1).nnz:,}"
    if n_components is not None:
        figures["component" if n_components == 1 else "components"] = f"{n_components:,}"
    if seconds is not None:
        figures["seconds to fit"] = f"{seconds:,.3g}"
    figures["mean confidence"] = f"{facts.confidence.values.mean():.3f}"
    scores = {name: f"{value:.4f}" for name, value in facts.scores.items()}
    about = words("no_classes")
    if scores:
        right = round(facts.scores["accuracy"] * n_points)
        about = words("scores", right=f"{right:,}", n_points=f"{n_points:,}")
    glance = _definitions(scores, "scores") + _definitions(figures, "figures")
    body = f'<div class="glance">{glance}</div><p class="note">{about}</p>'
    if facts.search is not None and facts.search.approximation_ is not None:
        body += f'<p class="note">{escape(str(facts.search.approximation_))}</p>'
    parameters, changed = facts.parameters()
    if parameters:
        body += (
            "<details><summary>Parameters <small>in bold: not the default</small></summary>"
            f"{_definitions(parameters, 'parameters', changed)}</details>"
        )
    return section("summary", "Summary", body)


def map_of_points(facts: Facts) -> str:
    """The place where the script draws its map, with all its controls."""
    classes, filters = "", " or a row of the table of clusters"
    if facts.classes is not None:
        classes = words("class_button")
        filters = ", a row of the table of clusters or a cell of the table of classes"
    n_all, line = facts.sizes.sum(), facts.plane[1]
    if len(facts.X) < n_all:
        line = f"The map shows {len(facts.X):,} of {n_all:,} points. {line}"
    body = filled(
        "map.html",
        classes=classes,
        n_points=f"{len(facts.X):,}",
        n_clusters=facts.n_clusters,
        line=escape(line),
        filters=filters,
        meaning=escape(facts.confidence.meaning),
    )
    return section("map", "Map of the points", body)


def clusters(facts: Facts) -> str:
    """A row for every cluster: size, confidence, class."""
    heads = ["cluster", "points", "mean confidence", "points below 0.5"]
    if facts.classes is not None:
        heads += ["most common class", "its share"]
    sizes = facts.sizes
    rows = []
    for place, name in enumerate(facts.cluster_names):
        members = facts.members(place)
        sure = facts.confidence.values[members]
        cells = [
            bar_cell(f"{sizes[place]:,}", sizes[place] / sizes.max()),
            bar_cell(f"{sure.mean():.2f}", sure.mean()),
            f"<td>{(sure < 0.5).sum():,}</td>",
        ]
        if facts.classes is not None:
            counts = np.bincount(facts.classes[members])
            share = counts.max() / sizes[place]
            common = escape(facts.class_names[counts.argmax()])
            cells += [f'<td class="text">{common}</td>', bar_cell(f"{share:.0%}", share)]
        heading = show_button(f"{swatch(place)}{escape(name)}", cluster=place)
        rows.append(row(heading, cells, attributes=f' data-row-cluster="{place}"'))
    smallest, largest = sizes.min(), sizes.max()
    spread = f"{largest:,} points each"
    if smallest < largest:
        spread = f"{smallest:,} to {largest:,} points"
    body = table("Table of clusters", heads, rows, "tall")
    return section("clusters", "Clusters", body, words("clusters", spread=spread))


def chosen_members(facts: Facts) -> Chosen:
    """Most central and least confident members of every cluster."""
    members = [facts.members(cluster) for cluster in range(facts.n_clusters)]
    sure = facts.confidence
    return [(sure.most_central(m, PICTURES), sure.least_confident(m, PICTURES)) for m in members]


def gallery(facts: Facts, chosen: Chosen, pictures: Thumbnails) -> str:
    """Each cluster's members as pictures."""
    cards = ""
    for cluster, groups in enumerate(chosen):
        heading = f"{swatch(cluster)}Cluster {escape(facts.cluster_names[cluster])}"
        button = show_button(heading, cluster=cluster)
        card = f"<h3>{button} <small>{facts.sizes[cluster]:,} points</small></h3>"
        for title, points in zip(("most central", "least confident"), groups, strict=True):
            drawn = (_tile(facts, i, pictures.drawn(i)) for i in points.tolist())
            card += f'<h4>{title}</h4><div class="tiles">{"".join(drawn)}</div>'
        cards += f'<article class="card">{card}</article>'
    body = f'<div class="cards pictures">{cards}</div>'
    return section("members", "Members", body, words("pictures"))


def _tile(facts: Facts, point: int, inner: str) -> str:
    label = f"{facts.row(point)}, confidence {facts.confidence.values[point]:.2f}"
    if facts.classes is not None:
        label += f", class {facts.class_names[facts.classes[point]]}"
    return (
        f'<button type="button" tabindex="-1" class="tile picture" data-point="{point}" '
        f'title="{escape(label)}" aria-label="{escape(label)}">{inner}</button>'
    )


def confusion(facts: Facts) -> str:
    """True classes against clusters, matched."""
    if facts.classes is None:
        return ""
    small = max(facts.confusion.table.shape) <= MOST_CELLS
    drawn = _cells(facts) if small else _blocks(facts)
    body = drawn + _largest_disagreements(facts)
    return section("classes", "True classes", body, words("classes"))


def _largest_disagreements(facts: Facts) -> str:
    counts, clusters, matched = facts.confusion
    wrong = np.where(matched == np.arange(len(counts))[:, None], 0, counts)
    lines = []
    for place in np.argsort(-wrong, axis=None, kind="stable")[:8]:
        a, b = divmod(int(place), wrong.shape[1])
        if not wrong[a, b]:
            break
        own = f", matched with {escape(facts.class_names[matched[b]])}" if matched[b] >= 0 else ""
        text = (
            f"<b>{wrong[a, b]:,}</b> of class {escape(facts.class_names[a])} in cluster "
            f"{escape(facts.cluster_names[clusters[b]])}{own}"
        )
        lines.append(f"<li>{show_button(text, cluster=clusters[b], true_class=a)}</li>")
    return f'<h3>Largest disagreements</h3><ol class="worst">{"".join(lines)}</ol>' if lines else ""


def _cells(facts: Facts) -> str:
    """The confusion matrix as a table."""
    counts, clusters, matched = facts.confusion
    shares = counts / counts.sum(axis=1, keepdims=True)
    head = "".join(
        f'<th scope="col">'
        f"{show_button(f'{swatch(c)}{escape(facts.cluster_names[c])}', cluster=c)}</th>"
        for c in clusters
    )
    rows = []
    for a, name in enumerate(facts.class_names):
        cells = (
            f'<td class="{"on" if matched[b] == a else "off"}" style="--share:{shares[a, b]:.3f}">'
            f"{show_button(f'{count:,}', cluster=clusters[b], true_class=a) if count else ''}</td>"
            for b, count in enumerate(counts[a])
        )
        rows.append(row(show_button(escape(name), true_class=a), cells))
    return filled("confusion.html", n_clusters=len(clusters), head=head, rows="".join(rows))


def _blocks(facts: Facts) -> str:
    """The confusion matrix of many classes, as a drawing."""
    counts, clusters, matched = facts.confusion
    shares = counts / counts.sum(axis=1, keepdims=True)
    cells = "".join(
        f'<rect class="{"on" if matched[b] == a else "off"}" x="{b}" y="{a}" width="1" height="1" '
        f'data-show-cluster="{clusters[b]}" data-show-class="{a}" '
        f'fill-opacity="{0.25 + 0.75 * shares[a, b]:.2f}"><title>class '
        f"{escape(facts.class_names[a])}, cluster {escape(facts.cluster_names[clusters[b]])}: "
        f"{counts[a, b]:,}</title></rect>"
        for a, b in np.argwhere(counts)
    )
    n_classes, n_clusters = counts.shape
    return filled("blocks.html", n_classes=n_classes, n_clusters=n_clusters, cells=cells)


def _definitions(items: Mapping[str, str], css: str, bold: Collection[str] = ()) -> str:
    """Names with their values, some of them in bold; nothing if there are none."""
    marks = {name: ' class="changed"' if name in bold else "" for name in items}
    inner = "".join(
        f"<div{marks[name]}><dt>{escape(name)}</dt><dd>{escape(value)}</dd></div>"
        for name, value in items.items()
    )
    return f'<dl class="{css}">{inner}</dl>' if items else ""
