"""A fit that fails or is interrupted leaves the estimator as it was."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.datasets import load_digits

from srsg import SMCE, SRSG, L1Graph, RidgeGraph
from srsg.running.progress import Progress, send_progress_to

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


def test_a_refused_refit_keeps_the_earlier_fit():
    model = L1Graph(3, random_state=0).fit(X[:100])
    with pytest.raises(ValueError, match="NaN"):
        model.fit(np.full((50, 7), np.nan))
    assert model.n_features_in_ == 64
    assert model.predict(X[:5]).shape == (5,)


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
