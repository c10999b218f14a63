"""Points as tensors, DataFrames, read-only and memory-mapped arrays."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_digits

from srsg import L1Graph, NeighborGraph
from srsg.estimators.base import ACCEPTED, noted_input
from srsg.points import is_memory_mapped

X = load_digits(n_class=3).data[:120]


class Tensor:
    """What NumPy can read, and nothing else: as tensors on the CPU are."""

    def __init__(self, values):
        self.values, self.shape = values, values.shape

    def __array__(self, dtype=None, copy=None):
        return np.asarray(self.values, dtype)

    def __len__(self):
        return len(self.values)


def kinds():
    yield pytest.param(Tensor, id="tensor")
    yield pytest.param(
        lambda x: pd.DataFrame(x, index=[f"row {i}" for i in range(len(x))]), id="pd"
    )
    for module, made in (("torch", "tensor"), ("polars", "DataFrame")):

        def make(x, module=module, made=made):
            return getattr(pytest.importorskip(module), made)(x)

        yield pytest.param(make, id=module)


@pytest.mark.parametrize("kind", [*kinds()])
@pytest.mark.filterwarnings("ignore:X does not have valid feature names")
def test_any_kind_gives_the_same_labels(kind):
    expected = NeighborGraph(3, random_state=0).fit(X)
    model = NeighborGraph(3, random_state=0).fit(kind(X))
    np.testing.assert_array_equal(model.labels_, expected.labels_)
    np.testing.assert_array_equal(model.predict(kind(X[:9])), expected.predict(X[:9]))
    assert isinstance(model.labels_, np.ndarray)  # as in scikit-learn: in the order of the rows


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("mapped", [False, True])
def test_nothing_is_copied_to_be_checked(dtype, mapped, tmp_path):
    given = X.astype(dtype)
    if mapped:
        np.save(tmp_path / "x.npy", given)
        given = np.load(tmp_path / "x.npy", mmap_mode="r")
    given.flags.writeable = False
    checked, _ = noted_input(L1Graph(), given, **ACCEPTED)
    assert np.shares_memory(checked, given)
    assert checked.dtype == dtype
    model = L1Graph(3, random_state=0).fit(given)
    np.testing.assert_array_equal(given, X.astype(dtype))
    assert model.fit_X_.dtype == dtype
    assert is_memory_mapped(model.fit_X_) == mapped


def test_a_fit_copies_points_once(tmp_path):
    """Points of unit length are one copy; those of a memory-mapped array are in a file, too."""
    wide = np.random.default_rng(0).standard_normal((1500, 600)).astype(np.float32)
    np.save(tmp_path / "x.npy", wide)
    NeighborGraph(3, n_neighbors=5).fit(wide[:, :50])  # compiles

    def peak(given):
        tracemalloc.start()
        NeighborGraph(3, n_neighbors=5, n_jobs=1, random_state=0).fit_graph(given)
        most = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return most / wide.nbytes

    wide.flags.writeable = False
    in_memory, mapped = peak(wide), peak(np.load(tmp_path / "x.npy", mmap_mode="r"))
    assert mapped < in_memory - 0.5
