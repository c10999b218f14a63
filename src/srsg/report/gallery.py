"""The part of the page that shows members of each cluster, as pictures or as small lines."""

from __future__ import annotations

from html import escape

import numpy as np
from numpy.typing import NDArray

from srsg.report.charts import sparkline
from srsg.report.facts import Facts
from srsg.report.markup import section, show_button, signed, swatch, words
from srsg.report.pictures import Thumbnails, shrunk
from srsg.types import FloatArray

PICTURES, LINES = 8, 3
"""Central members shown of a cluster, and doubtful ones: as pictures or as lines."""

MOST_STEPS = 60
"""Steps of a line; in wider tables, neighbouring columns are averaged."""

N_TELLING = 4
"""Features that are named above the members of a cluster."""

Chosen = list[tuple[NDArray[np.intp], NDArray[np.intp]]]


class Profiles:
    """Every point as a line over the features, in standard deviations from their means.

    Examples
    --------
    >>> import numpy as np
    >>> from srsg.report.gallery import Profiles
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
        heading = f"{swatch(cluster)}Cluster {escape(facts.cluster_names[cluster])}"
        button = show_button(heading, cluster=cluster)
        card = f"<h3>{button} <small>{len(members):,} points</small></h3>"
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
