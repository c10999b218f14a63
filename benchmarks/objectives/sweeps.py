"""SRSG's sweeps from the l1 codes: all until they converge, or the first alone."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from benchmarks.case import GAMMA, Case
from benchmarks.objectives import Objective, Solved
from srsg.coding import SRSGCodes, srsg_codes


@dataclass(frozen=True)
class Start:
    """What a sweep starts from."""

    case: Case
    max_sweeps: int

    def ours(self) -> SRSGCodes:
        l1 = self.case.l1
        return srsg_codes(
            self.case.points,
            l1.codes,
            l1.neighbors,
            gamma=GAMMA,
            step=self.case.step,
            max_sweeps=self.max_sweeps,
        )


def all_sweeps(case: Case) -> Start:
    _ = case.step  # from codes that are not timed either
    return Start(case, max_sweeps=100)


@dataclass(frozen=True)
class OneSweep(Start):
    """The first sweep, and the codes after it, which later points of a sweep see."""

    after: sparse.csr_array


def first_sweep(case: Case) -> OneSweep:
    return OneSweep(case, 1, Start(case, 1).ours().codes)


def convergence(problem: Start, solved: Solved) -> dict[str, Any]:
    return {"sweeps": len(solved.result.objective) - 1, "converged": solved.result.converged}


def difference(problem: OneSweep, solved: Solved) -> dict[str, Any]:
    """How far the codes are from ours."""
    ours = problem.after[np.array(solved.rows)]
    return {"difference": float(abs(sparse.csr_array(solved.result) - ours).max())}


OBJECTIVES = [
    Objective("sweeps", all_sweeps, convergence),
    Objective("one sweep", first_sweep, difference),
]
