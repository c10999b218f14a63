"""How SRSG depends on gamma and K: Figure 2 of the paper."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from paper.evaluate import CellResult
from paper.evaluation import Evaluation
from paper.figures.style import COMPETITORS, OURS, new_figure
from paper.published import MEASURES, compared_methods
from srsg.registry import methods

if TYPE_CHECKING:
    from matplotlib.axes import Axes

DATASET = "UMIST Face"
GAMMAS = (0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.5, 1.0)
NEIGHBORS = tuple(range(1, 11))


def draw(evaluation: Evaluation, path: Path, quick: bool) -> None:
    """AC and NMI of SRSG over gamma and K; those of the other methods are lines."""
    data = evaluation.load(DATASET, 8 if quick else None)
    n_clusters, srsg = data.n_clusters, methods()["srsg"]
    swept: dict[str, tuple[Any, ...]] = {"gamma": GAMMAS, "n_neighbors": NEIGHBORS}
    if quick:
        swept = {name: values[::3] for name, values in swept.items()}
    curves: dict[tuple[str, str], list[CellResult]] = {}
    share = 1 / (2 * sum(map(len, swept.values())) + len(COMPETITORS))
    for parameter, values in swept.items():
        for setting in OURS:
            build = srsg.paper if setting == "paper" else srsg.default
            curves[parameter, setting] = [
                evaluation.result("srsg", build(n_clusters, **{parameter: value}), data, share)
                for value in values
            ]
    # Methods without these parameters are horizontal lines.
    lines = {
        name: evaluation.result(name, methods()[name].paper(n_clusters), data, share)
        for name in compared_methods()
        if name in COMPETITORS
    }
    with new_figure(path, 10.5, 7.5) as figure:
        grid = figure.subplots(len(MEASURES), len(swept), sharex="col", sharey="row")
        for measure, panels in zip(MEASURES, grid, strict=True):
            for (parameter, values), ax in zip(swept.items(), panels, strict=True):
                for name, result in lines.items():
                    color, dashes = COMPETITORS[name]
                    title = methods()[name].title
                    ax.axhline(result.mean(measure), color=color, ls=dashes, lw=1.6, label=title)
                for setting in OURS:
                    _curve(ax, values, curves[parameter, setting], measure, setting)
            panels[0].set_ylabel(measure)
        grid[0, 0].set_xscale("log")
        grid[-1, 0].set_xticks(swept["gamma"], [f"{gamma:g}" for gamma in swept["gamma"]])
        grid[-1, 0].minorticks_off()
        grid[-1, 0].set_xlabel(r"$\gamma$, at K = 5")
        grid[-1, 1].set_xticks(swept["n_neighbors"])
        grid[-1, 1].set_xlabel(r"K, at $\gamma$ = 0.1")
        figure.suptitle(f"{data.name}, {n_clusters} people: mean over the seeds")
        handles, labels = grid[0, 0].get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside lower center", ncols=4)


def _curve(
    ax: Axes, values: tuple[Any, ...], results: list[CellResult], measure: str, setting: str
) -> None:
    color, marker, label = OURS[setting]
    means = [result.mean(measure) for result in results]
    ax.plot(values, means, color=color, marker=marker, ms=5, lw=2, label=label)
