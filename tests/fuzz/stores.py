"""Models and stores, damaged: refused, or as good as undamaged ones."""

from __future__ import annotations

import functools
import io
import json
import tempfile
import warnings
import zipfile
from pathlib import Path

import numpy as np

from fuzz.invariants import check_fit, check_labels, check_same_bits
from fuzz.outcomes import expect
from fuzz.readers import damaged
from srsg import SMCE, SRSG, L1Graph, PreparedClusterer, RidgeGraph
from srsg.persistence import load_model, save_model
from srsg.running.store import FolderStore, read_arrays

POINTS = np.random.default_rng(0).standard_normal((12, 4))


def small_model(number):
    kind = [SRSG, L1Graph, SMCE, RidgeGraph][number]
    return kind(2, n_neighbors=3, random_state=0, n_init=1, n_jobs=1)


def small_models():
    columns = {"scale": "standard", "impute": "knn"}
    return [*map(small_model, range(4)), PreparedClusterer(small_model(1), **columns)]


def kept_and_saved(model, X):
    """A model comes back from its file and its graph from a store, in the same bits."""
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        path = Path(folder) / "model.srsg"
        save_model(model, path)
        check_same_bits(model, load_model(path))
        kept = type(model)(**model.get_params()).set_params(store=f"{folder}/kept")
        kept.fit(X)
        warnings.filterwarnings("error", ".*is damaged|.*do not match its certificates")
        for again in (kept.fit(X), without_graphs(kept, folder).fit(X)):
            check_same_bits(model, again)


def without_graphs(model, folder):
    """So that the next fit goes on from scans and sweeps."""
    for path in Path(folder).rglob("graph.*.npz"):
        path.unlink()
    return model


@functools.cache
def model_bytes(number):
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.srsg"
        save_model(small_models()[number].fit(POINTS), path)
        return path.read_bytes()


def damaged_model(rng):
    """A model file with damaged bytes, a damaged array in a sound archive, or a changed value."""
    content = model_bytes(int(rng.integers(5)))
    change = damaged if rng.random() < 0.3 else rewritten
    check_planted_model(change(rng, content), POINTS)


def check_planted_model(content, X):
    """Load a model and use it: whatever it says, labels are in range and numbers finite."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.srsg"
        path.write_bytes(content)
        model = load_model(path)
        clusterer = getattr(model, "clusterer_", model)
        clusterer.n_jobs = 1
        check_labels(model.predict(X), len(X), max(clusterer.n_clusters_, 1))
        sure = clusterer.predict_confidence(X)
        expect(np.isfinite(sure).all(), "confidence is not finite", sure)
        check_labels(clusterer.relabel(2, random_state=0), len(X), 2)


def rewritten(rng, content):
    """One member of the archive changed, with the right checksum."""
    result = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(content)) as old, zipfile.ZipFile(result, "w") as new:
        names = old.namelist()
        chosen = names[rng.integers(len(names))]
        for name in names:
            member = old.read(name)
            if name == chosen:
                member = _changed(rng, name, member)
            new.writestr(name, member)
    return result.getvalue()


def _changed(rng, name, member):
    if name == "header.npy" and rng.random() < 0.7:
        return _changed_header(rng, member)
    if name != "header.npy" and rng.random() < 0.6:
        target = io.BytesIO()
        np.save(target, _hostile(rng, np.load(io.BytesIO(member), allow_pickle=False)))
        return target.getvalue()
    return damaged(rng, member)


def _changed_header(rng, member):
    header = json.loads(np.load(io.BytesIO(member)).item())
    _change_leaf(rng, header)
    target = io.BytesIO()
    np.save(target, np.array(json.dumps(header)))
    return target.getvalue()


def _hostile(rng, array):
    """An array with one value that nobody expects, and sometimes one row less."""
    array = array.copy()
    values = [-1, 0, 1, 5, 11, 12, 10**9]
    if array.dtype.kind == "f":
        values = [np.nan, np.inf, 1e300, -1e300, 0.0, -1.0, 1.0]
    if array.size:
        array.reshape(-1)[rng.integers(array.size)] = values[rng.integers(len(values))]
    return array[: len(array) - int(rng.random() < 0.2)] if array.ndim else array


def _change_leaf(rng, node):
    """Walk down at random, and replace what is found there."""
    while True:
        keys = list(node.keys()) if isinstance(node, dict) else list(range(len(node)))
        if not keys:
            return
        key = keys[rng.integers(len(keys))]
        if isinstance(node[key], (dict, list)) and rng.random() < 0.9:
            node = node[key]
        else:
            values = [None, -1, 10**9, "x", [], {}, float("nan"), True, "0"]
            node[key] = values[rng.integers(len(values))]
            return


@functools.cache
def expected_fit(number):
    return small_model(number).fit(POINTS)


def damaged_store(rng):
    """A fit from a folder of damaged files is the fit without one."""
    number = int(rng.integers(2))
    with tempfile.TemporaryDirectory() as folder:
        small_model(number).set_params(store=folder).fit(POINTS)
        if rng.random() < 0.5:
            without_graphs(None, folder)
        planted = rng.random() < 0.5
        for path in sorted(Path(folder).rglob("*.npz")):
            if planted:
                plant(rng, path)
            elif rng.random() < 0.7:
                path.write_bytes(damaged(rng, path.read_bytes()))
        model = small_model(number).set_params(store=folder).fit(POINTS)
        if planted:  # values that nothing contradicts are taken for those of a fit
            check_labels(model.labels_, len(POINTS), 2)
            check_labels(model.predict(POINTS), len(POINTS), 2)
            return
        check_fit(model, len(POINTS))
        model.store = None
        check_same_bits(model, expected_fit(number))


def plant(rng, path):
    """Change an array of a file, under the right checksum."""
    arrays = read_arrays(path)
    name = sorted(arrays)[rng.integers(len(arrays))]
    arrays[name] = np.asarray(_hostile(rng, arrays[name]))
    path.unlink()
    FolderStore(path.parent).save(path.name.partition(".")[0], arrays)
