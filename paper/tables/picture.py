"""A table of the paper as a picture: its figures and ours, one panel per method."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from paper.evaluation import RowResults
from paper.figures.style import BLACK, BLUE, GRAY, GREEN, VERMILION, new_figure
from paper.published import MEASURES, compared_methods
from paper.settings import SETTINGS, Setting
from srsg.registry import methods

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MARKS: dict[Setting, tuple[str, str, float, float]] = {
    "paper": ("o", BLUE, 28, -0.14),
    "default": ("D", VERMILION, 24, 0.1),
    "tuned": ("^", GREEN, 30, 0.32),
}
"""Marker, colour and size of each setting, and how far below the middle of its row it is."""


def draw_table(rows: Sequence[RowResults], path: Path) -> None:
    """Write the picture of some rows; those without data have the paper's figures only."""
    names = compared_methods()
    height = 1.7 + 0.62 * len(rows)
    with new_figure(path, 14.0, height) as figure:
        grid = figure.subplots(len(MEASURES), len(names), sharex="row", sharey=True, squeeze=False)
        for measure, panels in zip(MEASURES, grid, strict=True):
            for name, ax in zip(names, panels, strict=True):
                _panel(ax, measure, name, rows)
            panels[0].set_ylabel(measure, fontweight="bold", fontsize=12)
        for name, ax in zip(names, grid[0], strict=True):
            ax.set_title(methods()[name].title)
        handles, labels = grid[0][2].get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside upper center", ncols=len(labels))


def _panel(ax: Axes, measure: str, name: str, rows: Sequence[RowResults]) -> None:
    places = np.arange(len(rows))
    printed = [row.row.figures[measure][name] for row in rows]
    published: dict[str, Any] = {"marker": "o", "s": 62, "facecolors": "none", "edgecolors": BLACK}
    # At the level of our run at the paper's settings, to which a line joins it.
    level = places + MARKS["paper"][3]
    ax.scatter(printed, level, linewidths=1.2, zorder=2, label="published", **published)
    for setting, title in SETTINGS.items():
        marker, color, size, below = MARKS[setting]
        kept = [k for k, row in enumerate(rows) if (setting, name) in row.results]
        if not kept:
            continue
        results = [rows[k].results[setting, name] for k in kept]
        means = [result.mean(measure) for result in results]
        spread = [result.std(measure) for result in results]
        level = places[kept] + below
        if setting == "paper":
            ax.hlines(level, np.array(printed)[kept], means, color=GRAY, lw=1, zorder=1)
        ax.errorbar(means, level, xerr=spread, fmt="none", color=color, lw=1, zorder=3)
        style: dict[str, Any] = {
            "marker": marker,
            "color": color,
            "s": size,
            "alpha": 0.85,
            "linewidths": 0,
        }
        ax.scatter(means, level, zorder=3, label=title, **style)
    ax.set_yticks(places, [row.row.title for row in rows])
    ax.set(ylim=(len(rows) - 0.5, -0.5), xlim=(-0.03, 1.03))
    ax.set_xticks((0, 0.5, 1), ("0", "0.5", "1"))
    ax.tick_params(length=0)
    ax.grid(axis="y", visible=False)
    for border in places[1:] - 0.5:
        ax.axhline(border, color="#E4E4E4", lw=0.8, zorder=0)
