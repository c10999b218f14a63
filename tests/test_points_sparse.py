"""Sparse points: scaled, multiplied and measured as dense ones are."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy import sparse

from srsg.kernels.arrays import LeftOut, ScanBounds
from srsg.kernels.correlations import nearest
from srsg.points import (
    TILE,
    EqualPoints,
    Points,
    kernel_rows,
    name_rows,
    root_mean_square_length,
    row_digests,
    unit_points,
)
from srsg.running import ThreadEngine
from support.text import term_weights

fingerprint = ThreadEngine(1).fingerprint


@pytest.fixture(scope="module")
def texts():
    return term_weights(60, 500)[0]


@pytest.mark.parametrize("constant", [0.0, 2.5])
@pytest.mark.parametrize("scale", [1.0, 1e-200, 1e200])
def test_unit_rows_are_those_of_the_array(texts, scale, constant):
    found = unit_points(texts * scale, constant=constant)
    assert sparse.issparse(found.x)
    wanted = unit_points(texts.toarray() * scale, constant=constant)
    np.testing.assert_allclose(found.x.toarray(), wanted.x, rtol=0, atol=1e-15)


def test_stored_zeros_and_repeated_entries_make_no_difference():
    messy = sparse.csr_array(
        (np.array([1.0, 0.0, 2.0, 1.0]), np.array([2, 0, 1, 2]), np.array([0, 4])), shape=(1, 3)
    )
    tidy = unit_points(sparse.csr_array([[0.0, 2.0, 2.0]]))
    found = unit_points(messy)
    assert found.x.indices.tolist() == [1, 2]
    assert fingerprint(found) == fingerprint(tidy)


def test_rows_of_zeros_are_named():
    with pytest.raises(ValueError, match="rows 1"):
        unit_points(sparse.csr_array([[1.0, 0.0], [0.0, 0.0]]))


def test_length_of_rows(texts):
    assert root_mean_square_length(texts) == pytest.approx(
        root_mean_square_length(texts.toarray()), rel=1e-14
    )
    assert root_mean_square_length(sparse.csr_array((3, 2))) == 1.0


@pytest.mark.parametrize("scale", [1.0, 1e-200, 1e200])
def test_root_mean_square_of_lengths_that_differ(scale):
    found = root_mean_square_length(np.array([[3.0, 4.0], [0.0, 1.0], [0.0, 0.0]]) * scale)
    assert found == pytest.approx(np.sqrt(26 / 3) * scale, rel=1e-14)


def test_edges_of_equal_points_add_up():
    equal = EqualPoints.from_first(np.array([0, 1, 0, 1, 4]))
    W = np.arange(25.0).reshape(5, 5)
    W += W.T
    expected = np.zeros((3, 3))
    np.add.at(expected, tuple(np.meshgrid(equal.owner, equal.owner, indexing="ij")), W)
    for kind in (np.asarray, sparse.csr_array):
        found = equal.merge_graph(kind(W), loops=True)
        np.testing.assert_array_equal(
            found.toarray() if sparse.issparse(found) else found, expected
        )


def test_many_rows_are_named_by_the_first_few():
    assert name_rows(np.array([1, 2, 3]), 3) == "1, 2, 3"
    assert name_rows(np.array([1, 2, 3, 4]), 3) == "1, 2, 3, ..."


def test_correlations_are_within_their_bound(texts):
    points = unit_points(texts)
    vectors = np.random.default_rng(0).standard_normal((2 * TILE + 3, points.n_features))
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    exact = vectors @ points.x.toarray().T
    room = np.empty((len(vectors), points.n), np.float32)
    for found in (points.correlations(vectors), points.correlations(vectors, room)):
        assert np.abs(found - exact).max() <= points.correlation_error
    assert points.correlation_error < unit_points(texts.toarray()).correlation_error


def test_equal_points_are_at_distance_zero(texts):
    twice = sparse.csr_array(sparse.vstack([texts, texts]))
    points = unit_points(twice)
    dense = points.x.toarray()
    bounds = ScanBounds(0, 0.0, points.correlation_error, LeftOut.nothing(points.n, points.n))
    own = np.arange(points.n)
    products = points.correlations(dense)
    found = nearest(kernel_rows(points.x), dense, own, products, bounds, 2)
    assert (found.key[:, 0] == 0).all()
    far = dense[own] - dense[found.index[:, 1]]
    np.testing.assert_allclose(found.key[:, 1], (far**2).sum(axis=1), atol=1e-14)


def test_fingerprints_tell_sparse_points_apart(texts):
    first = unit_points(texts)
    halves = [row_digests(Points(first.x[:30])), row_digests(Points(first.x[30:], first=30))]
    assert fingerprint(first) == fingerprint(replace(first, digests=b"".join(halves)))
    moved, changed = first.x.copy(), first.x.copy()
    moved.indices[0] = (moved.indices[0] + 1) % 500
    changed.data[0] *= -1
    prints = {fingerprint(Points(x)) for x in (first.x, moved, changed)}
    assert len(prints) == 3
