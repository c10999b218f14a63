"""Models that explain themselves, and what a notebook shows of them."""

from __future__ import annotations

import sys
from html import unescape
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.datasets import make_blobs

from srsg import NeighborGraph, PreparedClusterer, StabilitySearch, explain
from srsg.running.progress import NotebookProgress, PrintedProgress, progress_for

X = make_blobs(60, 4, centers=2, random_state=0)[0]
TABLE = pd.DataFrame(X, columns=["a", "b", "c", "d"])
GRAPH = NeighborGraph(2, n_neighbors=5, metric="euclidean", random_state=0)


@pytest.fixture(scope="module", params=["graph", "prepared", "search"])
def model(request):
    made = {
        "graph": GRAPH,
        "prepared": PreparedClusterer(GRAPH, scale="standard"),
        "search": StabilitySearch({"knn": GRAPH}, n_clusters=2, random_state=0),
    }
    return made[request.param].fit(TABLE)


def test_a_model_explains_itself(model):
    assert str(model.explain(TABLE)) == str(explain(model, TABLE))
    assert model.explain(X, names=["a", "b", "c", "d"]).clusters[0].size == 30


def test_a_notebook_shows_clusters_and_the_page(model):
    assert "2 clusters of 30, 30 points" in model._repr_mimebundle_()["text/html"]
    assert "outlier_score_" not in vars(model)  # looking at a model does not make it work
    page = model.report(TABLE, title="Two & more")
    shown = page._repr_html_()
    assert page.lower().startswith("<!doctype html>")
    assert unescape(shown.partition('srcdoc="')[2].partition('" style')[0]) == page
    assert "<h1>Two &amp; more</h1>" in page


def test_a_model_that_is_not_fitted_says_nothing_about_clusters():
    for made in (clone(GRAPH), PreparedClusterer(GRAPH), StabilitySearch()):
        assert "clusters of" not in made._repr_mimebundle_()["text/html"]


class Tensor:
    """Numbers of another library, which NumPy can take."""

    def __init__(self, values):
        self.values, self.shape, self.ndim = values, values.shape, values.ndim

    def __len__(self):
        return len(self.values)

    def __array__(self, dtype=None, copy=None):
        return np.array(self.values, dtype=dtype)


def test_tensors_are_welcome():
    found = NeighborGraph(2, n_neighbors=5, metric="euclidean", random_state=0).fit(Tensor(X))
    np.testing.assert_array_equal(found.labels_, GRAPH.fit(X).labels_)
    assert found.explain(Tensor(X)).clusters[0].size == 30


def test_a_notebook_has_one_bar_that_goes(monkeypatch, capsys):
    seen = []
    handle = SimpleNamespace(update=seen.append)

    def display(drawn, **_):
        seen.append(drawn)
        return handle

    shell = SimpleNamespace(kernel=object())
    fake = SimpleNamespace(get_ipython=lambda: shell)
    monkeypatch.setitem(sys.modules, "IPython", fake)
    monkeypatch.setitem(sys.modules, "IPython.display", SimpleNamespace(display=display, HTML=str))
    assert isinstance(progress_for(True), NotebookProgress)
    NeighborGraph(2, n_neighbors=5, random_state=0, verbose=True).fit(X)
    assert seen[0].startswith('<progress value="0.000"></progress>')
    assert seen[-1] == ""
    assert capsys.readouterr().err == ""
    del shell.kernel  # the terminal of IPython
    assert isinstance(progress_for(True), PrintedProgress)
