"""The best exact peer: an active-set loop over the points with SPAMS inside.

As large-scale subspace clustering does it (You, Li, Robinson and Vidal, Oracle based active set
algorithm for scalable elastic net subspace clustering, 2016): solve over the most correlated
points, and add those that violate the optimality conditions, until there are none.
"""

from __future__ import annotations

import numpy as np

from benchmarks.case import LAM, Case
from benchmarks.solvers import Solver

START_SIZE = 100


def solve(x: np.ndarray, i: int) -> np.ndarray:
    import spams

    target = np.asfortranarray(x[i][:, None])
    correlations = np.abs(x @ x[i])
    correlations[i] = -1
    size = min(START_SIZE, len(x) - 1)
    active = np.argpartition(-correlations, size - 1)[:size]
    code = np.zeros(len(x))
    while True:
        chosen = x[active]
        found = spams.lasso(target, D=np.asfortranarray(chosen.T), lambda1=LAM / 2, mode=2)
        coefficients = found.toarray()[:, 0]
        correlations = np.abs(x @ (x[i] - coefficients @ chosen))
        correlations[active] = correlations[i] = -1
        violators = np.flatnonzero(correlations > LAM / 2 + 1e-10)
        if not violators.size:
            code[active] = coefficients
            return code
        used = active[coefficients != 0]
        size = max(size, round(1.1 * used.size)) if used.size > 0.8 * size else size
        room = max(size - used.size, 1)
        worst = violators[np.argsort(-correlations[violators])[:room]]
        active = np.concatenate([used, worst])


def points_of(case: Case) -> np.ndarray:
    return case.points.x


SOLVERS = [
    Solver(
        "codes",
        "active sets with SPAMS",
        solve_one=solve,
        setup=points_of,
        needs="spams",
        peer=True,
    )
]
