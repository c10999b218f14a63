"""How fast time grows: processor time at n, 2n and 4n points, as an exponent of n."""

from __future__ import annotations

import os
import warnings
from math import log

import numpy as np
import pytest

from srsg import SRSG, L1Graph, StabilitySearch
from srsg.coding.smce import smce_codes
from srsg.cutting.cut import kmeans_labels
from srsg.datasets import make_union_of_subspaces
from srsg.files import read_points
from srsg.running import ThreadEngine
from tests.support.estimators import ALL_ESTIMATORS

TIMES = 4
"""The largest case has this many times the points of the smallest."""


def seconds():
    """Processor time of this process and of those that it has started and that have ended."""
    now = os.times()
    return now.user + now.system + now.children_user + now.children_system


def least_time(work, repeats):
    found = []
    for _ in range(repeats):
        start = seconds()
        work()
        found.append(seconds() - start)
    return max(min(found), 0.01)  # the clock has ticks of this length


def exponent(work, n, repeats=2):
    """The exponent of the growth of ``work(n)``."""
    if repeats > 1:
        work(n)  # compiled first
    sizes = (n, 2 * n, TIMES * n)
    times = [least_time(lambda size=size: work(size), repeats) for size in sizes]
    return log(times[-1] / times[0]) / log(TIMES)


def points(n):
    options = {"n_subspaces": 5, "dimension": 3, "n_features": 20, "noise": 0.05}
    return make_union_of_subspaces(n, **options, random_state=0)[0]


@pytest.mark.parametrize("kind", ALL_ESTIMATORS)
def test_fits_grow_with_the_square_at_most(kind):
    assert exponent(lambda n: kind(5, n_jobs=1, random_state=0).fit(points(n)), 200) < 2.4


def test_small_lam_grows_nearly_linearly():
    X = np.random.default_rng(0).standard_normal((400, 20))
    assert exponent(lambda n: L1Graph(5, lam=1e-3, n_jobs=1).fit_graph(X[:n]), 100) < 1.8


def test_all_neighbors_grow_below_the_cube():
    """All pairs are n^2; Gram matrices of all neighbours of each point were n^3 and more."""
    X = np.random.default_rng(0).standard_normal((600, 10))
    engine = ThreadEngine(1)

    def work(n):
        smce_codes(X[:n], n_neighbors=n - 1, engine=engine)

    work(10)
    assert exponent(work, 150) < 2.8


def test_as_many_clusters_as_points_need_no_runs(monkeypatch):
    monkeypatch.setattr("srsg.cutting.cut._starts", None)  # nobody gets that far
    vectors = np.random.default_rng(0).standard_normal((3000, 3))
    assert len(np.unique(kmeans_labels(vectors, 3000))) == 3000


def test_many_clusters_bring_an_estimate(monkeypatch):
    def stop(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr("srsg.cutting.cut._starts", stop)
    vectors = np.random.default_rng(0).standard_normal((3000, 2000))
    with (
        pytest.warns(UserWarning, match="may take about 3 minutes"),
        pytest.raises(KeyboardInterrupt),
    ):
        kmeans_labels(vectors, 2000)


def test_the_search_grows_with_the_square_at_most():
    def work(n):
        StabilitySearch({"srsg": SRSG()}, 5, random_state=0, n_jobs=1).fit(points(n))

    assert exponent(work, 60, repeats=1) < 2.4


def written(folder, ending, n):
    X = points(n)
    path = folder / f"{n}{ending}"
    if ending == ".npy":
        np.save(path, X)
    elif ending == ".npz":
        np.savez(path, X=X)
    elif ending == ".mat":
        pytest.importorskip("scipy.io").savemat(path, {"X": X})
    else:
        frame = pytest.importorskip("pandas").DataFrame(X).rename(columns=str)
        if ending == ".parquet":
            frame.to_parquet(path)
        else:
            frame.to_csv(path, index=False, sep="\t" if ending == ".tsv" else ",")
    return path


@pytest.mark.parametrize("ending", [".npy", ".npz", ".mat", ".csv", ".tsv", ".parquet"])
def test_readers_grow_linearly_at_most(ending, tmp_path):
    paths = {n: written(tmp_path, ending, n) for n in (2000, 4000, 8000)}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert exponent(lambda n: read_points(paths[n]), 2000, repeats=1) < 1.5
