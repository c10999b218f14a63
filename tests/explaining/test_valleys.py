"""Valleys of density between clusters: none in noise, some between clusters that lie apart."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse
from sklearn.cluster import KMeans
from sklearn.datasets import load_digits

from srsg import RidgeGraph, StabilitySearch
from srsg.datasets import make_union_of_subspaces
from srsg.explaining.valleys import LEVEL, _spaces, valley_p_value


def two_blobs(n, d, sigmas, seed):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d))
    X[: n // 2, 0] += sigmas
    return X


def without_clusters(seed, n, d):
    rng = np.random.default_rng(seed)
    normal = rng.standard_normal((n, d))
    low = rng.standard_normal((n, 3)) @ rng.standard_normal((3, d)) + 0.1 * normal
    yield from (normal, rng.random((n, d)), normal / np.arange(1, d + 1), low)
    yield from (rng.lognormal(size=(n, d)), rng.standard_t(3, size=(n, d)))


@pytest.mark.parametrize(("n", "d"), [(100, 2), (100, 20), (500, 5), (300, 20), (200, 100)])
def test_noise_has_no_valleys(n, d):
    found = [
        valley_p_value(X, KMeans(k, n_init=1, random_state=0).fit_predict(X)) <= LEVEL
        for seed in range(2)
        for X in without_clusters(seed, n, d)
        for k in (2, 4)
    ]
    assert np.mean(found) <= LEVEL


@pytest.mark.parametrize("d", [2, 5, 20, 100])
def test_two_blobs_six_sigmas_apart_have_a_valley(d):
    for seed in range(5):
        X = two_blobs(200, d, 6.0, seed)
        assert valley_p_value(X, KMeans(2, n_init=1, random_state=0).fit_predict(X)) < LEVEL


@pytest.mark.parametrize("d", [2, 20])
def test_five_sigmas_are_enough_for_a_hundred_points(d):
    """Where only points between the medians were counted, 90 and 93 % of these were found."""
    labels = (np.arange(100) < 50).astype(int)
    draws = [two_blobs(100, d, 5.0, seed) for seed in range(60)]
    assert np.mean([valley_p_value(X, labels) <= LEVEL for X in draws]) >= 0.95


def test_subspaces_have_valleys_though_they_share_their_centre():
    X, y = make_union_of_subspaces(200, n_subspaces=4, n_features=30, random_state=0)
    assert valley_p_value(X, y) < 1e-3


def test_neither_unit_shift_nor_format_matter():
    X, y = load_digits(return_X_y=True)
    expected = valley_p_value(X[:300], y[:300])
    for other in (X * 1e200, X * 1e-200, X.astype(int), sparse.csr_array(X)):
        assert valley_p_value(other[:300], y[:300]) == pytest.approx(expected)


def test_one_cluster_has_no_valley():
    assert valley_p_value(np.eye(4), np.zeros(4, int)) == 1.0


@pytest.mark.parametrize("seed", range(3))
def test_the_two_faults_that_were_found(seed):
    """Heavy tails are no structure, and two blobs six sigmas apart are."""
    X = np.random.default_rng(seed).lognormal(size=(300, 20))
    assert not RidgeGraph("auto", random_state=0).fit(X).structure_found_
    search = StabilitySearch(n_clusters=2, random_state=0).fit(two_blobs(200, 6, 6.0, seed))
    assert search.structure_found_
    assert np.median(search.confidence_) > 0.95


def test_lengths_do_not_hide_valleys_between_directions():
    """Images under changing light: lengths differ far more than directions do."""
    rng = np.random.default_rng(0)
    faces = 1 + rng.random((4, 120))
    X = np.repeat(faces, 60, axis=0) + 0.05 * rng.standard_normal((240, 120))
    X *= np.exp(rng.normal(0, 1.5, (240, 1)))
    assert RidgeGraph(4, random_state=0).fit(X).valley_p_value_ < 0.01
    noise = 3 + rng.standard_normal((240, 120))
    assert RidgeGraph(4, random_state=0).fit(noise).valley_p_value_ > 0.05


def test_clusters_of_two_points_count():
    """Each of them says little, all together say much."""
    rng = np.random.default_rng(0)
    places = 100 * rng.standard_normal((30, 3))
    points = np.repeat(places, 2, axis=0) + rng.standard_normal((60, 3))
    labels = np.repeat(np.arange(30), 2)
    assert valley_p_value(points, labels) < 0.001
    assert valley_p_value(points, rng.permutation(labels)) > 0.5


def test_the_third_space_has_the_squares_of_cosines():
    """Points of any length on a line through the mean are one place in it."""
    X = np.random.default_rng(0).standard_normal((30, 5)) * np.arange(1, 31)[:, None]
    centred = X - X.mean(axis=0)
    unit = centred / np.linalg.norm(centred, axis=1, keepdims=True)
    products = np.einsum("ij,ik->ijk", unit, unit).reshape(30, -1)
    products -= products.mean(axis=0)
    found, _ = list(_spaces(X))[2]
    np.testing.assert_allclose(found, products @ products.T, atol=1e-12)
