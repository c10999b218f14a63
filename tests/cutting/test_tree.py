"""The tree of a graph: communities, and clusters within clusters."""

from __future__ import annotations

from copy import copy
from itertools import pairwise

import numpy as np
import pytest
from scipy import sparse
from scipy.cluster import hierarchy
from scipy.sparse.csgraph import connected_components
from sklearn.base import clone
from sklearn.datasets import load_digits
from sklearn.metrics import adjusted_rand_score

from srsg import SMCE, SRSG, L1Graph, NeighborGraph, cluster_graph
from srsg.cutting.tree import Tree, find_communities, graph_tree
from srsg.metrics import clustering_accuracy
from srsg.persistence import load_model, save_model
from support.estimators import ALL_ESTIMATORS, assert_same

X, Y = load_digits(n_class=4, return_X_y=True)
X, Y = X[:300], Y[:300]


def planted(sizes, within=0.5, between=0.02, seed=0):
    """Random weights: edges within parts are more likely than those between them."""
    rng = np.random.default_rng(seed)
    y = np.repeat(np.arange(len(sizes)), sizes)
    likely = np.where(y[:, None] == y, within, between)
    W = np.triu((rng.random(likely.shape) < likely) * rng.uniform(0.5, 1.5, likely.shape), 1)
    return W + W.T, y


def plain_modularity(W, labels, resolution):
    degree = W.sum(axis=1)
    same = labels[:, None] == labels
    expected = resolution * np.outer(degree, degree) / degree.sum()
    return ((W - expected) * same).sum() / degree.sum()


def plain_merges(W, leaf, n_clusters):
    """Clusters by merging the best pair of all, computed anew every time."""
    labels = leaf.copy()
    while len(names := np.unique(labels)) > n_clusters:
        degree = {a: W[labels == a].sum() for a in names}
        weight = {
            (a, b): W[np.ix_(labels == a, labels == b)].sum() / (degree[a] * degree[b])
            for a in names
            for b in names
            if a < b
        }
        a, b = max(weight, key=weight.get)
        labels[labels == b] = a
    return labels


def is_nested(fine, coarse):
    """Whether every fine cluster lies in one coarse cluster."""
    return len(np.unique(np.column_stack([fine, coarse]), axis=0)) == len(np.unique(fine))


@pytest.mark.parametrize("resolution", [0.5, 1.0, 2.0, 8.0])
@pytest.mark.parametrize("seed", range(5))
def test_no_vertex_of_a_community_gains_by_itself(resolution, seed):
    W, _ = planted([20, 30, 40], between=0.1, seed=seed)
    graph = sparse.csr_array(W)
    labels = find_communities(graph, W.sum(axis=1), resolution)
    for community in np.unique(labels):
        members = np.flatnonzero(labels == community)
        assert connected_components(graph[members][:, members])[0] == 1
    found = plain_modularity(W, labels, resolution)
    assert found > plain_modularity(W, np.arange(90), resolution)
    # Whatever two communities are joined, the sum is no larger.
    for a in np.unique(labels):
        for b in np.unique(labels)[:a]:
            joined = np.where(labels == a, b, labels)
            assert plain_modularity(W, joined, resolution) <= found + 1e-12


@pytest.mark.parametrize("seed", range(5))
def test_communities_are_as_good_as_those_that_were_planted(seed):
    W, y = planted([20, 30, 40], seed=seed)
    labels = find_communities(sparse.csr_array(W), W.sum(axis=1), 1.0)
    assert plain_modularity(W, labels, 1.0) >= plain_modularity(W, y, 1.0)
    assert adjusted_rand_score(y, labels) > 0.95


@pytest.mark.parametrize("seed", range(5))
def test_planted_clusters_are_found(seed):
    W, y = planted([15, 25, 35, 45], seed=seed)
    assert adjusted_rand_score(y, graph_tree(W).labels(4)) > 0.95
    W, y = planted([15, 25, 35, 45], between=0.0, seed=seed)
    assert adjusted_rand_score(y, graph_tree(W).labels(4)) == 1


@pytest.mark.parametrize("seed", range(5))
def test_merges_are_those_of_a_plain_computation(seed):
    W, _ = planted([10, 10, 10], between=0.2, seed=seed)
    tree = graph_tree(W)
    assert tree.n_leaves > 3
    for n_clusters in range(1, tree.n_leaves + 1):
        expected = plain_merges(W, tree.leaf, n_clusters)
        assert adjusted_rand_score(expected, tree.labels(n_clusters)) == 1


def test_every_number_of_clusters_is_there_and_nested():
    W, _ = planted([20, 30])
    tree = graph_tree(W, n_leaves=50)
    assert tree.n_leaves == 50
    cuts = [tree.labels(n_clusters) for n_clusters in range(1, 51)]
    assert [len(np.unique(labels)) for labels in cuts] == list(range(1, 51))
    assert all(labels.max() + 1 == len(np.unique(labels)) for labels in cuts)
    assert all(is_nested(fine, coarse) for coarse, fine in pairwise(cuts))


@pytest.mark.parametrize("n_leaves", [20, 40, 80])
def test_more_leaves_change_no_cluster(n_leaves):
    W, _ = planted([20, 30, 40], between=0.1)
    coarse, fine = graph_tree(W), graph_tree(W, n_leaves=n_leaves)
    assert coarse.n_leaves < n_leaves <= fine.n_leaves
    for n_clusters in range(1, coarse.n_leaves + 1):
        found = fine.labels(n_clusters)
        assert adjusted_rand_score(coarse.labels(n_clusters), found) == 1


@pytest.mark.parametrize("seed", range(5))
def test_the_order_of_the_vertices_does_not_matter(seed):
    W, _ = planted([20, 30, 40], between=0.1, seed=seed)
    order = np.random.default_rng(seed).permutation(90)
    tree, other = graph_tree(W, n_leaves=30), graph_tree(W[np.ix_(order, order)], n_leaves=30)
    for n_clusters in (2, 3, 5, 10, 30):
        labels = tree.labels(n_clusters)[order]
        assert adjusted_rand_score(labels, other.labels(n_clusters)) == 1


def test_a_dense_graph_is_as_good_as_a_sparse_one():
    W, _ = planted([20, 30])
    trees = graph_tree(W, n_leaves=10), graph_tree(sparse.csr_array(W), n_leaves=10)
    np.testing.assert_array_equal(trees[0].merges, trees[1].merges)
    np.testing.assert_array_equal(trees[0].leaf, trees[1].leaf)


def test_neighbours_decide_which_components_are_merged():
    W = np.kron(np.eye(4), np.ones((5, 5)) - np.eye(5))
    # Each vertex of the first component has one of the third for its neighbour, and so on.
    neighbors = (np.arange(20)[:, None] + 10) % 20
    labels = graph_tree(W, neighbors).labels(2)
    np.testing.assert_array_equal(labels[:10], labels[10:])
    assert labels[0] != labels[5]


def test_small_components_go_to_the_largest_one():
    W = np.zeros((12, 12))
    W[:6, :6], W[6:10, 6:10] = 1, 1
    np.fill_diagonal(W, 0)
    labels = graph_tree(W).labels(2)
    assert adjusted_rand_score([0] * 6 + [1] * 4 + [0] * 2, labels) == 1


@pytest.mark.parametrize(
    "W", [np.zeros((3, 3)), np.eye(3), np.zeros((1, 1)), 1e-300 * np.ones((4, 4))]
)
def test_graphs_with_hardly_an_edge(W):
    n = len(W)
    tree = graph_tree(W, n_leaves=n)
    for n_clusters in range(1, n + 1):
        assert len(np.unique(tree.labels(n_clusters))) == n_clusters


def test_heights_are_those_of_average_linkage():
    """Of a plain tree of single vertices, SciPy's own average linkage finds the same one."""
    W, _ = planted([4, 5, 6], within=1.0, between=0.3)
    degree = W.sum(axis=1)
    strength = W * degree.sum() / np.outer(degree, degree)
    tree = graph_tree(W)
    # The mean over all pairs, each weighed by its degrees, is W_AB / (d_A d_B).
    for t, (a, b) in enumerate(tree.merges):
        members = [np.flatnonzero(np.isin(tree.leaf, leaves_of(tree, each))) for each in (a, b)]
        weights = np.outer(*(degree[each] for each in members))
        mean = np.average(strength[np.ix_(*members)], weights=weights)
        assert tree.heights[t] == pytest.approx(1 / (1 + mean))
    assert (np.diff(tree.heights) >= 0).all()


def leaves_of(tree, cluster):
    if cluster < tree.n_leaves:
        return [cluster]
    return [leaf for part in tree.merges[cluster - tree.n_leaves] for leaf in leaves_of(tree, part)]


@pytest.mark.parametrize("seed", range(5))
def test_no_merge_is_lower_than_an_earlier_one(seed):
    W, y = planted([10, 10, 10], between=0.2, seed=seed)
    assert (np.diff(graph_tree(W).heights) >= -1e-15).all()
    within = np.random.default_rng(seed).integers(3, size=30)
    heights = graph_tree(W, n_leaves=12, within=within).heights
    assert (np.diff(heights) >= 0).all()
    assert heights.min() > 0
    assert heights.max() < 1
    # Without an edge between them, clusters are merged at the height of one.
    W, y = planted([10, 10, 10], between=0.0, seed=seed)
    tree = graph_tree(W)
    np.testing.assert_array_equal(tree.heights[-2:], 1)
    assert adjusted_rand_score(y, tree.cut(0.99)) == 1
    assert tree.cut(1).max() == 0


@pytest.mark.parametrize("seed", range(5))
def test_given_clusters_are_a_cut_of_the_tree(seed):
    W, _ = planted([20, 30, 40], between=0.1, seed=seed)
    within = np.random.default_rng(seed).integers(4, size=90)
    tree = graph_tree(W, within=within)
    assert adjusted_rand_score(within, tree.labels(4)) == 1
    owner = tree.owners(within)
    assert (owner >= 0).sum() == 2 * tree.n_leaves - 4  # all below the cut, and no other
    # Clusters of a tree are those that it would have anyway.
    plain = graph_tree(W)
    again = graph_tree(W, within=plain.labels(4))
    for n_clusters in range(1, 5):
        assert adjusted_rand_score(plain.labels(n_clusters), again.labels(n_clusters)) == 1


@pytest.mark.parametrize("points", [False, True])
def test_a_linkage_matrix_for_scipy(points):
    W, y = planted([12, 20, 30], between=0.1)
    tree = graph_tree(W, n_leaves=8)
    Z = tree.linkage(points=points)
    assert hierarchy.is_valid_linkage(Z, throw=True)
    assert hierarchy.is_monotonic(Z)
    assert Z[-1, 3] == len(Z) + 1 == (len(y) if points else tree.n_leaves)
    if not points:
        np.testing.assert_array_equal(Z[:, 2], tree.heights)
        drawn = hierarchy.dendrogram(Z, no_plot=True)
        assert sorted(drawn["leaves"]) == list(range(tree.n_leaves))
    for height in (0.0, *tree.heights):
        found = hierarchy.fcluster(Z, height, "distance")
        found = found if points else found[tree.leaf]
        assert adjusted_rand_score(found, tree.cut(height)) == 1


def test_boxes_of_a_tree():
    W, y = planted([12, 20, 30], between=0.1)
    tree = graph_tree(W)
    spans = tree.spans()
    sizes = spans[:, 1] - spans[:, 0]
    np.testing.assert_array_equal(sizes[: tree.n_leaves], np.bincount(tree.leaf))
    np.testing.assert_array_equal(spans[-1], [0, len(y), tree.heights[-1], 1])
    for t, (a, b) in enumerate(tree.merges, tree.n_leaves):
        assert spans[a, 1] == spans[b, 0]
        np.testing.assert_array_equal(spans[t, :2], [spans[a, 0], spans[b, 1]])
        assert spans[a, 3] == spans[b, 3] == spans[t, 2]


def test_trees_of_hardly_any_vertices():
    one = graph_tree(np.zeros((1, 1)))
    assert one.linkage().shape == one.linkage(points=True).shape == (0, 4)
    np.testing.assert_array_equal(one.spans(), [[0, 1, 0, 1]])
    np.testing.assert_array_equal(one.cut(0.5), [0])
    apart = graph_tree(np.zeros((3, 3)))
    np.testing.assert_array_equal(apart.heights, [1, 1])


def test_layers_of_a_tree():
    merges = np.array([[0, 1], [2, 3], [4, 5], [6, 7], [8, 9]])
    layers = Tree(np.arange(6), merges, np.arange(5.0)).layers()
    assert layers.shape == (6, 2)
    np.testing.assert_array_equal(layers[:, 0], np.arange(6))
    np.testing.assert_array_equal(layers[:, 1], [0, 0, 1, 1, 2, 2])


def assert_nested_in_the_fit(model):
    """Numbers of clusters below and above that of the fit merge or split its clusters whole."""
    cuts = [model.relabel(n_clusters, nested=True) for n_clusters in (60, 9, 4, 3, 2)]
    assert [len(np.unique(labels)) for labels in cuts] == [60, 9, 4, 3, 2]
    assert all(is_nested(*pair) for pair in pairwise(cuts))
    assert adjusted_rand_score(cuts[2], model.labels_) == 1
    height = model.tree_.heights[-2]
    assert is_nested(model.cut_tree(height), cuts[-1])
    for bad in (None, "auto", 2.0):
        with pytest.raises(ValueError, match=r"nested=True needs n_clusters="):
            model.relabel(bad, nested=True)
    for bad in (-0.1, 2, True, "half"):
        with pytest.raises(ValueError, match=r"height=.* must be a number from 0 to 1"):
            model.cut_tree(bad)


@pytest.mark.parametrize("estimator", ALL_ESTIMATORS)
def test_the_tree_of_every_estimator(estimator, tmp_path):
    model = estimator(4, assign_labels="tree", random_state=0).fit(X)
    assert len(np.unique(model.labels_)) == 4
    np.testing.assert_array_equal(model.relabel(), model.labels_)
    np.testing.assert_array_equal(model.relabel(4), model.labels_)
    columns = model.relabel_each([7, 4, 2])
    np.testing.assert_array_equal(columns[:, 1], model.labels_)
    assert is_nested(columns[:, 0], columns[:, 1])
    assert is_nested(columns[:, 1], columns[:, 2])
    assert model.confidence_.min() >= 0
    assert model.confidence_.max() <= 1
    assert (model.predict(X) == model.labels_).mean() > 0.9
    layers = model.layers_
    assert_nested_in_the_fit(model)
    assert_nested_in_the_fit(copy(model).set_params(assign_labels="kmeans").fit_labels())
    assert all(is_nested(*pair) for pair in pairwise(layers.T))
    save_model(model, tmp_path / "model.srsg")
    loaded = load_model(tmp_path / "model.srsg")
    assert loaded.confidence_.shape == (300,)
    np.testing.assert_array_equal(loaded.layers_, layers)
    assert_same(loaded, model)


@pytest.mark.parametrize("estimator", [SRSG, L1Graph, NeighborGraph, SMCE])
def test_the_tree_finds_digits(estimator):
    labels = estimator(4, assign_labels="tree").fit_predict(X)
    assert clustering_accuracy(Y, labels) > 0.9


@pytest.mark.parametrize("n_jobs", [1, 2])
@pytest.mark.parametrize("state", [0, 1])
def test_the_same_bits_for_any_threads_and_seed(n_jobs, state):
    expected = SRSG(4, assign_labels="tree").fit(X)
    model = clone(expected).set_params(n_jobs=n_jobs, random_state=state).fit(X)
    assert_same(model, expected)


def test_confidence_is_lower_between_the_clusters():
    model = NeighborGraph(10, assign_labels="tree").fit(load_digits().data[:600])
    wrong_side = model.embedding_.max(axis=1) < 0.7
    assert 0 < wrong_side.sum() < 300
    assert model.confidence_[wrong_side].mean() < model.confidence_[~wrong_side].mean() - 0.2
    np.testing.assert_allclose(model.embedding_.sum(axis=1), 1)
    assert model.eigenvalues_[0] == pytest.approx(1)
    assert (np.diff(model.eigenvalues_) <= 0).all()


@pytest.mark.parametrize("estimator", [SRSG, NeighborGraph, SMCE])
def test_equal_points_and_rows_of_zeros(estimator):
    copies = np.r_[:60, 5:20, [3] * 30]
    rows = np.vstack([X[copies], np.zeros((2, 64))])
    if estimator is SMCE:
        rows = rows[:-2]  # there, a row of zeros is a point like others
        model = estimator(4, assign_labels="tree").fit(rows)
    else:
        with pytest.warns(UserWarning, match="row\\(s\\) of zeros"):
            model = estimator(4, assign_labels="tree").fit(rows)
        largest = np.bincount(model.labels_[:-2]).argmax()
        np.testing.assert_array_equal(model.labels_[-2:], largest)
    np.testing.assert_array_equal(model.labels_[: len(copies)], model.labels_[copies])
    assert model.layers_.shape[0] == len(rows)
    assert adjusted_rand_score(model.labels_, model.relabel(4, nested=True)) == 1


def test_more_clusters_than_distinct_points():
    with pytest.warns(UserWarning, match="exceeds the number of distinct points, 3"):
        model = NeighborGraph(5, n_neighbors=2, assign_labels="tree").fit(
            np.eye(3)[[0, 1, 2, 0, 1, 2]]
        )
    np.testing.assert_array_equal(model.labels_[:3], model.labels_[3:])
    assert model.n_clusters_ == 3


def test_the_number_of_clusters_can_be_found():
    model = NeighborGraph("auto", assign_labels="tree", random_state=0).fit(X)
    assert len(np.unique(model.labels_)) == model.n_clusters_ > 1


def test_a_graph_that_is_given():
    W, y = planted([20, 30, 40])
    assert adjusted_rand_score(y, cluster_graph(W, 3, assign_labels="tree")) == 1
    with pytest.raises(ValueError, match=r"bridge=0\.1 must be 'auto' or None"):
        cluster_graph(W, 3, assign_labels="tree", bridge=0.1)
    with pytest.raises(ValueError, match="n_eigenvectors needs assign_labels='kmeans'"):
        cluster_graph(W, 3, assign_labels="tree", n_eigenvectors=4)


def test_finer_leaves_are_merged_within_their_communities_first():
    """Two communities and a pair of leaves across them that would be merged before all others."""
    W = np.kron(np.eye(2), np.ones((6, 6)) - np.eye(6))
    W[5, 6] = W[6, 5] = 3.0
    coarse = graph_tree(W)
    for n_leaves in (4, 8, 12):
        fine = graph_tree(W, n_leaves=n_leaves)
        assert fine.n_leaves >= n_leaves
        np.testing.assert_array_equal(fine.labels(2), coarse.labels(2))


def test_one_more_leaf_than_there_are_communities_splits_them():
    W, _ = planted([20, 30, 40], between=0.1)
    coarse = graph_tree(W)
    assert graph_tree(W, n_leaves=coarse.n_leaves).n_leaves == coarse.n_leaves
    assert graph_tree(W, n_leaves=coarse.n_leaves + 1).n_leaves > coarse.n_leaves


def test_vertices_of_large_degree_move_first(monkeypatch):
    orders = []

    def noted(*given):
        orders.append(given[3][given[4]])

    monkeypatch.setattr("srsg.cutting.tree.move_vertices", noted)
    W, _ = planted([10, 10])
    find_communities(sparse.csr_array(W), W.sum(axis=1), 1.0)
    assert orders
    assert all((np.diff(degrees) <= 0).all() for degrees in orders)
