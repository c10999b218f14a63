"""Algorithm 1 on a real point: its objective, and the bound of Theorem 3.2."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from paper.evaluation import Evaluation
from paper.figures.point_problems import (
    DATASET,
    N_CLUSTERS,
    instructive,
    problems_and_step,
    theorem_bound,
)
from paper.figures.style import BLACK, BLUE, GRAY, ORANGE, new_figure


def draw(evaluation: Evaluation, path: Path, quick: bool) -> None:
    """Objective against iteration: Algorithm 1, plain proximal gradient descent, the bound."""
    everyone, step = problems_and_step(evaluation.load(DATASET, N_CLUSTERS).X, quick)
    n_iterations = 3_000 if quick else 20_000
    with evaluation.progress.part(f"{DATASET}: a point with a long way to go", 0.5):
        problem = instructive(everyone, step)
    with evaluation.progress.part(f"{DATASET}: Algorithm 1 on point {problem.index}", 0.5):
        history = problem.fpgd_sp(step, n_iterations)
        bound = theorem_bound(problem, history, step)
        plain_end, plain = problem.descend(step, n_iterations)
        _, plain_least = problem.least_with_support(plain_end)
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
