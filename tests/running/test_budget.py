"""Memory: budgets that are kept, and points that stay in their file."""

from __future__ import annotations

import os
import tracemalloc
from pathlib import Path

import numpy as np
import pytest

from srsg import (
    SMCE,
    SRSG,
    ElasticNetGraph,
    L1Graph,
    LaplacianL1Graph,
    LocalScalingSpectralClustering,
    NeighborGraph,
    RidgeGraph,
    TSCGraph,
    config_context,
    get_config,
    set_config,
)
from srsg.coding import l1
from srsg.datasets import make_union_of_subspaces
from srsg.memory import free_memory, in_bytes
from srsg.points import TILE, unit_points
from srsg.running.config import CODE_BYTES, blocks_within


def many_points(n_points=6000, dtype=np.float32):
    X, _ = make_union_of_subspaces(n_points, n_subspaces=10, dimension=4, random_state=0)
    return X.astype(dtype)


@pytest.mark.parametrize(
    ("amount", "expected"),
    [
        (12, 12),
        ("12", 12),
        ("2GB", 2 * 10**9),
        ("0.5 kb", 500),
        ("3 MiB", 3 * 2**20),
        ("1t", 10**12),
    ],
)
def test_amounts_of_memory(amount, expected):
    assert in_bytes(amount) == expected


@pytest.mark.parametrize("amount", ["", "GB", "2 XB", "-1GB", "2GB or so", "2IB"])
def test_what_is_no_amount_is_said_so(amount):
    with pytest.raises(ValueError, match=r"max_memory=.* is not an amount of memory"):
        set_config(max_memory=amount)
    assert get_config()["max_memory"] is None


def test_too_little_memory_is_refused_before_any_work(monkeypatch):
    monkeypatch.setattr("srsg.coding.coder.unit_points", None)  # nobody gets that far
    too_little = pytest.raises(ValueError, match=r"max_memory='1MB' is too little: 6000 points")
    with config_context(max_memory="1MB"), too_little:
        SRSG(10).fit(many_points())


def test_little_free_memory_is_no_error(monkeypatch):
    """Only who asks for a budget is held to it."""
    monkeypatch.setattr("srsg.running.config.free_memory", lambda: 1000)
    assert blocks_within(None, (10_000, 100), np.dtype("f4"), 2)[0] == 16


def test_what_blocks_and_results_take_is_counted():
    n, d, workers = 10_000, 100, 2
    row = workers * (4 * n + 12 * d + CODE_BYTES)
    dense = n * (12 * d + CODE_BYTES)
    sparse_points = 50_000 * 16 + n * CODE_BYTES + 4 * TILE * workers * (n + d)
    for fixed, n_nonzero in ((dense, None), (sparse_points, 50_000)):
        given = (n, d), np.dtype("f8"), workers, n_nonzero
        assert blocks_within(fixed + 20 * row, *given) == (20, 0)
        assert blocks_within(fixed + 20 * row + 7, *given) == (20, 7)
        with pytest.raises(ValueError, match="is too little"):
            blocks_within(fixed + 16 * row - 1, *given)


@pytest.fixture
def system(tmp_path, monkeypatch):
    """A system whose files say what a test writes into them."""
    monkeypatch.setattr("srsg.memory.Path", lambda path: tmp_path / path.lstrip("/"))
    container = tmp_path / "sys" / "fs" / "cgroup"
    container.mkdir(parents=True)
    (tmp_path / "proc").mkdir()
    (tmp_path / "proc" / "meminfo").write_text("MemTotal: 9000 kB\nMemAvailable:    5000 kB\n")
    return container


@pytest.mark.parametrize(
    ("limit", "used", "expected"),
    [
        ("max\n", "7\n", 5000 * 1024),
        ("4000000\n", "1000000\n", 3_000_000),
        ("9000000\n", "1000000\n", 5000 * 1024),
        ("1000000\n", "1000001\n", 0),
    ],
)
def test_free_memory_is_what_system_and_container_leave(system, limit, used, expected):
    (system / "memory.max").write_text(limit)
    (system / "memory.current").write_text(used)
    assert free_memory() == expected


@pytest.mark.skipif(not hasattr(os, "sysconf"), reason="the system does not tell")
def test_free_memory_where_no_file_tells(system):
    (system.parents[2] / "proc" / "meminfo").unlink()
    assert free_memory() == os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") // 2


@pytest.mark.skipif(not hasattr(os, "sysconf"), reason="the system does not tell")
def test_free_memory_of_this_machine():
    assert 0 < free_memory() < os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")


def test_free_memory_is_within_the_limit_of_the_process(monkeypatch):
    resource = pytest.importorskip("resource")
    used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    monkeypatch.setattr(resource, "getrlimit", lambda what: (used + 10**8, -1))
    assert 0.9e8 < free_memory() < 1.1e8
    monkeypatch.setattr(resource, "getrlimit", lambda what: (used - 10**8, -1))
    assert free_memory() == 0


@pytest.mark.parametrize("budget", ["70MB", "100MB"])
@pytest.mark.parametrize("kind", [L1Graph, ElasticNetGraph, SRSG])
def test_the_budget_is_kept(kind, budget):
    X = many_points()
    estimator = kind(10, n_jobs=2, random_state=0)
    estimator.fit_graph(X[:100])  # compiled code is no part of it
    tracemalloc.start()
    try:
        with config_context(max_memory=budget):
            estimator.fit_graph(X)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak <= in_bytes(budget)


@pytest.mark.parametrize("kind", [L1Graph, RidgeGraph, SMCE])
def test_predict_keeps_the_budget(kind):
    X = many_points()
    model = kind(10, n_jobs=2, random_state=0).fit(X[:300])
    expected = model.predict(X)
    tracemalloc.start()
    try:
        with config_context(max_memory="70MB"):
            np.testing.assert_array_equal(model.predict(X), expected)
        assert tracemalloc.get_traced_memory()[1] <= 70e6
    finally:
        tracemalloc.stop()


def test_predict_refuses_too_little_memory():
    X = many_points()
    model = L1Graph(10, n_jobs=2, random_state=0).fit(X[:300])
    with config_context(max_memory="1MB"), pytest.raises(ValueError, match="1MB' is too little"):
        model.predict(X)


def test_a_small_budget_changes_no_bit():
    X = many_points(2000)
    with config_context(max_memory="30MB"):
        small = SRSG(10, n_jobs=2).fit_graph(X)
    large = SRSG(10, n_jobs=2).fit_graph(X)
    np.testing.assert_array_equal(small.codes_.data, large.codes_.data)
    np.testing.assert_array_equal(small.codes_.indices, large.codes_.indices)


def noisy_points(n_points):
    options = {"n_subspaces": 10, "dimension": 4, "n_features": 50, "noise": 0.05}
    return make_union_of_subspaces(n_points, **options, random_state=0)[0]


@pytest.mark.parametrize(
    ("estimator", "n_points", "budget"),
    [
        (ElasticNetGraph(10), 3000, "40MB"),
        (LaplacianL1Graph(10), 1500, "60MB"),
        (LocalScalingSpectralClustering(10), 1000, "30MB"),
    ],
)
def test_long_codes_and_dense_kernels_stay_within_the_budget(estimator, n_points, budget):
    X = noisy_points(n_points)
    estimator.set_params(n_jobs=2, random_state=0).fit_graph(X[:100])
    tracemalloc.start()
    try:
        with config_context(max_memory=budget):
            estimator.fit_graph(X)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak <= 1.2 * in_bytes(budget)


@pytest.mark.parametrize(
    "estimator",
    [
        L1Graph(10, n_neighbors=2999),
        TSCGraph(10, n_neighbors=2999),
        NeighborGraph(10, n_neighbors=2999),
        NeighborGraph(10, n_neighbors=2999, metric="euclidean"),
        SMCE(10, n_neighbors=2999),
        RidgeGraph(10, n_nonzero=2999),
        LocalScalingSpectralClustering(10),
        LaplacianL1Graph(10),
    ],
)
def test_results_that_need_more_are_refused_before_any_work(estimator, monkeypatch):
    monkeypatch.setattr("srsg.estimators.base.build_graph", None)  # nobody gets that far
    too_little = pytest.raises(ValueError, match=r"max_memory='60MB' is too little: 3000 points")
    with config_context(max_memory="60MB"), too_little:
        estimator.set_params(n_jobs=2).fit(noisy_points(3000))


def test_working_sets_of_earlier_scans_are_not_kept(monkeypatch):
    """Together they took several times the memory of the codes."""
    seen = []
    certified = l1._certified
    monkeypatch.setattr(l1, "_certified", lambda blocks: seen.extend(blocks) or certified(blocks))
    l1.l1_codes(unit_points(noisy_points(300)), 0.1, n_neighbors=5)
    assert len(seen) > 2
    assert all(block.going_on is block.done and not len(block.neighbors) for block in seen)
