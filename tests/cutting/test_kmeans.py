"""K-means: restarts side by side, against scikit-learn's one after the other."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.cluster import KMeans
from sklearn.datasets import make_blobs

from srsg.cutting.cut import _starts, kmeans_labels
from srsg.running import ThreadEngine


def inertia(X, labels):
    return sum(((X[labels == k] - X[labels == k].mean(axis=0)) ** 2).sum() for k in set(labels))


def blobs(n_clusters):
    X, _ = make_blobs(900, n_features=8, centers=n_clusters, cluster_std=3.0, random_state=0)
    return X / np.linalg.norm(X, axis=1, keepdims=True)


@pytest.mark.parametrize("n_clusters", [1, 2, 10, 60])
def test_labels_are_the_same_on_any_number_of_threads(n_clusters):
    X = blobs(n_clusters)
    one, three = (
        kmeans_labels(X, n_clusters, random_state=0, engine=ThreadEngine(n)) for n in (1, 3)
    )
    np.testing.assert_array_equal(one, three)
    assert len(set(one)) == n_clusters


@pytest.mark.parametrize("n_clusters", [5, 20, 60])
def test_no_worse_than_scikit_learn(n_clusters):
    """Over several seeds, with as many restarts."""
    X, ours, theirs = blobs(n_clusters), [], []
    for seed in range(5):
        ours.append(inertia(X, kmeans_labels(X, n_clusters, random_state=seed)))
        theirs.append(KMeans(n_clusters, n_init=10, random_state=seed).fit(X).inertia_)
    assert np.mean(ours) <= np.mean(theirs) * (1 + 1e-9)


def test_the_best_restart_counts():
    X = blobs(20)
    single = [inertia(X, kmeans_labels(X, 20, n_init=1, random_state=seed)) for seed in range(5)]
    assert inertia(X, kmeans_labels(X, 20, n_init=30, random_state=0)) <= min(single)


def test_starts_drawn_in_small_groups_are_the_same(monkeypatch):
    X = blobs(10)
    expected = kmeans_labels(X, 10, random_state=0)
    monkeypatch.setattr("srsg.cutting.cut.DISTANCES_PER_TASK", 1)
    np.testing.assert_array_equal(kmeans_labels(X, 10, random_state=0), expected)


def test_points_that_coincide():
    X = np.repeat(np.eye(3), 4, axis=0)
    labels = kmeans_labels(X, 3, random_state=0)
    assert len(set(labels[::4])) == 3
    np.testing.assert_array_equal(labels, np.repeat(labels[::4], 4))


def test_points_of_no_weight_start_no_cluster():
    """However far away they are."""
    rng = np.random.default_rng(0)
    vectors = np.vstack([rng.standard_normal((30, 2)), [[50.0, 0.0], [0.0, 50.0]]])
    weights = np.append(np.ones(30), [1e-12, 1e-12])
    chosen = _starts((vectors, weights), rng.random((20, 1 + 2 * 4)), 3, 4)
    assert chosen.max() < 30
    assert (_starts((vectors, None), rng.random((20, 1 + 2 * 4)), 3, 4) >= 30).any()
