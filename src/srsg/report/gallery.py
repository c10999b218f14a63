"""The part of the page that shows members of each cluster."""

from __future__ import annotations

from html import escape

import numpy as np
from numpy.typing import NDArray

from srsg.report.findings import Findings
from srsg.report.profiles import Profiles
from srsg.report.sections import section, show_button, swatch
from srsg.report.thumbnails import Thumbnails

PICTURES, LINES = 8, 3
"""Members shown of a cluster, central ones and doubtful ones each."""

Chosen = list[tuple[NDArray[np.intp], NDArray[np.intp]]]


def chosen_members(found: Findings) -> Chosen:
    """Most central and least confident members of every cluster."""
    count = PICTURES if found.image_shape else LINES
    members = [found.members(cluster) for cluster in range(found.n_clusters)]
    sure = found.confidence
    return [(sure.most_central(m, count), sure.least_confident(m, count)) for m in members]


def gallery(found: Findings, chosen: Chosen, pictures: Thumbnails | None) -> str:
    """Each cluster's members, as pictures or as lines over the features."""
    profiles = None if pictures else Profiles(found.X)
    place = pictures.place() if pictures else {}
    cards = []
    for cluster, (central, doubtful) in enumerate(chosen):
        members = found.members(cluster)
        telling, mean = "", np.empty(0)
        if profiles:
            mean = profiles.lines[members].mean(axis=0)
            words = " · ".join(escape(w) for w in profiles.telling(members, found.feature_names))
            telling = f'<p class="telling">{words}</p>'
        groups = []
        for title, points in (("most central", central), ("least confident", doubtful)):
            tiles = []
            for point in map(int, points):
                inner = (
                    profiles.drawn(point, mean) if profiles else _thumbnail(place[point], pictures)
                )
                tiles.append(_tile(found, point, inner, "line" if profiles else "picture"))
            groups.append(f'<h4>{title}</h4><div class="tiles">{"".join(tiles)}</div>')
        heading = f"{swatch(cluster)}Cluster {escape(found.cluster_names[cluster])}"
        cards.append(
            f'<article class="card"><h3>{show_button(heading, cluster=cluster)} '
            f"<small>{len(members):,} points</small></h3>"
            f"{telling}{''.join(groups)}</article>"
        )
    css = "lines" if profiles else "pictures"
    return section(
        "members", "Members", f'<div class="cards {css}">{"".join(cards)}</div>', _lead(profiles)
    )


def _lead(profiles: Profiles | None) -> str:
    if profiles is None:
        return (
            "The most central points of the clusters, and those that they are least sure of. "
            "A click shows a point on the map."
        )
    return (
        "A member's features, left to right, in standard deviations from the mean of all points "
        "(dotted), over the mean of its cluster (gray). Under each heading: the features that set "
        "the cluster apart most, and by how many standard deviations. "
        "A click shows a point on the map."
    )


def _thumbnail(place: int, pictures: Thumbnails | None) -> str:
    assert pictures is not None
    row, column = divmod(place, pictures.columns)
    return f'<span class="thumb" style="--x:{column};--y:{row}"></span>'


def _tile(found: Findings, point: int, inner: str, css: str) -> str:
    share = found.confidence.values[point]
    words = f"{found.row(point)}, confidence {share:.2f}"
    if found.classes is not None:
        words += f", class {found.class_names[found.classes[point]]}"
    return (
        f'<button type="button" tabindex="-1" class="tile {css}" data-point="{point}" '
        f'title="{escape(words)}" aria-label="{escape(words)}">{inner}</button>'
    )
