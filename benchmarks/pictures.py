"""Ratios to the matrix product, lead over the others, and growth, in one picture."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import matplotlib
import numpy as np

from benchmarks import growth
from benchmarks.comparisons import CODES, FIT, PRODUCT, all_rows, profile
from benchmarks.report import stage_profiles
from srsg.files import written_whole

BLUE, ORANGE, GREY = "#0072b2", "#d55e00", "0.6"
STAGE_COLORS = ("#999999", "#0072b2", "#56b4e9", "#009e73", "#e69f00", "#d55e00", "#cccccc")


def draw(results: Mapping[str, Any], path: Path) -> None:
    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, panels = plt.subplots(2, 2, figsize=(12, 8.5), layout="constrained")
    _products(panels[0, 0], results)
    _peers(panels[0, 1], results)
    _stages(panels[1, 0], results)
    _growth(panels[1, 1], results)
    with written_whole(path) as temporary:
        figure.savefig(temporary, dpi=110, format="png")
    plt.close(figure)


def _products(axes: Any, results: Mapping[str, Any]) -> None:
    """Bars of codes and fits, in float64 products."""
    wanted = {(row.data, row.what.split(" over ")[0]): row.at_most for row in all_rows(results)}
    cases = {n: c["runs"] for n, c in results.get("cases", {}).items() if PRODUCT in c["runs"]}
    bars = ((CODES, "codes and neighbours", BLUE), (FIT, "SRSG.fit", ORANGE))
    for shift, (key, title, color) in enumerate(bars):
        for place, (name, runs) in enumerate(cases.items()):
            ratios = np.array(runs[key]["seconds"]) / np.array(runs[PRODUCT]["seconds"])
            x = place + 0.4 * shift
            label = title if place == 0 else None
            axes.bar(x, np.median(ratios), 0.36, color=color, label=label)
            axes.plot([x, x], [ratios.min(), ratios.max()], color="0.2", lw=1.5)
            if bound := wanted.get((name, title)):
                axes.plot([x - 0.2, x + 0.2], [bound, bound], color="black", ls=":", lw=2)
    axes.set_xticks(np.arange(len(cases)) + 0.2, cases)
    axes.set(title="Time in float64 products X @ X.T (dotted: wanted)", ylabel="products")
    if cases:
        axes.legend(frameon=False)


def _peers(axes: Any, results: Mapping[str, Any]) -> None:
    """How many times longer the others take."""
    rows = [
        row for row in all_rows(results) if " over ours" in row.what and "fastest" not in row.what
    ]
    solvers = list(dict.fromkeys(row.what.split(" over ours")[0] for row in rows))
    names = list(dict.fromkeys(row.data for row in rows))
    marks = dict(zip(names, "os^Dv", strict=False))
    for name in names:
        of_name = [row for row in rows if row.data == name]
        y = [solvers.index(row.what.split(" over ours")[0]) for row in of_name]
        x = [row.figure.median for row in of_name]
        axes.plot(x, y, marks[name], label=name, ms=7)
    axes.axvline(1, color=GREY, lw=1)
    axes.set_yticks(range(len(solvers)), solvers)
    axes.invert_yaxis()
    axes.set(xscale="log", title="How many times longer others take", xlabel="times ours")
    axes.grid(axis="x", color="0.9")
    if names:
        axes.legend(frameon=False)


def _stages(axes: Any, results: Mapping[str, Any]) -> None:
    profiles = {name: profile(stages) for name, stages in stage_profiles(results).items()}
    left = np.zeros(len(profiles))
    stages = next(iter(profiles.values()), {})
    for stage, color in zip(stages, STAGE_COLORS, strict=False):
        shares = np.array([shown[stage] for shown in profiles.values()])
        axes.barh(range(len(profiles)), shares, left=left, color=color, label=stage)
        left += shares
    axes.set_yticks(range(len(profiles)), profiles)
    axes.invert_yaxis()
    axes.set(xlim=(0, 1), title="Where the time of SRSG.fit goes", xlabel="share")
    if profiles:
        axes.legend(frameon=False, ncols=4, loc="upper center", bbox_to_anchor=(0.5, -0.12))


def _growth(axes: Any, results: Mapping[str, Any]) -> None:
    """Seconds against n and d, both logarithmic."""
    found = results.get("growth", {"with_n": [], "with_d": []})
    for axis, color, mark in (("n", BLUE, "o"), ("d", ORANGE, "s")):
        rows = found[f"with_{axis}"]
        if len(rows) > 1:
            x = [row[axis] for row in rows]
            times = np.array([np.median(row["seconds"]) for row in rows])
            label = f"with {axis}: slope {growth.slope(rows, axis):.2f}"
            axes.plot(x, times, mark + "-", color=color, label=label)
            power = 2 if axis == "n" else 1
            limit = times[-1] * (np.array(x) / x[-1]) ** power
            axes.plot(x, limit, color=GREY, ls="--", lw=1)
    axes.set(
        xscale="log", yscale="log", title="Growth of the time of the codes (dashed: slope 2, 1)"
    )
    axes.set(xlabel="points n at d = 100, or features d at n = 8,000", ylabel="s")
    if found["with_n"]:
        axes.legend(frameon=False)
