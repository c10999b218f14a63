"""Small graphs and few points, against plain NumPy."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from srsg.counting.eigengaps import _mean_spread
from srsg.cutting.affinity import largest_codes
from srsg.cutting.cut import _squared_distances
from srsg.cutting.embedding import commute_time_embedding, normalized
from srsg.explaining.explanation import _products
from srsg.explaining.layout import _by_forces, _pulls, _start
from srsg.explaining.outliers import outlier_scores

W = np.array([[0, 2, 1, 0], [2, 0, 0, 0], [1, 0, 0, 0], [0, 0, 0, 0.0]])


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array])
def test_a_vertex_without_edges_stays_without(kind):
    found = normalized(kind(W))
    found = found.toarray() if sparse.issparse(found) else found
    degree = np.array([3, 2, 1, 1.0])
    np.testing.assert_allclose(found, W / np.sqrt(degree[:, None] * degree), atol=1e-15)


def test_squared_distances_of_some_points_to_all():
    rng = np.random.default_rng(0)
    x = rng.standard_normal((7, 3))
    found = _squared_distances(x, (x**2).sum(axis=1), np.array([4, 1]))
    expected = ((x[[4, 1]][:, None] - x[None]) ** 2).sum(axis=2)
    np.testing.assert_allclose(found, expected, atol=1e-13)
    assert (found >= 0).all()


def test_the_mean_of_all_eigenvalues_of_a_graph_with_loops():
    loops = W + np.diag([0.5, 0.0, 2.0, 3.0])
    degree = loops.sum(axis=1)
    eigenvalues = np.linalg.eigvals(loops / degree[:, None])
    assert _mean_spread(loops) == pytest.approx(np.mean(1 - eigenvalues).real, abs=1e-14)
    assert _mean_spread(sparse.csr_array(loops)) == _mean_spread(loops)
    assert _mean_spread(W) == 1.0


def test_commute_times_of_a_connected_graph():
    """Squared distances before rows are scaled: the eigenvectors over the roots of 1 - lambda."""
    rng = np.random.default_rng(0)
    A = rng.random((6, 6)) + 0.1
    A = A + A.T
    degree = A.sum(axis=1)
    values, vectors = np.linalg.eigh(A / np.sqrt(degree[:, None] * degree))
    expected = vectors[:, -2:-4:-1] / np.sqrt(1 - values[-2:-4:-1])
    expected /= np.linalg.norm(expected, axis=1, keepdims=True)
    found = commute_time_embedding(sparse.csr_array(A), 2)
    np.testing.assert_allclose(found.eigenvalues, values[-2:-4:-1], atol=1e-12)
    np.testing.assert_allclose(found.vectors @ found.vectors.T, expected @ expected.T, atol=1e-10)


def test_outliers_are_ranked_from_zero_to_one():
    codes = sparse.csr_array(np.diag([0.9, 0.5, 0.1], 1) + np.diag([0.0, 0.0, 0.05], -1))
    explained = np.array([0.2, 0.9, 0.8, 0.1])
    scores = outlier_scores(explained, codes)
    assert scores.min() >= 0
    assert scores.max() <= 1
    assert scores.mean() == pytest.approx(0.5)


def test_the_largest_codes_leave_the_given_ones_as_they_are():
    codes = sparse.csr_array(np.array([[0.0, 3.0, -4.0], [1.0, 0.0, 1.0]]))
    kept = largest_codes(codes, 1)
    assert kept.toarray().tolist() == [[0, 0, -4], [1, 0, 0]]
    assert codes.toarray().tolist() == [[0, 3, -4], [1, 0, 1]]


@pytest.mark.parametrize("first", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("second", [np.asarray, sparse.csr_array])
def test_products_of_rows(first, second):
    rng = np.random.default_rng(0)
    a, b = rng.standard_normal((2, 5, 3))
    found = _products(first(a), second(b))
    np.testing.assert_allclose(found, (a * b).sum(axis=1), atol=1e-14)


# The picture of a graph


def test_pulls_go_by_the_heaviest_edge_of_a_point():
    graph = np.array([[0, 4, 1, 0], [4, 0, 0, 0], [1, 0, 9, 0.5], [0, 0, 0.5, 0]])
    expected = np.array([[0, 1, 1, 0], [1, 0, 0, 0], [1, 0, 0, 1], [0, 0, 1, 0.0]])
    np.testing.assert_allclose(_pulls(graph, None).toarray(), expected)
    np.testing.assert_allclose(_pulls(sparse.csr_array(graph), None).toarray(), expected)


def test_the_start_has_the_longer_axis_across():
    rng = np.random.default_rng(0)
    start = _start(rng.standard_normal((40, 3)) * [1, 7, 0.1])
    assert np.abs(start).max() == 10
    assert np.ptp(start[:, 0]) > 2 * np.ptp(start[:, 1])
    line = _start(np.arange(5.0)[:, None])
    np.testing.assert_array_equal(line[:, 1], 0)
    assert not _start(np.ones((4, 3))).any()


def test_clusters_lie_apart_in_the_picture():
    ones = np.ones((6, 6)) - np.eye(6)
    pulls = sparse.csr_array(np.kron(np.eye(2), ones))
    start = np.random.default_rng(1).standard_normal((12, 2))
    found = _by_forces(pulls, start)
    centres = found[:6].mean(axis=0), found[6:].mean(axis=0)
    within = np.linalg.norm(found - np.repeat(centres, 6, axis=0), axis=1).max()
    assert np.linalg.norm(centres[0] - centres[1]) > 2 * within
