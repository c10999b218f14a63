"""Algorithm 1 as the paper writes it: all n coordinates, one product with all points per step."""

from __future__ import annotations

import numpy as np

from benchmarks.case import GAMMA
from benchmarks.objectives.sweeps import OneSweep
from benchmarks.solvers import Solver

MAX_ITER, TOL = 100, 1e-5


def solve(problem: OneSweep, i: int) -> np.ndarray:
    """Problem (7) of point i in the first sweep, with the step cut as ours is."""
    case = problem.case
    x, neighbors = case.points.x, case.l1.neighbors[i]
    start = case.l1.codes[[i]].toarray()[0]
    present = [(problem.after if j < i else case.l1.codes)[[j]].toarray()[0] for j in neighbors]
    c = len(neighbors) - 2.0 * np.sum([code != 0 for code in present], axis=0)
    moved = (start != 0) | (c <= 0)
    moved[i] = False
    step = stable(x, moved, case.step)
    while True:
        z, moved = fpgd_sp(x, i, c, start, step)
        safe = stable(x, moved, step)
        if safe >= step:
            return z
        step = safe


def stable(x: np.ndarray, moved: np.ndarray, step: float) -> float:
    """The step, or the bound beyond which the iterates on these coordinates diverge."""
    chosen = x[moved]
    if not len(chosen):
        return step
    return min(step, 0.5 / np.linalg.eigvalsh(chosen @ chosen.T)[-1])


def fpgd_sp(
    x: np.ndarray, i: int, c: np.ndarray, start: np.ndarray, step: float
) -> tuple[np.ndarray, np.ndarray]:
    """The last iterate, and which coordinates were ever non-zero."""
    penalized = c > 0
    free = np.arange(len(x)) != i
    threshold = np.sqrt(2 * step * GAMMA * np.maximum(c, 0))

    def objective(z: np.ndarray) -> float:
        fit = np.sum((x[i] - z @ x) ** 2)
        return float(fit + GAMMA * c[penalized & (z != 0)].sum())

    z, v = start, start
    moved = start != 0
    value = objective(z)
    for k in range(1, MAX_ITER + 1):
        alpha = 2 / (k + 1)
        m = (1 - alpha) * z + alpha * v
        gradient = 2 * x @ (m @ x - x[i])
        u = m - step * gradient
        z = np.where(free & ~(penalized & (np.abs(u) <= threshold)), u, 0.0)
        v = np.where(free & ~(penalized & (z == 0)), v - step / 2 * k * gradient, 0.0)
        moved |= (z != 0) | (v != 0)
        previous, value = value, objective(z)
        if abs(value - previous) < TOL:
            break
    return z, moved


SOLVERS = [Solver("one sweep", "Algorithm 1 at full length", solve_one=solve, peer=True)]
