"""Small matrices of every unpleasant kind."""

from __future__ import annotations

import warnings

import numpy as np
from scipy import sparse

EXTREMES = [0.0, -0.0, 1.0, -1.0, 1e-300, 1e300, 5e-324, 1e-160, 1e160, 1e-8, 1e8]


def points(rng, most=14):
    """A matrix: mostly one that can be clustered, seldom one that must be refused."""
    n, d = int(rng.integers(2, most + 1)), int(rng.integers(2, 7))
    X = MAKERS[rng.integers(len(MAKERS))](rng, n, d)
    for change in rng.permutation(len(CHANGES))[: rng.integers(0, 3)]:
        X = CHANGES[change](rng, X)
    if rng.random() < 0.15:
        with np.errstate(all="ignore"), warnings.catch_warnings(action="ignore"):
            X = X.astype(rng.choice(["f4", "i4", "i8", "u1", "f8"]))
    if rng.random() < 0.15:
        X = rng.choice([sparse.csr_array, sparse.csc_array, sparse.coo_array, np.asfortranarray])(X)
    return X


def _normal(rng, n, d):
    return rng.standard_normal((n, d))


def _near_duplicates(rng, n, d):
    centers = rng.standard_normal((int(rng.integers(1, 4)), d))
    size = 10.0 ** rng.integers(-16, 0)
    return centers[rng.integers(len(centers), size=n)] + size * rng.standard_normal((n, d))


def _duplicates(rng, n, d):
    centers = rng.standard_normal((int(rng.integers(1, 4)), d))
    return centers[rng.integers(len(centers), size=n)]


def _small_integers(rng, n, d):
    return rng.integers(-1, 2, size=(n, d)).astype(float) + (rng.random() < 0.5)


def _one_hot(rng, n, d):
    return np.eye(d)[rng.integers(d, size=n)]


def _far_from_origin(rng, n, d):
    return 10.0 ** rng.integers(0, 12) + rng.standard_normal((n, d))


def _low_rank(rng, n, d):
    rank = int(rng.integers(1, d))
    return rng.standard_normal((n, rank)) @ rng.standard_normal((rank, d))


def _extreme_values(rng, n, d):
    return rng.choice(EXTREMES, size=(n, d))


def _all_scales(rng, n, d):
    return rng.standard_normal((n, d)) * 10.0 ** rng.integers(-150, 150, size=(n, 1))


MAKERS = [
    *[_normal] * 3,
    *(_near_duplicates, _duplicates, _small_integers, _one_hot, _far_from_origin),
    *(_low_rank, _extreme_values, _all_scales),
]


def _scaled(rng, X):
    with np.errstate(all="ignore"):
        return X * 10.0 ** rng.integers(-300, 300)


def _mirrored(rng, X):
    X = X.copy()
    X[rng.integers(len(X))] = -X[rng.integers(len(X))]
    return X


def _zero_column(rng, X):
    X = X.copy()
    X[:, rng.integers(X.shape[1])] = 0
    return X


def _zero_row(rng, X):
    X = X.copy()
    if rng.random() < 0.3:
        X[rng.integers(len(X))] = 0
    return X


def _not_finite(rng, X):
    X = X.copy()
    if rng.random() < 0.3:
        X[rng.integers(len(X)), rng.integers(X.shape[1])] = rng.choice([np.nan, np.inf, -np.inf])
    return X


def _one_feature_large(rng, X):
    X = X.copy()
    with np.errstate(all="ignore"):
        X[:, 0] *= 10.0 ** rng.integers(0, 20)
    return X


CHANGES = [_scaled, _mirrored, _zero_column, _zero_row, _not_finite, _one_feature_large]
