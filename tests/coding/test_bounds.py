"""Hard problems end, crash nothing, and say how far their codes are from optimal."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning

from srsg import SRSG, LaplacianL1Graph
from srsg.coding import fpgd_sp, l1_codes, laplacian_codes, omp_codes
from srsg.coding.neighbors import nearest_neighbors
from srsg.kernels.arrays import Codes
from srsg.kernels.correlations import strongest
from srsg.points import unit_points
from srsg.running import ThreadEngine


@pytest.fixture
def normal_points():
    return np.random.default_rng(0).standard_normal((60, 5))


def test_a_tolerance_below_rounding_ends():
    X = 5 + 0.01 * np.random.default_rng(0).standard_normal((80, 3))
    assert l1_codes(unit_points(X), 1e-10, tol=0).kkt_violation.max() < 1e-13


def test_scans_have_a_bound(monkeypatch, normal_points):
    monkeypatch.setattr("srsg.coding.l1.MAX_SCANS", 2)
    points = unit_points(normal_points)
    with pytest.warns(ConvergenceWarning, match="codes not optimal to tol=1e-10 after 2") as caught:
        cut_short = l1_codes(points, 0.01)
    beyond = cut_short.kkt_violation > 1e-10
    (warning,) = caught
    assert str(warning.message).startswith(f"{beyond.sum()} of 60 codes")
    assert str(warning.message).endswith(f" {cut_short.kkt_violation.max():.3g}.")
    # The certificates are those of the codes as they are.
    resid = points.x - cut_short.codes @ points.x
    gradient = 2 * np.abs(points.x @ resid.T).T
    np.fill_diagonal(gradient, 0)
    outside = np.where(cut_short.codes.toarray() == 0, gradient - 0.01, 0).max(axis=1)
    np.testing.assert_allclose(cut_short.kkt_violation[beyond], outside[beyond], atol=1e-12)


def test_equal_points_at_the_largest_lam_end():
    """Correlations are one, up to rounding, and so is half of lam."""
    X = np.ones((80, 3))
    X[:3] = np.eye(3)
    model = LaplacianL1Graph(2, lam=2.0, laplacian="codes").fit_graph(X)
    assert model.codes_.nnz == 0
    assert model.kkt_violation_.max() < 1e-10


def test_laplacian_scans_have_a_bound(monkeypatch, normal_points):
    points = unit_points(normal_points)
    nothing, neighbors = sparse.csr_array((60, 60)), nearest_neighbors(points, 3)
    monkeypatch.setattr("srsg.coding.l1.MAX_SCANS", 1)
    with pytest.warns(ConvergenceWarning, match=r"\d+ of 60 codes not optimal"):
        cut_short = laplacian_codes(points, nothing, neighbors, lam=0.1, gamma=0.2, max_sweeps=1)
    assert cut_short.kkt_violation.max() > 1


def test_a_weight_that_overflows_is_named(normal_points):
    settings = {"laplacian": "codes", "n_neighbors": 2, "max_sweeps": 3, "lam": 0.5}
    with pytest.raises(ValueError, match=r"gamma=1e[+]300 is too large"):
        LaplacianL1Graph(2, gamma=1e300, **settings).fit_graph(normal_points)


@pytest.mark.parametrize("gamma", [1e6, 1e7, 1e20, 1e149])
def test_huge_weights_end_with_a_warning(normal_points, gamma):
    """Where rounding leaves more than is allowed; up to 1e7 it may just leave less."""
    settings = {"laplacian": "codes", "n_neighbors": 2, "max_sweeps": 3, "lam": 0.5}
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model = LaplacianL1Graph(2, gamma=gamma, **settings).fit_graph(normal_points)
    warned = any("codes not optimal" in str(each.message) for each in caught)
    assert warned == (not model.kkt_violation_.max() <= 1e-9)
    assert warned or gamma < 1e8
    assert np.isfinite(model.codes_.data).all()


def test_a_huge_lam_gives_a_step(normal_points):
    model = SRSG(2, step="auto", lam=1e300).fit_graph(normal_points)
    assert model.step_ == 4


@pytest.mark.parametrize("fixed_zero", [4, [0, 7], -5, 0.5, [True, False, False, False]])
def test_fixed_coordinates_are_named(fixed_zero):
    with pytest.raises(ValueError, match="fixed_zero must name coordinates from 0 to 3"):
        fpgd_sp(np.eye(4), np.ones(4), np.ones(4), 0.1, np.ones(4), step=0.1, fixed_zero=fixed_zero)


def test_matching_pursuit_of_near_duplicates_depends_on_no_block():
    rng = np.random.default_rng(0)
    groups = rng.standard_normal((9, 300))[rng.integers(0, 9, 120)]
    points = unit_points(groups * (1 + 1e-7 * rng.standard_normal(groups.shape)))
    one, all_at_once = (
        omp_codes(points, 15, tol=0.0, engine=ThreadEngine(1, block_size=size)).codes.toarray()
        for size in (1, 1000)
    )
    np.testing.assert_array_equal(one, all_at_once)


def test_a_product_rounded_to_zero_is_computed_again():
    points = np.array([[1.0, 0.0], [0.0, 1.0], [0.6, 0.8]])
    resid = np.array([[1e-9, 1e-9]])
    zeros = np.zeros((1, 3), np.float32)
    index, strength = strongest(points, np.array([0]), resid, zeros, Codes.empty(1), 1e-6)
    assert index[0] == 2
    assert strength[0] == pytest.approx(1.4e-9)


def test_a_tiny_gamma_that_lets_every_point_in_ends():
    """Every point then takes part in every problem: slow, but each loop has an end."""
    X = np.random.default_rng(0).standard_normal((60, 8))
    model = SRSG(2, gamma=1e-300, n_neighbors=59).fit_graph(X)
    assert model.n_let_in_ > 1000
    assert model.n_sweeps_ <= model.max_sweeps
