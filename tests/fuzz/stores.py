"""Models and checkpoints, damaged: refused, or as good as undamaged ones."""

from __future__ import annotations

import functools
import io
import json
import tempfile
import zipfile
from pathlib import Path

import numpy as np

from fuzz.invariants import check_fit, check_labels, check_same_bits
from fuzz.readers import damaged
from srsg import SMCE, SRSG, L1Graph, RidgeGraph
from srsg.persistence import load_model, save_model

POINTS = np.random.default_rng(0).standard_normal((12, 4))


def small_model(number):
    kind = [SRSG, L1Graph, SMCE, RidgeGraph][number]
    return kind(2, n_neighbors=3, random_state=0, n_init=1, n_jobs=1)


@functools.cache
def model_bytes(number):
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.srsg"
        save_model(small_model(number).fit(POINTS), path)
        return path.read_bytes()


def damaged_model(rng):
    """A model file with damaged bytes, a damaged array in a sound archive, or a changed value."""
    content = model_bytes(int(rng.integers(4)))
    change = damaged if rng.random() < 0.3 else _rewritten
    content = change(rng, content)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.srsg"
        path.write_bytes(content)
        model = load_model(path)
        model.n_jobs = 1
        check_labels(model.predict(POINTS), len(POINTS), max(model.n_clusters_, 1))


def _rewritten(rng, content):
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
    if name.endswith(".npy") and rng.random() < 0.6:
        array = np.load(io.BytesIO(member), allow_pickle=False).copy()
        if array.size:
            flat = array.reshape(-1)
            hostile = (
                [-1, 10**9, 0] if array.dtype.kind in "iu" else [np.nan, np.inf, 1e300, -1e300]
            )
            flat[rng.integers(flat.size)] = hostile[rng.integers(len(hostile))]
        target = io.BytesIO()
        np.save(target, array[: len(array) - int(rng.random() < 0.2)] if array.ndim else array)
        return target.getvalue()
    if name == "schema.json" and rng.random() < 0.7:
        schema = json.loads(member)
        _change_leaf(rng, schema)
        return json.dumps(schema).encode()
    return damaged(rng, member)


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


def damaged_checkpoint(rng):
    """A fit from a folder of damaged files is the fit without one."""
    number = int(rng.integers(2))
    with tempfile.TemporaryDirectory() as folder:
        small_model(number).set_params(checkpoint=folder).fit(POINTS)
        for path in sorted(Path(folder).rglob("*.npz")):
            if rng.random() < 0.7:
                path.write_bytes(damaged(rng, path.read_bytes()))
        model = small_model(number).set_params(checkpoint=folder).fit(POINTS)
        check_fit(model, len(POINTS))
        model.checkpoint = None
        check_same_bits(model, expected_fit(number))
