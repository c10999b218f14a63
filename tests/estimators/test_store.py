"""Graphs from a store: coded once, the same bits."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_digits
from sklearn.exceptions import ConvergenceWarning

from srsg import SRSG, ElasticNetGraph, L1Graph
from srsg.running.store import FolderStore
from support.estimators import ALL_ESTIMATORS, assert_same

X = load_digits().data[:150]


@pytest.fixture
def builds(monkeypatch):
    """The coders that have built a graph, one entry for each graph."""
    counted = []

    def count(kind, code):
        def counting(self, points, run):
            if type(self) is kind:  # others call the code of their base
                counted.append(kind)
            return code(self, points, run)

        monkeypatch.setattr(kind, "code", counting)

    for estimator in ALL_ESTIMATORS:
        count(estimator.coder, estimator.coder.code)
    return counted


@pytest.mark.parametrize("estimator", ALL_ESTIMATORS)
def test_another_number_of_clusters_needs_no_other_graph(estimator, tmp_path, builds):
    kept = {"store": str(tmp_path), "random_state": 0}
    estimator(3, **kept).fit(X)
    assert len(builds) == 1
    second = estimator(5, **kept, n_init=3, assign_labels="cluster_qr", n_jobs=1).fit(X)
    assert len(builds) == 1
    plain = clone(second).set_params(store=None).fit(X)
    assert len(builds) == 2
    assert_same(second, plain)
    np.testing.assert_array_equal(second.predict(X[::-1]), plain.predict(X[::-1]))


def test_what_the_graph_depends_on_builds_another(tmp_path, builds):
    model = SRSG(3, store=tmp_path).fit(X)
    changes = [{"lam": 0.2}, {"gamma": 0.3}, {"n_neighbors": 4}, {"step": 0.01}, {"tol": 1e-5}]
    for count, change in enumerate(changes, start=2):
        clone(model).set_params(**change).fit(X)
        assert len(builds) == count
    clone(model).fit(X[:-1])
    L1Graph(3, store=tmp_path).fit(X)
    assert len(builds) == 8
    for same in ({"n_jobs": 1}, {"affinity": "codes"}, {"verbose": 1}, {"random_state": 3}):
        clone(model).set_params(**same).fit_graph(X)
    assert len(builds) == 8


def test_the_same_points_in_another_form_are_recognised(tmp_path, builds):
    model = L1Graph(3, store=tmp_path).fit(X)
    clone(model).fit(np.asfortranarray(X))
    clone(model).fit(X.astype(int).tolist())
    assert len(builds) == 1


def test_bad_store_is_named():
    with pytest.raises(ValueError, match="'store' parameter"):
        L1Graph(3, store=1).fit(X)


def test_a_warning_of_a_kept_fit_points_at_the_users_line(tmp_path):
    with pytest.warns(ConvergenceWarning) as caught:
        SRSG(3, max_sweeps=1, step=0.01, store=tmp_path).fit(X)
    assert {warning.filename for warning in caught} == {__file__}


@pytest.mark.parametrize("settings", [{}, {"n_candidates": 40}, {"affine": True}])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_a_graph_whose_codes_are_not_those_of_its_certificates_is_built_again(
    tmp_path, builds, settings, dtype
):
    if "n_candidates" in settings:
        pytest.importorskip("faiss", reason="needs srsg[approximate]")
    points = np.concatenate([X, X[:5]]).astype(dtype)  # some are equal
    model = L1Graph(3, store=tmp_path, random_state=0, **settings).fit(points)
    clone(model).fit(points)
    assert len(builds) == 1
    change_codes(tmp_path, "codes")
    with pytest.warns(UserWarning, match="codes that do not match its certificates"):
        again = clone(model).fit(points)
    assert len(builds) == 2
    assert_same(again, model)


@pytest.mark.parametrize(("estimator", "name"), [(ElasticNetGraph, "codes"), (SRSG, "init_codes")])
def test_codes_are_checked_with_the_weights_of_the_method(tmp_path, builds, estimator, name):
    model = estimator(3, store=tmp_path, random_state=0).fit(X)
    change_codes(tmp_path, name)
    with pytest.warns(UserWarning, match="codes that do not match"):
        clone(model).fit(X)
    assert len(builds) == 2


def change_codes(folder, name):
    """Scale the codes of a kept graph, under the right checksum."""
    (path,) = folder.rglob("graph.*.npz")
    with np.load(path) as file:
        arrays = dict(file)
    path.unlink()
    arrays[f"{name}/data"] = 1.5 * arrays[f"{name}/data"]
    FolderStore(path.parent).save("graph", arrays)
