"""The search by stability: what it chooses, what it says, what it refuses."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.cluster import FeatureAgglomeration, KMeans
from sklearn.datasets import load_digits, load_iris, load_wine
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler

from srsg import SRSG, L1Graph, NeighborGraph, PreparedClusterer, RidgeGraph, StabilitySearch
from srsg.coding.coder import build_graph
from srsg.counting.counts import MANY_FEATURES
from srsg.counting.reproducibility import ScoredCounts
from srsg.datasets import make_union_of_subspaces
from srsg.explaining.confidence import confidence
from srsg.explaining.fitted import explained_points
from srsg.explaining.unwrapping import clusterer_of
from srsg.metrics import clustering_accuracy
from srsg.running.progress import SILENT
from srsg.search.candidates import Columns, auto_candidates, look_at_columns
from srsg.search.comparison import Comparison
from srsg.search.fits import CUTS
from srsg.search.stability import draw_rounds


@pytest.fixture(scope="module")
def wine():
    X, y = load_wine(return_X_y=True)
    return X, y, StabilitySearch(n_clusters=3, random_state=0).fit(X)


def test_the_winner_is_fitted_on_all_points(wine):
    X, y, search = wine
    assert clustering_accuracy(y, search.labels_) > 0.95
    again = clone(search.best_estimator_).fit(X)
    np.testing.assert_array_equal(again.predict(X), search.predict(X))
    np.testing.assert_array_equal(search.predict(X), search.labels_)
    assert search.n_clusters_ == 3


def test_results_are_a_table_with_the_reasons(wine):
    _, _, search = wine
    results = search.results_
    names = ["srsg, standardised, affine", "kmeans, standardised"]
    assert results["candidate"] == names
    assert results["candidate"][search.best_index_] == search.best_name_
    assert sorted(results["rank"]) == [1, 2]
    parts = np.array([results[key] for key in ("stability_points", "consensus")])
    np.testing.assert_allclose(parts.sum(axis=0), results["score"])
    best, other = results["score"][search.best_index_], min(results["score"])
    assert search.margin_ == pytest.approx(best - other)
    assert search.structure_found_


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_the_same_bits_for_any_threads(wine, n_jobs):
    X, _, search = wine
    other = clone(search).set_params(n_jobs=n_jobs).fit(X)
    assert repr(other.results_) == repr(search.results_)  # NaN differs from itself
    np.testing.assert_array_equal(other.labels_, search.labels_)


def test_columns_are_looked_at():
    assert look_at_columns(load_wine().data) is Columns.SEVERAL_UNITS
    assert look_at_columns(load_iris().data) is Columns.ONE_UNIT
    assert look_at_columns(np.ones((20, 5))) is Columns.ONE_UNIT
    assert look_at_columns(np.random.default_rng(0).random((20, 200))) is Columns.MANY
    huge = load_iris().data * 1e200
    assert look_at_columns(huge) is Columns.ONE_UNIT


def test_trajectories_are_left_to_exact_codes():
    """Points of three bodies in few dimensions: each body has an affine subspace of its own."""
    rng = np.random.default_rng(0)
    bodies = [rng.random((20, 3)) @ rng.random((3, 40)) + rng.random(40) for _ in range(3)]
    X = np.concatenate(bodies)
    noisy = X + 0.1 * rng.standard_normal(X.shape)
    assert look_at_columns(X) is Columns.DIMENSIONS
    assert look_at_columns(X, exact=False) is look_at_columns(noisy) is Columns.ONE_UNIT
    assert look_at_columns(X * 10.0 ** np.arange(40)) is Columns.SEVERAL_UNITS
    search = StabilitySearch(n_clusters=3, random_state=0).fit(X)
    assert search.results_["candidate"] == ["ssc"]
    assert clustering_accuracy(np.repeat(range(3), 20), search.labels_) == 1


def test_neighbours_compete_only_where_codes_are_not_sparse():
    """They join points of different subspaces in every sample alike."""
    sparse_codes, _ = make_union_of_subspaces(120, n_features=120, noise=0.02, random_state=0)
    centers = np.random.default_rng(0).standard_normal((3, 120))
    groups = np.repeat(centers, 40, axis=0) + np.random.default_rng(1).standard_normal((120, 120))
    names = [
        StabilitySearch(n_clusters=3, random_state=0).fit(X).results_["candidate"]
        for X in (sparse_codes, groups)
    ]
    assert names == [["ridge", "srsg"], ["knn", "ridge", "srsg"]]


def test_graphs_only_leaves_out_kmeans():
    X = load_iris().data
    search = StabilitySearch("graphs", 3, random_state=0).fit(X)
    assert not [name for name in search.results_["candidate"] if "kmeans" in name]
    assert any("kmeans" in name for name, _ in auto_candidates(Columns.ONE_UNIT, {}))


def test_own_candidates_win_ties_by_their_order():
    X = load_digits().data[:300]
    candidates = {"first": L1Graph(lam=0.1), "second": L1Graph(lam=0.1)}
    search = StabilitySearch(candidates, 10, random_state=0).fit(X)
    assert search.best_name_ == "first"
    assert search.margin_ == 0


def test_the_better_graph_is_chosen_without_labels(paper_data):
    """Ridge codes for faces under changing light, sparse codes for objects that turn."""
    for name, n_classes, expected in (("Yale-B", 10, "ridge"), ("COIL-20", 12, "srsg")):
        X, y = paper_data(name, n_classes)
        search = StabilitySearch(n_clusters=n_classes, random_state=0).fit(X)
        assert search.best_name_ == expected
        assert clustering_accuracy(y, search.labels_) > 0.94


def test_noise_has_no_structure():
    rng = np.random.default_rng(0)
    search = StabilitySearch(n_clusters=3, random_state=0).fit(rng.standard_normal((300, 30)))
    assert not search.structure_found_


def test_subspaces_have_structure():
    X, y = make_union_of_subspaces(180, random_state=0)
    candidates = {"srsg": SRSG(), "ridge": RidgeGraph(), "kmeans": KMeans(n_init=10)}
    search = StabilitySearch(candidates, 3, random_state=0).fit(X)
    assert search.structure_found_
    assert search.best_name_ != "kmeans"
    assert clustering_accuracy(y, search.labels_) == 1


def test_sparse_input():
    X = sparse.csr_array(load_digits().data[:200])
    search = StabilitySearch({"l1": L1Graph(), "ridge": RidgeGraph()}, 5, random_state=0).fit(X)
    assert search.labels_.shape == (200,)


def test_seeds_of_the_candidates_are_kept():
    X = load_iris().data
    search = StabilitySearch({"kmeans": KMeans(n_init=1, random_state=7)}, 3).fit(X)
    assert search.best_estimator_.random_state == 7
    assert search.margin_ == np.inf


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"n_clusters": 1}, "'n_clusters' parameter"),
        ({"n_resamples": 1}, "'n_resamples' parameter"),
        ({"candidates": "all"}, "'candidates' parameter"),
        ({"candidates": {}}, "candidates is empty"),
        ({"candidates": {"scaler": StandardScaler()}}, "'scaler' has no parameter n_clusters"),
        ({"candidates": [KMeans(), L1Graph()]}, r"must be pairs of a name and a .*got KMeans"),
        ({"candidates": [("a", KMeans(), 1)]}, "must be pairs of a name and a clusterer"),
        ({"candidates": [("a", KMeans()), ("a", L1Graph())]}, "two of them are called 'a'"),
        ({"candidates": {"none": Pipeline([])}}, "'none' has no parameter n_clusters"),
        (
            {"candidates": {"steps": make_pipeline(StandardScaler(), FeatureAgglomeration())}},
            "'steps' has no method fit_predict",
        ),
        ({"n_clusters": 500}, "n_clusters=500 exceeds the number of points"),
        ({"n_clusters": 120}, "n_clusters=120 exceeds the 105 points of the samples"),
    ],
)
def test_bad_parameters_are_named(parameters, message):
    with pytest.raises(ValueError, match=message):
        StabilitySearch(**{"n_clusters": 3, **parameters}).fit(load_iris().data)


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_bad_values_are_named(value):
    X = load_iris().data.copy()
    X[3, 1] = value
    with pytest.raises(ValueError, match=r"NaN|infinity"):
        StabilitySearch(n_clusters=3).fit(X)


def test_pipelines_are_kept_whole():
    X = load_wine().data
    scaled = make_pipeline(StandardScaler(), L1Graph(affine=True))
    search = StabilitySearch({"scaled": scaled}, 3, random_state=0).fit(X)
    assert isinstance(search.best_estimator_, Pipeline)
    assert search.predict(X[:4]).shape == (4,)


def test_independent_subspaces_are_counted():
    X, y = make_union_of_subspaces(240, n_subspaces=4, random_state=0)
    search = StabilitySearch({"srsg": SRSG(), "ridge": RidgeGraph()}, random_state=0).fit(X)
    assert search.n_clusters_ == 4
    assert search.best_counts(3)[0] == 4
    assert clustering_accuracy(y, search.labels_) == 1


def test_a_number_needs_a_candidate_that_can_count():
    with pytest.raises(ValueError, match="needs a candidate of this package"):
        StabilitySearch({"kmeans": KMeans(n_init=1)}).fit(load_iris().data)


@pytest.mark.parametrize(
    ("numbers", "used"), [((9, 3, 3), [3, 3, 3]), ((3, 4), [3, 4]), ((5, 3, 9, 4), [4, 4, 4, 4])]
)
def test_three_graphs_settle_on_the_median(monkeypatch, numbers, used):
    """One graph that is far off has no say, not even if it is the most stable."""
    found = iter(numbers)

    def counted(estimator, *, random_state):
        number = next(found)
        return ScoredCounts(number, np.array([2, number]), np.array([0.5, 1.0]), True)

    monkeypatch.setattr(L1Graph, "count_clusters", counted)
    candidates = {str(place): L1Graph(lam=0.1) for place in range(len(numbers))}
    search = StabilitySearch(candidates, random_state=0).fit(load_digits().data[:100])
    assert search.results_["n_clusters"] == used
    assert search.n_clusters_ == used[search.best_index_]
    assert search.cluster_counts_.tolist() == [2, search.n_clusters_]


def test_with_many_features_each_graph_keeps_its_number(monkeypatch):
    found = iter([(4, [0.2, 0.8, 0.3]), (7, [0.1, 0.5, 0.9]), (4, [0.4, 0.7, 0.2])])

    def counted(estimator, *, random_state):
        number, scores = next(found)
        return ScoredCounts(number, np.array([3, 4, 7]), np.array(scores), True)

    monkeypatch.setattr(L1Graph, "count_clusters", counted)
    candidates = {str(place): L1Graph(lam=0.1) for place in range(3)}
    X, _ = make_union_of_subspaces(100, n_subspaces=4, n_features=MANY_FEATURES, random_state=0)
    search = StabilitySearch(candidates, random_state=0).fit(X)
    assert search.results_["n_clusters"] == [4, 7, 4]
    assert search.n_clusters_ == [4, 7, 4][search.best_index_]


def test_iris_is_counted():
    """Its ridge graph alone would say seven."""
    search = StabilitySearch(random_state=0).fit(load_iris().data)
    assert search.n_clusters_ in (2, 3)
    assert 3 in search.best_counts(3)


def test_a_range_limits_the_search():
    search = StabilitySearch(n_clusters=(4, 6), random_state=0).fit(load_iris().data[::2])
    assert search.n_clusters_ in (4, 5, 6)
    assert len(set(search.labels_)) == search.n_clusters_
    assert set(search.results_["n_clusters"]) <= {4, 5, 6}
    assert set(search.cluster_counts_) <= {4, 5, 6}


def test_a_row_of_zeros_leaves_the_candidates_that_can_take_it():
    X = load_iris().data.copy()
    X[3] = 0.0
    search = StabilitySearch(n_clusters=3, random_state=0).fit(X)
    assert "srsg" not in search.results_["candidate"]
    assert "srsg, standardised, affine" in search.results_["candidate"]
    assert search.labels_.shape == (150,)


class Faulty(KMeans):
    """Fails on samples, or has no label for the last points."""

    def __init__(self, n_clusters=2, *, fault="raises", random_state=None):
        super().__init__(n_clusters, random_state=random_state)
        self.fault = fault

    def fit_predict(self, X, y=None, sample_weight=None):
        if self.fault == "raises":
            raise RuntimeError("out of ideas")
        return super().fit_predict(X)[:-3]


def test_a_candidate_that_fails_is_named():
    X = np.random.default_rng(0).standard_normal((60, 5))
    search = StabilitySearch([("good", KMeans()), ("bad", Faulty())], 2, random_state=0)
    with pytest.raises(RuntimeError, match="out of ideas") as caught:
        search.fit(X)
    assert caught.value.__notes__ == ["Raised by the candidate 'bad' on a sample of the data."]


def test_a_candidate_with_too_few_labels():
    X = np.random.default_rng(0).standard_normal((60, 5))
    search = StabilitySearch([("short", Faulty(fault="short")), ("k", KMeans())], 2, random_state=0)
    with pytest.raises(ValueError, match=r"fit_predict of Faulty returned labels of shape \(39,\)"):
        search.fit(X)


@pytest.mark.parametrize("n_clusters", ["auto", 3])
def test_the_graph_of_all_points_is_built_once(monkeypatch, n_clusters):
    X = load_digits().data[:150]
    built, sure, explained = [], [], []

    def counting(coder, points, *others):
        built.append((coder, points.shape[0]))
        return build_graph(coder, points, *others)

    def counting_confidence(model, points):
        sure.append(model)
        return confidence(model, points)

    def counting_explained(*arguments):
        explained.append(arguments)
        return explained_points(*arguments)

    monkeypatch.setattr("srsg.estimators.base.build_graph", counting)
    monkeypatch.setattr("srsg.explaining.fitted.explained_points", counting_explained)
    monkeypatch.setattr("srsg.search.sampled.confidence", counting_confidence)
    scaled = PreparedClusterer(L1Graph(affine=True), scale="standard")
    candidates = {"l1": L1Graph(), "ridge": RidgeGraph(), "scaled": scaled}
    search = StabilitySearch(candidates, n_clusters, random_state=0).fit(X)
    whole = [coder for coder, n_points in built if n_points == len(X)]
    assert len(whole) == len(set(whole)) == (3 if n_clusters == "auto" else 1)
    assert clusterer_of(search).graph_.coder in whole
    assert len(sure) == 1
    np.testing.assert_array_equal(search.confidence_, clusterer_of(search).confidence_)
    assert len(explained) == 1


@pytest.mark.parametrize("n_clusters", ["auto", 3])
def test_the_best_estimator_has_the_parameters_it_was_fitted_with(n_clusters):
    X = load_wine().data
    scaled = PreparedClusterer(SRSG(affine=True), scale="standard")
    piped = make_pipeline(StandardScaler(), SRSG(affine=True))
    for candidate in (scaled, piped, SRSG(), KMeans(n_init=2)):
        others = {"l1": L1Graph()} if n_clusters == "auto" else {}
        search = StabilitySearch({"it": candidate, **others}, n_clusters, random_state=0).fit(X)
        again = clone(search.best_estimator_)
        np.testing.assert_array_equal(again.fit_predict(X), search.labels_)


def test_each_graph_is_cut_by_stability_and_modularity():
    """Of two cuts that are as stable, the one with more weight inside of clusters is taken."""
    X, y = make_union_of_subspaces(
        240, n_subspaces=4, dimension=4, n_features=120, noise=0.05, random_state=0
    )
    search = StabilitySearch(n_clusters=4, random_state=0).fit(X)
    cut = search.results_["cut"][search.best_index_]
    assert cut in CUTS
    assert clusterer_of(search.best_estimator_).assign_labels == cut
    np.testing.assert_array_equal(search.best_estimator_.relabel(4), search.labels_)
    assert clustering_accuracy(y, search.labels_) > 0.95


def test_cuts_are_chosen_for_our_own_graphs_only(wine):
    assert set(wine[2].results_["cut"]) == {None}
    candidates = {"ridge": RidgeGraph(assign_labels="tree")}
    X, _ = make_union_of_subspaces(120, n_features=120, random_state=0)
    search = StabilitySearch(candidates, 3, random_state=0).fit(X)
    assert search.results_["cut"] == [None]
    assert search.best_estimator_.assign_labels == "tree"


@pytest.mark.parametrize(
    ("candidate", "modular", "cut"),
    [
        (SRSG(), [0.5, 0.4], "kmeans"),
        (SRSG(), [0.4, 0.5], "tree"),
        (SRSG(), [0.5, 0.495], "tree"),
        (RidgeGraph(), [0.4, 0.5], "kmeans"),
    ],
)
def test_modularity_decides_between_cuts_that_are_as_stable(candidate, modular, cut):
    """If it does not either, the tree is taken, which needs no eigenvectors; never for ridge."""
    rows = np.arange(80)
    fits = [(np.column_stack([rows % 2, rows % 2]), np.array(modular))] * 5
    comparison = Comparison([("one", candidate)], None, 0, SILENT, None, both_cuts=True)
    samples, _ = draw_rounds((80, 8), 2, np.random.RandomState(0), table=False)
    samples = [sample._replace(rows=rows) for sample in samples]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Comparison, "_each", lambda *_: fits)
        _, cuts = comparison.scores([2], (samples, []))
    assert cuts == [cut]


def test_a_tree_of_many_points_is_counted_again(monkeypatch):
    """A sample shows two pairs of groups, all points show the four groups."""
    rng = np.random.default_rng(0)
    pairs = np.repeat(rng.standard_normal((2, 120)), 2, axis=0)
    centers = pairs + 0.6 * rng.standard_normal((4, 120))
    X = np.repeat(centers, 100, axis=0) + 0.5 * rng.standard_normal((400, 120))
    monkeypatch.setattr("srsg.search.comparison.MAX_SAMPLED_POINTS", 40)
    two = ScoredCounts(2, np.array([2, 3]), np.array([1.0, 0.5]), True)
    monkeypatch.setattr(NeighborGraph, "count_clusters", lambda *_, **__: two)
    cut = {"tree": 4, "kmeans": 2}
    for name, number in cut.items():
        monkeypatch.setattr("srsg.search.comparison.CUT_TIE", 1.0 if name == "tree" else -np.inf)
        monkeypatch.setattr(
            "srsg.search.search.auto_candidates", lambda *_: [("knn", NeighborGraph())]
        )
        search = StabilitySearch(random_state=0).fit(X)
        assert search.results_["cut"] == [name]
        assert search.n_clusters_ == search.results_["n_clusters"][0] == number
        assert len(np.unique(search.labels_)) == number


def test_a_search_takes_the_work_of_fifteen_fits_at_most(monkeypatch):
    """As many products of all points with all points, by their numbers and features."""
    rng = np.random.default_rng(0)
    X = np.repeat(rng.standard_normal((3, 120)), 40, axis=0) + rng.standard_normal((120, 120))
    built = []

    def counting(coder, points, *others):
        built.append((len(points) / len(X)) ** 2 * points.shape[1] / X.shape[1])
        return build_graph(coder, points, *others)

    monkeypatch.setattr("srsg.estimators.base.build_graph", counting)
    search = StabilitySearch(n_clusters=3, random_state=0).fit(X)
    assert len(search.results_["candidate"]) == 3
    assert sum(built) <= 15


def test_new_points_get_labels_and_on_request_none():
    X = np.vstack([np.eye(4)[[0, 1]].repeat(20, axis=0), np.eye(4)[2:]])
    X[:40] += 0.05 * np.random.default_rng(0).standard_normal((40, 4))
    search = StabilitySearch([("ridge", RidgeGraph())], n_clusters=2, random_state=0).fit(X[:40])
    np.testing.assert_array_equal(search.predict(X[:40]), search.labels_)
    assert search.predict(X[40:]).min() >= 0
    assert (search.predict(X[40:], novelty=0.1) == -1).all()


def test_only_tables_for_our_own_candidates_are_made_dense():
    X = sparse.csr_array(np.eye(5))
    own, given = StabilitySearch(), StabilitySearch(candidates=[("l1", L1Graph())])
    assert not sparse.issparse(own._searched(X, Columns.ONE_UNIT))
    assert own._searched(X, Columns.MANY) is X
    assert given._searched(X, Columns.ONE_UNIT) is X
