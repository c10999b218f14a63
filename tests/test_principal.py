"""Principal axes: bounds that hold, the same bits as without them, and when they are used."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from srsg import L1Graph
from srsg.coding import l1, l1_codes
from srsg.coding.l1 import WorkingSets
from srsg.coding.neighbors import nearest_neighbors
from srsg.points import unit_points
from srsg.principal import PrincipalAxes, along, bytes_of_axes, principal_axes
from srsg.running import ThreadEngine

HALF_LAM = 0.05


def fading(seed, n_points=1000, n_features=48, dtype=np.float64, n_odd=20):
    """Points whose features get weaker, and a few that are as strong in all of them."""
    rng = np.random.default_rng(seed)
    strength = 0.8 ** np.arange(n_features)
    strength[10:] *= 0.3
    X = rng.standard_normal((n_points, n_features)) * strength
    X[:n_odd] = rng.standard_normal((n_odd, n_features))
    return (X @ np.linalg.qr(rng.standard_normal((n_features, n_features)))[0]).astype(dtype)


def with_axes(points):
    start = WorkingSets.empty(np.full(points.n, HALF_LAM), np.zeros(points.n))
    return l1.with_principal_axes(points, start, ThreadEngine(2))


def no_axes(points, *_):
    return points


@given(seed=st.integers(0, 10**6), length=st.sampled_from([1e-3, 1.0]), single=st.booleans())
def test_products_along_the_axes_are_within_their_bound(seed, length, single):
    points = unit_points(fading(seed, 200, dtype=np.float32 if single else np.float64))
    axes = principal_axes(points.x, HALF_LAM)
    assert axes.shape[1] < 30
    scores, rest = along(axes, points.x)
    principal = PrincipalAxes.of(axes, scores.T, rest, HALF_LAM)
    vectors = length * unit_points(fading(seed + 1, 50)).x
    found, left_out = principal.correlations(vectors)
    exact = vectors @ points.x.T.astype(np.float64)
    bound = left_out.vectors[:, None] * left_out.points.astype(np.float64)
    assert (np.abs(found - exact) <= bound + length * points.correlation_error).all()
    # Tight where a vector is a point: then both rests point the same way.
    own, left_out = principal.correlations(points.x)
    missing = 1 - own.diagonal().astype(np.float64)
    np.testing.assert_allclose(missing, left_out.points**2, atol=1e-5)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("ridge", [0.0, 0.1])
def test_codes_have_the_same_bits_with_and_without_axes(dtype, ridge, monkeypatch):
    points = unit_points(fading(0, dtype=dtype))
    principal = with_axes(points).principal
    assert principal.axes.shape[1] < 30
    # Some vectors are compared in full, but not many.
    assert 0 < np.sum(principal.rest > principal.longest) < 100
    ours = l1_codes(points, 2 * HALF_LAM, ridge=ridge, n_neighbors=5)
    monkeypatch.setattr(l1, "with_principal_axes", no_axes)
    plain = l1_codes(points, 2 * HALF_LAM, ridge=ridge, n_neighbors=5)
    np.testing.assert_array_equal(ours.codes.indptr, plain.codes.indptr)
    np.testing.assert_array_equal(ours.codes.indices, plain.codes.indices)
    np.testing.assert_array_equal(ours.codes.data, plain.codes.data)
    np.testing.assert_array_equal(ours.neighbors, plain.neighbors)
    np.testing.assert_array_equal(ours.kkt_violation, plain.kkt_violation)
    np.testing.assert_array_equal(ours.dual_gap, plain.dual_gap)
    assert ours.n_scans == plain.n_scans


def test_neighbors_are_those_of_the_points_themselves():
    points = with_axes(unit_points(fading(1)))
    assert points.principal is not None
    plain = unit_points(fading(1))
    np.testing.assert_array_equal(nearest_neighbors(points, 7), nearest_neighbors(plain, 7))


def test_axes_of_points_that_lie_in_few_dimensions_leave_out_nothing():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((900, 6)) @ rng.standard_normal((6, 50))
    principal = with_axes(unit_points(X)).principal
    assert principal.axes.shape[1] == 6
    assert principal.rest.max() < 1e-6
    assert l1_codes(unit_points(X), 0.1).kkt_violation.max() < 1e-9


def test_points_in_a_file_have_the_same_axes(tmp_path):
    np.save(tmp_path / "X.npy", fading(2))
    mapped = unit_points(np.load(tmp_path / "X.npy", mmap_mode="r"))
    ours, plain = with_axes(mapped).principal, with_axes(unit_points(fading(2))).principal
    np.testing.assert_array_equal(ours.scores, plain.scores)


def test_where_axes_are_not_worth_it():
    X = fading(2)
    assert with_axes(unit_points(X)).principal is not None
    few = unit_points(X[:700])
    assert with_axes(few) is few
    texts = unit_points(sparse.csr_array(X))
    assert with_axes(texts) is texts
    even = unit_points(np.random.default_rng(0).standard_normal((1000, 48)))
    assert with_axes(even) is even
    points, engine = unit_points(X), ThreadEngine(2)
    start = WorkingSets.empty(np.full(points.n, HALF_LAM), np.zeros(points.n))
    engine.spare_memory = bytes_of_axes(*points.shape) - 1
    assert l1.with_principal_axes(points, start, engine) is points
    assert l1.with_principal_axes(points, start[:50], ThreadEngine(2)) is points


@pytest.mark.parametrize("n_jobs", [1, 3])
def test_the_bits_do_not_depend_on_threads_and_blocks(n_jobs, block_size):
    X = fading(3)
    plain = L1Graph(3, random_state=0, n_jobs=2).fit(X)
    block_size(17)
    other = L1Graph(3, random_state=0, n_jobs=n_jobs).fit(X)
    np.testing.assert_array_equal(plain.codes_.data, other.codes_.data)
    np.testing.assert_array_equal(plain.codes_.indices, other.codes_.indices)
    np.testing.assert_array_equal(plain.labels_, other.labels_)
