"""Our codes, with the nearest neighbours that SRSG needs, on all cores and on one."""

from __future__ import annotations

from functools import partial

from scipy import sparse

from benchmarks.case import LAM, N_NEIGHBORS, Case
from benchmarks.solvers import Solver
from srsg.coding import l1_codes
from srsg.points import Points
from srsg.running import ThreadEngine


def solve(case: Case, n_jobs: int | None = None) -> sparse.csr_array:
    points = Points(case.points.x)  # without what an earlier run may have kept
    return l1_codes(points, LAM, n_neighbors=N_NEIGHBORS, engine=ThreadEngine(n_jobs)).codes


SOLVERS = [
    Solver("codes", "srsg", solve),
    Solver(
        "codes",
        "srsg, one thread",
        partial(solve, n_jobs=1),
        on=("digits", "COIL-20", "COIL-100"),
    ),
]
