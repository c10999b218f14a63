"""A fit that fails or is interrupted leaves the estimator as it was."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.datasets import load_digits

from srsg import SMCE, SRSG, L1Graph, PreparedClusterer, RidgeGraph, StabilitySearch
from srsg.running.progress import Progress, send_progress_to
from support.estimators import ALL_ESTIMATORS

X = load_digits().data[:200]


class Interrupted(Progress):
    """Ctrl-C as soon as a stage begins."""

    def __init__(self, stage):
        self.name = stage

    def stage(self, label, total):
        if label.startswith(self.name):
            raise KeyboardInterrupt
        return super().stage(label, total)


@pytest.mark.parametrize(
    ("estimator", "stage"),
    [
        (L1Graph, "codes"),
        (SRSG, "codes, scan 2"),
        (SRSG, "sweep"),
        (SRSG, "eigenvectors"),
        (RidgeGraph, "ridge"),
        (SMCE, "eigenvectors"),
    ],
)
def test_an_interrupted_refit_keeps_the_earlier_fit(estimator, stage):
    model = estimator(3, random_state=0).fit(X[:100])
    before = dict(vars(model))
    expected = model.predict(X[100:])
    with send_progress_to(Interrupted(stage)), pytest.raises(KeyboardInterrupt):
        model.fit(X[50:])
    after = vars(model)
    assert after.keys() == before.keys()
    assert all(after[name] is value for name, value in before.items())
    np.testing.assert_array_equal(model.predict(X[100:]), expected)


WHOLE = [
    *(estimator(3, random_state=0) for estimator in ALL_ESTIMATORS),
    PreparedClusterer(L1Graph(3, random_state=0), scale="standard"),
    StabilitySearch({"l1": L1Graph()}, 3, random_state=0),
]


@pytest.mark.parametrize("model", WHOLE, ids=lambda model: type(model).__name__)
def test_a_refused_refit_keeps_the_earlier_fit(model):
    model = clone(model).fit(pd.DataFrame(X[:100]).add_prefix("pixel "))
    before = dict(vars(model))
    with pytest.raises(ValueError, match="NaN"):
        model.fit(np.full((50, 7), np.nan))
    with pytest.raises(ValueError, match="1 feature"):
        model.fit(np.ones((20, 1)))
    assert vars(model) == before
    assert model.n_features_in_ == 64
    assert model.feature_names_in_[0] == "pixel 0"


@pytest.mark.parametrize("model", WHOLE, ids=lambda model: type(model).__name__)
def test_the_next_fit_forgets_all_of_the_last(model):
    model = clone(model).fit(pd.DataFrame(X[:100]).add_prefix("pixel "))
    learnt = set(vars(model)) - {"feature_names_in_"}
    assert set(vars(model.fit(X[100:, :50]))) == learnt
    assert model.n_features_in_ == 50


def test_a_search_forgets_the_numbers_it_tried():
    search = StabilitySearch({"l1": L1Graph()}, random_state=0).fit(X)
    assert search.best_counts(1) == [search.n_clusters_]
    search.set_params(n_clusters=3).fit(X)
    with pytest.raises(ValueError, match="only a fit with n_clusters='auto'"):
        search.best_counts()


def test_an_interrupted_first_fit_leaves_nothing():
    model = SRSG(3)
    with send_progress_to(Interrupted("sweep")), pytest.raises(KeyboardInterrupt):
        model.fit(X)
    assert not [name for name in vars(model) if name.endswith("_")]


def test_another_graph_leaves_no_labels_of_the_one_before():
    model = L1Graph(3, random_state=0).fit(X[:100])
    model.fit_graph(X)
    assert not hasattr(model, "labels_")
    assert not hasattr(model, "embedding_")
