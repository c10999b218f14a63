"""How Algorithm 1 shrinks the supports of real points."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from paper.evaluation import Evaluation
from paper.figures.point_problems import (
    DATASET,
    N_CLUSTERS,
    PointProblem,
    instructive,
    problems_and_step,
)
from paper.figures.style import BLUE, GRAY, ORANGE, VERMILION, new_figure
from srsg.registry import methods
from srsg.types import FloatArray


def draw(evaluation: Evaluation, path: Path, quick: bool) -> None:
    """Supports over the iterations: of one point, and the mean over all points."""
    everyone, step = problems_and_step(evaluation.load(DATASET, N_CLUSTERS).X, quick)
    n_iterations = 1_000 if quick else 3_000
    paper_step = methods()["srsg"].paper_settings["step"]
    sizes = {}
    for title, chosen in (
        (f"theorem's step, {step:.2g}", step),
        ("0.001", 0.001),
        (f"paper's settings, {paper_step:g}", paper_step),
    ):
        with evaluation.progress.part(f"{DATASET}: supports at step {chosen:.2g}", 1 / 3):
            sizes[title] = _mean_support(everyone, chosen, n_iterations)
    problem = instructive(everyone, step)
    history = problem.fpgd_sp(step, n_iterations)
    supports = problem.penalized_support(history)
    ever = supports.any(axis=0)
    last = np.where(supports[:, ever], np.arange(len(supports))[:, None], 0).max(axis=0)
    order = np.argsort(-last, kind="stable")
    with new_figure(path, 12.0, 4.8) as figure:
        left, right = figure.subplots(1, 2)
        magnitude = np.abs(history.z[:, ever][:, order])
        for place, (values, end) in enumerate(zip(magnitude.T, last[order], strict=True)):
            kept = end == len(supports) - 1
            color = BLUE if kept else VERMILION
            left.hlines(place, 0, end + 1, color=color, lw=1 + 9 * values[0] / magnitude.max())
            if not kept:
                left.plot(end + 1, place, marker="x", color=color, ms=7, mew=2)
        left.set(xlabel="iteration k", yticks=[])
        left.set_ylabel("penalised coordinates, thick where they start large")
        left.set_title(
            f"point {problem.index}, theorem's step: {len(order)} → {supports[-1].sum()}"
        )
        for (title, means), color in zip(sizes.items(), (GRAY, ORANGE, BLUE), strict=True):
            right.step(np.arange(len(means)), means, where="post", color=color, lw=2, label=title)
        right.set(xlabel="iteration k", ylim=(0, None))
        right.set_ylabel("penalised non-zeros per point")
        right.set_title(f"mean over {len(everyone)} points, by step s")
        right.legend(loc="lower left")
        for ax in (left, right):
            ax.set_xscale("symlog", linthresh=1)
            ax.set_xlim(0, n_iterations)
        figure.suptitle(f"{DATASET}, first {N_CLUSTERS} people: Algorithm 1 shrinks the supports")


def _mean_support(everyone: list[PointProblem], step: float, n_iterations: int) -> FloatArray:
    sizes = [
        problem.penalized_support(
            problem.fpgd_sp(min(step, problem.stable_step()), n_iterations)
        ).sum(axis=1)
        for problem in everyone
    ]
    return np.mean(sizes, axis=0)
