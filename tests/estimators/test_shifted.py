"""Points far from the origin: none is lost, and a shift that hides the clusters is named."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from scipy import sparse
from sklearn.metrics import adjusted_rand_score

from srsg import SMCE, SRSG, L1Graph
from srsg.points import EqualPoints, row_digests, unit_points

SHIFTS = [10.0**power for power in range(8)]


def shifted_blobs(n_points, shift, dtype=np.float64):
    """Two blobs whose centres are 9 apart, shifted in every column, and the blob of each point."""
    X = np.random.default_rng(0).standard_normal((n_points, 30))
    y = np.arange(n_points) % 2
    X[y == 1, 0] += 9
    return (X + shift).astype(dtype), y


def fitted(model, X):
    """The fitted model, and whether it warned of a narrow cone."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model.fit(X)
    return model, any("nearly the same direction" in str(each.message) for each in caught)


@pytest.mark.parametrize(
    ("estimator", "shift"), [*((SRSG, shift) for shift in SHIFTS), (L1Graph, 1e3), (L1Graph, 1e5)]
)
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_blobs_are_told_apart_or_the_shift_is_named(estimator, dtype, shift):
    X, y = shifted_blobs(1000, shift, dtype)
    model, warned = fitted(estimator(2, random_state=0), X)
    np.testing.assert_array_equal(model.first_equal_, np.arange(1000))
    assert warned or adjusted_rand_score(y, model.labels_) >= 0.9
    assert warned == (shift > 1000)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("shift", [1.0, 1e3, 1e7])
def test_no_two_of_many_points_are_taken_for_equal(dtype, shift):
    points = unit_points(shifted_blobs(20_000, shift, dtype)[0])
    assert EqualPoints.from_digests(row_digests(points)).all_differ


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("shift", [1.0, 1e4, 1e7])
def test_rows_with_equal_bits_are_merged(dtype, shift):
    X, _ = shifted_blobs(200, shift, dtype)
    model, _ = fitted(L1Graph(2, random_state=0), np.vstack([X, X[50:90]]))
    np.testing.assert_array_equal(model.first_equal_, np.r_[:200, 50:90])
    np.testing.assert_array_equal(model.labels_[200:], model.labels_[50:90])


def test_the_warning_says_what_to_do():
    X, _ = shifted_blobs(200, 1e7)
    with pytest.warns(UserWarning, match=r"nearly the same direction.*StandardScaler, and set aff"):
        SRSG(2, random_state=0).fit_graph(X)
    with pytest.warns(UserWarning, match=r"nearly the same direction.*with StandardScaler\.$"):
        SRSG(2, affine=True, random_state=0).fit_graph(X)
    assert not fitted(SRSG(2, affine=True, random_state=0), X - X.mean(axis=0))[1]


def test_sparse_points_are_looked_at_as_well():
    X = sparse.csr_array(([1.0] * 60 + [1e-5] * 60, (np.r_[:60, :60], np.r_[[0] * 60, 1:61])))
    assert fitted(L1Graph(2, lam=1e-12, random_state=0), X)[1]


def test_lengths_need_no_warning():
    """Distances do not change with a shift."""
    X, y = shifted_blobs(200, 1e6)
    model, warned = fitted(SMCE(2, random_state=0), X)
    assert not warned
    assert adjusted_rand_score(y, model.labels_) >= 0.9


def test_equal_points_alone_are_no_narrow_cone():
    assert not fitted(L1Graph(1, n_neighbors=1), np.ones((5, 3)))[1]
