"""The estimators as scikit-learn's users meet them."""

from __future__ import annotations

import pickle

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import load_digits
from sklearn.exceptions import NotFittedError
from sklearn.utils.estimator_checks import parametrize_with_checks

from srsg import (
    SMCE,
    SRSG,
    ElasticNetGraph,
    L1Graph,
    LaplacianL1Graph,
    NeighborGraph,
    OMPGraph,
    PreparedClusterer,
    RidgeGraph,
    TSCGraph,
)
from srsg.graph import symmetrized
from srsg.metrics import clustering_accuracy
from srsg.running import ThreadEngine
from support import plain
from support.estimators import ALL_ESTIMATORS, CODE_ESTIMATORS, same_bits
from support.subspaces import near_planes

PLANE = (
    "in the plane any two points of unit length span all others: what a greedy pursuit takes "
    "says nothing of the blobs the check wants told apart"
)


# Some checks have ten points.
FEW_NEIGHBORS = {kind: {"n_neighbors": 5} for kind in (SMCE, TSCGraph, NeighborGraph)}

OVER_THE_OTHERS = (
    "fit_transform codes the fitted points over each other, while transform codes any point over "
    "all fitted ones: a fitted point would be coded by itself alone"
)


NO_ZEROS = (
    "the check has weights of zero, which are refused: a row without a weight would be in the data "
    "and not in the graph; tests/estimators/test_weights.py has the same with weights above zero"
)


def expected_failures(estimator):
    plane = {"check_clustering": PLANE} if isinstance(estimator, OMPGraph) else {}
    kinds = ("dense", "sparse")
    weights = [f"check_sample_weight_equivalence_on_{kind}_data" for kind in kinds]
    return (
        plane
        | dict.fromkeys(weights, NO_ZEROS)
        | dict.fromkeys(
            ("check_transformer_general", "check_transformer_data_not_an_array"), OVER_THE_OTHERS
        )
    )


@parametrize_with_checks(
    [
        *(estimator(**FEW_NEIGHBORS.get(estimator, {})) for estimator in ALL_ESTIMATORS),
        NeighborGraph(n_neighbors=5, metric="euclidean"),
        PreparedClusterer(SRSG(3, random_state=0), scale="standard"),
        PreparedClusterer(SRSG(3, random_state=0), scale="minmax", impute="median"),
    ],
    expected_failed_checks=expected_failures,
)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.SkipTestWarning")
@pytest.mark.filterwarnings("ignore:X has .* of zeros")
@pytest.mark.filterwarnings("ignore:n_clusters=8 exceeds the number of distinct points")
def test_scikit_learn_conventions(estimator, check):
    check(estimator)


@pytest.fixture(scope="module")
def digits():
    X, y = load_digits(n_class=4, return_X_y=True)
    return X[:300], y[:300]


@pytest.fixture(scope="module", params=CODE_ESTIMATORS)
def fitted(request, digits):
    return request.param(4, random_state=0).fit(digits[0])


def test_attributes(fitted, digits):
    X, y = digits
    n = len(X)
    assert fitted.codes_.shape == fitted.affinity_matrix_.shape == (n, n)
    assert isinstance(fitted.codes_, sparse.csr_array)
    assert not fitted.codes_.diagonal().any()
    assert (fitted.affinity_matrix_ != symmetrized(fitted.codes_)).nnz == 0
    assert fitted.neighbors_.shape == (n, fitted.n_neighbors)
    assert fitted.embedding_.shape == (n, 4)
    assert fitted.eigenvalues_.shape == (4,)
    assert fitted.n_connected_components_ >= 1
    assert fitted.n_features_in_ == 64
    if not isinstance(fitted, OMPGraph):  # it finds other groups than the digits
        assert clustering_accuracy(y, fitted.labels_) > 0.9


def test_srsg_attributes(digits):
    model = SRSG(4, random_state=0).fit(digits[0])
    assert len(model.objective_history_) == model.n_sweeps_ + 1
    assert 1 <= model.n_iter_ <= 100
    Z = model.codes_.toarray()
    X = digits[0] / np.linalg.norm(digits[0], axis=1, keepdims=True)
    expected = plain.srsg_objective(X, Z, model.neighbors_, 0.1)
    assert model.objective_history_[-1] == pytest.approx(expected, abs=1e-9)
    start = plain.srsg_objective(X, model.init_codes_.toarray(), model.neighbors_, 0.1)
    assert model.objective_history_[0] == pytest.approx(start, abs=1e-9)


def test_srsg_reports_the_steps_it_cut(digits, capsys):
    gentle = SRSG(4, step=0.001, verbose=True).fit_graph(digits[0])
    assert gentle.n_steps_cut_ == gentle.n_let_in_ == 0
    assert "cut" not in capsys.readouterr().err
    harsh = SRSG(4, step=0.4, verbose=True).fit_graph(digits[0])
    assert harsh.n_steps_cut_ > 0
    assert harsh.n_let_in_ > 0
    assert f"for {harsh.n_steps_cut_} points" in capsys.readouterr().err


def test_graph_first_labels_later(fitted, digits):
    graph = clone(fitted).fit_graph(digits[0])
    assert not hasattr(graph, "labels_")
    np.testing.assert_array_equal(graph.relabel(4, random_state=0), fitted.labels_)
    assert not hasattr(graph, "labels_")
    assert len(np.unique(graph.relabel(7))) == 7
    with pytest.raises(ValueError, match="n_clusters=1000 exceeds the number of points"):
        graph.relabel(1000)
    with pytest.raises(NotFittedError):
        clone(fitted).relabel(4)


def test_spectrum_begins_with_the_eigenvalues_used(fitted):
    spectrum = fitted.spectrum(9)
    np.testing.assert_allclose(spectrum[:4], fitted.eigenvalues_, atol=1e-8)
    assert (np.diff(spectrum) <= 0).all()


@pytest.mark.parametrize(("n_jobs", "size"), [(1, 256), (2, 256), (None, 7)])
def test_same_bits_for_any_threads_and_blocks(fitted, digits, block_size, n_jobs, size):
    block_size(size)
    assert same_bits(clone(fitted).set_params(n_jobs=n_jobs).fit(digits[0]), fitted)


@pytest.mark.parametrize("estimator", CODE_ESTIMATORS)
def test_same_bits_on_coil20(paper_data, block_size, estimator):
    X, _ = paper_data("COIL20", 4)
    reference = estimator(4, random_state=0, n_jobs=2).fit(X)
    for n_jobs, size in ((1, 1000), (2, 100)):
        block_size(size)
        assert same_bits(clone(reference).set_params(n_jobs=n_jobs).fit(X), reference)


def test_same_bits_with_near_ties():
    """Points that differ by rounding only: the choice among them must not depend on blocks."""
    X, _ = near_planes(0, n_points=200, n_features=30)
    X = np.vstack([X, 3 * X, X / 7])
    reference = L1Graph(3, random_state=0).fit(X)
    assert same_bits(L1Graph(3, n_jobs=1, random_state=0).fit(X), reference)


def test_permuting_the_points_permutes_the_clusters(digits):
    X, _ = digits
    order = np.random.default_rng(0).permutation(len(X))
    labels = L1Graph(4, random_state=0).fit_predict(X)
    permuted = L1Graph(4, random_state=0).fit_predict(X[order])
    assert clustering_accuracy(labels[order], permuted) == 1


def test_sparse_frames_and_float32(digits):
    X = digits[0]
    reference = SRSG(4, random_state=0).fit(X)
    for same in (sparse.csr_array(X), sparse.csc_matrix(X), X.astype(int), X.tolist()):
        assert same_bits(clone(reference).fit(same), reference)
    frame = pd.DataFrame(X, columns=[f"pixel {k}" for k in range(64)])
    model = clone(reference).fit(frame)
    assert same_bits(model, reference)
    assert list(model.feature_names_in_[:2]) == ["pixel 0", "pixel 1"]
    single = clone(reference).fit(X.astype(np.float32))
    assert clustering_accuracy(reference.labels_, single.labels_) > 0.99
    np.testing.assert_allclose(single.codes_.toarray(), reference.codes_.toarray(), atol=1e-3)


def test_one_engine_with_blocks_that_fit_does_all_the_work_of_a_fit(monkeypatch, block_size):
    engines = []
    start, code = ThreadEngine.__init__, L1Graph.coder.code

    def counted(self, *arguments, **options):
        engines.append(self)
        start(self, *arguments, **options)

    def with_blocks(self, points, run):
        assert run.block_size == 37
        return code(self, points, run)

    monkeypatch.setattr(ThreadEngine, "__init__", counted)
    monkeypatch.setattr(L1Graph.coder, "code", with_blocks)
    block_size(37)
    L1Graph(3, n_jobs=1).fit(GOOD)
    assert [engine.n_workers for engine in engines] == [1]


def test_input_is_left_alone(digits):
    X = digits[0].copy()
    SRSG(4).fit(X)
    np.testing.assert_array_equal(X, digits[0])


def test_pickle(fitted):
    assert same_bits(pickle.loads(pickle.dumps(fitted)), fitted)


@pytest.mark.parametrize("estimator", CODE_ESTIMATORS)
def test_duplicated_points_share_their_cluster(digits, estimator):
    X = np.vstack([digits[0], digits[0][:50], digits[0][:50]])
    model = estimator(4, random_state=0).fit(X)
    twins = model.labels_[300:].reshape(2, 50)
    assert (twins == model.labels_[:50]).all()
    assert np.isfinite(model.codes_.data).all()


def test_constant_features_and_one_cluster(digits):
    X = np.column_stack([digits[0], np.full(300, 7.0)])
    assert set(SRSG(1).fit_predict(X)) == {0}


def test_verbose_reports_on_standard_error(digits, capsys):
    SRSG(4, verbose=True, random_state=0).fit(digits[0])
    output = capsys.readouterr()
    assert "codes, scan 1 of 300 points" in output.err
    assert "sweep 1" in output.err
    assert output.out == ""


GOOD = np.random.default_rng(0).standard_normal((20, 4))


def with_value(value):
    X = GOOD.copy()
    X[7, 2] = value
    return X


@pytest.mark.parametrize("estimator", CODE_ESTIMATORS)
@pytest.mark.parametrize(
    ("parameters", "X", "message"),
    [
        ({}, with_value(np.nan), "contains NaN"),
        ({}, with_value(np.inf), "contains infinity"),
        ({"n_clusters": 21}, GOOD, "n_clusters=21 exceeds the number of points, n_samples=20"),
        ({"n_neighbors": 20}, GOOD, "n_neighbors=20 must be smaller"),
        ({}, GOOD[:, :1], r"1 feature\(s\)"),
        ({}, GOOD[:1], r"1 sample\(s\)"),
        ({}, [["a", "b"], ["c", "d"], ["e", "f"]], "could not convert string"),
        ({}, GOOD[0], "Expected 2D array"),
        ({"n_clusters": 0}, GOOD, "'n_clusters' parameter"),
        ({"n_clusters": 2.5}, GOOD, "'n_clusters' parameter"),
        ({"n_neighbors": 0}, GOOD, "'n_neighbors' parameter"),
        ({"n_init": 0}, GOOD, "'n_init' parameter"),
        ({"assign_labels": "guess"}, GOOD, "'assign_labels' parameter"),
        ({"n_jobs": "all"}, GOOD, "'n_jobs' parameter"),
    ],
)
def test_bad_input_is_named(estimator, parameters, X, message):
    with pytest.raises(ValueError, match=message):
        estimator(**{"n_clusters": 2, **parameters}).fit(X)


@pytest.mark.parametrize("ridge", [-0.1, 0, np.inf])
def test_bad_ridge_is_named(ridge):
    with pytest.raises(ValueError, match="'ridge' parameter"):
        RidgeGraph(2, ridge=ridge).fit(GOOD)


@pytest.mark.parametrize("lam", [-0.1, 0])
@pytest.mark.parametrize("estimator", [L1Graph, SRSG, LaplacianL1Graph, ElasticNetGraph])
def test_bad_lam_is_named(estimator, lam):
    with pytest.raises(ValueError, match="'lam' parameter"):
        estimator(n_clusters=2, lam=lam).fit(GOOD)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"gamma": -0.1}, "'gamma' parameter"),
        ({"step": -0.01}, "'step' parameter"),
        ({"step": "huge"}, "'step' parameter"),
        ({"max_sweeps": 0}, "'max_sweeps' parameter"),
        ({"tol": -1.0}, "'tol' parameter"),
        ({"affinity": "paper"}, "'affinity' parameter"),
    ],
)
def test_bad_parameters_of_srsg_are_named(parameters, message):
    with pytest.raises(ValueError, match=message):
        SRSG(n_clusters=2, **parameters).fit(GOOD)


@pytest.mark.parametrize("n_clusters", [0, -1, 2.5, "three", True])
def test_relabel_names_a_bad_number_of_clusters(n_clusters):
    model = L1Graph(2, random_state=0).fit(GOOD)
    with pytest.raises(ValueError, match=f"n_clusters={n_clusters!r} must be a whole number"):
        model.relabel(n_clusters)
    with pytest.raises(ValueError, match=f"n_clusters={n_clusters!r} must be a whole number"):
        model.relabel_each([2, n_clusters])
