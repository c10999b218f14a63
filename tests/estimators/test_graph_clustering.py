"""A graph that is given is clustered as one that is computed."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.datasets import load_digits
from sklearn.metrics import adjusted_rand_score
from sklearn.metrics.pairwise import pairwise_distances, rbf_kernel
from sklearn.neighbors import NearestNeighbors, kneighbors_graph
from sklearn.utils.estimator_checks import parametrize_with_checks

from srsg import GraphClustering, L1Graph, LocalScalingSpectralClustering, NeighborGraph
from srsg.explaining.confidence import confidence, membership, soft_labels
from srsg.metrics import clustering_accuracy
from srsg.persistence import load_model, save_model
from srsg.report import write_report
from support.estimators import assert_same
from support.pages import Page

X, Y = load_digits(n_class=4, return_X_y=True)
X, Y = X[:300], Y[:300]


@pytest.fixture(scope="module")
def computed():
    return L1Graph(4, random_state=0).fit(X)


@pytest.fixture(scope="module")
def given(computed):
    return GraphClustering(4, random_state=0).fit(computed.affinity_matrix_)


GIVES_POINTS = dict.fromkeys(["check_clustering"], "this check gives points instead of a graph")


@parametrize_with_checks(
    [GraphClustering(2, random_state=0), GraphClustering(2, assign_labels="tree")],
    expected_failed_checks=lambda estimator: GIVES_POINTS,
)
def test_scikit_learn(estimator, check):
    check(estimator)


def test_given_is_equal_to_computed(given, computed):
    np.testing.assert_array_equal(given.labels_, computed.labels_)
    np.testing.assert_array_equal(given.embedding_, computed.embedding_)
    np.testing.assert_array_equal(given.layers_, computed.layers_)
    for part in ("indptr", "indices", "data"):
        expected = getattr(computed.affinity_matrix_, part)
        np.testing.assert_array_equal(getattr(given.affinity_matrix_, part), expected)
    # Memberships in the embedding are the same; explanations are of edges, not of points.
    soft = soft_labels(computed.embedding_, computed.labels_, 4).max(axis=1)
    assert (given.confidence_ <= soft + 1e-12).all()
    expected = membership(computed.affinity_matrix_, computed.labels_)
    np.testing.assert_allclose(given.explained_, expected)
    assert np.corrcoef(given.confidence_, computed.confidence_)[0, 1] > 0.6


@pytest.mark.parametrize("options", [{"affinity": "agreement"}, {"assign_labels": "tree"}])
def test_every_cut_is_equal_to_computed(computed, options):
    given = GraphClustering(4, random_state=0, **options).fit(computed.affinity_matrix_)
    expected = NeighborGraph(4, random_state=0, **options)  # any estimator that has the options
    expected._learn(computed.graph_, {})
    np.testing.assert_array_equal(given.labels_, expected.fit_labels().labels_)


def test_loops_count_as_in_a_kernel():
    computed = LocalScalingSpectralClustering(4, random_state=0).fit(X)
    given = GraphClustering(4, random_state=0).fit(computed.affinity_matrix_)
    np.testing.assert_array_equal(given.labels_, computed.labels_)


@pytest.mark.parametrize("kind", [np.asarray, sparse.coo_array, sparse.csr_matrix, pd.DataFrame])
def test_matrices_of_any_kind(kind, computed, given):
    dense = computed.affinity_matrix_.toarray()
    model = GraphClustering(4, random_state=0).fit(kind(dense))
    np.testing.assert_array_equal(model.embedding_, given.embedding_)


def test_a_directed_graph_and_one_of_integers():
    edges = kneighbors_graph(X, 10)  # ones from each point to its neighbours
    model = GraphClustering(4, random_state=0).fit(edges)
    assert clustering_accuracy(Y, model.labels_) > 0.9
    expected = GraphClustering(4, random_state=0).fit((edges + edges.T) / 2)
    np.testing.assert_array_equal(model.labels_, expected.labels_)
    whole = GraphClustering(4, random_state=0).fit(edges.astype(np.int32))
    np.testing.assert_array_equal(model.labels_, whole.labels_)


def test_distances_become_weights():
    points = X + np.random.default_rng(0).uniform(0, 0.01, X.shape)  # so that there are no ties
    finder = NearestNeighbors(n_neighbors=15).fit(points)
    model = GraphClustering(4, weights="distance", random_state=0)
    model.fit(finder.kneighbors_graph(mode="distance"))
    expected = NeighborGraph(4, metric="euclidean", random_state=0).fit(points)
    np.testing.assert_allclose(
        model.affinity_matrix_.toarray(), expected.affinity_matrix_.toarray(), rtol=1e-7
    )
    np.testing.assert_array_equal(model.labels_, expected.labels_)
    new = points[:20] + 0.25
    edges = finder.kneighbors_graph(new, mode="distance")
    np.testing.assert_allclose(
        model.transform(edges).toarray(), expected.transform(new).toarray(), rtol=1e-6, atol=1e-12
    )
    np.testing.assert_array_equal(model.predict(edges), expected.predict(new))
    dense = GraphClustering(4, weights="distance", random_state=0).fit(pairwise_distances(X))
    assert clustering_accuracy(Y, dense.labels_) > 0.8


def test_equal_points_are_joined_by_distances_of_zero():
    rows = np.repeat(X[:12], 3, axis=0)
    dense = pairwise_distances(rows)
    np.fill_diagonal(dense, 0)
    dense[dense < 1e-6] = 0
    model = GraphClustering(12, weights="distance", random_state=0).fit(dense)
    np.testing.assert_array_equal(model.labels_.reshape(12, 3), model.labels_[::3, None] + [0] * 3)
    assert len(np.unique(model.labels_)) == 12


def test_a_vertex_of_weight_m_is_m_vertices():
    weights = np.arange(120) % 3 + 1
    kernel = rbf_kernel(X[:120], gamma=1e-3)
    np.fill_diagonal(kernel, 0)
    model = GraphClustering(4, random_state=0).fit(kernel, sample_weight=weights)
    copies = np.repeat(np.arange(120), weights)
    many = kernel[np.ix_(copies, copies)]
    expected = GraphClustering(4, random_state=0).fit(many)
    assert adjusted_rand_score(model.labels_[copies], expected.labels_) == 1
    np.testing.assert_allclose(model.eigenvalues_, expected.eigenvalues_)
    np.testing.assert_allclose(model.explained_[copies], expected.explained_)
    shares = model.predict_shares(kernel[:9]), expected.predict_shares(kernel[:9][:, copies])
    np.testing.assert_allclose(*map(np.sort, shares))


def test_new_vertices(given, computed):
    rows = np.arange(300) % 3 > 0
    kernel = rbf_kernel(X, gamma=1e-3)
    model = GraphClustering(4, random_state=0).fit(kernel[rows][:, rows])
    labels, sure = model.predict_with_confidence(kernel[~rows][:, rows])
    np.testing.assert_array_equal(labels, model.predict(sparse.csr_array(kernel[~rows][:, rows])))
    assert clustering_accuracy(Y[~rows], labels) > 0.85
    assert sure.min() >= 0
    assert sure.max() <= 1
    shares = model.predict_shares(kernel[~rows][:, rows])
    np.testing.assert_allclose(shares.sum(axis=1), 1)
    nothing = np.zeros((2, 200))
    with pytest.warns(
        UserWarning, match=r"2 row\(s\) without an edge to a fitted point: rows 0, 1"
    ):
        found = model.predict(nothing)
    np.testing.assert_array_equal(found, np.bincount(model.labels_).argmax())


def test_the_number_of_clusters():
    graph = kneighbors_graph(X, 15)
    model = GraphClustering("auto", random_state=0).fit(graph)
    assert 4 <= model.n_clusters_ <= 7
    assert model.structure_found_
    assert np.isnan(model.valley_p_value_)
    assert model.best_counts(2)[0] == model.n_clusters_
    for other in model.other_counts_:
        assert len(np.unique(other.labels)) == other.n_clusters
    apart = GraphClustering("auto").fit(np.kron(np.eye(3), np.ones((20, 20))))
    assert apart.n_clusters_ == 3
    assert apart.valley_p_value_ == 0


def test_noise_has_no_structure():
    rng = np.random.default_rng(0)
    W = np.triu(rng.random((150, 150)) < 0.1, 1).astype(float)
    assert not GraphClustering("auto", random_state=0).fit(W + W.T).structure_found_


@pytest.mark.parametrize("weights", ["similarity", "distance"])
def test_saved_and_loaded(weights, tmp_path):
    edges = kneighbors_graph(X, 10, mode="connectivity" if weights == "similarity" else "distance")
    model = GraphClustering(4, weights=weights, random_state=0).fit(edges)
    save_model(model, tmp_path / "graph.srsg")
    loaded = load_model(tmp_path / "graph.srsg")
    assert_same(loaded, model)
    np.testing.assert_array_equal(loaded.predict(edges[:20]), model.predict(edges[:20]))
    np.testing.assert_array_equal(loaded.confidence_, model.confidence_)


def test_a_store_keeps_the_graph(given, computed, tmp_path):
    for _ in range(2):
        model = GraphClustering(4, random_state=0, store=tmp_path).fit(computed.affinity_matrix_)
        np.testing.assert_array_equal(model.embedding_, given.embedding_)


def test_a_page_about_it(given, tmp_path):
    page = Page(write_report(tmp_path / "graph.html", given, X, y=Y, image_shape=(8, 8)))
    assert {"summary", "map", "tree", "graph", "measures"} <= set(page.sections)
    alone = Page(write_report(tmp_path / "alone.html", given, given.affinity_matrix_))
    assert {"summary", "map", "tree", "graph", "measures"} <= set(alone.sections)


def test_confidence_of_points_between_clusters(given):
    assert confidence(given, X).values is given.confidence_
    wrong = given.labels_ != given.affinity_matrix_ @ np.eye(4)[given.labels_].argmax(axis=1)
    assert given.explained_.min() >= 0
    assert wrong.any()


@pytest.mark.parametrize(
    ("W", "message"),
    [
        (X, r"X must be square, .*got shape \(300, 64\)"),
        (-np.ones((5, 5)), "Negative values in data: edges"),
        (np.full((5, 5), np.nan), "NaN"),
    ],
)
def test_what_is_no_graph_is_refused(W, message):
    with pytest.raises(ValueError, match=message):
        GraphClustering(2).fit(W)


def test_what_a_graph_cannot_say_is_refused(given):
    with pytest.raises(ValueError, match="There is no novelty"):
        given.novelty_score(given.affinity_matrix_)
    with pytest.raises(ValueError, match=r"novelty=0\.05: a graph alone"):
        given.predict(given.affinity_matrix_, novelty=0.05)
    with pytest.raises(ValueError, match="features"):
        given.predict(np.ones((3, 7)))
    with pytest.raises(ValueError, match="Negative values in data: edges"):
        given.predict(-np.ones((3, 300)))
    with pytest.raises(ValueError, match="'metric' parameter"):
        GraphClustering(2, metric="cosine").fit(np.ones((4, 4)))
