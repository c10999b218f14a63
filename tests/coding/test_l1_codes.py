"""The l1 codes: certificates, equality with scikit-learn, symmetries, odd data."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.linear_model import Lasso

from srsg import L1Graph
from srsg.coding import l1_codes
from srsg.points import unit_points
from support.plain import kkt_violation, l1_objective
from support.subspaces import near_planes


def lasso_code(X, i, lam):
    """Eq. (1) by scikit-learn, whose loss is the mean over features and has a factor 1/2."""
    others = np.delete(np.arange(len(X)), i)
    model = Lasso(alpha=lam / (2 * X.shape[1]), fit_intercept=False, tol=1e-14, max_iter=10**6)
    code = np.zeros(len(X))
    code[others] = model.fit(X[others].T, X[i]).coef_
    return code


@given(seed=st.integers(0, 10**6), lam=st.sampled_from([0.01, 0.1, 0.5, 1.5, 2.5]))
def test_codes_are_optimal(seed, lam):
    X, _ = near_planes(seed, n_points=40, n_features=12)
    result = l1_codes(unit_points(X), lam)
    codes = result.codes.toarray()
    assert not codes.diagonal().any()
    for i, code in enumerate(codes):
        assert kkt_violation(X, i, code, lam) <= 1e-9
    assert result.kkt_violation.max() <= 1e-9
    assert result.dual_gap.max() <= 1e-9


def test_large_lam_gives_empty_codes():
    X, _ = near_planes(0)
    result = l1_codes(unit_points(X), 2.0)
    assert result.codes.nnz == 0
    assert result.dual_gap.max() <= 1e-15


@pytest.mark.parametrize("ridge", [0.05, 1.0])
def test_the_gap_with_a_ridge_is_that_of_the_longer_vectors(ridge):
    """An elastic net is an l1 problem of the points with sqrt(ridge) times the unit vectors."""
    X, _ = near_planes(1, n_points=200, n_features=30)
    rough = l1_codes(unit_points(X), 0.1, ridge=ridge, tol=0.3)
    assert rough.dual_gap.max() > 1e-4
    A = np.vstack([X.T, np.sqrt(ridge) * np.eye(len(X))])
    for i in range(len(X)):
        x = np.concatenate([X[i], np.zeros(len(X))])
        code = rough.codes[[i]].toarray()[0]
        residual = x - A @ code
        largest = np.abs(np.delete(A.T @ residual, i)).max()
        scale = min(residual @ x / (residual @ residual), 0.05 / largest)
        dual = 2 * scale * residual @ x - scale**2 * residual @ residual
        expected = l1_objective(x, A, code, 0.1) - dual
        assert rough.dual_gap[i] == pytest.approx(expected, abs=1e-9)


def test_the_gap_bounds_the_distance_from_the_optimum():
    """A loose tolerance stops early; the certificates must own up to it."""
    X, _ = near_planes(1, n_points=200, n_features=30, noise=0.03)
    points = unit_points(X)
    exact = l1_codes(points, 0.1)
    rough = l1_codes(points, 0.1, tol=0.3)
    assert rough.kkt_violation.max() > 1e-3
    for i in range(len(X)):
        code, best = rough.codes[[i]].toarray()[0], exact.codes[[i]].toarray()[0]
        excess = l1_objective(X[i], X.T, code, 0.1) - l1_objective(X[i], X.T, best, 0.1)
        assert -1e-12 <= excess <= rough.dual_gap[i] + 1e-12
        assert abs(kkt_violation(X, i, code, 0.1) - rough.kkt_violation[i]) <= 1e-9


def test_equal_to_scikit_learn_on_digits():
    from sklearn.datasets import load_digits

    X = unit_points(load_digits().data[:150]).x
    codes = l1_codes(unit_points(X), 0.1).codes.toarray()
    for i in range(0, 150, 10):
        np.testing.assert_allclose(codes[i], lasso_code(X, i, 0.1), atol=1e-6)


@pytest.mark.parametrize("n_points", [2, 3, 257, 600])
def test_permuting_the_points_permutes_the_codes(n_points):
    rng = np.random.default_rng(n_points)
    X, _ = near_planes(n_points, n_points=n_points, n_features=20)
    order = rng.permutation(n_points)
    codes = l1_codes(unit_points(X), 0.1).codes.toarray()
    permuted = l1_codes(unit_points(X[order]), 0.1).codes.toarray()
    np.testing.assert_allclose(permuted, codes[np.ix_(order, order)], atol=1e-8)


def test_scale_does_not_matter_and_a_sign_flips_with_its_point():
    rng = np.random.default_rng(5)
    X, _ = near_planes(5, n_points=50)
    scale = rng.choice([1e-200, 1e-3, 1.0, 1e200], size=(50, 1))
    sign = rng.choice([-1.0, 1.0], size=(50, 1))
    codes = l1_codes(unit_points(X), 0.1).codes.toarray()
    scaled = l1_codes(unit_points(X * scale * sign), 0.1).codes.toarray()
    np.testing.assert_allclose(scaled, codes * sign * sign.T, atol=1e-8)


def test_duplicated_points_and_dependent_supports_are_certified():
    X, _ = near_planes(2, n_points=30, n_features=4)
    X = np.vstack([X, X[:10], X[:10], -X[:5], np.eye(4)])
    result = l1_codes(unit_points(X), 0.05, n_neighbors=3)
    X = unit_points(X).x
    for i, code in enumerate(result.codes.toarray()):
        assert np.isfinite(code).all()
        assert kkt_violation(X, i, code, 0.05) <= 1e-9


@pytest.mark.parametrize("lam", [0.001, 0.1])
def test_nearly_parallel_points_are_certified(lam):
    """Raw measurements of very different scale: all cosines above 0.9, Gram matrices singular
    to rounding. Coordinate descent alone would not end here."""
    from sklearn.datasets import load_breast_cancer

    result = l1_codes(unit_points(load_breast_cancer().data), lam)
    assert result.kkt_violation.max() <= 1e-9
    assert result.dual_gap.max() <= 1e-9


def test_float32_points_stay_float32_and_their_codes_are_exact():
    X, _ = near_planes(3, n_points=300, n_features=50)
    points = unit_points(X.astype(np.float32))
    assert points.x.dtype == np.float32
    assert points.x32 is points.x
    result = l1_codes(points, 0.1)
    assert result.kkt_violation.max() <= 1e-9
    exact = points.x.astype(np.float64)
    for i in range(0, 300, 30):
        assert kkt_violation(exact, i, result.codes[[i]].toarray()[0], 0.1) <= 1e-9


def test_coil20_is_certified_and_equal_to_scikit_learn(paper_data):
    X, _ = paper_data("COIL20")
    model = L1Graph().fit_graph(X)
    assert model.kkt_violation_.max() <= 1e-6
    assert model.dual_gap_.max() <= 1e-6
    points = unit_points(X).x
    for i in range(0, 1440, 288):
        code = model.codes_[[i]].toarray()[0]
        np.testing.assert_allclose(code, lasso_code(points, i, 0.1), atol=1e-5)
        assert l1_objective(points[i], points.T, code, 0.1) <= (
            l1_objective(points[i], points.T, lasso_code(points, i, 0.1), 0.1) + 1e-12
        )


def test_how_many_points_join_at_once_changes_no_bit(monkeypatch):
    points = unit_points(np.random.default_rng(2).standard_normal((300, 20)))
    expected = l1_codes(points, 0.05)
    # As for 90 points in place of each: more join, so it takes fewer scans.
    monkeypatch.setattr("srsg.coding.l1.POINTS_PER_JOINING", 600 / 90)
    found = l1_codes(points, 0.05)
    assert found.n_scans < expected.n_scans
    assert (found.codes != expected.codes).nnz == 0
    np.testing.assert_array_equal(found.kkt_violation, expected.kkt_violation)
    np.testing.assert_array_equal(found.dual_gap, expected.dual_gap)
