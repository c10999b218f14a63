"""Graphs from a cache: coded once, the same bits."""

from __future__ import annotations

import numpy as np
import pytest
from joblib import Memory
from sklearn.base import clone
from sklearn.datasets import load_digits
from sklearn.exceptions import ConvergenceWarning

from srsg import SRSG, ElasticNetGraph, L1Graph
from srsg.running.store import FolderCheckpoint
from support.estimators import ALL_ESTIMATORS

X = load_digits().data[:150]


@pytest.fixture
def builds(monkeypatch):
    """How many graphs have been built."""
    counted = []

    def counting(estimator):
        build = estimator._build_graph

        def _build_graph(self, x, engine):
            counted.append(estimator)
            build(self, x, engine)

        monkeypatch.setattr(estimator, "_build_graph", _build_graph)

    for estimator in ALL_ESTIMATORS:
        counting(estimator)
    return counted


def learnt(model):
    return {
        name: value.toarray() if hasattr(value, "toarray") else value
        for name, value in vars(model).items()
        if name.endswith("_") or name in ("_distinct_", "_owner_")
    }


@pytest.mark.parametrize("estimator", ALL_ESTIMATORS)
def test_another_number_of_clusters_needs_no_other_graph(estimator, tmp_path, builds):
    cached = {"memory": str(tmp_path), "random_state": 0}
    estimator(3, **cached).fit(X)
    assert len(builds) == 1
    second = estimator(5, **cached, n_init=3, assign_labels="cluster_qr", n_jobs=1).fit(X)
    assert len(builds) == 1
    plain = clone(second).set_params(memory=None).fit(X)
    assert len(builds) == 2
    expected = learnt(plain)
    assert learnt(second).keys() == expected.keys()
    for name, value in learnt(second).items():
        np.testing.assert_array_equal(value, expected[name], err_msg=name)
    np.testing.assert_array_equal(second.predict(X[::-1]), plain.predict(X[::-1]))


def test_what_the_graph_depends_on_builds_another(tmp_path, builds):
    model = SRSG(3, memory=Memory(tmp_path, verbose=0)).fit(X)
    changes = [{"lam": 0.2}, {"gamma": 0.3}, {"n_neighbors": 4}, {"step": 0.01}]
    for count, change in enumerate(changes, start=2):
        clone(model).set_params(**change).fit(X)
        assert len(builds) == count
    clone(model).fit(X[:-1])
    assert len(builds) == 6
    for same in ({"n_jobs": 1}, {"bridge": None}, {"verbose": 1}, {"random_state": 3}):
        clone(model).set_params(**same).fit_graph(X)
    assert len(builds) == 6


def test_the_same_points_in_another_form_are_found(tmp_path, builds):
    model = L1Graph(3, memory=str(tmp_path)).fit(X)
    clone(model).fit(np.asfortranarray(X))
    clone(model).fit(X.astype(int).tolist())
    assert len(builds) == 1


def test_methods_do_not_share_graphs(tmp_path, builds):
    L1Graph(3, memory=str(tmp_path)).fit(X)
    SRSG(3, memory=str(tmp_path)).fit(X)
    assert len(builds) == 2


def test_one_engine_with_blocks_that_fit_does_all_the_work_of_a_fit(monkeypatch, block_size):
    import srsg.estimators.coded as module

    from srsg.running import ThreadEngine

    engines = []
    start, solve = ThreadEngine.__init__, module.l1_codes

    def counted(self, *arguments, **options):
        engines.append(self)
        start(self, *arguments, **options)

    def l1_codes(*arguments, **options):
        assert options["engine"].block_size == 37
        return solve(*arguments, **options)

    monkeypatch.setattr(ThreadEngine, "__init__", counted)
    monkeypatch.setattr(module, "l1_codes", l1_codes)
    block_size(37)
    L1Graph(3, n_jobs=1).fit(X)
    assert len(engines) == 1
    assert engines[0].n_workers == 1


def test_bad_memory_is_named():
    with pytest.raises(ValueError, match="'memory' parameter"):
        L1Graph(3, memory=1).fit(X)


def test_a_warning_of_a_cached_fit_points_at_the_users_line(tmp_path):
    with pytest.warns(ConvergenceWarning) as caught:
        SRSG(3, max_sweeps=1, step=0.01, memory=str(tmp_path)).fit(X)
    assert {warning.filename for warning in caught} == {__file__}


@pytest.mark.parametrize("settings", [{}, {"approximate": True}, {"affine": True}])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_a_graph_whose_codes_are_not_those_of_its_certificates_is_built_again(
    tmp_path, builds, settings, dtype
):
    if "approximate" in settings:
        pytest.importorskip("faiss", reason="needs srsg[approximate]")
    points = np.concatenate([X, X[:5]]).astype(dtype)  # some are equal
    model = L1Graph(3, memory=str(tmp_path), random_state=0, **settings).fit(points)
    clone(model).fit(points)
    assert len(builds) == 1
    change_codes(tmp_path)
    with pytest.warns(UserWarning, match="codes that do not match its certificates"):
        again = clone(model).fit(points)
    assert len(builds) == 2
    np.testing.assert_array_equal(again.codes_.toarray(), model.codes_.toarray())
    np.testing.assert_array_equal(again.kkt_violation_, model.kkt_violation_)


@pytest.mark.parametrize("estimator", [ElasticNetGraph, SRSG])
def test_codes_are_checked_against_edges_and_weights(tmp_path, builds, estimator):
    model = estimator(3, memory=str(tmp_path), random_state=0).fit(X)
    change_codes(tmp_path, edges=False)
    with pytest.warns(UserWarning, match="codes that do not match"):
        clone(model).fit(X)
    assert len(builds) == 2


def change_codes(folder, *, edges=True):
    """Scale the codes of a kept graph, and its edges too, under the right checksum."""
    (path,) = folder.rglob("graph.*.npz")
    with np.load(path) as file:
        arrays = dict(file)
    path.unlink()
    for name in ("codes_", "affinity_matrix_")[: 1 + edges]:
        arrays[f"{name}/csr/data"] = 1.5 * arrays[f"{name}/csr/data"]
    FolderCheckpoint(path.parent).save("graph", arrays)
