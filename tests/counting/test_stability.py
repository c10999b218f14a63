"""The number of clusters that samples agree on and that hold together in the graph."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import make_blobs

from srsg import SRSG, LocalScalingSpectralClustering, RidgeGraph
from srsg.counting.counts import MANY_FEATURES, _Counting, counted_by
from srsg.counting.stability import Sampled, modularity, search_combined, search_stable
from srsg.cutting.cut import CutOptions
from srsg.datasets import make_union_of_subspaces
from srsg.running import ThreadEngine
from support.estimators import counted


def test_modularity_by_its_definition():
    rng = np.random.default_rng(0)
    graph = rng.random((12, 12))
    graph += graph.T
    labels = rng.integers(3, size=12)
    same = labels[:, None] == labels
    chance = np.outer(graph.sum(1), graph.sum(0)) / graph.sum() ** 2
    for form in (graph, sparse.csr_array(graph)):
        expected = graph[same].sum() / graph.sum() - chance[same].sum()
        assert modularity(form, labels) == pytest.approx(expected)


def test_two_stable_groups_do_not_hide_ten_clusters():
    """Any sample shows the two groups again; there is more structure in the graph."""
    cluster, group = np.arange(200) // 20, np.arange(200) // 100
    graph = 1.0 * (cluster[:, None] == cluster) + 0.02 * (group[:, None] == group)
    labels = {2: group, 10: cluster}
    found = search_stable(graph, [labels.get] * 3, [np.arange(200)] * 3, [2, 10])
    assert found.n_clusters == 10


def test_the_number_is_the_middle_of_three_estimates():
    """Stable and modular in 4, samples show 8 clusters again, halves 16: the middle is 8."""
    rng = np.random.default_rng(0)
    rows = [np.arange(480)] * 2
    blocks = {count: np.arange(480) * count // 480 for count in (4, 8, 16)}
    graph = 1.0 * (blocks[4][:, None] == blocks[4])

    def with_noise(shares):
        """Labels of which a share is found again."""
        noisy = {
            count: np.where(rng.random(480) < shares[count], labels, rng.integers(count, size=480))
            for count, labels in blocks.items()
        }
        return Sampled(rows, [blocks.get, noisy.get])

    samples = with_noise({4: 0.97, 8: 0.93, 16: 0.4})
    found = search_combined(graph, samples, with_noise({4: 0.5, 8: 0.5, 16: 1.0}), [4, 8, 16])
    assert found.n_clusters == 8
    assert [found.scores[found.counts == count] for count in (4, 8, 16)] == [1, 1, 1]
    again = search_combined(graph, samples, with_noise({4: 1.0, 8: 0.5, 16: 0.3}), [4, 8, 16])
    assert again.n_clusters in (4, 8)
    assert again.scores[2] < 1


@pytest.mark.parametrize(("counts", "usual"), [([3, 9, 90], 9), ([2, 60], 2), ([4, 20], 20)])
def test_a_usual_number_where_the_evidence_is_the_same(counts, usual):
    cluster = np.arange(60) // 6
    graph = 1.0 * (cluster[:, None] == cluster)
    found = search_stable(graph, [lambda count: cluster] * 3, [np.arange(60)] * 3, counts)
    assert found.n_clusters == usual


def parts_of(graph):
    """What the two samples of a count have of 40 points: 30 of them each."""
    rng = np.random.RandomState(0)
    counting = _Counting(graph, CutOptions(), rng, ThreadEngine(1))
    return list(counting.parts(graph.points, [np.arange(30), np.arange(10, 40)], rng))


def test_samples_have_different_features():
    """Each half of the features is in one sample, the constant coordinate in both."""
    X = np.random.default_rng(0).standard_normal((40, MANY_FEATURES))
    graph = SRSG(affine=True).fit_graph(X).graph_
    parts = parts_of(graph)
    for part in parts:
        assert part.shape == (30, MANY_FEATURES // 2 + 1)
        np.testing.assert_allclose(np.linalg.norm(part, axis=1), 1)
    # A point in both samples: its halves, scaled back by the constant, have all of its features.
    point = graph.points[15]
    halves = [part[row, :-1] / part[row, -1] for part, row in zip(parts, (15, 5), strict=True)]
    found = np.sort(np.concatenate(halves))
    np.testing.assert_allclose(found, np.sort(point[:-1] / point[-1]))


def test_sparse_features_are_not_halved():
    X = sparse.random_array((40, 400), density=0.03, rng=np.random.default_rng(0), format="csr")
    parts = parts_of(SRSG().fit_graph(X).graph_)
    assert [part.shape for part in parts] == [(30, 400)] * 2


def test_labels_that_no_sample_shows_again_are_no_structure():
    rng = np.random.default_rng(0)
    graph = np.ones((90, 90))
    found = search_stable(
        graph, [lambda count: rng.integers(count, size=90)] * 3, [np.arange(90)] * 3, [2, 3]
    )
    assert not found.structure_found


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
    assert rules == ["density", "density", "halves", "halves", "samples"]
