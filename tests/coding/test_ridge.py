"""Ridge codes against the closed form in plain NumPy."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from srsg import RidgeGraph
from srsg.coding import ridge_codes
from srsg.points import unit_points
from srsg.running import ThreadEngine


def closed_form(x, ridge):
    """``Z = -P / diag(P)``, a code per row, with a zero diagonal."""
    inverse = np.linalg.inv(x @ x.T + ridge * np.eye(len(x)))
    codes = -inverse / np.diag(inverse)[:, None]
    np.fill_diagonal(codes, 0.0)
    return codes


def largest(codes, count):
    """Only the entries of largest magnitude of every row."""
    kept = np.zeros_like(codes)
    order = np.argsort(-np.abs(codes), axis=1, kind="stable")[:, :count]
    rows = np.arange(len(codes))[:, None]
    kept[rows, order] = codes[rows, order]
    return kept


@given(
    st.integers(3, 60),
    st.integers(2, 60),
    st.sampled_from([1e-3, 0.1, 10.0]),
    st.integers(1, 12),
    st.integers(0, 2**16),
)
def test_codes_are_the_largest_entries_of_the_closed_form(
    n_points, n_features, ridge, n_nonzero, seed
):
    x = np.random.default_rng(seed).standard_normal((n_points, n_features))
    points = unit_points(x)
    found = ridge_codes(points, ridge, n_nonzero=n_nonzero)
    expected = largest(closed_form(points.x, ridge), min(n_nonzero, n_points - 1))
    np.testing.assert_allclose(found.codes.toarray(), expected, atol=1e-9)
    assert found.residual.max() < 1e-9


@pytest.mark.parametrize("n_features", [15, 90])
def test_new_points_are_coded_over_all_points(n_features):
    rng = np.random.default_rng(0)
    points = unit_points(rng.standard_normal((40, n_features)))
    new = unit_points(rng.standard_normal((7, n_features)))
    found = ridge_codes(points, 0.1, n_nonzero=40, queries=new)
    system = points.x @ points.x.T + 0.1 * np.eye(40)
    expected = np.linalg.solve(system, points.x @ new.x.T).T
    np.testing.assert_allclose(found.codes.toarray(), expected, atol=1e-9)
    assert found.residual.max() < 1e-9


def test_the_certificate_bounds_every_normal_equation():
    rng = np.random.default_rng(1)
    points = unit_points(rng.standard_normal((50, 20)).astype(np.float32))
    found = ridge_codes(points, 0.1, n_nonzero=49)
    x, codes = points.x.astype(float), found.codes.toarray()
    violation = np.abs((x - codes @ x) @ x.T - 0.1 * codes)
    np.fill_diagonal(violation, 0.0)
    assert (violation.max(axis=1) <= found.residual * (1 + 1e-5) + 1e-14).all()


def test_the_same_bits_for_any_blocks_and_threads():
    points = unit_points(np.random.default_rng(2).standard_normal((300, 40)))
    one = ridge_codes(points, 0.1, engine=ThreadEngine(1))
    for n_jobs, size in ((2, 256), (2, 7), (1, 100)):
        other = ridge_codes(points, 0.1, engine=ThreadEngine(n_jobs, block_size=size))
        np.testing.assert_array_equal(one.codes.indices, other.codes.indices)
        np.testing.assert_array_equal(one.codes.data, other.codes.data)


@pytest.mark.parametrize(("n_classes", "least"), [(10, 0.955), (20, 0.98), (38, 0.935)])
def test_faces_under_changing_light(paper_data, n_classes, least):
    """Where SRSG's codes give .925, .848 and .902."""
    from srsg.metrics import clustering_accuracy

    X, y = paper_data("Yale-B", n_classes)
    labels = RidgeGraph(n_classes, random_state=0).fit_predict(X)
    assert clustering_accuracy(y, labels) >= least
