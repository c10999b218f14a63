"""A Dask cluster: the same bits as threads, whatever the chunks."""

from __future__ import annotations

import subprocess
import sys
import warnings
from collections import Counter

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_digits
from sklearn.exceptions import ConvergenceWarning

from srsg import (
    SRSG,
    ElasticNetGraph,
    L1Graph,
    NeighborGraph,
    OMPGraph,
    PreparedClusterer,
    RidgeGraph,
    StabilitySearch,
    TSCGraph,
    config_context,
)
from srsg.running.progress import send_progress_to
from support.cli_runs import run

pytest.importorskip("distributed", reason="needs srsg[dask]")
da = pytest.importorskip("dask.array", reason="needs srsg[dask]")

from srsg.running.dask.files import read_array  # noqa: E402
from support.clusters import Disturbed, assert_same, local_cluster  # noqa: E402

X = load_digits().data[:200]


@pytest.fixture(scope="module")
def client():
    with local_cluster(2) as client:
        yield client


def fitted(model, points, engine):
    """The model, fitted on a cluster."""
    with config_context(engine=engine):
        return model.fit(points)


@pytest.mark.parametrize("rows", [100, 70, 23])
def test_the_same_bits_in_any_chunks(client, rows):
    expected = SRSG(10, random_state=0).fit(X)
    chunks = da.from_array(X, chunks=(rows, 30))
    assert_same(fitted(SRSG(10, random_state=0), chunks, client), expected)


def test_an_array_of_the_client_is_sent_to_the_workers(client):
    integers = X.astype(np.int16)
    model = fitted(L1Graph(10, random_state=0), integers, "dask")
    assert_same(model, L1Graph(10, random_state=0).fit(X))


def test_chunks_on_the_workers_stay_there(client):
    persisted = da.from_array(X, chunks=(50, -1)).persist()
    model = fitted(L1Graph(10, random_state=0), persisted, client.scheduler.address)
    assert_same(model, L1Graph(10, random_state=0).fit(X))


def test_chunks_of_unknown_length_are_counted(client):
    some = da.from_array(X, chunks=(50, -1))
    some = some[da.from_array(np.arange(len(X)) % 3 > 0, chunks=50)]
    assert np.isnan(some.shape[0])
    model = fitted(L1Graph(10, random_state=0), some, client)
    assert_same(model, L1Graph(10, random_state=0).fit(X[np.arange(len(X)) % 3 > 0]))
    assert len(model.fit_X_) == len(model.labels_)


OTHERS = [
    NeighborGraph(10, random_state=0),
    NeighborGraph(10, metric="euclidean", random_state=0),
    NeighborGraph(10, n_candidates=30, random_state=0),
    SRSG(10, n_candidates=30, random_state=0),
    RidgeGraph(10, random_state=0),
    TSCGraph(10, random_state=0),
    ElasticNetGraph(10, random_state=0),
]


@pytest.mark.parametrize("estimator", OTHERS, ids=str)
def test_other_graphs_are_made_on_the_workers(client, estimator):
    points = np.vstack([X, X[20:22]])  # copies in another chunk
    expected = clone(estimator).fit(points)
    model = fitted(clone(estimator), da.from_array(points, chunks=(70, -1)), client)
    assert_same(model, expected)
    with config_context(engine=client):
        codes = model.transform(X[:9] + 1).toarray()
    np.testing.assert_array_equal(codes, expected.transform(X[:9] + 1).toarray())


@pytest.mark.parametrize("estimator", [L1Graph, SRSG])
def test_new_points_are_coded_where_the_fitted_ones_are(client, estimator):
    old, new = X[:150], X[150:]
    expected = estimator(10, random_state=0).fit(old)
    model = fitted(estimator(10, random_state=0), da.from_array(old, chunks=(60, -1)), client)
    with config_context(engine=client):
        codes = model.transform(new).toarray()
        np.testing.assert_array_equal(codes, expected.transform(new).toarray())
        np.testing.assert_array_equal(model.predict_shares(new), expected.predict_shares(new))
        sure = model.predict_confidence(new)
        np.testing.assert_array_equal(sure, expected.predict_confidence(new))
        np.testing.assert_array_equal(model.outlier_score_, expected.outlier_score_)
    with pytest.raises(TypeError, match=r"set engine with srsg\.config_context, as for the fit"):
        model.predict(new)


def test_who_is_let_in_is_found_in_all_shards(client):
    settings = {"gamma": 0.02, "step": 0.3, "max_sweeps": 2, "tol": 0.0, "random_state": 0}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        expected = SRSG(10, **settings).fit(X)
        model = fitted(SRSG(10, **settings), da.from_array(X, chunks=(70, -1)), client)
    assert expected.n_let_in_ > 0
    assert_same(model, expected)


@pytest.mark.parametrize("name", ["COIL20", "UMIST"])
def test_the_same_bits_on_the_papers_data(client, paper_data, name):
    points, labels = paper_data(name, 4)
    settings = {"n_clusters": len(np.unique(labels)), "random_state": 0}
    expected = SRSG(**settings).fit(points)
    for rows in (len(points) // 2, 100):
        chunks = da.from_array(points, chunks=(rows, -1))
        assert_same(fitted(SRSG(**settings), chunks, client), expected)


def test_every_shard_has_one_owner_and_owners_share_alike(client):
    """What fits together on no worker needs just that; ``benchmarks/dask_cluster.py`` does it."""
    owners = []

    def look():
        where = client.who_has()
        owners.extend(value for key, value in where.items() if str(key).startswith("Shard"))

    chunks = da.from_array(X, chunks=(25, -1))
    looks = Disturbed(begins={"codes, scan 2": look, "sweep 2": look})
    with send_progress_to(looks), config_context(engine=client):
        SRSG(10).fit_graph(chunks)
    assert len(owners) == 2 * 8
    assert all(len(each) == 1 for each in owners)
    counts = Counter(each[0] for each in owners)
    assert set(counts.values()) == {8}


def test_a_search_compares_samples_here_and_fits_the_best_on_the_workers(client):
    few = {"knn": NeighborGraph(), "prepared": PreparedClusterer(RidgeGraph(), scale="standard")}
    search = StabilitySearch(few, n_clusters=4, random_state=0)
    expected = clone(search).fit(X[:90])
    looks = Disturbed()
    with send_progress_to(looks):
        found = fitted(search, da.from_array(X[:90], chunks=(40, 30)), client)
    np.testing.assert_equal(found.results_, expected.results_)  # NaN where it is NaN
    np.testing.assert_array_equal(found.labels_, expected.labels_)
    np.testing.assert_array_equal(found.confidence_, expected.confidence_)
    assert "points to the workers" in looks.totals


# Files


@pytest.fixture
def files(tmp_path):
    """The same points in all kinds of files that workers read."""
    import pandas
    import zarr

    np.save(tmp_path / "points.npy", X)
    store = zarr.open(
        tmp_path / "points.zarr", mode="w", shape=X.shape, chunks=(30, 64), dtype="f8"
    )
    store[:] = X
    frame = pandas.DataFrame(X, columns=[f"pixel {k}" for k in range(64)])
    frame.insert(0, "id", np.arange(1000, 1200))
    frame["digit"] = load_digits().target[:200]
    frame.to_parquet(tmp_path / "points.parquet", row_group_size=60, index=False)
    return tmp_path


@pytest.mark.parametrize("ending", ["npy", "zarr", "parquet"])
def test_files_are_read_by_the_workers(client, files, ending):
    options = {"labels": "digit"} if ending == "parquet" else {}
    array, layout = read_array(files / f"points.{ending}", client, **options)
    assert len(array.chunks[0]) > 1
    np.testing.assert_array_equal(array.compute(), X)
    if ending == "parquet":
        np.testing.assert_array_equal(layout.contents.row_ids, np.arange(1000, 1200))
        np.testing.assert_array_equal(layout.contents.labels, load_digits().target[:200])


def test_the_command_line_on_a_cluster(client, files):
    address = client.scheduler.address
    own = ["-k", 10, "--labels", "digit", "-q", "--method", "srsg"]
    plain = run("cluster", files / "points.parquet", *own)
    there = ["--scheduler", address, "--labels", "digit", "-q"]
    found = run("cluster", files / "points.parquet", "-k", 10, *there)
    assert found.exit_code == 0, found.stderr
    assert found.stdout == plain.stdout


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["gone.npy"], "does not see this file"),
        (["points.csv"], "ending in .npy .parquet .zarr only"),
        (["points.npy", "--report", "page.html"], "--report needs the points in this process"),
        (["points.npy", "--method", "omp"], "--scheduler is not an option of the method omp"),
    ],
)
def test_what_a_cluster_does_not_do_is_one_line(client, files, arguments, message):
    name, *options = arguments
    done = run("cluster", files / name, "-k", 3, "--scheduler", client.scheduler.address, *options)
    assert done.exit_code != 0
    assert message in " ".join(done.stderr.split())
    assert "Traceback" not in done.stderr


# What is wrong with the points is said as for an array


@pytest.mark.parametrize("wrong", [np.nan, np.inf])
def test_values_that_are_not_finite(client, wrong):
    bad = X.copy()
    bad[130, 3] = wrong
    with pytest.raises(ValueError, match="Input X contains") as expected:
        L1Graph(5).fit(bad)
    with pytest.raises(ValueError, match="Input X contains") as found:
        fitted(L1Graph(5), da.from_array(bad, chunks=(60, -1)), client)
    assert str(found.value) == str(expected.value)


def test_rows_of_zeros_are_numbered_among_all(client):
    bad = X.copy()
    bad[[7, 130]] = 0
    with pytest.warns(UserWarning, match=r"2 row\(s\) of zeros.*rows 7, 130"):
        model = fitted(L1Graph(5, random_state=0), da.from_array(bad, chunks=(60, -1)), client)
    with pytest.warns(UserWarning, match="of zeros"):
        assert_same(model, L1Graph(5, random_state=0).fit(bad))


@pytest.mark.parametrize("rows", [100, 25])
def test_equal_points_in_different_chunks(client, rows):
    copies = np.vstack([X, X[20:60], X[:1]])  # some chunks have nothing else
    expected = SRSG(10, random_state=0).fit(copies)
    model = fitted(SRSG(10, random_state=0), da.from_array(copies, chunks=(rows, -1)), client)
    assert_same(model, expected)
    np.testing.assert_array_equal(model.first_equal_[200:], np.r_[20:60, 0])
    with config_context(engine=client):
        np.testing.assert_array_equal(model.predict(X[:5] + 1), expected.predict(X[:5] + 1))


@pytest.mark.parametrize(
    ("points", "message"),
    [
        (da.zeros((1, 5), chunks=1), r"1 sample\(s\)"),
        (da.zeros((9, 1), chunks=3), r"1 feature\(s\)"),
        (da.zeros(9, chunks=3), "Expected 2D array, got 1D array"),
        (da.zeros((9, 3), chunks=3).astype(complex), "dtype complex128"),
    ],
)
def test_arrays_that_are_no_points(client, points, message):
    with pytest.raises(ValueError, match=message):
        fitted(L1Graph(2), points, client)


def test_a_dask_array_needs_a_cluster(client):
    with pytest.raises(TypeError, match=r"set engine='dask' or a Client with srsg\.config_con"):
        L1Graph(5).fit(da.from_array(X))
    with pytest.raises(TypeError, match=r"OMPGraph works in one process: pass X.compute\(\)"):
        fitted(OMPGraph(5), da.from_array(X), client)
    with pytest.raises(ValueError, match="affine= needs X in this process"):
        fitted(L1Graph(5, affine=True), da.from_array(X), client)


def test_methods_that_need_one_process_run_on_threads(client):
    assert_same(fitted(OMPGraph(5, random_state=0), X, client), OMPGraph(5, random_state=0).fit(X))


def test_a_step_that_takes_all_points_in_one_process_says_so(client):
    with pytest.raises(TypeError, match="in one process"):
        fitted(SRSG(5, step="theorem"), da.from_array(X[:50], chunks=(30, -1)), client)


# Without a cluster


def test_no_scheduler_and_no_client(monkeypatch):
    monkeypatch.setattr("srsg.running.dask.cluster.CONNECT_WITHIN", 1)
    with pytest.raises(ConnectionError, match="No Dask scheduler answers at tcp"):
        fitted(L1Graph(5), X, "tcp://127.0.0.1:1")
    with pytest.raises(ValueError, match="engine='cloud' is neither"):
        fitted(L1Graph(5), X, "cloud")


WITHOUT = """
import sys
from sklearn.datasets import load_digits
import srsg
from srsg import L1Graph
L1Graph(3).fit(load_digits().data[:60])
assert not {"dask", "distributed"} & sys.modules.keys()
sys.modules["distributed"] = None  # as if it were not installed
try:
    with srsg.config_context(engine="dask"):
        L1Graph(3).fit(load_digits().data[:60])
except ModuleNotFoundError as error:
    print(error)
"""


def test_nothing_of_dask_is_imported_and_its_absence_is_one_line():
    done = subprocess.run(
        [sys.executable, "-c", WITHOUT], capture_output=True, text=True, check=True
    )
    assert done.stdout == "A Dask cluster needs dask and distributed: pip install 'srsg[dask]'.\n"
