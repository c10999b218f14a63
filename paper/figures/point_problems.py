"""Problem (7) of single points, and what Theorem 3.2 says about Algorithm 1 on it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from sklearn.utils import Bunch

from srsg.coding import fpgd_sp, l1_codes, theorem_step
from srsg.points import Points, unit_points
from srsg.registry import methods
from srsg.types import FloatArray

DATASET, N_CLUSTERS = "Yale-B", 10
"""Faces: their codes are long enough to show something."""


@dataclass(frozen=True)
class PointProblem:
    """Problem (7) of one point: atoms, target, penalties, start, and the point's own index."""

    A: FloatArray
    b: FloatArray
    c: FloatArray
    gamma: float
    z0: FloatArray
    index: int

    def fpgd_sp(self, step: float, max_iter: int) -> Bunch:
        """The history of Algorithm 1."""
        _, history = fpgd_sp(
            *(self.A, self.b, self.c, self.gamma, self.z0),
            step=step,
            max_iter=max_iter,
            fixed_zero=self.index,
        )
        return history

    def penalized_support(self, history: Bunch) -> np.ndarray:
        """Which penalised coordinates are non-zero, one row per iterate."""
        return (history.z != 0) & (self.c[history.active] > 0)

    def descend(self, step: float, max_iter: int) -> tuple[FloatArray, FloatArray]:
        """The last iterate of plain proximal gradient descent, and all objectives from the
        start on."""
        penalized = self.c > 0
        threshold = np.sqrt(2 * step * self.gamma * np.where(penalized, self.c, 0.0))
        gram, target = self.A.T @ self.A, self.A.T @ self.b
        values = np.empty(max_iter + 1)
        z, product = self.z0.copy(), gram @ self.z0
        for k in range(max_iter + 1):
            fit = self.b @ self.b + z @ (product - 2 * target)
            values[k] = fit + self.gamma * self.c[penalized & (z != 0)].sum()
            if k < max_iter:
                z = z - 2 * step * (product - target)
                z[penalized & (np.abs(z) <= threshold)] = 0.0
                z[self.index] = 0.0
                product = gram @ z
        return z, values

    def least_with_support(self, z: FloatArray) -> tuple[FloatArray, float]:
        """``z^*`` of Theorem 3.2: the best code with the penalised support of ``z``, and its
        objective."""
        penalized = self.c > 0
        moving = np.where(penalized, z != 0, True)
        moving[self.index] = False
        best = np.zeros_like(z)
        best[moving] = np.linalg.lstsq(self.A[:, moving], self.b, rcond=None)[0]
        penalty = self.gamma * self.c[penalized & (z != 0)].sum()
        return best, float(np.sum((self.b - self.A @ best) ** 2) + penalty)

    def stable_step(self) -> float:
        """Half the inverse of the largest eigenvalue of the Gram matrix of the coordinates that
        Algorithm 1 starts with."""
        starts = (self.z0 != 0) | (self.c <= 0)
        starts[self.index] = False
        atoms = self.A[:, starts]
        return float(0.5 / np.linalg.norm(atoms, 2) ** 2) if starts.any() else 1.0


@dataclass(frozen=True)
class Bound:
    """Theorem 3.2: from iterate ``k0`` on, the objective is within ``constant / k(k+1)`` of
    ``least``."""

    k0: int
    least: float
    constant: float


def problems(points: Points, *, gamma: float, n_neighbors: int, lam: float) -> list[PointProblem]:
    """The problems of the first sweep, with every point and its neighbours at their l1 codes.

    Examples
    --------
    >>> from paper.figures.point_problems import problems
    >>> from srsg.points import unit_points
    >>> points = unit_points([[1.0, 0.0], [1.0, 0.1], [0.9, 0.1]])
    >>> first = problems(points, gamma=0.1, n_neighbors=1, lam=0.1)[0]
    >>> first.c
    array([-1.,  1., -1.])
    """
    l1 = l1_codes(points, lam, n_neighbors=n_neighbors)
    codes = l1.codes.toarray()
    A = points.x.T.astype(np.float64)
    counts = ((codes[row] != 0).sum(axis=0) for row in l1.neighbors)
    return [
        PointProblem(A, A[:, i], n_neighbors - 2.0 * used, gamma, codes[i], i)
        for i, used in enumerate(counts)
    ]


def theorem_bound(problem: PointProblem, history: Bunch, step: float) -> Bound:
    """The constants of Theorem 3.2 for a run, from its own final support."""
    supports = problem.penalized_support(history)
    last_change = np.flatnonzero((supports != supports[-1]).any(axis=1)).max(initial=-1)
    k0 = max(1, int(last_change) + 1) + 1
    z = np.zeros(len(problem.c))
    z[history.active] = history.z[-1]
    best, least = problem.least_with_support(z)
    ahead = k0 * (k0 - 1) * (history.objective[k0 - 1] - least)
    # Outside of the active coordinates both are zero.
    distance = np.sum((history.v[k0 - 1] - best[history.active]) ** 2) / (step / 2)
    return Bound(k0, least, float(ahead + distance))


def problems_and_step(X: FloatArray, quick: bool) -> tuple[list[PointProblem], float]:
    """The problems of some points at the paper's settings, and the theorem's step."""
    points, paper = unit_points(X), methods()["srsg"].paper_settings
    weights = {name: paper[name] for name in ("gamma", "n_neighbors")}
    everyone = problems(points, lam=paper["lam"], **weights)
    return everyone[:: 16 if quick else 2], theorem_step(points, **weights)


def instructive(everyone: list[PointProblem], step: float) -> PointProblem:
    """The point whose support changes most often in a thousand iterations."""

    def changes(problem: PointProblem) -> int:
        supports = problem.penalized_support(problem.fpgd_sp(step, 1_000))
        return int((supports[1:] != supports[:-1]).any(axis=1).sum())

    return max(everyone, key=changes)
