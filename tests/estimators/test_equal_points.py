"""Equal points are one vertex that counts as many times as it occurs; rows of zeros are none."""

from __future__ import annotations

import warnings
from time import perf_counter

import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import load_digits
from sklearn.exceptions import ConvergenceWarning

from srsg import SMCE, SRSG, ElasticNetGraph, L1Graph, LocalScalingSpectralClustering
from srsg.cutting.cut import spectral_graph
from srsg.graph import _spread
from srsg.metrics import clustering_accuracy
from srsg.points import EqualPoints
from srsg.running import ThreadEngine
from support import plain
from support.estimators import ALL_ESTIMATORS, CODE_ESTIMATORS

X = load_digits(n_class=4).data[:120]
COPIES = np.array([3, 3, 70, 119])
WITH_COPIES = np.vstack([X[:60], X[COPIES[:2]], X[60:], X[COPIES[2:]]])
DISTINCT = np.r_[:60, 62:122]
"""Where the points of X are among those with copies."""


@pytest.fixture(scope="module", params=CODE_ESTIMATORS)
def pair(request):
    """A model of distinct points, and one of the same points with copies."""
    estimator = request.param
    return (
        estimator(4, random_state=0).fit(X),
        estimator(4, random_state=0).fit(WITH_COPIES),
    )


def test_copies_change_no_code(pair):
    alone, model = pair
    among = model.codes_[DISTINCT][:, DISTINCT]
    assert (among != alone.codes_).nnz == 0
    assert model.codes_.nnz == alone.codes_.nnz + alone.codes_[COPIES].nnz
    np.testing.assert_array_equal(model.neighbors_[DISTINCT], DISTINCT[alone.neighbors_])
    if hasattr(alone, "kkt_violation_"):
        np.testing.assert_array_equal(model.kkt_violation_[DISTINCT], alone.kkt_violation_)
        assert len(model.kkt_violation_) == len(WITH_COPIES)


def test_copies_share_all_that_is_learnt(pair):
    _, model = pair
    first = np.arange(124)
    first[[60, 61, 122, 123]] = DISTINCT[COPIES]
    np.testing.assert_array_equal(model.first_equal_, first)
    for name in ("codes_", "neighbors_", "embedding_", "labels_"):
        value = getattr(model, name)
        value = value.toarray() if sparse.issparse(value) else value
        np.testing.assert_array_equal(value, value[first], err_msg=name)


def test_certificates_hold_for_the_points_that_differ():
    """The problem as stated: over all points that differ from the one that is coded."""
    model = L1Graph(4).fit_graph(WITH_COPIES)
    x, codes = model.fit_X_, model.codes_.toarray()
    for i in (3, 60, 61, 100, 123):
        others = np.flatnonzero((x != x[i]).any(axis=1))
        assert not np.delete(codes[i], others).any()
        gradient = 2 * x[others] @ (x[i] - codes[i] @ x)
        used = codes[i, others] != 0
        np.testing.assert_allclose(gradient[used], 0.1 * np.sign(codes[i, others][used]), atol=1e-9)
        assert np.abs(gradient).max() <= 0.1 + 1e-9


@pytest.mark.parametrize("estimator", ALL_ESTIMATORS)
def test_equal_points_get_one_label_whatever_their_order(estimator):
    rng = np.random.default_rng(0)
    table = rng.integers(0, 3, (150, 4)) + np.array([1.0, 0, 0, 0])
    for order in (np.arange(150), rng.permutation(150)):
        model = estimator(3, random_state=0).fit(table[order])
        sets = {row: set() for row in map(bytes, model.fit_X_)}
        for row, label in zip(map(bytes, model.fit_X_), model.labels_, strict=True):
            sets[row].add(label)
        assert len(sets) < 150
        assert all(len(labels) == 1 for labels in sets.values())


@pytest.mark.parametrize("affinity", ["agreement", "codes"])
def test_the_graph_is_that_of_all_points(affinity):
    """Equal points as one vertex that counts: the same eigenvalues as with all points, if the edges
    to equal points are shared evenly among these."""
    model = SRSG(4, affinity=affinity, random_state=0).fit(WITH_COPIES)
    equal = EqualPoints.from_first(model.first_equal_)
    graph = spectral_graph(model.graph_, affinity, ThreadEngine(1)).graph
    share = equal.counts[equal.owner]
    of_all = graph.toarray()[equal.owner][:, equal.owner] / np.outer(share, share)
    degree = of_all.sum(axis=1)
    if affinity == "agreement":  # the ratio cut: all points count the same
        laplacian = np.diag(degree) - of_all
        expected = 1 - np.linalg.eigvalsh(laplacian)[:4] / degree.max()
    else:
        scale = 1 / np.sqrt(degree)
        expected = np.linalg.eigvalsh(of_all * np.outer(scale, scale))[::-1][:4]
    np.testing.assert_allclose(model.eigenvalues_, expected, atol=1e-9)


def test_few_distinct_rows_of_a_table():
    """Before, copies coded each other only: hundreds of components, and one huge cluster."""
    rng = np.random.default_rng(0)
    shares = np.array([[0.9] * 4 + [0.1] * 4, [0.1] * 4 + [0.9] * 4])
    truth = rng.integers(0, 2, 600)
    table = (rng.random((600, 8)) < shares[truth]).astype(float)
    table[~table.any(axis=1), 0] = 1.0
    assert len(np.unique(table, axis=0)) < 200
    model = SRSG(2, random_state=0).fit(table)
    assert model.n_connected_components_ < 5
    assert clustering_accuracy(truth, model.labels_) > 0.9


def test_points_are_equal_if_their_directions_are():
    table = np.vstack([X[:50], 2 * X[:50], 0.25 * X[:10]])
    model = L1Graph(3, random_state=0).fit(table)
    np.testing.assert_array_equal(model.first_equal_, np.r_[:50, :50, :10])
    raw = SMCE(3, random_state=0).fit(table)
    np.testing.assert_array_equal(raw.first_equal_, np.arange(110))


@pytest.mark.parametrize("kind", [np.float64, np.float32, sparse.csr_array])
@pytest.mark.parametrize("size", [1e-15, 1e-9, 1e-5])
def test_points_that_differ_in_a_bit_are_not_equal(kind, size):
    table = np.vstack([X[:60], X[:60]]) / 16
    table[60:] *= 1 + size * np.random.default_rng(0).uniform(0.5, 1, (60, 64))
    points = kind(table) if kind is sparse.csr_array else table.astype(kind)
    model = L1Graph(3).fit_graph(points)
    scaled = model.fit_X_.toarray() if sparse.issparse(model.fit_X_) else model.fit_X_
    _, first, owner = np.unique(scaled, axis=0, return_index=True, return_inverse=True)
    np.testing.assert_array_equal(model.first_equal_, first[owner.ravel()])
    if kind is not np.float32:
        assert len(first) == 120


def test_zeros_of_both_signs_are_equal():
    table = np.vstack([X[:50], np.where(X[:5] == 0, -0.0, X[:5])])
    for estimator in (L1Graph, SMCE, LocalScalingSpectralClustering):
        assert estimator(3).fit_graph(table).first_equal_.max() == 49


def test_all_points_equal():
    with pytest.warns(ConvergenceWarning, match="exceeds the number of distinct points, 1"):
        model = SRSG(2, n_neighbors=2, random_state=0).fit(np.ones((6, 3)))
    assert model.n_clusters_ == 1
    assert model.codes_.nnz == 0
    assert set(model.labels_) == {0}
    assert model.predict([[2.0, 2.0, 2.0]])[0] == 0


@pytest.mark.parametrize("estimator", ALL_ESTIMATORS)
def test_more_clusters_than_distinct_points(estimator):
    table = np.repeat(X[[0, 40, 80]], 10, axis=0)
    with pytest.warns(ConvergenceWarning, match="n_clusters=5 exceeds"):
        model = estimator(5, random_state=0).fit(table)
    assert len(set(model.labels_)) == model.n_clusters_ == 3
    np.testing.assert_array_equal(model.labels_, np.repeat(model.labels_[::10], 10))


def test_fewer_distinct_points_than_neighbours():
    table = np.repeat(X[:4], 5, axis=0)
    model = SRSG(2, n_neighbors=7, random_state=0).fit(table)
    first = [0, 5, 10, 15]
    for row, own in zip(model.neighbors_, np.repeat(first, 5), strict=True):
        assert sorted(row) == [other for other in first if other != own]


def test_new_points_are_coded_over_the_first_of_equals(pair):
    alone, model = pair
    codes, expected = model.transform(X[:5] + 1), alone.transform(X[:5] + 1)
    assert codes.shape == (5, 124)
    assert (codes[:, DISTINCT] != expected).nnz == 0
    assert codes.nnz == expected.nnz


def test_labels_again(pair):
    _, model = pair
    np.testing.assert_array_equal(model.relabel(random_state=0), model.labels_)
    np.testing.assert_array_equal(model.relabel(4, random_state=0), model.labels_)
    assert model.relabel_each([2, 3]).shape == (124, 2)


def test_codes_that_are_post_processed():
    for change in ({"normalize": True}, {"n_nonzero": 2}, {"code_neighbors": 3}):
        alone = ElasticNetGraph(4, **change).fit_graph(X).affinity_matrix_
        model = ElasticNetGraph(4, **change).fit_graph(WITH_COPIES)
        graph = model.graph_.merged(model.affinity_matrix_).toarray()
        single = EqualPoints.from_first(model.first_equal_).counts == 1
        np.testing.assert_allclose(graph[single][:, single], alone.toarray()[single][:, single])


# Rows of zeros

WITH_ZEROS = X.copy()
WITH_ZEROS[[0, 50]] = 0
OTHERS = np.delete(np.arange(120), [0, 50])


@pytest.mark.parametrize("estimator", CODE_ESTIMATORS)
def test_a_row_of_zeros_is_an_isolated_vertex(estimator):
    with pytest.warns(UserWarning, match=r"2 row\(s\) of zeros.*rows 0, 50\. .*largest cluster"):
        model = estimator(4, random_state=0).fit(WITH_ZEROS)
    alone = estimator(4, random_state=0).fit(WITH_ZEROS[OTHERS])
    np.testing.assert_array_equal(model.labels_[OTHERS], alone.labels_)
    assert (model.codes_[OTHERS][:, OTHERS] != alone.codes_).nnz == 0
    assert model.codes_.nnz == alone.codes_.nnz
    assert model.affinity_matrix_[[0, 50]].nnz == model.affinity_matrix_[:, [0, 50]].nnz == 0
    assert (model.neighbors_[[0, 50]] == -1).all()
    assert model.neighbors_[OTHERS].min() >= 0
    largest = np.bincount(alone.labels_).argmax()
    assert set(model.labels_[[0, 50]]) == {largest}
    assert model.n_connected_components_ == alone.n_connected_components_


@pytest.mark.parametrize("estimator", CODE_ESTIMATORS)
def test_a_new_row_of_zeros_goes_to_the_largest_cluster(estimator):
    model = estimator(4, random_state=0).fit(X)
    new = np.vstack([X[:2] + 1, np.zeros((1, 64)), X[2:3] + 1])
    with pytest.warns(UserWarning, match=r"1 row\(s\) of zeros.*rows 2\."):
        shares = model.predict_shares(new)
    sizes = np.bincount(model.labels_, minlength=4)
    np.testing.assert_allclose(shares[2], sizes / 120)
    with pytest.warns(UserWarning, match="of zeros"):
        labels = model.predict(new)
    assert labels[2] == sizes.argmax()
    rest = [0, 1, 3]
    np.testing.assert_array_equal(labels[rest], model.predict(new[rest]))
    with pytest.warns(UserWarning, match="of zeros"):
        assert model.predict_confidence(new)[2] == 0
    assert model.transform(new)[[2]].nnz == 0


@pytest.mark.filterwarnings("ignore:X has .* of zeros")
def test_a_row_of_zeros_says_nothing_about_the_number_of_clusters():
    model = L1Graph("auto", random_state=0).fit(WITH_ZEROS)
    alone = L1Graph("auto", random_state=0).fit(WITH_ZEROS[OTHERS])
    assert model.n_clusters_ == alone.n_clusters_
    np.testing.assert_array_equal(model.cluster_count_scores_, alone.cluster_count_scores_)


@pytest.mark.parametrize("estimator", CODE_ESTIMATORS)
def test_rows_of_zeros_only_are_refused(estimator):
    with pytest.raises(ValueError, match="rows of zeros only"):
        estimator(2, n_neighbors=1).fit(np.zeros((5, 3)))


def test_the_objective_is_that_of_the_distinct_points():
    model = SRSG(4).fit_graph(WITH_COPIES)
    codes = model.codes_[DISTINCT][:, DISTINCT].toarray()
    neighbors = np.searchsorted(DISTINCT, model.neighbors_[DISTINCT])
    expected = plain.srsg_objective(model.fit_X_[DISTINCT], codes, neighbors, 0.1)
    assert model.objective_history_[-1] == pytest.approx(expected, abs=1e-9)


def test_weights_of_the_elastic_net_are_those_of_all_points():
    model = ElasticNetGraph(4).fit_graph(WITH_COPIES)
    np.testing.assert_array_equal(model.lam_, model.lam_[model.first_equal_])


def test_near_copies_are_coded_in_reasonable_time():
    """A point whose problem takes in a crowd of near copies: minutes, once."""
    rng = np.random.default_rng(0)
    shares, groups = rng.uniform(0.15, 0.85, (4, 8)), rng.integers(0, 4, 1000)
    table = (rng.random((1000, 8)) < shares[groups]).astype(float)
    table = table[table.any(axis=1)]
    SRSG(4).fit_graph(table)  # compiles
    start = perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        SRSG(4).fit_graph(table + 1e-9 * rng.standard_normal(table.shape))
    assert perf_counter() - start < 40


@pytest.mark.parametrize(("certified", "of_all"), [([0, 1, 2], [0, 1, 2, 3]), ([0, 2], [0, 3])])
def test_certificates_of_some_points_are_those_of_the_first_of_their_kind(certified, of_all):
    """Where all are certified, so are their copies."""
    equal = EqualPoints.from_first(np.array([0, 1, 0, 3]))
    learnt = {"certified": np.array(certified)}
    assert _spread(learnt, equal)["certified"].tolist() == of_all
