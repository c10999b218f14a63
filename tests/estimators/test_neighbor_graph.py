"""The graph of nearest neighbours, against a plain computation."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import load_digits, make_blobs

from srsg import NeighborGraph
from srsg.graph import symmetrized
from srsg.metrics import clustering_accuracy
from srsg.persistence import load_model, save_model
from support import plain
from support.estimators import assert_same

X, Y = load_digits(n_class=4, return_X_y=True)
X, Y = X[:150], Y[:150]
METRICS = ("cosine", "euclidean")


def seen(points, metric):
    """The points as distances are measured between them."""
    unit = points / np.linalg.norm(points, axis=1, keepdims=True)
    return unit if metric == "cosine" else points


def plain_weights(points, vectors, n_neighbors, *, themselves=False):
    """``exp(-d_ij^2 / (s_i s_j))`` of the nearest points, ties by index."""

    def sorted_distances(of, own):
        found = np.linalg.norm(of[:, None] - points[None], axis=2)
        if own:
            np.fill_diagonal(found, np.inf)
        return found, np.argsort(found, axis=1, kind="stable")

    def scales(distances, order):
        place = min(7, n_neighbors) - 1
        return distances[np.arange(len(order)), order[:, place]]

    of_points = scales(*sorted_distances(points, True))
    distances, order = sorted_distances(vectors, themselves)
    of_vectors = scales(distances, order)
    weights = np.zeros(distances.shape)
    for i, nearest in enumerate(order[:, :n_neighbors]):
        products = of_vectors[i] * of_points[nearest]
        weights[i, nearest] = np.exp(-(distances[i, nearest] ** 2) / products)
    return weights


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("n_neighbors", [1, 5, 15, 49])
def test_weights_equal_a_plain_computation(metric, n_neighbors):
    points = np.random.default_rng(0).standard_normal((50, 6))
    model = NeighborGraph(3, n_neighbors=n_neighbors, metric=metric).fit_graph(points)
    x = seen(points, metric)
    expected = plain_weights(x, x, n_neighbors, themselves=True)
    np.testing.assert_allclose(model.codes_.toarray(), expected, atol=1e-12)
    assert (model.affinity_matrix_ != symmetrized(model.codes_)).nnz == 0
    np.testing.assert_array_equal(model.neighbors_, plain.nearest_neighbors(x, n_neighbors))
    distances = np.sort(np.linalg.norm(x[:, None] - x[None], axis=2), axis=1)
    np.testing.assert_allclose(model.scale_, distances[:, min(7, n_neighbors)])


@pytest.mark.parametrize("metric", METRICS)
def test_new_points_equal_a_plain_computation(metric):
    rng = np.random.default_rng(0)
    points, new = rng.standard_normal((60, 5)), rng.standard_normal((9, 5))
    model = NeighborGraph(3, metric=metric, random_state=0).fit(points)
    expected = plain_weights(seen(points, metric), seen(new, metric), 15)
    np.testing.assert_allclose(model.transform(new).toarray(), expected, atol=1e-12)
    shares = np.array([expected[:, model.labels_ == k].sum(axis=1) for k in range(3)]).T
    np.testing.assert_array_equal(model.predict(new), shares.argmax(axis=1))


@pytest.mark.parametrize("metric", METRICS)
def test_a_fitted_point_is_coded_by_itself_alone(metric):
    model = NeighborGraph(4, metric=metric, random_state=0).fit(X)
    np.testing.assert_array_equal(model.transform(X[[5, 40]]).toarray(), np.eye(150)[[5, 40]])
    np.testing.assert_array_equal(model.predict(X), model.labels_)


def test_sparse_points_have_the_same_graph():
    dense = np.where(X > 9, X, 0.0)
    dense[:, :40] = 0  # few enough values to stay sparse
    dense += np.eye(150, 64)
    expected = NeighborGraph(4, random_state=0).fit(dense)
    model = NeighborGraph(4, random_state=0).fit(sparse.csr_array(dense))
    assert sparse.issparse(model.fit_X_)
    np.testing.assert_allclose(model.codes_.toarray(), expected.codes_.toarray(), atol=1e-12)
    np.testing.assert_array_equal(model.neighbors_, expected.neighbors_)
    np.testing.assert_array_equal(model.predict(sparse.csr_array(dense)), model.labels_)


@pytest.mark.parametrize("metric", METRICS)
def test_duplicates_change_no_weight(metric):
    copies = np.r_[:150, 10:30, :3, [7] * 40]
    model = NeighborGraph(4, metric=metric, random_state=0).fit(X[copies])
    np.testing.assert_array_equal(model.first_equal_, copies)
    alone = NeighborGraph(4, metric=metric, random_state=0).fit(X)
    np.testing.assert_array_equal(model.codes_[:150, :150].toarray(), alone.codes_.toarray())
    np.testing.assert_array_equal(model.codes_.toarray(), model.codes_.toarray()[copies])
    np.testing.assert_array_equal(model.scale_, alone.scale_[copies])
    np.testing.assert_array_equal(model.labels_, model.labels_[copies])


@pytest.mark.parametrize("metric", METRICS)
def test_one_distinct_point_has_no_edges(metric):
    with pytest.warns(UserWarning, match="exceeds the number of distinct points"):
        model = NeighborGraph(2, metric=metric, n_neighbors=3).fit(np.ones((5, 3)))
    assert model.codes_.nnz == 0
    np.testing.assert_array_equal(model.scale_, np.zeros(5))
    np.testing.assert_array_equal(model.predict(np.ones((2, 3))), [0, 0])


@pytest.mark.parametrize("factor", [2.0**-900, 2.0**900])
def test_the_size_of_the_points_does_not_matter(factor):
    expected = NeighborGraph(4, metric="euclidean", random_state=0).fit(X)
    model = NeighborGraph(4, metric="euclidean", random_state=0).fit(X * factor)
    np.testing.assert_array_equal(model.codes_.toarray(), expected.codes_.toarray())
    np.testing.assert_array_equal(model.scale_, expected.scale_ * factor)
    codes = [each.transform(0.9 * X[:9]) for each in (expected,)]
    codes.append(model.transform(0.9 * X[:9] * factor))
    np.testing.assert_allclose(codes[0].toarray(), codes[1].toarray(), atol=1e-12)


def test_euclidean_tells_lengths_apart():
    points, y = make_blobs(120, centers=[(1, 1), (5, 5), (20, 20)], random_state=0)
    euclidean = NeighborGraph(3, metric="euclidean", random_state=0).fit(points)
    assert clustering_accuracy(y, euclidean.labels_) == 1
    assert clustering_accuracy(y, NeighborGraph(3, random_state=0).fit_predict(points)) < 0.9


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("affinity", ["codes", "agreement"])
def test_digits_are_found_and_saved(tmp_path, metric, affinity):
    model = NeighborGraph(4, metric=metric, affinity=affinity, random_state=0).fit(X)
    assert clustering_accuracy(Y, model.labels_) > 0.9
    assert model.confidence_.min() >= 0
    assert model.confidence_.max() <= 1
    save_model(model, tmp_path / "digits.srsg")
    loaded = load_model(tmp_path / "digits.srsg")
    assert loaded.confidence_.shape == (150,)
    assert_same(loaded, model)
    np.testing.assert_array_equal(loaded.predict(0.9 * X), model.predict(0.9 * X))


@pytest.mark.parametrize("n_jobs", [1, 2])
@pytest.mark.parametrize("size", [7, 256])
def test_euclidean_has_the_same_bits_for_any_threads_and_blocks(block_size, n_jobs, size):
    expected = NeighborGraph(4, metric="euclidean", random_state=0).fit(X)
    block_size(size)
    assert_same(clone(expected).set_params(n_jobs=n_jobs).fit(X), expected)


def test_a_store_keeps_the_graphs_of_both_metrics_apart(tmp_path):
    models = [NeighborGraph(4, metric=m, store=tmp_path, random_state=0).fit(X) for m in METRICS]
    for model in models:
        assert_same(clone(model).fit(X), model)
        assert_same(clone(model).set_params(store=None).fit(X), model)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"n_neighbors": 150}, "n_neighbors=150 must be smaller than the number of points"),
        ({"metric": "euclidean", "affine": True}, "requires metric='cosine'"),
        ({"metric": "manhattan"}, "'metric' parameter"),
    ],
)
def test_errors_name_the_argument(parameters, message):
    with pytest.raises(ValueError, match=message):
        NeighborGraph(4, **parameters).fit(X)


def test_new_points_that_are_too_far_are_named():
    model = NeighborGraph(4, metric="euclidean", random_state=0).fit(X)
    with pytest.raises(ValueError, match="too far from the fitted points for distances: rows 1"):
        model.predict(np.vstack([X[:1], 1e200 * X[:1]]))


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_among_all_candidates_the_neighbors_are_exact(n_jobs):
    pytest.importorskip("faiss")
    exact = NeighborGraph(4, random_state=0).fit(X)
    same = NeighborGraph(4, n_candidates=len(X), n_jobs=n_jobs, random_state=0).fit(X)
    np.testing.assert_array_equal(same.neighbors_, exact.neighbors_)
    np.testing.assert_allclose(same.codes_.toarray(), exact.codes_.toarray(), atol=1e-12)
    np.testing.assert_array_equal(same.labels_, exact.labels_)


def test_few_candidates_miss_few_neighbors():
    pytest.importorskip("faiss")
    points = load_digits().data
    exact = NeighborGraph().fit_graph(points).neighbors_
    found = NeighborGraph(n_candidates=30).fit_graph(points).neighbors_
    hits = [len(np.intersect1d(a, b)) for a, b in zip(exact, found, strict=True)]
    assert np.mean(hits) / exact.shape[1] > 0.9


def test_candidates_are_found_by_directions():
    pytest.importorskip("faiss")
    with pytest.raises(ValueError, match=r"n_candidates=30.*metric='cosine'"):
        NeighborGraph(metric="euclidean", n_candidates=30).fit(X)
