"""A fit in two parts: the graph as a value, and its labels."""

from __future__ import annotations

from dataclasses import FrozenInstanceError, fields, replace

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_digits
from sklearn.exceptions import NotFittedError

from srsg import (
    SMCE,
    SRSG,
    L1Graph,
    LocalScalingSpectralClustering,
    PreparedClusterer,
)
from srsg.coding.coder import build_graph
from srsg.counting.counts import count_clusters
from srsg.cutting.cut import CutOptions, cut_graph
from srsg.graph import Coded
from srsg.points import unit_points
from srsg.running import ThreadEngine
from support.estimators import ALL_ESTIMATORS, assert_same

X = np.vstack([load_digits(n_class=4).data[:120], load_digits().data[:5]])  # some are equal
RUN = ThreadEngine()


# Counting is the same code for all sparse graphs.
COUNTED = [SRSG, SMCE, LocalScalingSpectralClustering]


@pytest.mark.parametrize(
    ("estimator", "n_clusters"),
    [*((estimator, 4) for estimator in ALL_ESTIMATORS), *((each, "auto") for each in COUNTED)],
)
def test_labels_on_the_graph_equal_a_fit(estimator, n_clusters):
    model = estimator(2, random_state=0).fit_graph(X)
    graph = model.graph_
    model.set_params(n_clusters=n_clusters, n_init=3).fit_labels()
    assert model.graph_ is graph
    assert_same(model, estimator(n_clusters, n_init=3, random_state=0).fit(X))


def test_labels_forget_what_was_learnt_of_others():
    model = SRSG("auto", random_state=0).fit(X)
    confidence = model.confidence_
    model.set_params(n_clusters=3).fit_labels()
    assert len(model.confidence_) == len(confidence)
    assert (model.confidence_ != confidence).any()
    assert not hasattr(model, "cluster_counts_")
    assert model.n_features_in_ == 64


@pytest.mark.parametrize(
    ("parameters", "message"),
    [({"n_clusters": 126}, "exceeds the number of points"), ({"n_init": 0}, "'n_init' parameter")],
)
def test_refused_labels_change_nothing(parameters, message):
    model = L1Graph(3, random_state=0).fit(X)
    before = dict(vars(model)) | parameters
    with pytest.raises(ValueError, match=message):
        model.set_params(**parameters).fit_labels()
    assert vars(model) == before
    with pytest.raises(NotFittedError):
        L1Graph(3).fit_labels()


@pytest.mark.parametrize("estimator", ALL_ESTIMATORS)
def test_functions_and_values_do_what_the_estimator_does(estimator):
    model = estimator(4, random_state=0).fit(X)
    graph = build_graph(model._coder(), X, RUN)
    options = CutOptions(model.affinity, model.assign_labels, model.n_init)
    clusters = cut_graph(graph, 4, options, 0, RUN)
    np.testing.assert_array_equal(clusters.labels, model.labels_)
    np.testing.assert_array_equal(clusters.vectors, model.embedding_)
    np.testing.assert_array_equal(clusters.eigenvalues, model.eigenvalues_)
    if estimator not in COUNTED:
        return
    counted = model.count_clusters()
    again = count_clusters(graph, options, 0, RUN)
    assert counted.n_clusters == again.n_clusters
    np.testing.assert_array_equal(counted.scores, again.scores)
    automatic = clone(model).set_params(n_clusters="auto").fit(X)
    assert automatic.n_clusters_ == counted.n_clusters


def test_values_cannot_be_changed():
    coder = L1Graph()._coder()
    graph = build_graph(coder, X, RUN)
    clusters = cut_graph(graph, 3, CutOptions(), 0, RUN)
    coded = coder.code(unit_points(X[:50]), RUN)
    assert isinstance(coded, Coded)
    for value in (coder, coded, graph, graph.equal, CutOptions(), clusters):
        for field in fields(value):
            with pytest.raises(FrozenInstanceError):
                setattr(value, field.name, None)


@pytest.mark.parametrize("estimator", ALL_ESTIMATORS)
def test_a_coder_is_the_parameters_of_its_method(estimator):
    model = estimator(3)
    coder = model._coder()
    assert coder == estimator(7, n_jobs=1, n_init=2)._coder()
    for field in fields(coder):
        if field.name in model.get_params():
            assert getattr(coder, field.name) == getattr(model, field.name)
    assert replace(coder) == coder


@pytest.mark.parametrize("estimator", ALL_ESTIMATORS)
def test_fit_transform_has_the_codes_over_the_others(estimator):
    model = estimator(4, random_state=0)
    codes = model.fit_transform(X)
    assert codes.shape == (125, 125)
    assert not codes.diagonal().any()
    expected = getattr(model, "codes_", None)
    if expected is None:  # a kernel in place of codes
        expected = model.affinity_matrix_ - np.eye(125)
        np.testing.assert_array_equal(codes.toarray(), expected)
    else:
        assert (codes != expected).nnz == 0


def test_codes_are_not_made_a_frame():
    model = L1Graph(4).set_output(transform="default").set_output()
    with pytest.raises(ValueError, match=r"transform='pandas'.*DataFrame.sparse.from_spmatrix"):
        model.set_output(transform="pandas")


def test_labels_again_take_the_seed_of_the_estimator():
    model = SRSG(7, n_init=1, assign_labels="kmeans", random_state=3).fit(X)
    np.testing.assert_array_equal(model.relabel(), model.labels_)
    np.testing.assert_array_equal(model.relabel(7), model.labels_)
    np.testing.assert_array_equal(model.relabel_each([7])[:, 0], model.labels_)


def test_the_graph_of_prepared_points():
    model = PreparedClusterer(SRSG(3, random_state=0), scale="standard").fit_graph(X)
    with pytest.raises(AttributeError):
        model.labels_  # noqa: B018
    model.clusterer_.fit_labels()
    whole = PreparedClusterer(SRSG(3, random_state=0), scale="standard").fit(X)
    np.testing.assert_array_equal(model.labels_, whole.labels_)
