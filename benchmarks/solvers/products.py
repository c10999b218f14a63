"""Matrix products of all points with all points.

numpy computes ``X @ X.T`` of one array by a routine for symmetric results, which may be slower
or faster than the general product; both are shown. The general one is the measure.
"""

from __future__ import annotations

import numpy as np

from benchmarks.case import Case
from benchmarks.solvers import Solver

Pair = tuple[np.ndarray, np.ndarray]


def twice(case: Case) -> Pair:
    return case.points.x, case.points.x.copy()


def twice_in_float32(case: Case) -> Pair:
    x = case.points.x.astype(np.float32)
    return x, x.copy()


def once(case: Case) -> Pair:
    return case.points.x, case.points.x


def product(pair: Pair) -> None:
    _ = pair[0] @ pair[1].T


SOLVERS = [
    Solver("product", "float64", product, setup=twice),
    Solver("product", "float64, numpy's X @ X.T", product, setup=once),
    Solver("product", "float32", product, setup=twice_in_float32),
]
