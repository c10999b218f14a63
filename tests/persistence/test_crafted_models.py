"""Model files made to do harm: each is one ValueError that names the file and what is wrong."""

from __future__ import annotations

import io
import socket
import struct
import tracemalloc
import zipfile
from contextlib import nullcontext, suppress
from copy import copy

import numpy as np
import pytest
from scipy import sparse
from sklearn.cluster import KMeans
from sklearn.datasets import load_digits

from srsg import (
    SMCE,
    SRSG,
    ElasticNetGraph,
    L1Graph,
    LocalScalingSpectralClustering,
    PreparedClusterer,
)
from srsg.persistence import FORMAT, load_model, save_model
from srsg.persistence.models import MOST_ROUNDS
from support.model_files import craft, model_parts

X = load_digits().data[:90]
GAPS = X[:, :20].copy()
GAPS[::4, 3] = np.nan
COPIES = np.concatenate([X[:57], X[:2], np.zeros((1, 64))])
SPARSE = sparse.csr_array(np.where(np.random.default_rng(0).random(X.shape) < 0.2, X + 1, 0)[:60])


def kmeans():
    return KMeans(3, n_init=1, random_state=0)


MODELS = {
    "srsg": lambda: SRSG(3, random_state=0).fit(X[:60]),
    "copies": lambda: SRSG(3, random_state=0).fit(COPIES),
    "auto": lambda: SRSG("auto", random_state=0).fit(X[:60]),
    "sparse": lambda: L1Graph(3, random_state=0).fit(SPARSE),
    "elastic net": lambda: ElasticNetGraph(3, random_state=0).fit(X[:60]),
    "smce": lambda: SMCE(3, random_state=0).fit(X[:60]),
    "kernel": lambda: LocalScalingSpectralClustering(3, random_state=0).fit(X[:60]),
    "graph only": lambda: L1Graph(3, random_state=0).fit_graph(X[:60]),
    "kmeans": lambda: kmeans().fit(X[:60]),
    "median": lambda: PreparedClusterer(kmeans(), scale="standard", impute="median").fit(GAPS),
    "knn": lambda: PreparedClusterer(kmeans(), scale="minmax", impute="knn").fit(GAPS),
}


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("models")
    for name, model in MODELS.items():
        with pytest.warns() if name == "copies" else nullcontext():
            save_model(model(), folder / name)
    return {name: (folder / name).read_bytes() for name in MODELS}


@pytest.fixture
def path(tmp_path):
    return tmp_path / "model.srsg"


def refused(path, largest=20e6):
    """What loading a file says, which must take little memory."""
    tracemalloc.start()
    try:
        with pytest.raises(ValueError, match=r"model\.srsg") as error:
            load_model(path)
        assert tracemalloc.get_traced_memory()[1] < largest
    finally:
        tracemalloc.stop()
    assert "\n" not in str(error.value)
    assert len(str(error.value)) < 500
    return str(error.value)


def test_what_is_crafted_from_is_valid(files, path):
    for content in files.values():
        path.write_bytes(content)
        craft(path)
        load_model(path)


# Arrays


def with_value(array, place, value):
    changed = np.array(array)
    changed.reshape(-1)[place] = value
    return changed


def own(name, change):
    """A change of an array of the clusterer."""
    full = name if name.startswith("columns") else f"clusterer/{name}"
    return lambda arrays: {full: change(arrays[full])}


def gone(name):
    return own(name, lambda array: None)


def to(value):
    return lambda array: value


def unsorted(arrays):
    """Two entries of a row in the wrong order."""
    starts = arrays["clusterer/codes/indptr"]
    row = starts[np.flatnonzero(np.diff(starts) > 1)[0]]
    indices = arrays["clusterer/codes/indices"].copy()
    indices[row : row + 2] = indices[row : row + 2][::-1]
    return {"clusterer/codes/indices": indices}


def twice(arrays):
    """A row that has an entry twice."""
    starts = arrays["clusterer/codes/indptr"]
    row = starts[np.flatnonzero(np.diff(starts) > 1)[0]]
    indices = arrays["clusterer/codes/indices"]
    return {"clusterer/codes/indices": with_value(indices, row + 1, indices[row])}


def itself(arrays):
    """A point that codes itself."""
    starts, indices = (arrays[f"clusterer/codes/{part}"] for part in ("indptr", "indices"))
    codes = sparse.csr_array((np.ones(len(indices)), indices, starts), shape=(60, 60)).tolil()
    codes[7, 7] = 0.5
    codes = codes.tocsr()
    return {
        f"clusterer/codes/{part}": getattr(codes, part) for part in ("data", "indices", "indptr")
    }


def point_twice(array):
    changed = array.copy()
    changed[4, 1] = changed[4, 0]
    return changed


CRAFTED = {
    # codes and other sparse matrices
    "codes beyond the points": ("srsg", own("codes/indices", lambda a: with_value(a, -1, 60))),
    "codes far beyond": ("srsg", own("codes/indices", lambda a: with_value(a, 0, 2**31 - 1))),
    "codes before the points": ("srsg", own("codes/indices", lambda a: with_value(a, -1, -1))),
    "codes of unsigned indices": ("srsg", own("codes/indices", lambda a: a.astype(np.uint32))),
    "codes of short indices": ("srsg", own("codes/indices", lambda a: a.astype(np.int16))),
    "codes of swapped bytes": ("srsg", own("codes/indices", lambda a: a.astype(">i8"))),
    "codes of float indices": ("srsg", own("codes/indices", lambda a: a.astype(float))),
    "codes that do not rise": ("srsg", own("codes/indptr", lambda a: with_value(a, 5, 0))),
    "codes that begin late": ("srsg", own("codes/indptr", lambda a: with_value(a, 0, 1))),
    "codes that end early": ("srsg", own("codes/indptr", lambda a: with_value(a, -1, 3))),
    "codes that end late": ("srsg", own("codes/indptr", lambda a: with_value(a, -1, 10**6))),
    "codes of negative starts": ("srsg", own("codes/indptr", lambda a: with_value(a, 1, -9))),
    "codes of fewer points": ("srsg", own("codes/indptr", lambda a: a[:-1])),
    "codes without rows": ("srsg", own("codes/indptr", lambda a: a[:0])),
    "codes with fewer values": ("srsg", own("codes/data", lambda a: a[:-1])),
    "codes not finite": ("srsg", own("codes/data", lambda a: with_value(a, 3, np.nan))),
    "codes infinite": ("srsg", own("codes/data", lambda a: with_value(a, 3, np.inf))),
    "codes of long doubles": ("srsg", own("codes/data", lambda a: a.astype(np.longdouble))),
    "codes of halves": ("srsg", own("codes/data", lambda a: a.astype(np.float16))),
    "codes of complex numbers": ("srsg", own("codes/data", lambda a: a.astype(complex))),
    "codes of text": ("srsg", own("codes/data", lambda a: a.astype(str))),
    "codes in another shape": ("srsg", own("codes/data", lambda a: a[None])),
    "codes unsorted": ("srsg", unsorted),
    "codes with a point twice": ("srsg", twice),
    "codes of the point itself": ("srsg", itself),
    "codes missing": ("srsg", gone("codes/data")),
    "start codes beyond": ("srsg", own("init_codes/indices", lambda a: with_value(a, 0, 10**6))),
    "start codes missing": ("srsg", gone("init_codes/indptr")),
    "points beyond their columns": (
        "sparse",
        own("points/indices", lambda a: with_value(a, 0, 64)),
    ),
    "points that do not rise": ("sparse", own("points/indptr", lambda a: a[::-1].copy())),
    "sparse points not of unit length": ("sparse", own("points/data", lambda a: 2 * a)),
    "sparse points of a kernel": (
        "kernel",
        lambda arrays: {
            "clusterer/points": None,
            "clusterer/points/data": np.ones(60),
            "clusterer/points/indices": np.zeros(60, int),
            "clusterer/points/indptr": np.arange(61),
        },
    ),
    "edges beyond the points": ("smce", own("affinity/indices", lambda a: with_value(a, 0, 99))),
    "edges not symmetric": ("smce", own("affinity/data", lambda a: with_value(a, 0, 0.123))),
    "edges below zero": ("smce", own("affinity/data", lambda a: -a)),
    "a kernel below zero": ("kernel", own("kernel", lambda a: -a)),
    "a kernel not symmetric": ("kernel", own("kernel", lambda a: with_value(a, 1, 0.123))),
    "a kernel of other points": ("kernel", own("kernel", lambda a: a[:5, :5])),
    "a kernel not finite": ("kernel", own("kernel", lambda a: with_value(a, 0, np.inf))),
    "a graph that follows from codes": ("srsg", lambda arrays: {"clusterer/kernel": np.eye(60)}),
    # points
    "points not finite": ("srsg", own("points", lambda a: with_value(a, 0, np.inf))),
    "points not of unit length": ("srsg", own("points", lambda a: 2 * a)),
    "points too large to square": ("srsg", own("points", lambda a: 1e200 * a)),
    "points of zeros": ("srsg", own("points", np.zeros_like)),
    "points of one dimension": ("srsg", own("points", np.ravel)),
    "points of three dimensions": ("srsg", own("points", lambda a: a[None])),
    "points are text": ("srsg", own("points", lambda a: a.astype(str))),
    "points are integers": ("srsg", own("points", lambda a: np.eye(60, 64, dtype=int))),
    "points are bytes": ("srsg", own("points", lambda a: a.view("V8"))),
    "points are records": ("srsg", own("points", lambda a: a.view([("x", "f8")]))),
    "points too few": ("srsg", own("points", lambda a: a[:-1])),
    "points of fewer features": ("srsg", own("points", lambda a: a[:, 1:])),
    "points of no features": ("srsg", own("points", lambda a: a[:, :0])),
    "points missing": ("srsg", gone("points")),
    "another coordinate": ("srsg", own("constant", to(1.0))),
    "another coordinate of a kernel": (
        "kernel",
        lambda arrays: {
            "clusterer/constant": 1.0,
            "clusterer/points": np.c_[arrays["clusterer/points"], np.ones(60)],
        },
    ),
    "a negative coordinate": ("srsg", own("constant", to(-1.0))),
    "a coordinate per point": ("srsg", own("constant", to(np.ones(60)))),
    "a coordinate that is text": ("srsg", own("constant", to("1"))),
    "coordinate missing": ("srsg", gone("constant")),
    # equal points
    "equal to later ones": ("srsg", own("first_equal", lambda a: with_value(a, 0, 1))),
    "equal to each other": ("srsg", own("first_equal", lambda a: a[[1, 0, *range(2, 60)]])),
    "equal in a circle": ("srsg", own("first_equal", lambda a: np.roll(a, 1))),
    "equal to copies": ("copies", own("first_equal", lambda a: with_value(a, 56, 57))),
    "equal beyond": ("srsg", own("first_equal", lambda a: with_value(a, 0, 60))),
    "equal before": ("srsg", own("first_equal", lambda a: with_value(a, 0, -2))),
    "no points": ("srsg", own("first_equal", lambda a: np.full_like(a, -1))),
    "points of zeros that are none": ("srsg", own("first_equal", lambda a: with_value(a, 5, -1))),
    "points that are of zeros": ("copies", own("first_equal", lambda a: np.arange(60))),
    "points left out of a kernel": ("kernel", own("first_equal", lambda a: with_value(a, 0, -1))),
    "equal of two dimensions": ("srsg", own("first_equal", lambda a: a[:, None])),
    "equal of none": ("srsg", own("first_equal", lambda a: a[:0])),
    "equal missing": ("srsg", gone("first_equal")),
    # neighbours
    "neighbours beyond": ("srsg", own("neighbors", lambda a: a + 1000)),
    "neighbours before": ("srsg", own("neighbors", lambda a: with_value(a, 0, -2))),
    "no neighbour": ("srsg", own("neighbors", lambda a: with_value(a, 0, -1))),
    "rows of zeros as neighbours": ("copies", own("neighbors", lambda a: with_value(a, 0, 59))),
    "its own neighbour": ("srsg", own("neighbors", lambda a: with_value(a, 0, 0))),
    "the same neighbour twice": ("srsg", own("neighbors", point_twice)),
    "neighbours of fewer points": ("srsg", own("neighbors", lambda a: a[:-1])),
    "neighbours missing": ("smce", gone("neighbors")),
    # what was learnt
    "no step": ("srsg", gone("step")),
    "a step below zero": ("srsg", own("step", to(-1.0))),
    "a step that is no number": ("srsg", own("step", to(np.nan))),
    "a step per point": ("srsg", own("step", to(np.ones(60)))),
    "a step of another method": ("sparse", lambda arrays: {"clusterer/step": 0.1}),
    "certificates of fewer": ("srsg", own("kkt_violation", lambda a: a[:-1])),
    "certificates below zero": ("srsg", own("dual_gap", lambda a: a - 1)),
    "certificates of others": ("srsg", own("certified", lambda a: a + 1)),
    "certificates missing": ("srsg", gone("certified")),
    "scans below zero": ("srsg", own("n_scans", to(-1))),
    "weights of fewer": ("elastic net", own("lam", lambda a: a[:-1])),
    "weights in two dimensions": ("elastic net", own("lam", lambda a: a[:, None])),
    # clusters
    "labels beyond the clusters": ("srsg", own("labels", lambda a: a + 1)),
    "labels below zero": ("srsg", own("labels", lambda a: a - 1)),
    "labels too few": ("srsg", own("labels", lambda a: a[:-1])),
    "labels no integers": ("srsg", own("labels", lambda a: a.astype(float))),
    "labels missing": ("srsg", gone("labels")),
    "labels of a graph alone": (
        "graph only",
        lambda arrays: {"clusterer/labels": np.zeros(60, int)},
    ),
    "embedding of fewer": ("srsg", own("embedding", lambda a: a[:-1])),
    "embedding of other dimensions": ("srsg", own("embedding", lambda a: a[:, :1])),
    "embedding missing": ("srsg", gone("embedding")),
    "eigenvalues of others": ("srsg", own("eigenvalues", lambda a: a[:1])),
    "scores without numbers": ("auto", gone("cluster_counts")),
    "numbers without scores": ("auto", gone("cluster_count_scores")),
    "fewer scores": ("auto", own("cluster_count_scores", lambda a: a[:-1])),
    "numbers beyond the points": ("auto", own("cluster_counts", lambda a: a + 60)),
    "numbers below one": ("auto", own("cluster_counts", lambda a: a * 0)),
    "structure": ("auto", own("structure_found", to("no"))),
    "anything else": ("srsg", lambda arrays: {"clusterer/predict": np.ones(3)}),
    "another group": ("srsg", lambda arrays: {"columns 0/offset": np.zeros(64)}),
    "no group": ("srsg", lambda arrays: {"points": np.zeros((60, 64))}),
    # K-means, whose compiled loops take the shape of the centres on trust
    "centres of other features": ("kmeans", own("cluster_centers", lambda a: a[:, :2])),
    "centres of more features": ("kmeans", own("cluster_centers", lambda a: np.tile(a, 2))),
    "centres of other clusters": ("kmeans", own("cluster_centers", lambda a: np.vstack([a, a]))),
    "centres not finite": ("kmeans", own("cluster_centers", lambda a: with_value(a, 0, np.inf))),
    "centres of integers": ("kmeans", own("cluster_centers", lambda a: a.astype(int))),
    "centres of one dimension": ("kmeans", own("cluster_centers", np.ravel)),
    "centres missing": ("kmeans", gone("cluster_centers")),
    "labels of K-means beyond": ("kmeans", own("labels", lambda a: a + 3)),
    "labels of K-means below": ("kmeans", own("labels", lambda a: a - 1)),
    "labels of K-means are floats": ("kmeans", own("labels", lambda a: a.astype(float))),
    "inertia": ("kmeans", own("inertia", to(-1.0))),
    "threads of K-means": ("kmeans", lambda arrays: {"clusterer/_n_threads": 10**6}),
    # columns
    "no offset": ("median", gone("columns 0/offset")),
    "offset of other features": ("median", own("columns 0/offset", lambda a: a[1:])),
    "offset not finite": ("median", own("columns 0/offset", lambda a: a * np.nan)),
    "offset is text": ("median", own("columns 0/offset", lambda a: a.astype(str))),
    "a factor below zero": ("median", own("columns 0/factor", lambda a: -a)),
    "a factor of zero": ("median", own("columns 0/factor", lambda a: with_value(a, 0, 0))),
    "no factor": ("median", gone("columns 0/factor")),
    "medians of other features": ("median", own("columns 0/fill", lambda a: a[1:])),
    "medians not finite": ("median", own("columns 0/fill", lambda a: with_value(a, 0, np.inf))),
    "no medians": ("median", gone("columns 0/fill")),
    "rows beside medians": ("median", lambda arrays: {"columns 0/similar": np.zeros((3, 20))}),
    "rows of other features": ("knn", own("columns 0/similar", lambda a: a[:, 1:])),
    "rows not finite": ("knn", own("columns 0/similar", lambda a: a * np.nan)),
    "gaps of fewer rows": ("knn", own("columns 0/gaps", lambda a: a[1:])),
    "gaps everywhere": ("knn", own("columns 0/gaps", np.ones_like)),
    "gaps are numbers": ("knn", own("columns 0/gaps", lambda a: a.astype(int))),
    "no gaps": ("knn", gone("columns 0/gaps")),
    "no rows": (
        "knn",
        lambda arrays: {name: arrays[name][:0] for name in ("columns 0/similar", "columns 0/gaps")},
    ),
}


@pytest.mark.parametrize("what", CRAFTED)
def test_arrays_that_no_fit_leaves_are_refused(files, path, what):
    name, change = CRAFTED[what]
    path.write_bytes(files[name])
    changes = change(model_parts(path)[1])
    craft(path, changes)
    said = refused(path)
    assert "holds an invalid model: " in said
    names = {full.split("/")[1 if "/" in full else 0] for full in changes}
    assert any(name in said for name in names | {OTHERS.get(what, "nothing else")})


OTHERS = {
    "another coordinate": "points: has shape",
    "points of zeros that are none": "neighbors: has rows of zeros",
    "points that are of zeros": "neighbors: has rows of zeros",
    "equal of none": "points: has shape",
    "scores without numbers": "cluster_count_scores: is not expected",
}
"""What is named if it is not the array that was changed, because it does not go with it."""


# Header


def prepared(**entries):
    """Columns of the header, as a fit leaves them but for these entries."""
    return {"scale": None, "impute": None, "rules": None, **entries}


HEADERS = {
    "a newer format": {"format": FORMAT + 1},
    "an older format": {"format": FORMAT - 1},
    "another format": {"format": -1},
    "a format that is a number": {"format": float(FORMAT)},
    "a format that is text": {"format": "new"},
    "a format that is infinite": {"format": float("inf")},
    "a format that is none": {"format": None},
    "another class": {"clusterer": "DBSCAN"},
    "a class with a path": {"clusterer": "os.system"},
    "the base class": {"clusterer": "GraphClusterer"},
    "columns for a clusterer": {"clusterer": "PreparedClusterer"},
    "an attribute for a class": {"clusterer": "__doc__"},
    "a list for a class": {"clusterer": ["SRSG"]},
    "no class": {"clusterer": None},
    "another method": {"clusterer": "SMCE"},
    "K-means": {"clusterer": "KMeans"},
    "parameters in a list": {"parameters": ["n_clusters", 3]},
    "parameters are text": {"parameters": "n_clusters"},
    "no parameters": {"parameters": None},
    "columns in a dict": {"columns": {"scale": None}},
    "columns are text": {"columns": "standard"},
    "columns without a form": {"columns": [3]},
    "columns with another name": {"columns": [{"__class__": "os"}]},
    "columns with a clusterer": {"columns": [{"clusterer": "SRSG"}]},
    "columns without arrays": {"columns": [prepared(scale="standard")]},
    "columns of another scale": {"columns": [prepared(scale="other")]},
    "columns of a list": {"columns": [prepared(scale=[])]},
    "rules in a dict": {"columns": [prepared(rules={"column": "a"})]},
    "rules that are text": {"columns": [prepared(rules=["a"])]},
    "rules of too few columns": {"columns": [prepared(rules=[{"column": "a"}])]},
    "rules of no column": {"columns": [prepared(rules=[{"kind": "number"}] * 6)]},
    "rules with another name": {"columns": [prepared(rules=[{"column": "a", "code": "x"}] * 6)]},
    "rules of another kind": {"columns": [prepared(rules=[{"column": "a", "kind": "eval"}] * 6)]},
    "rules of a numbered column": {"columns": [prepared(rules=[{"column": 3}] * 6)]},
    "rules with an infinite unit": {
        "columns": [prepared(rules=[{"column": "a", "unit": float("inf")}] * 6)]
    },
    "rules with a negative unit": {
        "columns": [prepared(rules=[{"column": "a", "unit": -1.0}] * 6)]
    },
    "rules with levels of a number": {
        "columns": [prepared(rules=[{"column": "a", "levels": ["x"]}] * 6)]
    },
    "rules with unknown cycles": {
        "columns": [prepared(rules=[{"column": "a", "kind": "date", "cycles": ["moon"]}])]
    },
    "rules with levels that are text": {
        "columns": [prepared(rules=[{"column": "a", "kind": "category", "levels": "abcdef"}])]
    },
    "rules of endless vectors": {
        "columns": [prepared(rules=[{"column": "a", "kind": "vector", "size": 10**12}])]
    },
    "rules of words without weights": {
        "columns": [prepared(rules=[{"column": "a", "kind": "text", "levels": ["x", "y"]}])]
    },
    "rules of a word that is described": {
        "columns": [prepared(rules=[{"column": "a", "kind": "word", "levels": ["x", "y"]}])]
    },
    "rules with levels that are numbers": {
        "columns": [prepared(rules=[{"column": "a", "kind": "category", "levels": [1, 2]}])]
    },
    "clusters of another number": {"n_clusters": 2},
    "many clusters": {"n_clusters": 10**12},
    "no clusters": {"n_clusters": 0},
    "clusters below zero": {"n_clusters": -3},
    "clusters are text": {"n_clusters": "3"},
    "clusters are a share": {"n_clusters": 3.0},
    "clusters are true": {"n_clusters": True},
    "clusters are missing": {"n_clusters": None},
    "fewer features": {"n_features": 3},
    "many features": {"n_features": 2**63},
    "features below zero": {"n_features": -64},
    "features are text": {"n_features": "64"},
    "features are missing": {"n_features": None},
    "too few names": {"feature_names": ["a"]},
    "names that are numbers": {"feature_names": list(range(64))},
    "names that are text": {"feature_names": "a" * 64},
    "names in a dict": {"feature_names": {str(k): k for k in range(64)}},
}


@pytest.mark.parametrize("what", HEADERS)
def test_headers_that_nobody_writes_are_refused(files, path, what):
    path.write_bytes(files["srsg"])
    craft(path, **HEADERS[what])
    refused(path)


PARAMETERS = {
    "store": "/tmp/elsewhere",
    "n_jobs": 64,
    "verbose": True,
    "engine": "tcp://127.0.0.1:1",
    "max_memory": "1PB",
    "memory": "/tmp/elsewhere",
    "__class__": "os",
    "graph_": 3,
    "predict": "nothing",
    "coder": "L1Coder",
    "lam": -1.0,
    "gamma": "much",
    "step": [0.1],
    "affinity": {"a": 1},
    "n_neighbors": 60,
    "n_init": True,
    "tol": float("nan"),
    "random_state": "chance",
    "n_clusters": "many",
    "affine": None,
}


@pytest.mark.parametrize("name", PARAMETERS)
def test_parameters_that_a_file_may_not_set_are_refused(files, path, name):
    path.write_bytes(files["srsg"])
    parameters = model_parts(path)[0]["parameters"]
    craft(path, parameters=parameters | {name: PARAMETERS[name]})
    assert name in refused(path)


@pytest.mark.parametrize("header", ["[" * 100_000, "[]", "", "3", '"text"', "{}", "{", "\0", "NaN"])
def test_headers_that_are_none_are_refused(files, path, header):
    path.write_bytes(files["srsg"])
    with zipfile.ZipFile(path) as archive:
        entries = {name: archive.read(name) for name in archive.namelist()}
    entries["header.npy"] = npy_bytes(np.array(header))
    write_entries(path, entries)
    assert "is not a model that srsg saved" in refused(path)


@pytest.mark.parametrize("header", [np.zeros(3), np.array(["{}", "{}"]), np.array(b"{}"), None])
def test_headers_of_another_form_are_refused(files, path, header):
    path.write_bytes(files["srsg"])
    with zipfile.ZipFile(path) as archive:
        entries = {name: archive.read(name) for name in archive.namelist()}
    entries["header.npy"] = b"" if header is None else npy_bytes(header)
    write_entries(path, entries)
    refused(path)


def test_columns_in_columns_without_end_are_refused(files, path):
    path.write_bytes(files["srsg"])
    craft(path, columns=[{"scale": None, "impute": None}] * 20_000)
    assert "columns: are nested too often" in refused(path)


# Where a model runs


@pytest.fixture
def listener():
    """A port that notices whoever connects."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.settimeout(0.5)
        yield server


@pytest.mark.parametrize("where", ["parameters", "arrays"])
def test_a_file_that_names_a_scheduler_connects_to_nobody(files, path, listener, where):
    address = f"tcp://127.0.0.1:{listener.getsockname()[1]}"
    path.write_bytes(files["srsg"])
    if where == "parameters":
        craft(path, parameters=model_parts(path)[0]["parameters"] | {"engine": address})
    else:
        craft(path, {"clusterer/engine": np.array(address)})
    assert "engine: is not" in refused(path)
    with pytest.raises(TimeoutError):
        listener.accept()


def test_a_file_that_names_folders_makes_none(files, path, tmp_path):
    path.write_bytes(files["srsg"])
    parameters = model_parts(path)[0]["parameters"]
    craft(path, parameters=parameters | {"store": str(tmp_path / "store")})
    assert "store: is not a parameter that a file may set" in refused(path)
    assert [each.name for each in tmp_path.iterdir()] == ["model.srsg"]


@pytest.mark.parametrize("rounds", [MOST_ROUNDS + 1, 10**15, float("inf"), float("nan")])
def test_a_file_cannot_ask_for_endless_work(files, path, rounds):
    path.write_bytes(files["srsg"])
    parameters = model_parts(path)[0]["parameters"]
    craft(path, parameters=parameters | {"max_sweeps": rounds})
    refused(path)
    craft(path, parameters=parameters | {"max_sweeps": MOST_ROUNDS})
    assert load_model(path).max_sweeps == MOST_ROUNDS


# The archive itself


def npy_bytes(array):
    stream = io.BytesIO()
    np.save(stream, array, allow_pickle=False)
    return stream.getvalue()


def write_entries(path, entries, compression=zipfile.ZIP_STORED):
    with zipfile.ZipFile(path, "w", compression) as archive:
        for name, content in entries.items():
            archive.writestr(name, content)


def entries_of(path):
    with zipfile.ZipFile(path) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def header_of(shape, descr="<f8", extra=""):
    """The first bytes of an array that says it has this shape."""
    text = f"{{'descr': {descr!r}, 'fortran_order': False, 'shape': {shape}, {extra}}}"
    text += " " * (63 - (10 + len(text)) % 64) + "\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(text)) + text.encode()


CLAIMS = {
    "many numbers": header_of("(1000000000000,)"),
    "more than there are": header_of("(60, 65)") + bytes(8 * 60 * 64),
    "fewer than there are": header_of("(60, 63)") + bytes(8 * 60 * 64),
    "many of no length": header_of("(4611686018427387904, 0)"),
    "more dimensions than arrays have": header_of(str((1,) * 100)) + bytes(8),
    "many of no size": header_of("(1000000000000,)", descr="|V0"),
    "text of no size": header_of("(1000000000000,)", descr="<U0"),
    "numbers that wrap around": header_of("(4611686018427387904, 4)"),
    "more digits than numbers have": header_of(f"({'9' * 5000},)"),
    "lengths below zero": header_of("(-1, -3840)") + bytes(8 * 60 * 64),
    "lengths that are text": header_of("('a',)"),
    "objects": header_of("(1,)", descr="|O") + bytes(8),
    "objects in records": header_of("(1,)", descr=[("a", "|O")]) + bytes(8),
    "records within records": header_of("(1,)", descr=[("a", [("b", "<f8")])]) + bytes(8),
    "a large part": header_of("(1,)", descr="|V1000000000"),
    "an expression": header_of("(__import__('os').system('true'),)"),
    "nested brackets": header_of("(" * 300 + ")" * 300),
    "many signs": header_of("(" + "-" * 9000 + "1,)"),
    "an extra name": header_of("(1,)", extra="'a': 1") + bytes(8),
    "no header": b"\x93NUMPY\x01\x00\xff\xff",
    "a long header": b"\x93NUMPY\x02\x00\xff\xff\xff\xff" + b" " * 100,
    "another version": b"\x93NUMPY\x09\x09" + header_of("(1,)")[8:],
    "nothing": b"",
    "a pickle": b"\x80\x04N.",
}


@pytest.mark.parametrize("what", CLAIMS)
@pytest.mark.filterwarnings("ignore:Reading .npy. or .npz. file required additional header")
def test_arrays_that_claim_what_they_are_not_are_refused(files, path, what):
    path.write_bytes(files["srsg"])
    write_entries(path, {**entries_of(path), "clusterer/points.npy": CLAIMS[what]})
    refused(path)


KINDS = [zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA]


@pytest.mark.parametrize("kind", KINDS)
def test_compressed_parts_are_refused(files, path, kind):
    path.write_bytes(files["srsg"])
    write_entries(path, {**entries_of(path), "clusterer/points.npy": bytes(1000)}, kind)
    assert "is not a model that srsg saved" in refused(path)


@pytest.mark.parametrize("kind", KINDS)
def test_parts_that_unpack_to_more_than_they_say_are_refused(path, kind):
    """The sizes in the archive are claims, too."""
    write_entries(path, {"header.npy": bytes(50_000_000)}, kind)
    content = bytearray(path.read_bytes())
    for signature, at in ((b"PK\x01\x02", 24), (b"PK\x03\x04", 22)):
        place = content.find(signature)
        content[place + at : place + at + 4] = struct.pack("<I", 100)
    path.write_bytes(content)
    refused(path)


def test_parts_that_overlap_are_refused(files, path):
    path.write_bytes(files["srsg"])
    with zipfile.ZipFile(path, "a") as archive:
        largest = max(archive.infolist(), key=lambda member: member.file_size)
        for number in range(1000):
            twin = copy(largest)
            twin.filename = f"clusterer/{number}.npy"
            archive.filelist.append(twin)
            archive.NameToInfo[twin.filename] = twin
        archive._didModify = True
    assert "is not a model that srsg saved" in refused(path)


@pytest.mark.parametrize(("at", "value"), [(8, 1), (10, 99)])
def test_encryption_and_unknown_methods_are_refused(files, path, at, value):
    content = bytearray(files["srsg"])
    place = content.find(b"PK\x01\x02")
    while place >= 0:
        content[place + at] = value
        place = content.find(b"PK\x01\x02", place + 4)
    path.write_bytes(content)
    refused(path)


@pytest.mark.parametrize("field", range(0, 46, 2))
def test_any_number_in_the_directory_of_the_archive_may_be_wrong(files, path, field):
    content = bytearray(files["sparse"])
    place = content.find(b"PK\x01\x02")
    content[place + field : place + field + 2] = b"\xff\xff"
    path.write_bytes(content)
    with suppress(ValueError):
        load_model(path)


@pytest.mark.parametrize("prefix", ["../../", "/"])
def test_names_of_parts_lead_nowhere(files, path, tmp_path, prefix):
    path.write_bytes(files["srsg"])
    name = f"{prefix}{tmp_path.name}-evil.npy"
    write_entries(path, {**entries_of(path), name: npy_bytes(np.zeros(1))})
    assert "is not expected here" in refused(path)
    assert [each.name for each in tmp_path.iterdir()] == ["model.srsg"]
    assert not list(tmp_path.parent.parent.glob("*-evil*"))


def test_files_cut_anywhere_are_refused(files, path):
    content = files["sparse"]
    for length in range(0, len(content), max(1, len(content) // 60)):
        path.write_bytes(content[:length])
        refused(path)


# What a file may still do: give any labels it likes


def test_what_passes_the_rules_predicts(files, path):
    rng = np.random.default_rng(0)
    path.write_bytes(files["srsg"])
    points = rng.standard_normal((60, 64))
    points /= np.linalg.norm(points, axis=1, keepdims=True)
    craft(path, {"clusterer/points": points, "clusterer/step": 1e300})
    model = load_model(path)
    assert set(model.predict(X)) <= {0, 1, 2}
    craft(path, {"clusterer/step": 0.0})
    assert set(load_model(path).predict(X)) <= {0, 1, 2}
