"""Algorithm 1 on real points: its objective against the theorem's bound, and its supports."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from srsg.coding import theorem_step
from srsg.experiments.point_problems import PointProblem, problems, theorem_bound
from srsg.experiments.run import Evaluation
from srsg.experiments.style import BLACK, BLUE, GRAY, ORANGE, VERMILION, new_figure
from srsg.points import unit_points
from srsg.registry import methods
from srsg.types import FloatArray

DATASET, N_CLUSTERS = "Yale-B", 10
"""Faces: their codes are long enough to show something."""


def draw_convergence(evaluation: Evaluation, path: Path, quick: bool = False) -> None:
    """Objective against iteration: Algorithm 1, plain proximal gradient descent, the bound."""
    everyone, step = _problems_and_step(evaluation, quick)
    n_iterations = 3_000 if quick else 20_000
    evaluation.watcher.starts(f"{DATASET}: a point with a long way to go")
    problem = _instructive(everyone, step)
    evaluation.watcher.ends(0.5)
    evaluation.watcher.starts(f"{DATASET}: Algorithm 1 on point {problem.index}")
    history = problem.fpgd_sp(step, n_iterations)
    bound = theorem_bound(problem, history, step)
    plain_end, plain = problem.descend(step, n_iterations)
    _, plain_least = problem.least_with_support(plain_end)
    evaluation.watcher.ends(0.5)
    k = np.arange(1, n_iterations + 1)
    # The theorem speaks of the iterates after the support has settled.
    later = k[bound.k0 - 1 :]
    promised = bound.constant / (later * (later + 1.0))
    with new_figure(path, 12.0, 4.8) as figure:
        left, right = figure.subplots(1, 2, sharex=True)
        left.semilogx(k, plain[1:], color=ORANGE, lw=2, label="proximal gradient descent")
        left.semilogx(k, history.objective[1:], color=BLUE, lw=2, label="FPGD-SP")
        left.set(xlim=(1, n_iterations), xlabel="iteration k")
        left.set_ylabel(r"objective $\tilde F(z^{(k)})$")
        left.set_title("The support projection lets coordinates go")
        right.loglog(k, plain[1:] - plain_least, color=ORANGE, lw=2)
        right.loglog(k, history.objective[1:] - bound.least, color=BLUE, lw=2)
        right.loglog(later, promised, color=BLACK, ls="--", lw=1.6, label="bound of Theorem 3.2")
        right.set(ylim=(1e-10, None), xlabel="iteration k")
        right.set_ylabel(r"$\tilde F(z^{(k)}) - \tilde F(z^*)$")
        right.set_title("Distance from the best on its own final support")
        for ax in (left, right):
            title = f"FPGD-SP's support is fixed from {bound.k0} on"
            ax.axvline(bound.k0, color=GRAY, lw=1.2, ls=":", label=title if ax is left else None)
        figure.suptitle(f"{DATASET}, point {problem.index}, the theorem's step s = {step:.2g}")
        figure.legend(loc="outside lower center", ncols=4)


def draw_supports(evaluation: Evaluation, path: Path, quick: bool = False) -> None:
    """Supports over the iterations: of one point, and the mean over all points."""
    everyone, step = _problems_and_step(evaluation, quick)
    n_iterations = 1_000 if quick else 3_000
    paper_step = methods()["srsg"].paper_settings["step"]
    sizes = {}
    for title, chosen in (
        (f"theorem's step, {step:.2g}", step),
        ("0.001", 0.001),
        (f"paper's settings, {paper_step:g}", paper_step),
    ):
        evaluation.watcher.starts(f"{DATASET}: supports at step {chosen:.2g}")
        sizes[title] = _mean_support(everyone, chosen, n_iterations)
        evaluation.watcher.ends(1 / 3)
    problem = _instructive(everyone, step)
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


def _problems_and_step(evaluation: Evaluation, quick: bool) -> tuple[list[PointProblem], float]:
    points = unit_points(evaluation.load(DATASET, N_CLUSTERS).X)
    paper = {name: methods()["srsg"].paper_settings[name] for name in ("gamma", "n_neighbors")}
    step = theorem_step(points, **paper)
    everyone = problems(points, lam=methods()["srsg"].paper_settings["lam"], **paper)
    return everyone[:: 16 if quick else 2], step


def _instructive(everyone: list[PointProblem], step: float) -> PointProblem:
    """The point whose support changes most often in a thousand iterations."""

    def changes(problem: PointProblem) -> int:
        supports = problem.penalized_support(problem.fpgd_sp(step, 1_000))
        return int((supports[1:] != supports[:-1]).any(axis=1).sum())

    return max(everyone, key=changes)


def _mean_support(everyone: list[PointProblem], step: float, n_iterations: int) -> FloatArray:
    sizes = [
        problem.penalized_support(
            problem.fpgd_sp(min(step, problem.stable_step()), n_iterations)
        ).sum(axis=1)
        for problem in everyone
    ]
    return np.mean(sizes, axis=0)
