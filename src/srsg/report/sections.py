"""The parts of the page about the result: summary, map, clusters, their members, classes."""

from collections.abc import Collection, Mapping
from html import escape

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from srsg.report.charts import sparkline
from srsg.report.facts import Facts
from srsg.report.markup import bar_cell, filled, row, section, signed, table, words
from srsg.report.pictures import Thumbnails, shrunk
from srsg.types import FloatArray

MOST_CELLS = 24
"""With more classes than this, the confusion matrix is drawn without figures."""

PICTURES, LINES = 8, 3
"""Central members shown of a cluster, and doubtful ones: as pictures or as lines."""

MOST_STEPS = 60
"""Steps of a line; in wider tables, neighbouring columns are averaged."""

N_TELLING = 4
"""Features that are named above the members of a cluster."""

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
        heading = _show_button(f"{_swatch(place)}{escape(name)}", cluster=place)
        rows.append(row(heading, cells, attributes=f' data-row-cluster="{place}"'))
    smallest, largest = sizes.min(), sizes.max()
    spread = f"{largest:,} points each"
    if smallest < largest:
        spread = f"{smallest:,} to {largest:,} points"
    body = table("Table of clusters", heads, rows, "tall")
    return section("clusters", "Clusters", body, words("clusters", spread=spread))


class Profiles:
    """Every point as a line over the features, in standard deviations from their means.

    Examples
    --------
    >>> import numpy as np
    >>> from srsg.report.sections import Profiles
    >>> profiles = Profiles(np.array([[0.0, 1.0], [2.0, 1.0]]))
    >>> profiles.z
    array([[-1.,  0.],
           [ 1.,  0.]])
    """

    def __init__(self, X: FloatArray) -> None:
        spread = X.std(axis=0)
        self.z = (X - X.mean(axis=0)) / np.where(spread > 0, spread, 1.0)
        self.lines = shrunk(self.z, 1, min(X.shape[1], MOST_STEPS))
        # A few outliers must not flatten all other lines.
        self.limit = float(np.percentile(np.abs(self.lines), 99.5)) or 1.0

    def drawn(self, point: int, members: NDArray[np.intp]) -> str:
        """The line of a point over the mean of its cluster."""
        mean = self.lines[members].mean(axis=0)
        lines = (
            '<path class="zero" d="M0 20H100"/>'
            + sparkline(mean, -self.limit, self.limit, "mean")
            + sparkline(self.lines[point], -self.limit, self.limit, "own")
        )
        return f'<svg viewBox="0 0 100 40" preserveAspectRatio="none">{lines}</svg>'

    def telling(self, members: NDArray[np.intp], names: list[str]) -> str:
        """The features in which the members differ most from all points, and by how much."""
        mean = self.z[members].mean(axis=0)
        first = np.argsort(-np.abs(mean), kind="stable")[:N_TELLING]
        telling = (f"{names[j]} {'+' if mean[j] >= 0 else ''}{signed(mean[j], 1)}" for j in first)
        return f'<p class="telling">{" · ".join(map(escape, telling))}</p>'


def chosen_members(facts: Facts) -> Chosen:
    """Most central and least confident members of every cluster."""
    count = PICTURES if facts.image_shape else LINES
    members = [facts.members(cluster) for cluster in range(facts.n_clusters)]
    sure = facts.confidence
    return [(sure.most_central(m, count), sure.least_confident(m, count)) for m in members]


def gallery(facts: Facts, chosen: Chosen, pictures: Thumbnails | None) -> str:
    """Each cluster's members, as pictures or as lines over the features."""
    shown = pictures or Profiles(facts.X)
    kind = "picture" if pictures else "line"
    cards = ""
    for cluster, groups in enumerate(chosen):
        members = facts.members(cluster)
        heading = f"{_swatch(cluster)}Cluster {escape(facts.cluster_names[cluster])}"
        button = _show_button(heading, cluster=cluster)
        card = f"<h3>{button} <small>{facts.sizes[cluster]:,} points</small></h3>"
        if isinstance(shown, Profiles):
            card += shown.telling(members, facts.feature_names)
        for title, points in zip(("most central", "least confident"), groups, strict=True):
            drawn = (_tile(facts, i, shown.drawn(i, members), kind) for i in points.tolist())
            card += f'<h4>{title}</h4><div class="tiles">{"".join(drawn)}</div>'
        cards += f'<article class="card">{card}</article>'
    body = f'<div class="cards {kind}s">{cards}</div>'
    return section("members", "Members", body, words(f"{kind}s"))


def _tile(facts: Facts, point: int, inner: str, css: str) -> str:
    label = f"{facts.row(point)}, confidence {facts.confidence.values[point]:.2f}"
    if facts.classes is not None:
        label += f", class {facts.class_names[facts.classes[point]]}"
    return (
        f'<button type="button" tabindex="-1" class="tile {css}" data-point="{point}" '
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
        lines.append(f"<li>{_show_button(text, cluster=clusters[b], true_class=a)}</li>")
    return f'<h3>Largest disagreements</h3><ol class="worst">{"".join(lines)}</ol>' if lines else ""


def _cells(facts: Facts) -> str:
    """The confusion matrix as a table."""
    counts, clusters, matched = facts.confusion
    shares = counts / counts.sum(axis=1, keepdims=True)
    head = "".join(
        f'<th scope="col">'
        f"{_show_button(f'{_swatch(c)}{escape(facts.cluster_names[c])}', cluster=c)}</th>"
        for c in clusters
    )
    rows = []
    for a, name in enumerate(facts.class_names):
        cells = (
            f'<td class="{"on" if matched[b] == a else "off"}" style="--share:{shares[a, b]:.3f}">'
            f"{_show_button(f'{count:,}', cluster=clusters[b], true_class=a) if count else ''}</td>"
            for b, count in enumerate(counts[a])
        )
        rows.append(row(_show_button(escape(name), true_class=a), cells))
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


def _swatch(place: int) -> str:
    """A dot in the colour of a cluster or class."""
    return f'<i class="swatch" style="--colour:var(--c{place})"></i>'


def _show_button(words: str, *, cluster: int | None = None, true_class: int | None = None) -> str:
    """A button that shows only the points of a cluster, of a class, or of both at once."""
    which = "" if cluster is None else f' data-show-cluster="{cluster}"'
    which += "" if true_class is None else f' data-show-class="{true_class}"'
    return f'<button type="button" class="show"{which}>{words}</button>'
