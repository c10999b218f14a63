"""Memberships, explanations and random walks, against plain loops."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest
from scipy import sparse

from srsg.explaining import explanation
from srsg.explaining.confidence import soft_labels, sparse_memberships, sure_of_own, tossed
from srsg.explaining.explanation import (
    beside_the_best,
    explained_by_directions,
    explained_by_distances,
    weight_of_negatives,
    within_own_cluster,
)
from srsg.explaining.outliers import outlier_scores, visits
from srsg.points import row_slices


@pytest.fixture
def coded():
    """Points, codes over them with both signs and an empty row, and labels."""
    rng = np.random.default_rng(0)
    points = rng.standard_normal((40, 7))
    codes = sparse.random_array(
        (40, 40), density=0.15, random_state=rng, data_sampler=rng.standard_normal
    )
    codes = codes.tolil()
    codes.setdiag(0)
    codes[3] = 0
    codes = sparse.csr_array(codes)
    codes.eliminate_zeros()
    return points, codes, rng.integers(0, 3, 40)


def test_memberships_fall_with_the_cube_of_the_distance():
    rng = np.random.default_rng(1)
    vectors, labels = rng.standard_normal((30, 4)), np.arange(30) % 3
    found = soft_labels(vectors, labels, 3)
    for i in range(30):
        weights = [
            np.linalg.norm(vectors[i] - vectors[labels == c].mean(axis=0)) ** -3.0 for c in range(3)
        ]
        np.testing.assert_allclose(found[i], np.array(weights) / sum(weights))


def test_points_on_their_centres_and_clusters_without_members():
    vectors = np.repeat([[0.0, 0.0], [1.0, 0.0]], 3, axis=0)
    found = soft_labels(vectors, [0, 0, 0, 2, 2, 2], 4)
    np.testing.assert_array_equal(found, np.repeat([[1, 0, 0, 0], [0, 0, 1, 0]], 3, axis=0))
    np.testing.assert_array_equal(soft_labels(vectors, np.zeros(6, int), 1), np.ones((6, 1)))


@pytest.mark.parametrize("most", [1, 2, 3, 9])
def test_sparse_memberships_are_those_of_a_plain_loop(most):
    rng = np.random.default_rng(2)
    soft = rng.dirichlet(np.ones(6), 50)
    own, explained = rng.integers(6, size=50), rng.random(50)
    found = sparse_memberships(soft, own, explained, most)
    assert np.diff(found.indptr).max() <= most
    np.testing.assert_allclose(found.sum(axis=1), 1)
    for i in range(50):
        others = sorted(set(range(6)) - {own[i]}, key=lambda c: -soft[i, c])
        kept = [own[i], *others][:most]
        expected = np.zeros(6)
        expected[kept] = explained[i] * soft[i, kept] / soft[i, kept].sum()
        expected[kept] += (1 - explained[i]) / len(kept)
        np.testing.assert_allclose(found[[i]].toarray()[0], expected)


@pytest.mark.parametrize("p_value", [0.01, 0.2, 0.9])
def test_a_toss_moves_membership_to_the_next_cluster_only(p_value):
    rng = np.random.default_rng(3)
    soft = rng.dirichlet(np.ones(5), 40)
    own = soft.argmax(axis=1)
    found = tossed(soft, own, p_value)
    np.testing.assert_allclose(found.sum(axis=1), 1)
    np.testing.assert_array_equal(found[np.arange(40), own], sure_of_own(soft, own, p_value))
    assert ((found != soft).sum(axis=1) == (0 if p_value <= 0.05 else 2)).all()


def test_two_equal_centres_share_a_point():
    found = soft_labels(np.array([[-1.0], [1.0], [-1.0], [1.0]]), [0, 0, 1, 1], 2)
    np.testing.assert_array_equal(found, np.full((4, 2), 0.5))


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
def test_directions_are_cosines(coded, form, monkeypatch):
    points, codes, _ = coded
    dense = codes.toarray()
    expected = []
    for point, code in zip(points, dense, strict=True):
        total = np.where(code < 0, 0.3 * code, code) @ points
        longer = max(np.linalg.norm(total), np.linalg.norm(code @ points))
        length = np.linalg.norm(point) * longer
        expected.append(max(0.0, point @ total / length) if length else 0.0)
    for block in (1024, 7):
        monkeypatch.setattr(explanation, "row_slices", partial(row_slices, length=block))
        found = explained_by_directions(form(points), codes, form(points), 0.3)
        np.testing.assert_allclose(found, expected, atol=1e-12)
    assert found[3] == 0  # nothing explains it


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
def test_distances_are_to_weighted_means(coded, form, monkeypatch):
    points, codes, _ = coded
    variance = ((points - points.mean(axis=0)) ** 2).sum(axis=1).mean()
    expected = []
    for point, code in zip(points, abs(codes.toarray()), strict=True):
        used = code.sum() > 0
        away = ((point - code @ points / code.sum()) ** 2).sum() if used else np.inf
        expected.append(1 / (1 + away / variance))
    for block in (1024, 7):
        monkeypatch.setattr(explanation, "row_slices", partial(row_slices, length=block))
        found = explained_by_distances(form(points), codes, form(points))
        np.testing.assert_allclose(found, expected, atol=1e-12)


def test_negative_coefficients_keep_their_weight():
    points, codes = np.array([[1.0, 0.0]]), sparse.csr_array([[-0.5]])
    for weight in (0.0, 0.2, 1.0):
        found = explained_by_directions(points, codes, -points, weight)
        np.testing.assert_allclose(found, [weight])


def test_own_clusters_only(coded):
    _, codes, labels = coded
    found = within_own_cluster(codes, labels, labels).toarray()
    same = labels[:, None] == labels
    np.testing.assert_array_equal(found, np.where(same, codes.toarray(), 0))


def test_weight_of_negatives_is_at_most_one():
    assert weight_of_negatives(sparse.csr_array([[0.0, -0.5], [0.1, 0.0]])) == 1.0
    assert weight_of_negatives(sparse.csr_array([[0.0, 0.5], [0.1, 0.0]])) == 0.0
    assert weight_of_negatives(sparse.csr_array((2, 2))) == 1.0


def test_explained_beside_the_best():
    fitted = np.linspace(0.0, 1.0, 11) * 0.8
    np.testing.assert_allclose(beside_the_best(np.array([0.36, 0.8]), fitted), [0.5, 1.0])
    np.testing.assert_array_equal(beside_the_best(np.array([0.4]), np.zeros(3)), [0.0])


def test_visits_are_those_of_a_dense_walk(coded):
    _, codes, _ = coded
    dense = abs(codes.toarray())
    dense[3] = 1  # from an empty code the walk goes anywhere
    step = dense / dense.sum(axis=1, keepdims=True)
    place, expected = np.full(40, 1 / 40), np.zeros(40)
    for _ in range(50):
        place = place @ step
        expected += place / 50
    np.testing.assert_allclose(visits(codes, 50), 40 * expected, rtol=1e-10)


def test_outlier_scores_follow_the_points(coded):
    points, codes, _ = coded
    explained = explained_by_directions(points, codes, points)
    scores = outlier_scores(explained, codes)
    assert scores.min() >= 0
    assert scores.max() <= 1
    order = np.random.default_rng(2).permutation(40)
    np.testing.assert_allclose(
        outlier_scores(explained[order], codes[order][:, order]), scores[order]
    )
