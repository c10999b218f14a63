"""How fast time grows: processor time at n, 2n and 4n, as an exponent of n.

Each bound was seen to fail: with a loop over all pairs for each point planted in what may grow with
the square, and over all pairs of rows or columns in what is linear.
"""

from __future__ import annotations

import resource
import warnings
from copy import copy
from functools import cache
from math import log2

import numpy as np
import pytest
from sklearn.cluster import KMeans

from srsg import (
    SRSG,
    L1Graph,
    LocalScalingSpectralClustering,
    PreparedClusterer,
    StabilitySearch,
    cluster_graph,
    metrics,
)
from srsg.coding.smce import smce_codes
from srsg.cutting.cut import kmeans_labels
from srsg.datasets import make_union_of_subspaces
from srsg.files import read_points
from srsg.persistence import load_model, save_model
from srsg.running import ThreadEngine
from tests.support.estimators import ALL_ESTIMATORS
from tests.support.forked import read_in_forks


def seconds():
    """Processor time of this process and of those that it has started and that have ended."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(each.ru_utime + each.ru_stime for each in used)


def least_time(work, size, repeats):
    found = []
    for _ in range(repeats):
        start = seconds()
        work(size)
        found.append(seconds() - start)
    return min(found)


def exponent(work, n, repeats=2):
    """The exponent of the growth of ``work(n)`` from n to 4n."""
    work(n)  # compiled, loaded and imported first
    least, most = (max(0.02, least_time(work, size, repeats)) for size in (n, 4 * n))
    return log2(most / least) / 2


def exponent_beyond_start(work, n, floor=0.25):
    """The exponent of what is added from n to 2n and from 2n to 4n.

    What starting a process takes does not count, nor what is added in less than the floor.
    """
    once, twice, most = (least_time(work, size, 1) for size in (n, 2 * n, 4 * n))
    return log2(max(floor, most - twice) / max(floor, twice - once))


def points(n):
    options = {"n_subspaces": 5, "dimension": 3, "n_features": 20, "noise": 0.05}
    return make_union_of_subspaces(n, **options, random_state=0)[0]


@pytest.mark.parametrize("kind", ALL_ESTIMATORS)
def test_fits_grow_with_the_square_at_most(kind):
    dense = kind is LocalScalingSpectralClustering  # eigenvectors of all pairs
    X = points(1200)
    found = exponent(lambda n: kind(5, n_jobs=1, random_state=0).fit(X[:n]), 300)
    assert found < (2.4 if dense else 2.0)


def test_small_lam_grows_nearly_linearly():
    X = np.random.default_rng(0).standard_normal((400, 20))
    assert exponent(lambda n: L1Graph(5, lam=1e-3, n_jobs=1).fit_graph(X[:n]), 100) < 1.8


@cache
def fitted(n):
    return SRSG(5, n_jobs=1, random_state=0).fit(points(n))


def predicted(n, folder):
    fitted(300).predict_with_confidence(points(4800)[: 4 * n])


def measured(n, folder):
    true, found = (np.random.default_rng(seed).integers(5, size=200 * n) for seed in (0, 1))
    metrics.scores(true, found)


def kept(n, folder):
    save_model(fitted(n), folder / "model.srsg")
    load_model(folder / "model.srsg")


def counted(n, folder):
    fitted(n).count_clusters(random_state=0)


def described(n, folder):
    assert fitted(n).valley_p_value_ <= 1  # found once: it takes the cube of up to 1,500 points
    model = copy(fitted(n))
    for name in ("confidence_", "explained_", "outlier_score_", "layers_"):
        vars(model).pop(name, None)
        getattr(model, name)


def filled(n, folder):
    X = points(n)[:, :5].copy()
    X[::7, 0] = np.nan
    PreparedClusterer(KMeans(3, n_init=1, random_state=0), impute="knn").fit(X)


def cut_again(n, folder):
    fitted(n).relabel(4, random_state=0)
    cluster_graph(fitted(n).affinity_matrix_, 5, assign_labels="tree", random_state=0, n_jobs=1)


@pytest.mark.parametrize(
    ("work", "bound"),
    [
        (predicted, 1.5),
        (measured, 1.5),
        (kept, 1.5),
        (cut_again, 1.8),
        (filled, 2),
        (described, 2),
        (counted, 2),
    ],
)
def test_what_follows_a_fit_grows_no_faster_than_the_fit(work, bound, tmp_path):
    assert exponent(lambda n: work(n, tmp_path), 300) < bound


def test_all_neighbors_grow_below_the_cube():
    """All pairs are n^2; Gram matrices of all neighbours of each point were n^3 and more."""
    X = np.random.default_rng(0).standard_normal((600, 10))
    engine = ThreadEngine(1)

    def work(n):
        smce_codes(X[:n], n_neighbors=n - 1, engine=engine)

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

    assert exponent(work, 75) < 1.5


def written(folder, ending, X, names):
    path = folder / f"{X.shape}{ending}"
    if ending == ".npy":
        np.save(path, X)
    elif ending == ".npz":
        np.savez(path, X=X)
    elif ending == ".mat":
        pytest.importorskip("scipy.io").savemat(path, {"X": X})
    else:
        frame = pytest.importorskip("pandas").DataFrame(X, columns=names)
        if ending in (".parquet", ".feather"):
            getattr(frame, f"to_{ending[1:]}")(path)
        elif ending == ".jsonl":
            frame.to_json(path, orient="records", lines=True)
        else:
            frame.to_csv(path, index=False)
    return path


@pytest.mark.parametrize(
    "ending", [".npy", ".npz", ".mat", ".csv", ".parquet", ".feather", ".jsonl"]
)
def test_readers_grow_linearly_with_the_rows(ending, tmp_path):
    X, names = np.random.default_rng(0).random((20_000, 8)).round(3), list("abcdefgh")
    paths = {n: written(tmp_path, ending, X[:n], names) for n in (5_000, 10_000, 20_000)}
    with warnings.catch_warnings(action="ignore"), read_in_forks():
        assert exponent_beyond_start(lambda n: read_points(paths[n]), 5_000) < 1.5


@pytest.mark.parametrize("ending", [".csv", ".parquet"])
def test_readers_grow_linearly_with_the_columns(ending, tmp_path):
    """Equal names took a time that grew with the cube of their number."""
    X = np.random.default_rng(0).random((3, 8_000)).round(3)
    names = ["x" if ending == ".csv" else f"x{k}" for k in range(8_000)]
    paths = {d: written(tmp_path, ending, X[:, :d], names[:d]) for d in (2_000, 4_000, 8_000)}
    with warnings.catch_warnings(action="ignore"):
        assert exponent_beyond_start(lambda d: read_points(paths[d]), 2_000) < 1.5
