"""Model files made to do harm: where a model runs is the reader's choice, all else is checked."""

from __future__ import annotations

import io
import json
import socket
import tracemalloc
import zipfile
from copy import copy

import numpy as np
import pytest
import skops.io
from joblib import Memory
from scipy import sparse
from sklearn.datasets import load_digits

from srsg import SMCE, SRSG, L1Graph
from srsg.persistence import FORMAT, load_model, save_model

X = load_digits().data[:90]


@pytest.fixture(scope="module")
def fitted():
    return SRSG(3, random_state=0).fit(X[:60])


@pytest.fixture
def path(tmp_path):
    return tmp_path / "model.srsg"


def craft(model, path, version=FORMAT):
    """A file as somebody who means harm would write it, past ``save_model``."""
    skops.io.dump(model, path)
    with zipfile.ZipFile(path, "a") as archive:
        archive.writestr("srsg.json", json.dumps({"format": version, "srsg": "0.1.0"}))


def changed(model, **attributes):
    """A copy with other attributes."""
    other = type(model)()
    vars(other).update(vars(model), **attributes)
    return other


@pytest.fixture
def listener():
    """A port that notices whoever connects."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.settimeout(0.5)
        yield server


@pytest.mark.parametrize("version", [1, FORMAT])
def test_a_file_that_names_a_scheduler_connects_to_nobody(fitted, path, listener, version):
    address = f"tcp://127.0.0.1:{listener.getsockname()[1]}"
    craft(changed(fitted, engine=address), path, version)
    with pytest.warns(UserWarning, match=rf"engine='{address}', which a file may not choose"):
        model = load_model(path)
    assert model.engine == "threads"
    np.testing.assert_array_equal(model.predict(X), fitted.predict(X))
    with pytest.raises(TimeoutError):
        listener.accept()


def test_a_file_that_names_folders_makes_none(fitted, path, tmp_path):
    folders = {"checkpoint": str(tmp_path / "checkpoint"), "memory": str(tmp_path / "memory")}
    craft(changed(fitted, **folders, n_jobs=64, max_memory="1PB", verbose=True), path)
    with pytest.warns(UserWarning, match="checkpoint=.*memory=.*n_jobs=64.*max_memory='1PB'"):
        model = load_model(path)
    model.predict(X)
    model.fit(X[:60])
    assert [each.name for each in tmp_path.iterdir()] == ["model.srsg"]


def test_where_a_model_runs_is_not_saved(fitted, path, tmp_path):
    model = changed(
        fitted, engine="tcp://10.0.0.1:8786", checkpoint=tmp_path, memory=Memory(None), n_jobs=1
    )
    save_model(model, path)
    with zipfile.ZipFile(path) as archive:
        schema = archive.read("schema.json").decode()
    for name in ("engine", "checkpoint", "memory", "n_jobs", "max_memory", "verbose"):
        assert f'"{name}"' not in schema
    loaded = load_model(path)
    assert (loaded.engine, loaded.checkpoint, loaded.memory) == ("threads", None, None)
    assert model.n_jobs == 1  # the model that was saved stays as it is
    np.testing.assert_array_equal(loaded.predict(X), fitted.predict(X))


def wrong_codes(model, **parts):
    """Codes whose parts are not checked when they are put together."""
    codes = model.codes_.copy()
    for name, value in parts.items():
        setattr(codes, name, value)
    return codes


def indices_with(model, value):
    indices = model.codes_.indices.copy()
    indices[-1] = value
    return wrong_codes(model, indices=indices)


CRAFTED = {
    "codes beyond the points": lambda m: {"codes_": indices_with(m, 10**6)},
    "codes before the points": lambda m: {"codes_": indices_with(m, -5)},
    "codes of another shape": lambda m: {"codes_": m.codes_[:10]},
    "codes not finite": lambda m: {"codes_": m.codes_ * np.nan},
    "codes not sparse": lambda m: {"codes_": m.codes_.toarray()},
    "start codes": lambda m: {"init_codes_": m.init_codes_[:, :10]},
    "graph": lambda m: {"affinity_matrix_": m.affinity_matrix_[:5, :5]},
    "labels beyond the clusters": lambda m: {"labels_": m.labels_ + 7},
    "labels below zero": lambda m: {"labels_": m.labels_ - 1},
    "labels too few": lambda m: {"labels_": m.labels_[:-1]},
    "labels no integers": lambda m: {"labels_": m.labels_.astype(float)},
    "clusters": lambda m: {"n_clusters_": 10**12},
    "clusters no integer": lambda m: {"n_clusters_": "3"},
    "scores without numbers": lambda m: {"cluster_count_scores_": np.ones(3)},
    "numbers of clusters": lambda m: {"cluster_counts_": np.array([2, 10**9])},
    "structure": lambda m: {"structure_found_": "no"},
    "neighbours": lambda m: {"neighbors_": m.neighbors_ + 1000},
    "points not finite": lambda m: {"fit_X_": np.full_like(m.fit_X_, np.inf)},
    "points not of unit length": lambda m: {"fit_X_": m.fit_X_ * 2},
    "points of one dimension": lambda m: {"fit_X_": m.fit_X_.ravel()},
    "points are text": lambda m: {"fit_X_": m.fit_X_.astype(str)},
    "features": lambda m: {"n_features_in_": 3},
    "names of features": lambda m: {"feature_names_in_": np.array(["a"], dtype=object)},
    "a step": lambda m: {"step_": -1.0},
    "a parameter": lambda m: {"lam": -1.0},
    "more neighbours than points": lambda m: {"n_neighbors": 60},
    "a parameter of another type": lambda m: {"gamma": "much"},
    "the place of a method": lambda m: {"_engine": 3, "predict": "nothing"},
}


@pytest.mark.parametrize("what", CRAFTED)
def test_values_that_no_fit_leaves_are_refused(fitted, path, what):
    changes = CRAFTED[what](fitted)
    craft(changed(fitted, **changes), path)
    name = next(iter(changes))
    with pytest.raises(ValueError, match=r"model\.srsg (holds an invalid model|is damaged).*") as e:
        load_model(path)
    assert name in str(e.value) or "damaged" in str(e.value)


def test_unsorted_codes_are_refused(fitted, path):
    """Whatever the flags of the file say about them."""
    codes = fitted.codes_.copy()
    row = int(np.flatnonzero(np.diff(codes.indptr) > 1)[0])
    codes.indices[codes.indptr[row] : codes.indptr[row + 1]] = codes.indices[
        codes.indptr[row] : codes.indptr[row + 1]
    ][::-1]
    codes.has_sorted_indices = codes.has_canonical_format = True
    craft(changed(fitted, codes_=codes), path)
    with pytest.raises(ValueError, match="codes_: has rows that are not sorted"):
        load_model(path)


def test_owners_of_copies_are_checked(path):
    model = SMCE(3, random_state=0).fit(X[:60])
    craft(changed(model, _owner_=model._owner_ + 100), path)
    with pytest.raises(ValueError, match="_owner_: has values outside 0 to 59"):
        load_model(path)


def test_files_of_the_first_format_are_read(path):
    model = SMCE(3, random_state=0).fit(X[:60])
    old = changed(model, _owner=model._owner_, _distinct=model._distinct_)
    del old._owner_, old._distinct_
    craft(old, path, version=1)
    loaded = load_model(path)
    assert vars(loaded).keys() == vars(model).keys()
    np.testing.assert_array_equal(loaded.predict(X), model.predict(X))


@pytest.mark.parametrize("value", [np.linalg.norm, sparse.csc_array(np.eye(2)), L1Graph(3)])
def test_what_skops_trusts_but_no_model_holds_is_refused(fitted, path, value):
    craft(changed(fitted, lam=value), path)
    with pytest.raises(ValueError, match=r"model\.srsg holds"):
        load_model(path)


def test_pickles_inside_the_archive_are_not_read(fitted, path, tmp_path):
    class Exploit:
        def __reduce__(self):
            return (open, (str(tmp_path / "was run"), "w"))

    craft(fitted, path)
    with zipfile.ZipFile(path) as archive:
        entries = {name: archive.read(name) for name in archive.namelist()}
    buffer = io.BytesIO()
    np.save(buffer, np.array([Exploit()], dtype=object), allow_pickle=True)
    for name in entries:
        if name.endswith(".npy"):
            entries[name] = buffer.getvalue()
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in entries.items():
            archive.writestr(name, content)
    with pytest.raises(ValueError, match=r"model\.srsg is damaged"):
        load_model(path)
    assert not (tmp_path / "was run").exists()


def entries_of(path):
    with zipfile.ZipFile(path) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def write_entries(path, entries, compression=zipfile.ZIP_STORED):
    with zipfile.ZipFile(path, "w", compression) as archive:
        for name, content in entries.items():
            archive.writestr(name, content)


def refused(path):
    """What loading a file says, which must take little memory."""
    tracemalloc.start()
    try:
        with pytest.raises(ValueError, match=r"model\.srsg") as error:
            load_model(path)
        assert tracemalloc.get_traced_memory()[1] < 20e6
    finally:
        tracemalloc.stop()
    return str(error.value)


ZEROS = b"\0" * 100_000_000


@pytest.mark.parametrize("name", ["schema.json", "srsg.json", "points.npy"])
@pytest.mark.parametrize("kind", [zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_archives_that_unpack_to_much_more_are_refused(fitted, path, name, kind):
    craft(fitted, path)
    write_entries(path, {**entries_of(path), name: b"\0" * 1000}, kind)
    assert "is compressed or encrypted" in refused(path)


@pytest.mark.parametrize("suffix", ["", ".bin"])
def test_matrices_that_unpack_to_much_more_are_refused(fitted, path, suffix):
    craft(fitted, path)
    bomb = io.BytesIO()
    with zipfile.ZipFile(bomb, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("data.npy", ZEROS)
    entries = entries_of(path)
    name = next(name for name in entries if name.endswith(".npz"))
    del entries[name]
    schema = entries["schema.json"].decode().replace(name, name + suffix)
    write_entries(path, {**entries, "schema.json": schema, name + suffix: bomb.getvalue()})
    assert "unpacks to 100000000 bytes" in refused(path)


def test_arrays_that_are_named_again_and_again_are_refused(fitted, path):
    craft(changed(fitted, lam=[fitted.fit_X_.copy() for _ in range(9)]), path)
    entries = entries_of(path)
    schema = json.loads(entries["schema.json"])
    nodes = schema["content"]["content"]["lam"]["content"]
    for node in nodes:
        node["file"] = nodes[0]["file"]
    text = json.dumps(schema)
    kept = {name: each for name, each in entries.items() if name in text}
    write_entries(path, {**kept, "schema.json": text, "srsg.json": entries["srsg.json"]})
    assert "schema.json: names the same arrays more than once" in refused(path)


def test_parts_that_overlap_are_refused(fitted, path):
    craft(fitted, path)
    with zipfile.ZipFile(path, "a") as archive:
        first = archive.infolist()[0]
        for number in range(20):
            twin = copy(first)
            twin.filename = f"{number}.npy"
            archive.filelist.append(twin)
            archive.NameToInfo[twin.filename] = twin
        archive._didModify = True
    assert "archive: has overlapping parts" in refused(path)


@pytest.mark.parametrize(
    "versions",
    ["[" * 100_000, '{"format": Infinity, "srsg": "1"}', '{"format": -1, "srsg": "1"}', "[]", ""],
)
def test_versions_that_nobody_writes_are_refused(fitted, path, versions):
    craft(fitted, path)
    write_entries(path, {**entries_of(path), "srsg.json": versions})
    assert refused(path).count("\n") == 0


@pytest.mark.parametrize(("at", "value"), [(8, 1), (10, 99)])
def test_encryption_and_unknown_methods_are_refused(fitted, path, at, value):
    craft(fitted, path)
    content = bytearray(path.read_bytes())
    place = content.find(b"PK\x01\x02")
    while place >= 0:
        content[place + at] = value
        place = content.find(b"PK\x01\x02", place + 4)
    path.write_bytes(content)
    assert "is compressed or encrypted" in refused(path)


@pytest.mark.parametrize("prefix", ["../../", "/"])
def test_names_of_parts_lead_nowhere(fitted, path, tmp_path, prefix):
    craft(fitted, path)
    entries = {**entries_of(path), f"{prefix}{tmp_path.name}-evil.txt": b"evil"}
    write_entries(path, entries)
    np.testing.assert_array_equal(load_model(path).predict(X), fitted.predict(X))
    assert [each.name for each in tmp_path.iterdir()] == ["model.srsg"]
    assert not list(tmp_path.parent.parent.glob("*-evil.txt"))


@pytest.mark.parametrize("lost", [1, 2, 40])
def test_a_file_that_lost_its_beginning(fitted, path, lost):
    save_model(fitted, path)
    # Its first part then begins before the file.
    path.write_bytes(path.read_bytes()[lost:])
    with pytest.raises(ValueError, match=r"model\.srsg is not a model that srsg saved"):
        load_model(path)
