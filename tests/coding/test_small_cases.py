"""Steps, scales and single points: values of small cases, computed by hand or by NumPy."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from srsg.coding import (
    auto_step,
    fpgd_sp,
    l1_codes,
    new_smce_codes,
    ridge_codes,
    smce_codes,
    theorem_step,
)
from srsg.coding.certified import certificates_hold
from srsg.coding.smce import equal_rows
from srsg.points import unit_points
from srsg.running import ThreadEngine

ENGINE = ThreadEngine(1)


@pytest.mark.parametrize("shape", [(9, 4), (4, 9), (130, 110)])
@pytest.mark.parametrize("as_csr", [False, True])
def test_the_step_of_the_theorem(shape, as_csr):
    x = np.random.default_rng(0).standard_normal(shape) + 0.3
    dense = unit_points(x).x
    points = unit_points(sparse.csr_array(x)) if as_csr else unit_points(x)
    lipschitz = 2 * np.linalg.norm(dense, 2) ** 2
    for gamma, n_neighbors, tau in [
        (0.1, 5, 0.1),
        (0.1, 4, 0.2),
        (0.1, [4, 5], 0.1),
        (0.8, 5, 0.8),
        (3.0, 5, 1.0),
        (0.7, 4, 1.0),
    ]:
        step = theorem_step(points, gamma, n_neighbors)
        assert step == pytest.approx(tau / lipschitz, rel=1e-7)
        assert step < tau / lipschitz


def test_the_step_that_suits_the_codes():
    codes = sparse.csr_array((np.array([0.6, -0.2, 0.0]), [1, 2, 0], [0, 2, 3, 3]), shape=(3, 3))
    assert auto_step(codes, 0.1) == pytest.approx(0.08)  # the mean of 0.6 and 0.2 is 0.4
    assert auto_step(codes, 0.5) == 0.25
    assert auto_step(codes, 7.0) == 4.0
    assert auto_step(sparse.csr_array((3, 3)), 0.1) == pytest.approx(0.01)


def test_a_coordinate_that_is_fixed_starts_at_zero():
    rng = np.random.default_rng(0)
    A, b = rng.standard_normal((5, 4)), rng.standard_normal(5)
    settings = {"c": [1, -1, 2, 0], "gamma": 0.05, "step": 0.01, "fixed_zero": 1}
    z, _ = fpgd_sp(A, b, z0=[0.5, 3.0, 0.0, 0.1], **settings)
    expected, _ = fpgd_sp(A, b, z0=[0.5, 0.0, 0.0, 0.1], **settings)
    np.testing.assert_array_equal(z, expected)
    assert z[1] == 0


def test_a_coordinate_enters_at_the_threshold_of_its_gradient():
    """The root of 2 gamma c / step is 0.447; gradients of 0.4 and 0.54 are below and above."""
    settings = {"c": [1, 1, 1], "gamma": 0.01, "step": 0.1, "z0": [1.0, 0.0, 0.0], "max_iter": 1}
    z, history = fpgd_sp(np.eye(3), [1.0, 0.2, 0.27], **settings)
    np.testing.assert_array_equal(history.active, [0, 2])
    assert z[1] == 0
    assert z[2] != 0


@pytest.mark.parametrize("exponent", [-700, -3, 3, 700])
def test_smce_does_not_depend_on_the_unit_of_length(exponent):
    rng = np.random.default_rng(0)
    x, new = rng.standard_normal((12, 3)), rng.standard_normal((4, 3))
    settings = {"lam": 0.1, "n_neighbors": 4, "engine": ENGINE}
    expected, found = (smce_codes(each, **settings) for each in (x, np.ldexp(x, exponent)))
    np.testing.assert_array_equal(found.codes.toarray(), expected.codes.toarray())
    expected, found = (
        new_smce_codes(np.ldexp(x, power), np.ldexp(new, power), **settings).toarray()
        for power in (0, exponent)
    )
    np.testing.assert_array_equal(found, expected)


def test_zeros_of_both_signs_are_equal():
    equal = equal_rows(np.array([[0.0, 1.0], [-0.0, 1.0], [1.0, -0.0], [1.0, 0.0]]))
    assert equal.first.tolist() == [0, 2]


def test_a_single_point_has_an_empty_ridge_code():
    found = ridge_codes(unit_points([[3.0, 4.0]]), 0.1, n_nonzero=3, engine=ENGINE)
    assert found.codes.shape == (1, 1)
    assert found.codes.nnz == 0


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("ridge", [0.0, 0.2])
def test_a_change_of_any_code_is_noticed(kind, ridge):
    x = np.maximum(np.random.default_rng(0).standard_normal((70, 6)), 0)
    x[:, 0] += 0.1  # no row is zero
    points = unit_points(kind(x))
    lam = np.linspace(0.05, 0.2, 70)
    found = l1_codes(points, lam, ridge=ridge, engine=ENGINE)
    facts = {"lam": lam, "ridge": ridge, "engine": ENGINE}
    claimed, every = found.kkt_violation, np.arange(70)
    assert certificates_hold(points, found.codes, claimed, every, **facts)
    for row in (0, 63, 64, 69):
        codes = found.codes.copy()
        codes.data[codes.indptr[row]] *= 1 + 1e-6
        assert not certificates_hold(points, codes, claimed, every, **facts)
        others = np.delete(every, row)
        assert certificates_hold(points, codes, claimed[others], others, **facts)
