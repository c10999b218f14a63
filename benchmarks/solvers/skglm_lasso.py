"""The Lasso of skglm, point by point; the tolerance brings the violation below 1e-6."""

from __future__ import annotations

import warnings

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from benchmarks.case import LAM
from benchmarks.dictionary import Dictionary
from benchmarks.solvers import Solver


def solve(dictionary: Dictionary, i: int) -> np.ndarray:
    from skglm import Lasso

    model = Lasso(LAM / (2 * dictionary.n_features), fit_intercept=False, tol=1e-10)
    with dictionary.without(i) as atoms, warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return model.fit(atoms, dictionary.x[i]).coef_


SOLVERS = [Solver("codes", "skglm", solve_one=solve, setup=Dictionary.of, needs="skglm", peer=True)]
