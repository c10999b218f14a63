"""Points that stay in their file: mapped into memory, never copied there."""

from __future__ import annotations

import tracemalloc
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest
from numba import typeof

from srsg import L1Graph
from srsg.datasets import make_union_of_subspaces
from srsg.points import Points, is_memory_mapped, row_slices, unit_points


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.uint8])
def test_mapped_points_stay_in_files(tmp_path, dtype):
    X = (100 * np.abs(make_union_of_subspaces(600, n_subspaces=10, random_state=0)[0])).astype(
        dtype
    ) + dtype(1)
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


def test_mapped_points_need_no_other_kernels(tmp_path):
    """A read-only array is another type for numba, and would have all kernels compiled again."""
    np.save(tmp_path / "X.npy", np.random.default_rng(0).random((50, 3)))
    mapped = unit_points(np.load(tmp_path / "X.npy", mmap_mode="r"))
    in_memory = unit_points(np.load(tmp_path / "X.npy"))
    for ours, plain in zip(mapped.for_kernels, in_memory.for_kernels, strict=True):
        assert typeof(ours) == typeof(plain)


@pytest.mark.parametrize("dtype", [np.float32, np.uint8])
def test_mapped_points_are_never_in_memory_all_at_once(tmp_path, monkeypatch, dtype):
    """Wide points, so that the codes take little beside them."""
    X = np.random.default_rng(0).integers(1, 250, (500, 20_000)).astype(dtype)
    np.save(tmp_path / "X.npy", X)
    monkeypatch.setattr(
        "srsg.points.row_slices", lambda n, length=20: row_slices(n, min(length, 20))
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


def test_mapped_rows_of_zeros_are_named(tmp_path):
    X = np.random.default_rng(0).random((50, 3))
    X[[7, 40]] = 0
    np.save(tmp_path / "X.npy", X)
    with pytest.warns(UserWarning, match=r"2 row\(s\) of zeros.*rows 7, 40"):
        model = L1Graph(2).fit(np.load(tmp_path / "X.npy", mmap_mode="r"))
    assert (model.first_equal_ < 0).nonzero()[0].tolist() == [7, 40]


def test_a_full_disk_is_an_error(tmp_path, monkeypatch):
    np.save(tmp_path / "X.npy", np.eye(30) + 1)

    @contextmanager
    def on_a_full_disk(**_):
        with Path("/dev/full").open("wb") as file:
            yield file

    monkeypatch.setattr("srsg.points.TemporaryFile", on_a_full_disk)
    with pytest.raises(OSError, match="No space left"):
        L1Graph(2).fit(np.load(tmp_path / "X.npy", mmap_mode="r"))
