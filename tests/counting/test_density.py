"""The number of clusters of two or three columns, by the valleys of their density."""

from dataclasses import replace

import numpy as np
import pytest
from scipy import sparse
from scipy.sparse.csgraph import minimum_spanning_tree
from scipy.spatial.distance import cdist
from sklearn.datasets import make_blobs, make_circles, make_moons

from srsg import (
    SMCE,
    SRSG,
    LocalScalingSpectralClustering,
    OMPGraph,
    RidgeGraph,
    StabilitySearch,
)
from srsg.counting import counts
from srsg.counting.density import n_neighbors_for, noise_depth, search_dense, valley_depths
from srsg.counting.reproducibility import counts_to_try
from srsg.cutting.cut import CutOptions
from srsg.datasets import make_trefoil_knots
from srsg.running import ThreadEngine
from support.estimators import counted


def plain_depths(points, n_neighbors):
    """Join the two groups of every edge of a spanning tree, the shortest edge first."""
    distance = cdist(points, points)
    radius = np.sort(distance, axis=1)[:, n_neighbors]
    reach = np.maximum(distance, np.maximum.outer(radius, radius))
    tree = sparse.coo_array(minimum_spanning_tree(np.triu(reach, 1)))
    depths, group = [], np.arange(len(points))
    for length, i, j in sorted(zip(tree.data, tree.row, tree.col, strict=True)):
        peaks = [radius[group == group[end]].min() for end in (i, j)]
        depths.append(np.log(length / max(peaks)))
        group[group == group[i]] = group[j]
    return np.sort(depths)[::-1]


@pytest.mark.parametrize("dimension", [1, 2, 3])
def test_depths_are_those_of_the_plain_way(dimension):
    points = np.random.default_rng(dimension).random((120, dimension))
    np.testing.assert_allclose(valley_depths(points, 6), plain_depths(points, 6), atol=1e-12)


@pytest.mark.parametrize("unit", [1e-200, 1e-3, 1e200])
def test_depths_do_not_depend_on_the_unit(unit):
    points = np.random.default_rng(0).random((60, 2))
    np.testing.assert_allclose(valley_depths(unit * points, 8), valley_depths(points, 8), atol=1e-9)


@pytest.mark.parametrize("n_points", [300, 1000])
@pytest.mark.parametrize("columns", [2, 3])
@pytest.mark.parametrize("seed", range(4))
def test_noise_has_no_structure(n_points, columns, seed):
    rng = np.random.default_rng(seed)
    for noise in (rng.random((n_points, columns)), rng.standard_normal((n_points, columns))):
        search = StabilitySearch(random_state=0).fit(noise)
        assert not search.structure_found_
        assert search.cluster_count_scores_.max() <= 0


@pytest.mark.parametrize("columns", [2, 3])
@pytest.mark.parametrize(
    "estimator",
    [SRSG(), OMPGraph(), SRSG(affine=True), RidgeGraph(), SMCE(), LocalScalingSpectralClustering()],
)
def test_noise_has_no_structure_for_any_estimator(estimator, columns):
    """Codes of so few columns fall into many components, which mean nothing."""
    X = np.random.default_rng(5).standard_normal((200, columns))
    assert not counted(estimator, X).structure_found


@pytest.mark.parametrize("columns", [2, 3])
@pytest.mark.parametrize("count", [3, 5])
@pytest.mark.parametrize("n_points", [150, 600])
def test_groups_are_counted(n_points, count, columns):
    centers = 12 * np.column_stack([np.arange(count) % 3, np.arange(count) // 3, np.zeros(count)])
    X, _ = make_blobs(n_points, centers=centers[:, :columns], cluster_std=1.5, random_state=0)
    search = StabilitySearch(random_state=0).fit(X)
    assert search.n_clusters_ == count
    assert search.structure_found_


@pytest.mark.parametrize("seed", range(3))
def test_moons_and_rings_are_two(seed):
    moons = make_moons(400, noise=0.05, random_state=seed)[0]
    rings = make_circles(400, noise=0.05, factor=0.5, random_state=seed)[0]
    for X in (moons, rings):
        search = StabilitySearch(random_state=0).fit(X)
        assert (search.n_clusters_, search.structure_found_) == (2, True)


@pytest.mark.parametrize("seed", range(3))
def test_thin_curves_do_not_come_apart(seed):
    """Two rings in space, each through the middle of the other."""
    rng = np.random.default_rng(seed)
    angle = 2 * np.pi * rng.random(200)
    flat = np.column_stack([np.cos(angle), np.sin(angle), np.zeros(200)])
    upright = flat[:, [0, 2, 1]] + [1, 0, 0]
    X = np.vstack([flat, upright]) + 0.05 * rng.standard_normal((400, 3))
    assert (valley_depths(X, 10) > noise_depth(400, 3, 10).most).sum() > 1
    found = search_dense(X, 3)
    assert (found.n_clusters, found.structure_found) == (2, True)
    assert found.counts[np.argmax(found.scores)] == 2


def test_directions_and_their_mirror_images_are_one_place():
    """Three lines through the origin, which cross there."""
    rng = np.random.default_rng(0)
    lines = rng.standard_normal((3, 3))
    X = rng.standard_normal((300, 1)) * lines[np.arange(300) % 3]
    X += 0.02 * rng.standard_normal((300, 3))
    assert counted(RidgeGraph(), X).n_clusters == 3


def test_components_of_distances_are_clusters():
    """Two knots that are too close for their density, and yet no edge joins them."""
    X, _ = make_trefoil_knots(400, n_features=3, random_state=0)
    found = counted(SMCE(), X)
    assert (found.n_clusters, found.structure_found) == (2, True)


@pytest.fixture(scope="module")
def doubtful():
    """Points with a valley that is real, and one that is deeper than usual but not surely real."""
    for seed in range(100):
        X, _ = make_blobs(100, centers=5, cluster_std=1.5, random_state=seed)
        k = n_neighbors_for(100)
        noise, depths = noise_depth(100, 2, k), valley_depths(X, k)
        sure, possible = ((depths > each).sum() for each in (noise.most, noise.usual))
        if 0 < sure < possible:
            return X, 1 + int(sure), 1 + int(possible)
    raise AssertionError("no such points were drawn")


def test_links_decide_between_what_is_sure_and_what_is_possible(doubtful):
    X, sure, possible = doubtful
    for answer in range(2, possible + 3):
        found = search_dense(X, 2, lambda answer=answer: answer)
        assert found.n_clusters == (answer if sure <= answer <= possible else sure)
        assert found.counts[np.argmax(found.scores)] == found.n_clusters
        assert found.structure_found


def test_links_are_not_asked_about_noise():
    def never():
        raise AssertionError("asked")

    for seed in range(10):
        noise = np.random.default_rng(seed).random((150, 2))
        assert not search_dense(noise, 2, never).structure_found


def test_a_sample_of_many_points_decides(monkeypatch):
    X, _ = make_blobs(500, centers=[[0, 0], [9, 0], [0, 9]], random_state=0)
    monkeypatch.setattr(counts, "MAX_POINTS", 300)
    sizes = []
    monkeypatch.setattr(
        counts,
        "search_dense",
        lambda x, *rest: sizes.append(len(x)) or search_dense(x, *rest),
    )
    assert counted(LocalScalingSpectralClustering(), X).n_clusters == 3
    assert sizes == [300, 500]  # the second time for the structure, of up to 1,500 points


def test_dense_groups_say_nothing_about_other_clusters():
    """Labels that cut through the groups were sure of themselves, because there are groups."""
    X, y = make_moons(200, noise=0.05, random_state=0)
    model = LocalScalingSpectralClustering(2, random_state=0).fit(X)

    def p_value(labels):
        return counts.p_value_of_valleys(model.graph_, replace(model._clusters, labels=labels))

    assert p_value(y) == 0
    assert p_value(np.where(np.arange(200) == 7, 1 - y, y)) == 0  # one point astray
    assert p_value((X[:, 0] > X[:, 0].mean()).astype(int)) > 0.05
    assert p_value((np.arange(200) == 7).astype(int)) > 0.05


@pytest.mark.parametrize("n_curves", [3, 4])
def test_of_thin_curves_the_valleys_that_stand_out_are_counted(n_curves):
    """Gaps along a curve are deeper than in noise that fills the plane, those between are deeper.

    Where the number changes lies in the middle between the two.
    """
    rng = np.random.default_rng(n_curves)
    angle = 2 * np.pi * rng.random((n_curves, 80))
    rings = (
        np.stack([np.cos(angle), np.sin(angle)], axis=2) + 4 * np.arange(n_curves)[:, None, None]
    )
    X = rings.reshape(-1, 2) + 0.01 * rng.standard_normal((80 * n_curves, 2))
    depths = valley_depths(X, n_neighbors_for(len(X)))
    most = noise_depth(len(X), 2, n_neighbors_for(len(X))).most
    assert (depths > most).sum() > n_curves - 1
    found = search_dense(X, 2)
    assert found.n_clusters == n_curves
    limit = depths[n_curves - 2 : n_curves].mean()
    assert found.scores[n_curves - 2] == pytest.approx(
        min(depths[n_curves - 2] / limit - 1, 1 - depths[n_curves - 1] / limit)
    )


def test_an_answer_that_says_nothing_new_changes_nothing(doubtful):
    X, sure, _ = doubtful
    alone, asked = search_dense(X, 2), search_dense(X, 2, lambda: sure)
    np.testing.assert_array_equal(alone.scores, asked.scores)


def test_an_answer_that_counts_has_room_on_both_sides(doubtful):
    """A depth that equals one of the valleys would leave no room: a score of zero."""
    X, sure, possible = doubtful
    for answer in range(sure + 1, possible + 1):
        found = search_dense(X, 2, lambda answer=answer: answer)
        assert found.scores[found.counts == answer] > 0


def test_samples_are_asked_about_the_numbers_that_their_points_allow(monkeypatch):
    """Samples are halves: 30 of 60 points allow up to six clusters."""
    X, _ = make_blobs(60, centers=3, random_state=0)
    fitted = LocalScalingSpectralClustering(3, random_state=0).fit_graph(X).graph_
    asked = []

    def ask(points, dimension, by_samples):
        by_samples()
        return search_dense(points, dimension)

    def by_samples(self, x, numbers, seed):
        asked.extend(numbers)
        return search_dense(x, 2)

    monkeypatch.setattr(counts, "search_dense", ask)
    monkeypatch.setattr(counts._Counting, "by_samples", by_samples)
    run, rng = ThreadEngine(1), np.random.RandomState(0)
    counts._Counting(fitted, CutOptions(), rng, run).by_density(fitted.affinity)
    assert asked == counts_to_try(30)
    assert asked[-1] == 6
