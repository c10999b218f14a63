"""A row of weight m gives what m equal rows give."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.base import clone
from sklearn.cluster import KMeans
from sklearn.datasets import load_digits, load_wine
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from srsg import (
    SMCE,
    SRSG,
    L1Graph,
    LocalScalingSpectralClustering,
    NeighborGraph,
    PreparedClusterer,
    RidgeGraph,
    StabilitySearch,
    metrics,
)
from srsg.persistence import load_model, save_model
from srsg.weights import checked_weights, weighted_quantile
from support.estimators import ALL_ESTIMATORS, assert_same

X = load_digits(n_class=4).data[:120]
WEIGHTS = np.random.default_rng(0).integers(1, 4, 120)
FIRST = np.concatenate(([0], np.cumsum(WEIGHTS)[:-1]))
"""Where each row is among all copies."""

COPIES = np.repeat(X, WEIGHTS, axis=0)
CLUSTERERS = [*ALL_ESTIMATORS, lambda *k, **o: NeighborGraph(*k, metric="euclidean", **o)]


@pytest.fixture(scope="module", params=range(len(CLUSTERERS)))
def pair(request):
    """A model of rows with weights, and one of as many copies."""
    model = CLUSTERERS[request.param](4, random_state=0, n_jobs=1)
    return clone(model).fit(X, sample_weight=WEIGHTS), clone(model).fit(COPIES)


def test_weights_give_what_copies_give(pair):
    weighted, copied = pair
    np.testing.assert_allclose(weighted.eigenvalues_, copied.eigenvalues_, atol=1e-9)
    np.testing.assert_array_equal(weighted.labels_, copied.labels_[FIRST])
    merged = copied.graph_.merged(copied.affinity_matrix_)
    graph = weighted.graph_.merged(weighted.affinity_matrix_)
    difference = graph - merged
    assert abs(difference).max() < 1e-9 * abs(merged).max()
    if isinstance(weighted, SMCE):
        return  # of each set of copies, its codes and neighbours name the first only
    if weighted.graph_.codes is not None:
        ours, theirs = weighted.graph_.distinct_codes(), copied.graph_.distinct_codes()
        np.testing.assert_array_equal(ours.toarray(), theirs.toarray())
    for name in ("explained_", "confidence_", "outlier_score_"):
        found, expected = getattr(weighted, name), getattr(copied, name)[FIRST]
        np.testing.assert_allclose(found, expected, atol=1e-9, err_msg=name)


def test_new_points_are_assigned_alike(pair):
    weighted, copied = pair
    new = load_digits(n_class=4).data[120:150]
    np.testing.assert_array_equal(weighted.predict(new), copied.predict(new))
    np.testing.assert_allclose(weighted.predict_shares(new), copied.predict_shares(new), atol=1e-9)
    if not isinstance(weighted, SMCE):
        found, expected = weighted.predict_confidence(new), copied.predict_confidence(new)
        np.testing.assert_allclose(found, expected, atol=1e-9)
        found, expected = weighted.predict(new, novelty=0.2), copied.predict(new, novelty=0.2)
        np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("estimator", ALL_ESTIMATORS)
def test_weights_of_one_are_no_weights(estimator):
    model = estimator(3, random_state=0, n_jobs=1)
    assert_same(clone(model).fit(X[:60], sample_weight=np.ones(60)), clone(model).fit(X[:60]))


# Not cluster_qr: of rows of one length, rounding decides which it starts from.
@pytest.mark.parametrize("assign_labels", ["tree", "discretize"])
def test_every_cut_takes_weights(assign_labels):
    model = RidgeGraph(4, assign_labels=assign_labels, random_state=0)
    weighted, copied = clone(model).fit(X, sample_weight=WEIGHTS), clone(model).fit(COPIES)
    assert metrics.clustering_accuracy(weighted.labels_, copied.labels_[FIRST]) == 1
    np.testing.assert_array_equal(weighted.layers_, copied.layers_[FIRST])
    for ours, theirs in zip(
        weighted.relabel_each([2, 3]).T, copied.relabel_each([2, 3]).T, strict=True
    ):
        assert metrics.clustering_accuracy(ours, theirs[FIRST]) == 1


@pytest.mark.parametrize("n_features", [2, 13, 64])
def test_clusters_are_counted_alike(n_features):
    """By density, by halves, and with the same evidence."""
    points = load_wine().data[::2, :n_features] if n_features < 64 else X
    weights = np.resize(WEIGHTS, len(points))
    model = NeighborGraph("auto", metric="euclidean", random_state=0)
    weighted = clone(model).fit(points, sample_weight=weights)
    copied = clone(model).fit(np.repeat(points, weights, axis=0))
    np.testing.assert_array_equal(weighted.cluster_counts_, copied.cluster_counts_)
    np.testing.assert_allclose(
        weighted.cluster_count_scores_, copied.cluster_count_scores_, atol=1e-9
    )
    assert weighted.structure_found_ == copied.structure_found_


def test_counting_by_samples_takes_the_rows():
    """With many features, copies are left out of the samples that count."""
    wide = np.hstack([X[:90], X[:90] ** 2])
    weights = WEIGHTS[:90]
    model = RidgeGraph("auto", random_state=0)
    weighted = clone(model).fit(wide, sample_weight=weights)
    copied = clone(model).fit(np.repeat(wide, weights, axis=0))
    np.testing.assert_array_equal(weighted.cluster_counts_, copied.cluster_counts_)
    np.testing.assert_array_equal(weighted.cluster_count_scores_, copied.cluster_count_scores_)


def test_copies_with_weights_add_up():
    points, weights = np.vstack([X, X[:30]]), np.r_[WEIGHTS, np.full(30, 2.5)]
    together = WEIGHTS.astype(float)
    together[:30] += 2.5
    model = RidgeGraph(4, random_state=0)
    found = clone(model).fit(points, sample_weight=weights)
    expected = clone(model).fit(X, sample_weight=together)
    np.testing.assert_allclose(found.eigenvalues_, expected.eigenvalues_, atol=1e-9)
    np.testing.assert_array_equal(found.labels_[:120], expected.labels_)
    np.testing.assert_array_equal(found.graph_.equal.counts, together)


def test_weights_change_the_clusters():
    """Two of three groups are found; the one that counts little is cut last."""
    rng = np.random.default_rng(0)
    centres = np.array([[0.0, 0], [4, 0], [0, 4.2]])
    points = np.repeat(centres, 30, axis=0) + 0.5 * rng.standard_normal((90, 2))
    group = np.repeat([0, 1, 2], 30)
    for light, others in ((1, [0, 2]), (2, [0, 1])):
        weights = np.where(group == light, 0.01, 1.0)
        labels = LocalScalingSpectralClustering(2, random_state=0).fit_predict(
            points, sample_weight=weights
        )
        heavy = [np.bincount(labels[group == g], minlength=2).argmax() for g in others]
        assert heavy[0] != heavy[1]


@settings(max_examples=8, deadline=None)
@given(
    weights=st.lists(st.integers(1, 3), min_size=16, max_size=16),
    seed=st.integers(0, 10**6),
    affine=st.booleans(),
    sparse_points=st.booleans(),
)
def test_any_whole_weights_are_copies(weights, seed, affine, sparse_points):
    points = np.random.default_rng(seed).standard_normal((16, 6)).round(1) + 0.05
    points = sparse.csr_array(points) if sparse_points else points
    copies = points[np.repeat(np.arange(16), weights)]
    first = np.concatenate(([0], np.cumsum(weights)[:-1]))
    model = L1Graph(3, affine=affine, n_neighbors=3, random_state=0, n_jobs=1)
    weighted, copied = clone(model).fit(points, sample_weight=weights), clone(model).fit(copies)
    ours, theirs = weighted.graph_.distinct_codes(), copied.graph_.distinct_codes()
    np.testing.assert_allclose(ours.toarray(), theirs.toarray(), atol=1e-7)
    merged = copied.graph_.merged(copied.affinity_matrix_).toarray()
    np.testing.assert_allclose(weighted.affinity_matrix_.toarray(), merged, atol=1e-7)
    assert weighted.affine_ == pytest.approx(copied.affine_)
    np.testing.assert_allclose(weighted.explained_, copied.explained_[first], atol=1e-6)


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        (-np.ones(120), "negative in rows 0, 1, .*predict"),
        (np.r_[np.ones(119), 0], "zero in rows 119: .*predict"),
        (np.zeros(120), "zero in rows"),
        (np.full(120, np.nan), "sample_weight contains NaN"),
        (np.full(120, np.inf), "sample_weight contains infinity"),
        (np.ones(119), "each of 120 rows"),
        (np.ones((120, 1)), "each of 120 rows"),
        (["a"] * 120, "convert"),
    ],
)
@pytest.mark.parametrize(
    "model", [RidgeGraph(3), PreparedClusterer(RidgeGraph(3)), StabilitySearch(n_clusters=3)]
)
def test_other_weights_are_refused(model, weights, message):
    with pytest.raises(ValueError, match=message):
        clone(model).fit(X, sample_weight=weights)


def test_weights_that_do_not_apply():
    with pytest.raises(ValueError, match="adds up to 1, and must exceed scale_neighbor=7"):
        LocalScalingSpectralClustering(2).fit(X, sample_weight=np.full(120, 1 / 120))
    with pytest.raises(ValueError, match="impute='knn': use 'median'"):
        PreparedClusterer(RidgeGraph(3), impute="knn").fit(X, sample_weight=WEIGHTS)
    da = pytest.importorskip("dask.array")
    with pytest.raises(ValueError, match=r"sample_weight needs .*compute"):
        L1Graph(3).fit(da.from_array(X), sample_weight=WEIGHTS)


@pytest.mark.parametrize("impute", [None, "median"])
@pytest.mark.parametrize("clusterer", [SRSG(3, affine=True, random_state=0), KMeans(3, n_init=2)])
def test_columns_take_weights(clusterer, impute):
    points = load_wine().data[::2].copy()
    if impute:
        points[::7, 3] = np.nan
    weights = np.resize(WEIGHTS, len(points))
    model = PreparedClusterer(clusterer, scale="standard", impute=impute)
    weighted = clone(model).fit(points, sample_weight=weights)
    copied = clone(model).fit(np.repeat(points, weights, axis=0))
    for name, value in vars(weighted.columns_).items():
        if value is not None:
            np.testing.assert_allclose(value, getattr(copied.columns_, name), err_msg=name)
    if isinstance(clusterer, SRSG):
        first = np.concatenate(([0], np.cumsum(weights)[:-1]))
        np.testing.assert_array_equal(weighted.labels_, copied.labels_[first])


@pytest.mark.parametrize("estimator", [SRSG, NeighborGraph, LocalScalingSpectralClustering])
def test_weights_are_kept_in_files(estimator, tmp_path):
    options = {"metric": "euclidean"} if estimator is NeighborGraph else {}
    model = estimator(3, random_state=0, **options).fit(X, sample_weight=WEIGHTS)
    save_model(model, tmp_path / "model.srsg")
    loaded = load_model(tmp_path / "model.srsg")
    np.testing.assert_array_equal(loaded.graph_.equal.row_weights, WEIGHTS)
    assert abs(loaded.affinity_matrix_ - model.affinity_matrix_).max() == 0
    np.testing.assert_array_equal(loaded.relabel(4), model.relabel(4))
    np.testing.assert_allclose(loaded.confidence_, model.confidence_)


@pytest.mark.parametrize("estimator", [RidgeGraph, NeighborGraph, LocalScalingSpectralClustering])
def test_a_store_tells_weights_apart(estimator, tmp_path):
    options = {"metric": "euclidean"} if estimator is NeighborGraph else {}
    model = estimator(3, random_state=0, n_jobs=1, **options)
    kept = clone(model).set_params(store=tmp_path)
    for weights in (WEIGHTS, None, WEIGHTS[::-1], WEIGHTS):
        found = clone(kept).fit(X, sample_weight=weights)
        assert_same(found, clone(model).fit(X, sample_weight=weights))


def test_the_search_takes_weights():
    points = load_wine().data
    weights = np.resize(WEIGHTS, len(points)).astype(float)
    search = StabilitySearch(
        [
            ("ridge", PreparedClusterer(RidgeGraph(affine=True), scale="standard")),
            ("pipeline", make_pipeline(StandardScaler(), KMeans(n_init=2))),
        ],
        n_clusters=3,
        random_state=0,
    )
    plain = clone(search).fit(points)
    once = clone(search).fit(points, sample_weight=np.ones(len(points)))
    np.testing.assert_array_equal(plain.labels_, once.labels_)
    assert plain.results_ == once.results_ or str(plain.results_) == str(once.results_)
    found = clone(search).fit(points, sample_weight=weights)
    assert found.results_["score"] != plain.results_["score"]
    if found.best_name_ == "ridge":
        kept = found.best_estimator_.clusterer_.graph_.equal.row_weights
        np.testing.assert_array_equal(kept, weights)
    from sklearn.cluster import AgglomerativeClustering

    with pytest.raises(ValueError, match="'ward' does not take weights"):
        StabilitySearch([("ward", AgglomerativeClustering())], n_clusters=3).fit(
            points, sample_weight=weights
        )


@settings(max_examples=30, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 2), st.integers(0, 3), st.integers(1, 4)), min_size=2))
def test_metrics_take_weights(rows):
    true, pred, weights = np.array(rows).T
    copies = np.repeat(true, weights), np.repeat(pred, weights)
    for measure in (
        metrics.clustering_accuracy,
        metrics.normalized_mutual_info,
        metrics.adjusted_mutual_info,
        lambda *pair, **options: metrics.scores(*pair, **options)["ARI"],
    ):
        found = measure(true, pred, sample_weight=weights)
        assert found == pytest.approx(measure(*copies), abs=1e-9)


def test_metrics_of_fractions():
    pair = [0, 0, 1, 1], [0, 1, 1, 1]
    assert metrics.clustering_accuracy(*pair, sample_weight=[0.5, 0.25, 0.5, 0.75]) == 0.875
    with pytest.raises(ValueError, match="whole numbers"):
        metrics.adjusted_mutual_info(*pair, sample_weight=[0.5, 1, 1, 1])


@settings(max_examples=50, deadline=None)
@given(st.lists(st.tuples(st.floats(-5, 5), st.integers(1, 4)), min_size=1), st.floats(0, 1))
def test_weighted_quantile_is_that_of_copies(pairs, share):
    values, weights = (np.array(part, float) for part in zip(*pairs, strict=True))
    expected = np.quantile(np.repeat(values, weights.astype(int)), share)
    assert weighted_quantile(values, share, weights) == pytest.approx(expected, abs=1e-6)


def test_equal_weights_are_none():
    assert checked_weights(np.ones(3), 3) is None
    assert checked_weights(None, 3) is None
