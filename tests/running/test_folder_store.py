"""Stores: other points are never taken for the same, damage is noticed, processes share."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from sklearn.datasets import load_digits

from srsg import SRSG, L1Graph
from srsg.coding.l1 import l1_codes
from srsg.files import FileError
from srsg.points import Points, row_digests
from srsg.running import ThreadEngine
from srsg.running import store as module
from srsg.running.checking import InvalidArrayError, Rule, checked_csr
from srsg.running.progress import Progress, send_progress_to
from srsg.running.store import FolderStore, fingerprint, read_arrays
from support.clusters import Disturbed
from support.estimators import assert_same
from support.file_samples import Exploit

X = load_digits().data[:120]
SIGNED = np.random.default_rng(0).standard_normal((120, 20))
ROWS = {"rows": Rule("int", (None,), least=0, below="n")}


@pytest.fixture(scope="module")
def plain():
    return SRSG(3, random_state=0).fit(X)


def load_rows(store, n=100):
    return [arrays["rows"].tolist() for arrays in store.load("scan", ROWS, {"n": n}, dict)]


# Fingerprints


def test_the_signs_of_a_column_are_told_apart(tmp_path):
    L1Graph(3, store=tmp_path).fit(SIGNED)
    for column in range(3):
        other = SIGNED.copy()
        other[:, column] = np.abs(other[:, column])
        kept = L1Graph(3, store=tmp_path, random_state=0).fit(other)
        assert_same(kept, L1Graph(3, random_state=0).fit(other))


def variants():
    x = SIGNED / np.linalg.norm(SIGNED, axis=1, keepdims=True)
    for column in range(x.shape[1]):
        changed = x.copy()
        changed[:, column] *= -1
        yield changed
        changed = x.copy()
        changed[:, column] = np.abs(x[:, column])
        yield changed
    for pair in ([0, 1], [5, 100]):
        changed = x.copy()
        changed[pair] = changed[pair[::-1]]
        yield changed
    changed = x.copy()
    changed[7, 3] = np.nextafter(changed[7, 3], 1)
    yield changed
    yield x[:-1]
    yield x.astype(np.float32)
    yield x.reshape(240, 10)
    yield x.view(np.float32)
    yield x


def fingerprint_of(shards):
    digests = b"".join(row_digests(shard) for shard in shards)
    return ThreadEngine(1).fingerprint(Points(shards[0].x, digests=digests))


def test_points_that_differ_anywhere_have_other_fingerprints():
    texts = [fingerprint_of([Points(each)]) for each in variants()]
    assert len(set(texts)) == len(texts)


@pytest.mark.parametrize("cuts", [[60], [1, 2, 119], [40, 80]])
def test_fingerprints_do_not_depend_on_shards(cuts):
    ends = [0, *cuts, 120]
    shards = [Points(X[a:b], first=a) for a, b in pairwise(ends)]
    assert fingerprint_of(shards) == ThreadEngine(1).fingerprint(Points(X))
    assert fingerprint_of(shards[::-1]) != fingerprint_of([Points(X)])


def test_facts_are_kept_apart():
    facts = [("ab", "c"), ("a", "bc"), ("abc",), (1, 2), (12,), (1.0,), (1,), ("1",), (None,)]
    arrays = [np.zeros(4), np.zeros((2, 2)), np.zeros(4, np.float32), np.zeros(4, int), np.zeros(0)]
    texts = [fingerprint(*each) for each in facts] + [fingerprint(each) for each in arrays]
    assert len(set(texts)) == len(texts)


def test_what_older_algorithms_left_is_not_used(tmp_path, monkeypatch):
    FolderStore(tmp_path).of("codes").save("scan", {"rows": np.arange(3)})
    assert load_rows(FolderStore(tmp_path).of("codes")) == [[0, 1, 2]]
    monkeypatch.setattr(module, "ALGORITHMS", module.ALGORITHMS + 1)
    assert load_rows(FolderStore(tmp_path).of("codes")) == []


# Files


def test_a_file_has_the_arrays_and_nothing_else(tmp_path, monkeypatch):
    """NumPy 2.0 takes every keyword of savez for the name of an array."""
    given = []

    def savez(file, *args, **keywords):
        given.extend(keywords)
        savez_of_today(file, *args, **keywords)

    savez_of_today = np.savez
    monkeypatch.setattr(np, "savez", savez)
    FolderStore(tmp_path).save("scan", {"rows": np.arange(3)})
    assert given == ["rows"]


def test_objects_are_never_written(tmp_path):
    with pytest.raises(TypeError):
        FolderStore(tmp_path).save("scan", {"rows": np.array([{}, None])})
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("indptr", [[1, 1, 2], [0, 1, 1], [0, 3, 2], [0, 1, 3], [0, 2]])
def test_matrices_whose_rows_do_not_fit_are_refused(indptr):
    """Compiled loops go from each entry of indptr to the next without looking."""
    arrays = {"z/data": np.ones(2), "z/indices": np.array([0, 1]), "z/indptr": np.array(indptr)}
    with pytest.raises(InvalidArrayError, match="z"):
        checked_csr("z", arrays, (2, 2))


def test_pickles_in_a_store_are_not_run(tmp_path):
    """A file is refused before a pickle in it is read, not only because its checksum differs."""
    store, mark = FolderStore(tmp_path), tmp_path / "was run"
    store.save("scan", {"rows": np.arange(3)})
    (path,) = tmp_path.glob("*.npz")
    np.savez(path, rows=np.array([Exploit(mark)], dtype=object))
    with pytest.warns(UserWarning, match="is damaged"):
        assert load_rows(store) == []
    assert not mark.exists()
    np.load(path, allow_pickle=True)["rows"]
    assert mark.exists()  # it would have been seen


def test_a_file_of_other_work_is_not_taken(tmp_path):
    one, other = FolderStore(tmp_path).of("a"), FolderStore(tmp_path).of("b")
    one.save("scan", {"rows": np.arange(3)})
    (path,) = one.folder.iterdir()
    path.rename(other.folder / path.name)
    with pytest.warns(UserWarning, match="is damaged .its checksum differs"):
        assert load_rows(other) == []


def test_blocks_with_the_same_rows_are_read_once(tmp_path):
    store = FolderStore(tmp_path)
    for rows in ([0, 1], [1, 2], [3]):
        store.save("scan", {"rows": np.array(rows)})
    rows = [row for rows in load_rows(store) for row in rows]
    assert len(rows) == len(set(rows)) >= 3


@pytest.mark.parametrize("content", ["folder", "link"])
def test_what_is_no_file_is_passed_over(tmp_path, content):
    place = tmp_path / "scan.0123.npz"
    place.mkdir() if content == "folder" else place.symlink_to(tmp_path / "nowhere")
    with pytest.warns(UserWarning, match="is damaged"):
        assert load_rows(FolderStore(tmp_path)) == []


# Damage


def cut_short(path):
    path.write_bytes(path.read_bytes()[:100])


def emptied(path):
    path.write_bytes(b"")


def one_byte(path):
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)


def pickled(path):
    np.savez(path, rows=np.array([print], dtype=object))


def compressed(path):
    np.savez_compressed(path, **read_arrays(path))


def other_arrays(path):
    np.savez(path, something=np.arange(3))


def scaled(path):
    arrays = read_arrays(path)
    for name, array in arrays.items():
        if array.dtype == np.float64:
            arrays[name] = array * 1.5
    np.savez(path, **arrays)


@pytest.mark.parametrize(
    "damage",
    [cut_short, emptied, one_byte, pickled, compressed, other_arrays, scaled],
    ids=lambda d: d.__name__,
)
def test_damaged_files_are_named_and_done_again(tmp_path, damage):
    expected = SRSG(3, random_state=0).fit(X)
    SRSG(3, store=tmp_path).fit(X)
    files = list(tmp_path.rglob("*.npz"))
    assert {path.name.partition(".")[0] for path in files} >= {"graph", "scan-1", "sweep"}
    for path in files:
        damage(path)
    with pytest.warns(UserWarning, match=r"\.npz is damaged .*done again") as noticed:
        again = SRSG(3, store=tmp_path, random_state=0).fit(X)
    said = " ".join(str(each.message) for each in noticed)
    assert all(f"{tmp_path}/{path.parent.name}/" in said for path in files)
    assert_same(again, expected)
    # The same blocks have been written again, under the same names.
    assert_same(SRSG(3, store=tmp_path, random_state=0).fit(X), expected)


# Work that goes on


def stop():
    raise KeyboardInterrupt


@pytest.mark.parametrize("stage", ["codes, scan 1", "codes, scan 2", "sweep 1", "sweep 3", "eigen"])
def test_an_interrupted_fit_goes_on_with_the_same_bits(tmp_path, block_size, stage):
    block_size(32)
    settings = {"store": tmp_path, "random_state": 0, "n_jobs": 1}
    moment = {"advances" if stage.startswith("codes") else "begins": {stage: stop}}
    with send_progress_to(Disturbed(**moment)), pytest.raises(KeyboardInterrupt):
        SRSG(5, **settings).fit(X)
    resumed = Disturbed()
    with send_progress_to(resumed):
        model = SRSG(5, **settings).fit(X)
    labels = [label for label, total in resumed.totals.items() if total]
    assert ("codes, scan 1 of 120 points" in labels) == (stage == "codes, scan 1")
    assert ("sweep 1" in labels) == (stage not in ("sweep 3", "eigen"))
    assert_same(model, SRSG(5, random_state=0).fit(X))


def test_a_graph_is_found_for_another_number_of_clusters(tmp_path):
    SRSG(5, store=tmp_path).fit(X)
    seen = Disturbed()
    with send_progress_to(seen):
        model = SRSG(3, store=tmp_path, random_state=0).fit(X)
    assert not any(label.startswith(("codes", "sweep")) for label in seen.totals)
    assert_same(model, SRSG(3, random_state=0).fit(X))


def test_other_points_or_parameters_start_anew(tmp_path):
    SRSG(5, store=tmp_path).fit_graph(X)
    for points, settings in [(X[::-1], {}), (X, {"lam": 0.2}), (X[:-1], {})]:
        seen = Disturbed()
        with send_progress_to(seen):
            SRSG(5, store=tmp_path, **settings).fit_graph(points)
        assert any(total for label, total in seen.totals.items() if label.startswith("codes"))


@pytest.mark.filterwarnings("ignore:The sweeps did not converge")
def test_sweeps_of_a_longer_or_shorter_run_are_no_others(tmp_path):
    settings = {"step": 0.01, "tol": 0.0, "random_state": 0}
    for max_sweeps in (2, 5, 3, 1):
        model = SRSG(3, max_sweeps=max_sweeps, store=tmp_path, **settings).fit(X)
        assert_same(model, SRSG(3, max_sweeps=max_sweeps, **settings).fit(X))


# Several at once


def codes_in(folder, block_size, progress=None):
    engine = ThreadEngine(1, progress or Progress(), FolderStore(folder), block_size)
    points = Points(X / np.linalg.norm(X, axis=1, keepdims=True))
    return l1_codes(points, 0.1, n_neighbors=5, engine=engine)


@pytest.mark.parametrize("stage", ["codes, scan 1", "codes, scan 2"])
def test_blocks_of_other_sizes_in_one_folder_do_not_mix(tmp_path, stage):
    """Another process begins in the middle of the first one, with other blocks."""
    expected = codes_in(tmp_path / "alone", 32)
    together = tmp_path / "together"
    between = Disturbed(advances={stage: lambda: codes_in(together, 50)})
    for codes in (codes_in(together, 32, between), codes_in(together, 13)):
        assert codes.neighbors.shape == (120, 5)
        np.testing.assert_array_equal(codes.neighbors, expected.neighbors)
        np.testing.assert_array_equal(codes.codes.toarray(), expected.codes.toarray())
        np.testing.assert_array_equal(codes.kkt_violation, expected.kkt_violation)
    assert not between.advances


def test_threads_that_save_at_once_lose_nothing(tmp_path):
    store = FolderStore(tmp_path)
    threads = [
        threading.Thread(target=store.save, args=("scan", {"rows": np.arange(k, k + 1)}))
        for k in range(20)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(load_rows(store)) == [[k] for k in range(20)]


FIT = """
import sys
from sklearn.datasets import load_digits
from srsg import SRSG
model = SRSG(3, store=sys.argv[1], n_jobs=int(sys.argv[2]), random_state=0)
print(model.fit(load_digits().data[:120]).labels_.tolist())
"""


def test_two_processes_on_one_folder(tmp_path, plain):
    command = [sys.executable, "-c", FIT, str(tmp_path / "kept")]
    processes = [
        subprocess.Popen([*command, jobs], stdout=subprocess.PIPE, text=True) for jobs in "12"
    ]
    expected = str(plain.labels_.tolist())
    for process in processes:
        assert process.communicate(timeout=300)[0].strip() == expected
    assert_same(SRSG(3, store=tmp_path / "kept", random_state=0).fit(X), plain)


# Folders


@pytest.mark.parametrize("name", ["scan-1", "sweep", "graph"])
def test_a_full_disk_is_one_error_and_the_fit_goes_on_from_there(
    tmp_path, plain, monkeypatch, name
):
    save = FolderStore.save

    def full(self, what, arrays):
        if what == name:
            monkeypatch.setattr(np, "savez", no_space)
        save(self, what, arrays)

    def no_space(file, **arrays):
        file.write(b"some of it")
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(FolderStore, "save", full)
    with pytest.raises(FileError, match=rf"{name}\..*cannot be written .No space left on device"):
        SRSG(3, store=tmp_path, random_state=0).fit(X)
    assert all(path.suffix == ".npz" for path in tmp_path.rglob("*") if path.is_file())
    assert not list(tmp_path.rglob(f"*{name}.*"))
    monkeypatch.undo()
    assert_same(SRSG(3, store=tmp_path, random_state=0).fit(X), plain)


def test_folders_that_cannot_be_made_are_named(tmp_path):
    (tmp_path / "file").write_text("")
    (tmp_path / "link").symlink_to(tmp_path / "nowhere")
    problems = {
        "file": "is a file, not a folder",
        "link": "is a link to a folder that does not exist",
        "file/inside": r"cannot be made \(Not a directory\)",
    }
    for name, problem in problems.items():
        folder = str(tmp_path / name)
        with pytest.raises(FileError, match=rf"^store='{folder}': {problem}\.$"):
            L1Graph(3, store=folder).fit(X)
    with pytest.raises(FileError, match=r"^store='': names no folder\.$"):
        L1Graph(3, store="").fit(X)


def test_folders_that_may_not_be_written_to_are_named(tmp_path, monkeypatch):
    def refuse(self, **options):
        raise PermissionError(13, "Permission denied", os.fspath(self))

    monkeypatch.setattr(Path, "mkdir", refuse)
    with pytest.raises(FileError, match=rf"^store='{tmp_path}/new': cannot be made \(Permission"):
        L1Graph(3, store=tmp_path / "new").fit(X)
