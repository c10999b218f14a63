"""Files that somebody has planted in a store, under the right checksum: none of them is used."""

from __future__ import annotations

import socket
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest
from sklearn.datasets import load_digits
from sklearn.exceptions import ConvergenceWarning

from fuzz.invariants import l1_violation
from srsg import SMCE, SRSG, ElasticNetGraph, L1Graph, LocalScalingSpectralClustering, TSCGraph
from srsg.coding.l1 import _rules_of_sets
from srsg.points import Points
from srsg.running import ThreadEngine
from srsg.running.checking import check_arrays
from srsg.running.store import FolderStore, read_arrays
from support.estimators import assert_same

X = load_digits().data[:120]


def plant(folder, name, change, *, graph=False):
    """Change the arrays of the last file of a name; without its graph, the fit goes on from it."""
    for path in [] if graph else folder.rglob("graph.*.npz"):
        path.unlink()
    path = max(folder.rglob(f"{name}.*.npz"), key=lambda path: path.stat().st_size)
    arrays = read_arrays(path)
    path.unlink()
    arrays |= change(arrays)
    arrays = {key: np.asarray(array) for key, array in arrays.items() if array is not None}
    FolderStore(path.parent).save(name, arrays)


def entry(name, place, value):
    def change(arrays):
        changed = np.array(arrays[name])
        changed.reshape(-1)[place] = value
        return {name: changed}

    return change


def rows_twice(arrays):
    """A row that comes twice, with its neighbours."""
    return {
        name: np.concatenate([arrays[name], arrays[name][:1]]) for name in ("rows", "neighbors")
    }


def rows_missing(arrays):
    return {name: arrays[name][1:] for name in ("rows", "neighbors")}


def row_of_a_code_missing(arrays):
    return {
        f"going_on_{name}": arrays[f"going_on_{name}"][1:]
        for name in ("rows", "index", "value", "size")
    }


def own_index(arrays):
    index = arrays["going_on_index"].copy()
    index[:, 0] = arrays["going_on_rows"]
    return {"going_on_index": index}


def index_twice(arrays):
    index = arrays["going_on_index"].copy()
    index[:, 1] = index[:, 0]
    return {"going_on_index": index}


def own_neighbor(arrays):
    neighbors = arrays["neighbors"].copy()
    neighbors[:, 0] = arrays["rows"]
    return {"neighbors": neighbors}


def neighbor_twice(arrays):
    neighbors = arrays["neighbors"].copy()
    neighbors[:, 1] = neighbors[:, 0]
    return {"neighbors": neighbors}


SCANS = {
    "another name": lambda arrays: {"engine": np.array("tcp://127.0.0.1:1")},
    "another number": lambda arrays: {"penalty": np.zeros(3)},
    "wrong penalties": lambda arrays: {"going_on_half_lam": np.zeros(len(arrays["rows"]))},
    "a name less": lambda arrays: {"going_on_size": None},
    "sizes beyond the rows": entry("going_on_size", 0, 10**7),
    "sizes below zero": entry("going_on_size", 0, -1),
    "indices beyond the points": entry("going_on_index", 0, 120),
    "indices far beyond": entry("going_on_index", 0, 2**40),
    "indices before the points": entry("going_on_index", 0, -1),
    "indices of floats": lambda arrays: {"going_on_index": arrays["going_on_index"] + 0.5},
    "indices in another shape": lambda arrays: {"going_on_index": arrays["going_on_index"][:, :1]},
    "the point itself": own_index,
    "a point twice": index_twice,
    "values not finite": entry("going_on_value", 0, np.nan),
    "values too large": entry("going_on_value", 0, 1e300),
    "rows beyond the points": entry("rows", 0, 120),
    "rows that come twice": rows_twice,
    "rows missing": rows_missing,
    "a code missing": row_of_a_code_missing,
    "another row": lambda arrays: {"going_on_rows": (arrays["going_on_rows"] + 1) % 120},
    "neighbours beyond the points": entry("neighbors", 0, 120),
    "no neighbours": entry("neighbors", 0, -1),
    "fewer neighbours": lambda arrays: {"neighbors": arrays["neighbors"][:, :2]},
    "its own neighbour": own_neighbor,
    "a neighbour twice": neighbor_twice,
}


@pytest.fixture(scope="module")
def plain():
    return SRSG(3, random_state=0).fit(X)


def assert_refused(tmp_path, plain, name, change, **options):
    """The planted file is refused, and the fit has the bits of one without a store."""
    SRSG(3, store=tmp_path, random_state=0).fit(X)
    plant(tmp_path, name, change, **options)
    with pytest.warns(UserWarning, match=r"is damaged|do not match its certificates") as noticed:
        again = SRSG(3, store=tmp_path, random_state=0).fit(X)
    assert len(noticed) == 1
    assert_same(again, plain)


@pytest.mark.parametrize("what", SCANS)
def test_planted_scans_are_refused(tmp_path, plain, what):
    assert_refused(tmp_path, plain, "scan-1", SCANS[what])


def test_a_row_that_is_done_is_not_done_again(tmp_path, plain):
    """Its code would come twice, and all codes after it would belong to other points."""
    SRSG(3, store=tmp_path, random_state=0).fit(X)
    plant(tmp_path, "scan-1", lambda arrays: {})
    paths = list(tmp_path.rglob("scan-*.npz"))
    last = max(paths, key=lambda path: int(path.name.partition(".")[0].partition("-")[2]))
    arrays = read_arrays(last)
    arrays = {name: array[:0] for name, array in arrays.items()}
    done = next(read_arrays(path) for path in paths if len(read_arrays(path)["done_rows"]))
    arrays |= {name: done[name][:1] for name in done if name.startswith("done_")}
    arrays |= {"rows": done["done_rows"][:1], "neighbors": np.empty((1, 0), int)}
    arrays |= {name: done[name][:1] for name in ("violation", "gap")}
    FolderStore(last.parent).save(last.name.partition(".")[0], arrays)
    with pytest.warns(UserWarning, match="rows: are done already") as noticed:
        again = SRSG(3, store=tmp_path, random_state=0).fit(X)
    assert len(noticed) == 1
    assert_same(again, plain)


def unsorted(prefix):
    def change(arrays):
        starts = arrays[f"{prefix}indptr"]
        first = starts[np.flatnonzero(np.diff(starts) > 1)[0]]
        indices = arrays[f"{prefix}indices"].copy()
        indices[first : first + 2] = indices[first : first + 2][::-1]
        return {f"{prefix}indices": indices}

    return change


def codes_itself(prefix):
    def change(arrays):
        first, last = arrays[f"{prefix}indptr"][[60, 61]]
        place = np.searchsorted(arrays[f"{prefix}indices"][first:last], 60)
        return entry(f"{prefix}indices", min(first + place, last - 1), 60)(arrays)

    return change


SWEEPS = {
    "another name": lambda arrays: {"labels": np.zeros(120, int)},
    "a name less": lambda arrays: {"cut": None},
    "rows that are not sorted": unsorted("codes/"),
    "rows that overlap": entry("codes/indptr", 3, 0),
    "rows that end late": entry("codes/indptr", -1, 10**6),
    "indices beyond the points": entry("codes/indices", 0, 120),
    "indices before the points": entry("codes/indices", 0, -1),
    "values not finite": entry("codes/data", 0, np.inf),
    "the point itself": codes_itself("codes/"),
    "fewer points": lambda arrays: {"cut": arrays["cut"][:-1]},
    "no sweep": lambda arrays: {"objective": arrays["objective"][:1]},
    "an objective below zero": entry("objective", -1, -1.0),
    "other counts": lambda arrays: {"counts": arrays["counts"][:2]},
    "counts below zero": entry("counts", 0, -1),
}


@pytest.mark.parametrize("what", SWEEPS)
def test_planted_sweeps_are_refused(tmp_path, plain, what):
    assert_refused(tmp_path, plain, "sweep", SWEEPS[what])


GRAPHS = {
    "another name": lambda arrays: {"engine": np.array("tcp://127.0.0.1:1")},
    "another attribute": lambda arrays: {"labels": np.zeros(120, int)},
    "a method": lambda arrays: {"predict": np.zeros(3)},
    "a graph of its own": lambda arrays: {"kernel": np.eye(120)},
    "no codes": lambda arrays: {f"codes/{part}": None for part in ("data", "indices", "indptr")},
    "no start": lambda arrays: {"init_codes/indptr": None},
    "no neighbours": lambda arrays: {"neighbors": None},
    "no step": lambda arrays: {"step": None},
    "no certificates": lambda arrays: {"kkt_violation": None},
    "indices beyond the points": entry("codes/indices", 0, 120),
    "indices far beyond": entry("codes/indices", 0, 2**31 - 1),
    "indices before the points": entry("codes/indices", 0, -1),
    "rows that overlap": entry("codes/indptr", 3, 0),
    "rows that are not sorted": unsorted("codes/"),
    "the point itself": codes_itself("codes/"),
    "values not finite": entry("codes/data", 0, np.nan),
    "start beyond the points": entry("init_codes/indices", 0, 2**31 - 1),
    "neighbours beyond the points": entry("neighbors", 0, 120),
    "neighbours before the points": entry("neighbors", 0, -1),
    "neighbours of fewer points": lambda arrays: {"neighbors": arrays["neighbors"][:-1]},
    "a step below zero": entry("step", 0, -1.0),
    "certificates not finite": entry("kkt_violation", 0, np.nan),
    "certificates of fewer points": lambda arrays: {
        name: arrays[name][:-1] for name in ("kkt_violation", "dual_gap")
    },
    "wrong certificates": entry("kkt_violation", 5, 0.1),
    "certificates of wrong codes": lambda arrays: {
        "init_codes/data": 1.5 * arrays["init_codes/data"]
    },
}


@pytest.mark.parametrize("what", GRAPHS)
def test_planted_graphs_are_refused(tmp_path, plain, what):
    assert_refused(tmp_path, plain, "graph", GRAPHS[what], graph=True)


def not_symmetric(name):
    return lambda arrays: entry(name, 1, arrays[name].reshape(-1)[1] + 0.1)(arrays)


@pytest.mark.parametrize(
    ("estimator", "change"),
    [
        (ElasticNetGraph, entry("kkt_violation", 5, 0.1)),
        (ElasticNetGraph, lambda arrays: {"lam": 2 * arrays["lam"]}),
        (ElasticNetGraph, lambda arrays: {"lam": arrays["lam"][:-1]}),
        (SMCE, not_symmetric("affinity/data")),
        (SMCE, lambda arrays: {"affinity/data": -arrays["affinity/data"]}),
        (SMCE, entry("neighbors", 0, -1)),
        (LocalScalingSpectralClustering, not_symmetric("kernel")),
        (LocalScalingSpectralClustering, lambda arrays: {"kernel": -arrays["kernel"]}),
        (LocalScalingSpectralClustering, lambda arrays: {"kernel": arrays["kernel"][:, :5]}),
    ],
)
def test_planted_graphs_of_other_methods_are_refused(tmp_path, estimator, change):
    model = estimator(3, store=tmp_path, random_state=0).fit(X)
    plant(tmp_path, "graph", change, graph=True)
    with pytest.warns(UserWarning, match=r"is damaged|do not match its certificates"):
        again = estimator(3, store=tmp_path, random_state=0).fit(X)
    assert_same(again, model)


def test_a_planted_engine_connects_to_nobody(tmp_path, plain):
    """A kept graph was once given to the estimator attribute by attribute, whatever their names."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.settimeout(0.5)
        address = np.array(f"tcp://127.0.0.1:{server.getsockname()[1]}")
        assert_refused(tmp_path, plain, "graph", lambda arrays: {"engine": address}, graph=True)
        with pytest.raises(TimeoutError):
            server.accept()


PLANTED = """
import sys, tempfile, warnings
from pathlib import Path
from sklearn.datasets import load_digits
from srsg import SRSG
from srsg.running.store import read_arrays
from srsg.running.store import FolderStore

warnings.simplefilter("ignore")
X = load_digits().data[:60]
expected = SRSG(3, random_state=0).fit(X).predict(X)

def fit_after_planting(name, array, value):
    with tempfile.TemporaryDirectory() as folder:
        SRSG(3, store=folder, random_state=0).fit(X)
        for path in Path(folder).rglob("*.npz"):
            kind = path.name.partition(".")[0]
            if kind == name:
                arrays = read_arrays(path)
                arrays[array][...] = value
                FolderStore(path.parent).save(kind, arrays)
            if kind in (name, "graph"):
                path.unlink()
        return SRSG(3, store=folder, random_state=0).fit(X).predict(X)

for name, array, value in [
    ("scan-1", "going_on_index", 2**40),
    ("scan-1", "going_on_size", 10**7),
    ("scan-1", "done_index", -(2**40)),
    ("scan-1", "neighbors", 2**40),
    ("sweep", "codes/indices", 2**31 - 1),
    ("graph", "codes/indices", 2**31 - 1),
    ("graph", "neighbors", -(2**31)),
]:
    print(name, array, (fit_after_planting(name, array, value) == expected).all(), flush=True)
"""


def test_planted_indices_do_not_end_the_process():
    """Compiled loops once read them as they were: the process died of SIGSEGV."""
    command = [sys.executable, "-c", PLANTED]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, (done.stdout, done.stderr)
    assert done.stdout.count("True") == 7, done.stdout


def forged(folder):
    """Other codes in every file, under the right checksums, with certificates that praise them."""
    for path in folder.rglob("graph.*.npz"):  # the fit did not get that far
        path.unlink()
    for path in sorted(folder.rglob("scan-*.npz")):
        arrays = read_arrays(path)
        index = arrays["done_index"]
        index = (index + 1) % len(X)
        index += index == arrays["done_rows"][:, None]  # not the point itself, which is refused
        arrays["done_index"] = index % len(X)
        arrays["violation"], arrays["gap"] = (0 * arrays[name] for name in ("violation", "gap"))
        path.unlink()
        FolderStore(path.parent).save(path.name.partition(".")[0], arrays)


@pytest.mark.filterwarnings("ignore:.* is damaged .index. has a point")
def test_certificates_are_computed_and_not_read(tmp_path):
    L1Graph(3, store=tmp_path).fit(X)
    forged(tmp_path)
    with pytest.warns(ConvergenceWarning, match="codes not optimal"):
        model = L1Graph(3, store=tmp_path).fit_graph(X)
    true, _ = l1_violation(model.fit_X_, model.codes_.toarray(), model.lam)
    assert true.max() > 0.1
    np.testing.assert_allclose(model.kkt_violation_, true, atol=1e-12)


def test_points_are_counted_from_zero():
    """Rules for kept scans: the first point is one, and the one after the last is none."""
    rules = _rules_of_sets("", "sets", "width")
    sizes = {"queries": 2, "points": 2, "sets": 1, "width": 1}

    def arrays(**changed):
        kept = {"rows": [0], "index": [[0]], "value": [[0.5]], "size": [0]}
        return {name: np.array(value) for name, value in (kept | changed).items()}

    check_arrays(arrays(), rules, sizes)
    for name, wrong in (("rows", [-1]), ("rows", [2]), ("index", [[-1]]), ("index", [[2]])):
        with pytest.raises(ValueError, match=name):
            check_arrays(arrays(**{name: wrong}), rules, sizes)


def test_a_kept_graph_without_certificates_is_used_again(tmp_path, monkeypatch):
    """Codes by angles have nothing that could contradict them."""
    model = TSCGraph(3, store=tmp_path, random_state=0).fit(X)
    monkeypatch.setattr(TSCGraph.coder, "code", None)
    assert_same(TSCGraph(3, store=tmp_path, random_state=0).fit(X), model)


@pytest.mark.parametrize(
    "change", [{}, {"codes": 1.01}, {"kkt_violation": 1e-3}, {"lam": 2.0}], ids=str
)
def test_affine_codes_are_compared_with_their_certificates(change):
    """They have to add up to one, and to violate as much as they say."""
    points = Points(10 * X[:20])
    coder, run = L1Graph.ssc(3)._coder(), ThreadEngine(1)
    coded = coder.code(points, run)
    learnt = dict(coded.learnt)
    learnt["kkt_violation"] = learnt["kkt_violation"] + change.get("kkt_violation", 0)
    learnt["lam"] = learnt["lam"] * change.get("lam", 1)
    coded = replace(coded, codes=coded.codes * change.get("codes", 1), learnt=learnt)
    assert coder.is_consistent(coded, points, run) == (not change)


def test_one_point_has_no_affine_code_to_be_wrong():
    points = Points(np.ones((3, 4)))
    coder, run = L1Graph.ssc(1, n_neighbors=1)._coder(), ThreadEngine(1)
    assert coder.is_consistent(coder.code(points, run), points, run)
