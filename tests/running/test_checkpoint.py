"""Checkpoints: other points are never taken for the same, damage is noticed, processes share."""

from __future__ import annotations

import subprocess
import sys
import threading
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from sklearn.datasets import load_digits
from sklearn.exceptions import ConvergenceWarning

from fuzz.invariants import l1_violation
from srsg import SRSG, L1Graph
from srsg.coding.l1 import l1_codes
from srsg.files import FileError
from srsg.points import Points
from srsg.running import store as module
from srsg.running.progress import Progress, send_progress_to
from srsg.running.store import FolderCheckpoint, fingerprint, points_fingerprint

X = load_digits().data[:120]
SIGNED = np.random.default_rng(0).standard_normal((120, 20))


def assert_same(model, expected):
    for name in ("codes_", "affinity_matrix_"):
        left, right = getattr(model, name), getattr(expected, name)
        np.testing.assert_array_equal(left.toarray(), right.toarray())
    for name in ("neighbors_", "kkt_violation_", "dual_gap_", "labels_"):
        np.testing.assert_array_equal(getattr(model, name), getattr(expected, name))


# Fingerprints


def test_the_signs_of_a_column_are_told_apart(tmp_path):
    L1Graph(3, checkpoint=tmp_path).fit(SIGNED)
    for column in range(3):
        other = SIGNED.copy()
        other[:, column] = np.abs(other[:, column])
        found = L1Graph(3, checkpoint=tmp_path, random_state=0).fit(other)
        assert_same(found, L1Graph(3, random_state=0).fit(other))


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


def test_points_that_differ_anywhere_have_other_fingerprints():
    found = [points_fingerprint([Points(each)]) for each in variants()]
    assert len(set(found)) == len(found)


@pytest.mark.parametrize("cuts", [[60], [1, 2, 119], [40, 80]])
def test_fingerprints_do_not_depend_on_shards(cuts):
    ends = [0, *cuts, 120]
    shards = [Points(X[a:b], first=a) for a, b in pairwise(ends)]
    assert points_fingerprint(shards) == points_fingerprint([Points(X)])
    assert points_fingerprint(shards[::-1]) != points_fingerprint([Points(X)])


def test_facts_are_kept_apart():
    facts = [("ab", "c"), ("a", "bc"), ("abc",), (1, 2), (12,), (1.0,), (1,), ("1",), (None,)]
    arrays = [np.zeros(4), np.zeros((2, 2)), np.zeros(4, np.float32), np.zeros(4, int), np.zeros(0)]
    found = [fingerprint(*each) for each in facts] + [fingerprint(each) for each in arrays]
    assert len(set(found)) == len(found)


def test_what_older_algorithms_left_is_not_found(tmp_path, monkeypatch):
    FolderCheckpoint(tmp_path).of("codes").save("scan", {"rows": np.arange(3)})
    assert FolderCheckpoint(tmp_path).of("codes").load("scan")
    monkeypatch.setattr(module, "ALGORITHMS", module.ALGORITHMS + 1)
    assert not FolderCheckpoint(tmp_path).of("codes").load("scan")


def test_a_file_has_the_arrays_and_nothing_else(tmp_path, monkeypatch):
    """NumPy 2.0 takes every keyword of savez for the name of an array."""
    given = []

    def savez(file, *args, **keywords):
        given.extend(keywords)
        savez_of_today(file, *args, **keywords)

    savez_of_today = np.savez
    monkeypatch.setattr(np, "savez", savez)
    FolderCheckpoint(tmp_path).save("scan", {"rows": np.arange(3)})
    assert given == ["rows"]


def test_objects_are_never_written(tmp_path):
    with pytest.raises(TypeError):
        FolderCheckpoint(tmp_path).save("scan", {"rows": np.array([{}, None])})
    assert not list(tmp_path.iterdir())


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


def other_arrays(path):
    np.savez(path, something=np.arange(3))


def scaled(path):
    with np.load(path) as file:
        arrays = {key: file[key] for key in file.files}
    for key, array in arrays.items():
        if array.dtype == np.float64:
            arrays[key] = array * 1.5
    np.savez(path, **arrays)


@pytest.mark.parametrize(
    "damage",
    [cut_short, emptied, one_byte, pickled, other_arrays, scaled],
    ids=lambda d: d.__name__,
)
def test_damaged_files_are_named_and_done_again(tmp_path, damage):
    expected = L1Graph(3, random_state=0).fit(X)
    L1Graph(3, checkpoint=tmp_path).fit(X)
    files = list(tmp_path.rglob("*.npz"))
    assert files
    for path in files:
        damage(path)
    with pytest.warns(UserWarning, match=r"\.npz is damaged .*done again") as noticed:
        found = L1Graph(3, checkpoint=tmp_path, random_state=0).fit(X)
    assert str(tmp_path) in str(noticed[0].message)
    assert_same(found, expected)
    # The same blocks have been written again, under the same names.
    assert_same(L1Graph(3, checkpoint=tmp_path, random_state=0).fit(X), expected)


def test_a_file_of_other_work_is_not_taken(tmp_path):
    one, other = FolderCheckpoint(tmp_path).of("a"), FolderCheckpoint(tmp_path).of("b")
    one.save("scan", {"rows": np.arange(3)})
    (path,) = one.folder.iterdir()
    path.rename(other.folder / path.name)
    with pytest.warns(UserWarning, match="checksum"):
        assert other.load("scan") == []


def forged(folder):
    """Other codes in every file, under the right checksums, with certificates that praise them."""
    for path in folder.rglob("graph.*.npz"):  # the fit did not get that far
        path.unlink()
    for path in sorted(folder.rglob("scan-*.npz")):
        with np.load(path) as file:
            arrays = {key: file[key] for key in file.files}
        arrays["done_index"] = (arrays["done_index"] + 1) % len(X)
        arrays["violation"], arrays["gap"] = (0 * arrays[name] for name in ("violation", "gap"))
        path.unlink()
        FolderCheckpoint(path.parent).save(path.name.partition(".")[0], arrays)


def test_certificates_are_computed_and_not_read(tmp_path):
    L1Graph(3, checkpoint=tmp_path).fit(X)
    forged(tmp_path)
    with pytest.warns(ConvergenceWarning, match="codes not optimal"):
        found = L1Graph(3, checkpoint=tmp_path).fit_graph(X)
    true, _ = l1_violation(found.fit_X_, found.codes_.toarray(), found.lam)
    assert true.max() > 0.1
    # A code that uses its own point cannot be judged by the conditions for the others.
    judged = found.codes_.diagonal() == 0
    np.testing.assert_allclose(found.kkt_violation_[judged], true[judged], atol=1e-12)


# Several at once


class Once(Progress):
    """Does something once, after the first block of a stage."""

    def __init__(self, label, action):
        self.label, self.action = label, action

    def stage(self, label, total):
        return _OnceStage(self, label)


class _OnceStage:
    def __init__(self, progress, label):
        self.progress, self.label = progress, label

    def __enter__(self):
        return self

    def __exit__(self, *_):
        return None

    def advance(self, steps=1):
        action = self.progress.action
        if action and self.label.startswith(self.progress.label):
            self.progress.action = None
            action()


def codes_in(folder, block_size, progress=None):
    from srsg.running import ThreadEngine

    engine = ThreadEngine(1, progress or Progress(), FolderCheckpoint(folder))
    points = Points(X / np.linalg.norm(X, axis=1, keepdims=True))
    options = {"n_neighbors": 5, "engine": engine}
    if hasattr(engine, "block_size"):
        engine.block_size = block_size
    else:
        options["block_size"] = block_size
    return l1_codes(points, 0.1, **options)


@pytest.mark.parametrize("stage", ["codes, scan 1", "codes, scan 2"])
def test_blocks_of_other_sizes_in_one_folder_do_not_mix(tmp_path, stage):
    """Another process begins in the middle of the first one, with other blocks."""
    expected = codes_in(tmp_path / "alone", 32)
    together = tmp_path / "together"
    between = Once(stage, lambda: codes_in(together, 50))
    for found in (codes_in(together, 32, between), codes_in(together, 13)):
        assert found.neighbors.shape == (120, 5)
        np.testing.assert_array_equal(found.neighbors, expected.neighbors)
        np.testing.assert_array_equal(found.codes.toarray(), expected.codes.toarray())
        np.testing.assert_array_equal(found.kkt_violation, expected.kkt_violation)
    assert between.action is None


def test_threads_that_save_at_once_lose_nothing(tmp_path):
    keep = FolderCheckpoint(tmp_path)
    threads = [
        threading.Thread(target=keep.save, args=("scan", {"rows": np.arange(k, k + 1)}))
        for k in range(20)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(int(each["rows"][0]) for each in keep.load("scan")) == list(range(20))


FIT = """
import sys
from sklearn.datasets import load_digits
from srsg import SRSG
model = SRSG(3, checkpoint=sys.argv[1], n_jobs=int(sys.argv[2]), random_state=0)
print(model.fit(load_digits().data[:120]).labels_.tolist())
"""


def test_two_processes_on_one_folder(tmp_path):
    command = [sys.executable, "-c", FIT, str(tmp_path / "kept")]
    processes = [
        subprocess.Popen([*command, jobs], stdout=subprocess.PIPE, text=True) for jobs in "12"
    ]
    expected = str(SRSG(3, random_state=0).fit(X).labels_.tolist())
    for process in processes:
        assert process.communicate(timeout=300)[0].strip() == expected
    with send_progress_to(Progress()):
        again = SRSG(3, checkpoint=tmp_path / "kept", random_state=0).fit(X)
    assert str(again.labels_.tolist()) == expected


@pytest.mark.parametrize("parameter", ["checkpoint", "memory"])
def test_folders_that_cannot_be_made_are_named(tmp_path, parameter):
    (tmp_path / "file").write_text("")
    (tmp_path / "link").symlink_to(tmp_path / "nowhere")
    problems = {
        "file": "is a file, not a folder",
        "link": "is a link to a folder that does not exist",
        "file/inside": r"cannot be made \(Not a directory\)",
    }
    for name, problem in problems.items():
        folder = str(tmp_path / name)
        with pytest.raises(FileError, match=rf"^{parameter}='{folder}': {problem}\.$"):
            L1Graph(3, **{parameter: folder}).fit(X)
    with pytest.raises(FileError, match=rf"^{parameter}='': names no folder\.$"):
        L1Graph(3, **{parameter: ""}).fit(X)


def test_folders_that_may_not_be_written_to_are_named(tmp_path, monkeypatch):
    def refuse(self, **options):
        if self != tmp_path:
            raise PermissionError(13, "Permission denied", str(self))

    monkeypatch.setattr(Path, "mkdir", refuse)
    with pytest.raises(FileError, match=rf"^memory='{tmp_path}': cannot be made \(Permission"):
        L1Graph(3, memory=str(tmp_path)).fit(X)
