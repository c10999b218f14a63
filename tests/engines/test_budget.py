"""Memory: budgets that are kept, and points that stay in their file."""

from __future__ import annotations

import tracemalloc
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest

import srsg.files.arrays
import srsg.points
from srsg import SRSG, ElasticNetGraph, L1Graph
from srsg.datasets import make_union_of_subspaces
from srsg.engines.budget import block_size_within, free_memory, in_bytes
from srsg.files import read_points
from srsg.points import Points, is_memory_mapped, unit_points


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
    with pytest.raises(ValueError, match=r"max_memory=.* is no amount of memory"):
        L1Graph(3, max_memory=amount).fit(np.eye(20) + 1)


def test_too_little_memory_is_refused_before_any_work(monkeypatch):
    monkeypatch.setattr("srsg.estimators.base.unit_points", None)  # nobody gets that far
    with pytest.raises(ValueError, match=r"max_memory='1MB' is too little: 6000 points"):
        SRSG(10, max_memory="1MB").fit(many_points())


def test_little_free_memory_is_no_error(monkeypatch):
    """Only who asks for a budget is held to it."""
    monkeypatch.setattr("srsg.engines.budget.free_memory", lambda: 1000)
    assert block_size_within(None, (10_000, 100), np.dtype("f4"), 2) == 16


def test_free_memory_is_known():
    assert 10**6 < free_memory() < 10**15


@pytest.mark.parametrize("budget", ["70MB", "100MB"])
@pytest.mark.parametrize("kind", [L1Graph, ElasticNetGraph, SRSG])
def test_the_budget_is_kept(kind, budget):
    X = many_points()
    estimator = kind(10, max_memory=budget, n_jobs=2, random_state=0)
    estimator.fit_graph(X[:100])  # compiled code is no part of it
    tracemalloc.start()
    try:
        estimator.fit_graph(X)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak <= in_bytes(budget)


def test_a_small_budget_changes_no_bit():
    X = many_points(2000)
    small = SRSG(10, max_memory="30MB", n_jobs=2).fit_graph(X)
    large = SRSG(10, n_jobs=2).fit_graph(X)
    np.testing.assert_array_equal(small.codes_.data, large.codes_.data)
    np.testing.assert_array_equal(small.codes_.indices, large.codes_.indices)


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.uint8])
def test_mapped_points_stay_in_files(tmp_path, dtype):
    X = (100 * np.abs(many_points(600))).astype(dtype) + dtype(1)
    np.save(tmp_path / "X.npy", X)
    mapped = np.load(tmp_path / "X.npy", mmap_mode="r")
    ours, plain = unit_points(mapped), unit_points(X)
    np.testing.assert_array_equal(ours.x, plain.x)
    np.testing.assert_array_equal(ours.x32, plain.x32)
    assert is_memory_mapped(ours.x)
    assert is_memory_mapped(ours.x32)
    assert not is_memory_mapped(plain.x)
    one, other = (L1Graph(10, random_state=0).fit(data) for data in (mapped, X))
    np.testing.assert_array_equal(one.codes_.data, other.codes_.data)
    np.testing.assert_array_equal(one.labels_, other.labels_)
    assert is_memory_mapped(one.fit_X_)


@pytest.mark.parametrize("dtype", [np.float32, np.uint8])
def test_mapped_points_are_not_copied_whole(tmp_path, monkeypatch, dtype):
    """Wide points, so that the codes take little beside them."""
    X = np.random.default_rng(0).integers(1, 250, (500, 20_000)).astype(dtype)
    np.save(tmp_path / "X.npy", X)
    monkeypatch.setattr(
        srsg.points, "row_slices", lambda n: [slice(k, k + 20) for k in range(0, n, 20)]
    )
    mapped = np.load(tmp_path / "X.npy", mmap_mode="r")
    tracemalloc.start()
    try:
        points = unit_points(mapped)
        assert isinstance(points, Points)
        assert points.x32.shape == X.shape
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < X.size * 4 / 2


def test_large_npy_files_are_mapped(tmp_path, monkeypatch):
    X = many_points(100)
    np.save(tmp_path / "X.npy", X)
    assert not is_memory_mapped(read_points(tmp_path / "X.npy").X)
    monkeypatch.setattr(srsg.files.arrays, "MAPPED_FROM", 0)
    table = read_points(tmp_path / "X.npy")
    assert is_memory_mapped(table.X)
    np.testing.assert_array_equal(table.X, X)


def test_mapped_rows_of_zeros_are_named(tmp_path):
    X = np.ones((50, 3))
    X[[7, 40]] = 0
    np.save(tmp_path / "X.npy", X)
    with pytest.raises(ValueError, match=r"2 row\(s\) of zeros.*rows 7, 40"):
        L1Graph(2).fit(np.load(tmp_path / "X.npy", mmap_mode="r"))


def test_a_full_disk_is_an_error(tmp_path, monkeypatch):
    np.save(tmp_path / "X.npy", np.eye(30) + 1)

    @contextmanager
    def on_a_full_disk(**_):
        with Path("/dev/full").open("wb") as file:
            yield file

    monkeypatch.setattr(srsg.points, "TemporaryFile", on_a_full_disk)
    with pytest.raises(OSError, match="No space left"):
        L1Graph(2).fit(np.load(tmp_path / "X.npy", mmap_mode="r"))
