"""scikit-learn's Lasso, point by point, with the Gram matrix and without.

The tolerance is on the duality gap; this one brings the violation below 1e-6.
"""

from __future__ import annotations

import warnings

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import Lasso, enet_path

from benchmarks.case import LAM
from benchmarks.dictionary import Dictionary
from benchmarks.solvers import Solver

TOLERANCE = {"tol": 1e-7, "max_iter": 10**6}


def lasso(dictionary: Dictionary, i: int) -> np.ndarray:
    weight = LAM / (2 * dictionary.n_features)
    model = Lasso(weight, fit_intercept=False, copy_X=False, **TOLERANCE)
    with dictionary.without(i) as atoms, warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return model.fit(atoms, dictionary.x[i]).coef_


def lasso_with_gram(dictionary: Dictionary, i: int) -> np.ndarray:
    weight = LAM / (2 * dictionary.n_features)
    with (
        dictionary.without(i) as atoms,
        dictionary.gram_without(i) as (gram, correlations),
        warnings.catch_warnings(),
    ):
        warnings.simplefilter("ignore", ConvergenceWarning)
        _, codes, _ = enet_path(
            atoms,
            dictionary.x[i],
            l1_ratio=1.0,
            alphas=[weight],
            precompute=gram,
            Xy=correlations,
            check_input=False,
            **TOLERANCE,
        )
    return codes[:, 0]


SOLVERS = [
    Solver("codes", "scikit-learn Lasso", solve_one=lasso, setup=Dictionary.of, peer=True),
    Solver(
        "codes",
        "scikit-learn Lasso, Gram matrix given",
        solve_one=lasso_with_gram,
        setup=Dictionary.with_gram,
        peer=True,
    ),
]
