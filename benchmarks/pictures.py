"""Pictures of the results: ratios and stages, growth."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from benchmarks import growth
from benchmarks.comparisons import CODES, FIT, PRODUCT, all_rows, profile
from benchmarks.report import stage_profiles
from srsg.files import atomic_write

BLUE, ORANGE, GREY = "#0072b2", "#d55e00", "0.6"
DATA_COLORS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00")
STAGE_COLORS = ("#999999", "#0072b2", "#56b4e9", "#009e73", "#e69f00", "#d55e00", "#cccccc")


def draw(results: Mapping[str, Any], folder: Path) -> None:
    """``ratios.png`` and ``growth.png`` of whatever was measured."""
    if results["cases"]:
        figure, panels = plt.subplot_mosaic(
            "AB\nCB", figsize=(12, 8), width_ratios=(1, 1.1), layout="constrained"
        )
        _products(panels["A"], results)
        _peers(panels["B"], results)
        _stages(panels["C"], results)
        _save(figure, folder / "ratios.png")
    if "growth" in results:
        figure, axes = plt.subplots(1, 2, figsize=(11, 4), layout="constrained")
        for panel, axis, power in zip(axes, ("n", "d"), (2, 1), strict=True):
            _growth(panel, results["growth"][f"with_{axis}"], axis, power)
        _save(figure, folder / "growth.png")


def _save(figure: Figure, path: Path) -> None:
    with atomic_write(path) as temporary:
        figure.savefig(temporary, dpi=110, format="png")
    plt.close(figure)


def _products(axes: Axes, results: Mapping[str, Any]) -> None:
    """Codes and fits in float64 products; dotted what was wanted."""
    wanted = {(row.data, row.what): row.at_most for row in all_rows(results)}
    cases = {name: case["runs"] for name, case in results["cases"].items()}
    bars = ((CODES, "codes and neighbours", BLUE), (FIT, "SRSG.fit", ORANGE))
    for shift, (key, title, color) in enumerate(bars):
        for place, (name, runs) in enumerate(cases.items()):
            ratios = np.divide(runs[key]["seconds"], runs[PRODUCT]["seconds"])
            y = place + 0.4 * shift
            axes.barh(y, np.median(ratios), 0.36, color=color, label=None if place else title)
            axes.plot([ratios.min(), ratios.max()], [y, y], color="0.2", lw=1.5)
            if bound := wanted.get((name, f"{title} over one float64 product")):
                axes.plot([bound, bound], [y - 0.2, y + 0.2], color="black", ls=":", lw=2)
    axes.set_yticks(np.arange(len(cases)) + 0.2, list(cases))
    axes.invert_yaxis()
    # A product of few points takes microseconds, so small tables cost hundreds of them.
    axes.set(
        xscale="log", xlim=(0.5, None), title="Time in float64 matrix products (dotted: wanted)"
    )
    axes.grid(axis="x", color="0.9")
    axes.set_axisbelow(True)
    axes.legend(frameon=False, loc="upper right")


def _peers(axes: Axes, results: Mapping[str, Any]) -> None:
    """How many times longer the others take."""
    ending = " over ours"
    rows = [row for row in all_rows(results) if ending in row.what and "fastest" not in row.what]
    solvers = list(dict.fromkeys(row.what.split(ending)[0] for row in rows))
    names = list(dict.fromkeys(row.data for row in rows))
    for name, color in zip(names, DATA_COLORS, strict=False):
        mine = [row for row in rows if row.data == name]
        y = [solvers.index(row.what.split(ending)[0]) for row in mine]
        axes.plot([row.figure.median for row in mine], y, "o", color=color, label=name, ms=7)
    axes.axvline(1, color=GREY, lw=1)
    axes.set_yticks(range(len(solvers)), [solver.replace(", ", ",\n") for solver in solvers])
    axes.invert_yaxis()
    axes.set(xscale="log", title="How many times as long as ours others take")
    axes.grid(axis="x", color="0.9")
    if names:
        axes.legend()


def _stages(axes: Axes, results: Mapping[str, Any]) -> None:
    profiles = {name: profile(stages) for name, stages in stage_profiles(results).items()}
    left = np.zeros(len(profiles))
    for stage, color in zip(next(iter(profiles.values())), STAGE_COLORS, strict=True):
        shares = np.array([shares[stage] for shares in profiles.values()])
        axes.barh(range(len(profiles)), shares, left=left, color=color, label=stage)
        left += shares
    axes.set_yticks(range(len(profiles)), list(profiles))
    axes.invert_yaxis()
    axes.set(xlim=(0, 1), title="Where the time of SRSG.fit goes", xlabel="share")
    axes.legend(frameon=False, ncols=4, loc="upper center", bbox_to_anchor=(0.5, -0.18))


def _growth(axes: Axes, rows: list[dict[str, Any]], axis: str, power: int) -> None:
    """Times on logarithmic axes, beside those of a matrix product's slope."""
    sizes = np.array([row[axis] for row in rows])
    times = np.array([np.median(row["seconds"]) for row in rows])
    label = f"codes: slope {growth.slope(rows, axis):.2f}"
    axes.plot(sizes, times, "o-", color=BLUE, label=label)
    limit = times[-1] * (sizes / sizes[-1]) ** power
    axes.plot(sizes, limit, color=GREY, ls="--", lw=1, label=f"slope {power}")
    axes.set(xscale="log", yscale="log", ylabel="s")
    axes.set_xticks(sizes, [f"{size:,}" for size in sizes], minor=False)
    axes.minorticks_off()
    other = "d" if axis == "n" else "n"
    name = "points n" if axis == "n" else "features d"
    axes.set(xlabel=f"{name}, at {other} = {rows[0][other]:,}")
    axes.legend(frameon=False)
