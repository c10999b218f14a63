"""The number of clusters by the links between them."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import make_blobs

from srsg import SRSG, LocalScalingSpectralClustering, RidgeGraph
from srsg.counting.counts import MANY_FEATURES, counted_by
from srsg.counting.separation import Split, search_separated, share_ranges, split_of
from srsg.datasets import make_union_of_subspaces
from support.estimators import counted


def ring(n: int) -> np.ndarray:
    return np.eye(n, k=1) + np.eye(n, k=-1) + np.eye(n, k=n - 1) + np.eye(n, k=1 - n)


def test_weights_inside_and_by_chance():
    rng = np.random.default_rng(0)
    graph = rng.random((12, 12))
    graph += graph.T
    labels = rng.integers(3, size=12)
    same = labels[:, None] == labels
    chance = np.outer(graph.sum(1), graph.sum(0)) / graph.sum() ** 2
    for form in (graph, sparse.csr_array(graph)):
        split = split_of(form, labels)
        assert split.inside == pytest.approx(graph[same].sum() / graph.sum())
        assert split.expected == pytest.approx(chance[same].sum())


@pytest.mark.parametrize("seed", range(5))
def test_ranges_by_a_fine_grid(seed):
    rng = np.random.default_rng(seed)
    expected = 1 / np.arange(2, 14)
    splits = [Split(1 - rng.uniform(0, 0.4) * (1 - e), e) for e in expected]
    found = share_ranges(splits, largest=0.5)
    shares = (np.arange(100_000) + 0.5) / 200_000
    inside = np.array([1.0, *(s.inside for s in splits)])
    values = inside - np.outer(shares, [1.0, *expected])
    part = np.bincount(values.argmax(1), minlength=len(inside))[1:] / len(shares)
    np.testing.assert_allclose(np.maximum(found, 0), part, atol=1e-4)
    lacking = (values.max(1, keepdims=True) - values).min(0)[1:]
    nowhere = found < 0
    np.testing.assert_allclose(-found[nowhere], lacking[nowhere], atol=1e-4)


def test_equal_labellings_share_no_range():
    split = Split(0.99, 0.5)
    assert share_ranges([split, split]).max() == share_ranges([split])[0]
    assert share_ranges([Split(1.0, 1.0)]).max() <= 0


def test_rings_are_not_cut_into_arcs():
    """Three rings with a few stray edges: plain modularity cuts them, since arcs are dense."""
    n = 40
    graph = np.kron(np.eye(3), ring(n))
    for a, b in ((0, 41), (50, 90), (10, 100)):
        graph[a, b] = graph[b, a] = 0.2

    def arcs(count: int) -> np.ndarray:
        """Whole rings first; further clusters are arcs."""
        per_ring = max(1, count // 3)
        return np.minimum(np.arange(3 * n) // n, count - 1) * per_ring + (
            np.arange(3 * n) % n * per_ring // n
        )

    found = search_separated(graph, arcs, [2, 3, 6, 9, 12, 15])
    assert found.n_clusters == 3
    assert found.structure_found
    splits = [split_of(graph, arcs(count)) for count in (3, 6, 9, 12)]
    assert np.argmax([split.inside - split.expected for split in splits]) > 0


def test_numbers_between_are_tried_too():
    graph = np.kron(np.eye(30), np.ones((4, 4))) + 0.001
    found = search_separated(graph, lambda count: np.arange(120) // 4 * count // 30, [10, 25, 35])
    assert found.n_clusters == 30
    assert found.counts.tolist() == [10, *range(25, 36)]


@pytest.mark.parametrize(("estimator", "noise"), [(SRSG(), 0.08), (RidgeGraph(), 0.04)])
def test_many_features(estimator, noise):
    """Noise joins the subspaces, so components do not tell."""
    X, _ = make_union_of_subspaces(
        300, n_subspaces=5, dimension=4, n_features=MANY_FEATURES, noise=noise, random_state=0
    )
    found = counted(estimator, X)
    assert len(found.counts) > 1
    assert found.n_clusters == 5
    assert found.structure_found
    assert (found.scores <= 1).all()


@pytest.mark.parametrize("estimator", [SRSG(affine=True), RidgeGraph()])
def test_noise_has_no_structure(estimator):
    X = np.random.default_rng(0).standard_normal((300, 2 * MANY_FEATURES))
    assert not counted(estimator, X).structure_found


def test_equal_points_count_once():
    X, _ = make_union_of_subspaces(
        200, n_subspaces=4, dimension=4, n_features=MANY_FEATURES, noise=0.1, random_state=1
    )
    alone = counted(SRSG(), X)
    twice = counted(SRSG(), np.vstack([X, X[:50]]))
    np.testing.assert_array_equal(twice.scores, alone.scores)


@pytest.mark.parametrize("seed", range(2))
def test_few_columns(seed):
    """Stretched groups, on whose pieces halves of the points agree as well."""
    X, _ = make_blobs(400, centers=3, random_state=11 + seed)
    X = X @ [[0.6, -0.6], [-0.4, 0.8]]
    assert counted(LocalScalingSpectralClustering(), X).n_clusters == 3


def test_the_number_of_columns_decides_what_counts():
    rules = [counted_by(n) for n in (2, 3, 4, 99, 100)]
    assert rules == ["density", "density", "halves", "halves", "links"]
