"""scikit-learn's callbacks, where it has them."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_digits

from srsg import SRSG

callback = pytest.importorskip("sklearn.callback", reason="scikit-learn has no callbacks yet")
X = load_digits().data[:150]


class Recorder:
    def __init__(self):
        self.events = []

    def setup(self, estimator, context):
        self.events.append("setup")

    def teardown(self, estimator, context):
        self.events.append("teardown")

    def on_fit_task_begin(self, estimator, context):
        self.events.append(f"begin {context.task_name}")

    def on_fit_task_end(self, estimator, context):
        self.events.append(f"end {context.task_name}")


def test_callbacks_hear_of_every_stage():
    recorder = Recorder()
    model = SRSG(4, random_state=0).set_callbacks(recorder).fit(X)
    events = recorder.events
    assert events[:2] == ["setup", "begin fit"]
    assert events[-2:] == ["end fit", "teardown"]
    assert events.index("begin codes, scan 1 of 150 points") < events.index("begin sweep 1")
    assert f"end sweep {model.n_sweeps_}" in events
    begun = [event[6:] for event in events if event.startswith("begin")]
    assert sorted(begun) == sorted(event[4:] for event in events if event.startswith("end"))
    plain = SRSG(4, random_state=0).fit(X)
    np.testing.assert_array_equal(model.labels_, plain.labels_)


def test_new_points_and_failures_leave_no_task_open():
    recorder = Recorder()
    model = SRSG(4, random_state=0).set_callbacks(recorder).fit_graph(X)
    told = len(recorder.events)
    model.transform(X[:5])
    assert len(recorder.events) == told
    with pytest.raises(ValueError, match="no edges"):
        clone(model).set_params(lam=2.0, n_clusters="auto").set_callbacks(recorder).fit(X)
    assert recorder.events[-1] == "teardown"
