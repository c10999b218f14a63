"""SPAMS' homotopy, point by point, with the Gram matrix, which it would compute each time."""

from __future__ import annotations

import numpy as np

from benchmarks.case import LAM
from benchmarks.dictionary import Dictionary
from benchmarks.solvers import Solver


def solve(dictionary: Dictionary, i: int) -> np.ndarray:
    import spams

    with dictionary.gram_without(i) as (gram, correlations):
        code = spams.lasso(
            np.asfortranarray(dictionary.x[i][:, None]),
            Q=gram.T,  # in the order of columns
            q=np.asfortranarray(correlations[:, None]),
            lambda1=LAM / 2,
            mode=2,
        )
    return code.toarray()[:, 0]


SOLVERS = [
    Solver(
        "codes",
        "SPAMS lasso, Gram matrix given",
        solve_one=solve,
        setup=Dictionary.with_gram,
        needs="spams",
        peer=True,
    )
]
