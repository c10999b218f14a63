"""The l1-graph's codes, ``min ||x_i - X z||^2 + lam |z|_1`` with ``z_i = 0``, of all points."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from benchmarks.case import LAM, Case
from benchmarks.objectives import Objective, Solved


def figures(case: Case, solved: Solved) -> dict[str, Any]:
    """The largest violation of the optimality conditions, in plain float64."""
    codes = sparse.csr_array(solved.result)
    x = case.points.x
    worst = 0.0
    for start in range(0, len(solved.rows), 1000):
        rows = np.array(solved.rows[start : start + 1000])
        z = codes[start : start + 1000].toarray()
        gradient = 2 * (x[rows] - z @ x) @ x.T
        violation = np.where(z != 0, np.abs(gradient - LAM * np.sign(z)), np.abs(gradient) - LAM)
        violation[np.arange(len(rows)), rows] = 0
        worst = max(worst, float(violation.max()))
    return {"violation": worst, "nonzeros": codes.nnz / len(solved.rows)}


OBJECTIVES = [Objective("codes", figures=figures)]
