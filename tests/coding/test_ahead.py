"""The kernel of the sweeps is compiled by a second process, and a fit never depends on it."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path
from types import SimpleNamespace

import pytest

import srsg
import srsg.coding.ahead as ahead
from srsg.running import ThreadEngine

FIT = """
import json
from hashlib import sha256
from pathlib import Path
import numba.core.event as event
from sklearn.datasets import load_digits
import srsg.coding.ahead as ahead
from srsg import SRSG

class Compiled(event.Listener):
    names = []

    def on_start(self, event):
        self.names.append(event.data["dispatcher"].__name__)

    def on_end(self, event):
        pass

event.register("numba:compile", Compiled())
ahead.cpu_count, ahead.MEMORY = lambda: 2, 0
CHANGE
model = SRSG(3, n_jobs=2, verbose=True, random_state=0).fit(load_digits().data[:60])
digest = sha256(model.codes_.data.tobytes() + model.labels_.tobytes()).hexdigest()
ended = [process.poll() for process in ahead._started]
print(json.dumps({"names": Compiled.names, "digest": digest, "ended": ended}))
"""


def fit_in_a_new_process(cache, change=""):
    source = str(Path(srsg.__file__).parents[1])
    done = subprocess.run(
        [sys.executable, "-c", FIT.replace("CHANGE", change)],
        env={**os.environ, "NUMBA_CACHE_DIR": str(cache), "PYTHONPATH": source},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    return SimpleNamespace(shown=done.stderr, **json.loads(done.stdout))


def test_the_second_process_compiles_what_the_sweeps_need(tmp_path):
    whole, part = tmp_path / "whole", tmp_path / "part"
    first = fit_in_a_new_process(whole)
    assert first.ended == [0]
    assert "solve_working_sets" in first.names
    assert "sweep_points" not in first.names
    assert "compiling kernels" in first.shown
    # One entry for each kernel: both processes have compiled for the same types.
    indices = sorted(path.name.removesuffix(".nbi") for path in whole.rglob("*.nbi"))
    codes = sorted(path.name.removesuffix(".1.nbc") for path in whole.rglob("*.nbc"))
    assert indices == codes
    assert sum("sweep_points" in name for name in codes) == 1

    # The same folder without this kernel, and a second process that fails.
    shutil.copytree(whole, part, ignore=shutil.ignore_patterns("sweep.sweep_points-*"))
    second = fit_in_a_new_process(part, "ahead.PROGRAM = 'raise SystemExit(3)'")
    assert second.ended == [3]
    assert second.names[0] == "sweep_points"
    assert "compiling kernels" in second.shown
    assert second.digest == first.digest
    assert len(list(part.rglob("*.nbc"))) == len(codes)


@pytest.fixture
def start(tmp_path, monkeypatch):
    """Starts a second process where the folder is empty, and returns how many were started."""
    kernel = SimpleNamespace(stats=SimpleNamespace(cache_path=str(tmp_path)), signatures=[])
    monkeypatch.setattr(ahead, "sweep_points", kernel)
    monkeypatch.setattr(ahead, "FOLDER", tmp_path)
    monkeypatch.setattr(ahead, "cpu_count", lambda: 2)
    monkeypatch.setattr(ahead, "MEMORY", 0)
    monkeypatch.setattr(ahead, "PROGRAM", "pass")
    monkeypatch.setattr(ahead, "_started", [])

    def run(n_jobs=2):
        ahead.compile_ahead(ThreadEngine(n_jobs))
        return len(ahead._started)

    yield run
    for process in ahead._started:
        process.kill()
        process.wait()


def test_only_the_first_one_starts_a_process(start):
    assert start() == 1
    assert start() == 1
    ahead.wait_until_compiled()
    assert ahead._started[0].returncode == 0


def test_two_at_the_same_moment_start_one_process(start, monkeypatch):
    # Both have looked into the folder before either has written to it.
    monkeypatch.setattr(Path, "glob", lambda *pattern: [])
    assert start() == 1
    assert start() == 1


def test_code_in_the_folder_is_enough(start, tmp_path):
    (tmp_path / "sweep.sweep_points-1.py311.nbi").touch()
    assert start() == 0


def test_one_thread_means_one_core(start):
    assert start(n_jobs=1) == 0


def test_workers_of_a_cluster_are_not_asked(start):
    ahead.compile_ahead(object())  # any question would be an error
    assert len(ahead._started) == 1


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("cpu_count", lambda: 1),
        ("MEMORY", float("inf")),
        ("FOLDER", None),
        ("sweep_points", lambda: None),  # as it is where numba's compiler is switched off
        ("sweep_points", SimpleNamespace(stats=SimpleNamespace(cache_path=None), signatures=[])),
    ],
)
def test_no_process_where_nothing_is_gained(start, monkeypatch, name, value):
    monkeypatch.setattr(ahead, name, value)
    assert start() == 0


def test_a_kernel_in_this_process_is_enough(start):
    ahead.sweep_points.signatures.append("of a fit before")
    assert start() == 0


@pytest.mark.parametrize("program", [None, "", "/opt/editor/bin/editor"])
def test_only_python_itself_is_started(start, monkeypatch, program):
    monkeypatch.setattr(sys, "executable", program)
    assert start() == 0


def test_a_frozen_program_is_not_started(start, monkeypatch):
    monkeypatch.setattr(sys, "frozen", True, raising=False)
    assert start() == 0


def test_a_process_that_cannot_start_is_no_error(start, monkeypatch, tmp_path):
    monkeypatch.setattr(sys, "executable", str(tmp_path / "python"))
    assert start() == 0
    ahead.wait_until_compiled()


def test_a_folder_that_cannot_be_written_is_no_error(start, tmp_path):
    ahead.sweep_points.stats.cache_path = str(tmp_path / "missing")
    assert start() == 0


def test_a_process_that_takes_too_long_is_ended(start, monkeypatch):
    monkeypatch.setattr(ahead, "PROGRAM", "import time; time.sleep(60)")
    monkeypatch.setattr(ahead, "PATIENCE", 0.1)
    assert start() == 1
    begun = time.monotonic()
    ahead.wait_until_compiled()
    assert time.monotonic() - begun < 30
    assert ahead._started[0].returncode not in (None, 0)


def test_it_prints_nothing(start, monkeypatch, capfd):
    monkeypatch.setattr(ahead, "PROGRAM", "print('printed'); raise KeyboardInterrupt")
    assert start() == 1
    ahead.wait_until_compiled()
    assert ahead._started[0].returncode != 0
    assert capfd.readouterr() == ("", "")


def test_it_has_the_paths_and_the_folder_of_this_process(start, monkeypatch, tmp_path):
    found = tmp_path / "found.json"
    program = f"""
import json, os, pickle, sys
from pathlib import Path
paths = pickle.load(sys.stdin.buffer)
Path({str(found)!r}).write_text(json.dumps([paths, os.environ["NUMBA_CACHE_DIR"]]))
"""
    monkeypatch.setattr(ahead, "PROGRAM", program)
    monkeypatch.syspath_prepend(str(tmp_path / "somewhere"))
    assert start() == 1
    ahead.wait_until_compiled()
    assert json.loads(found.read_text()) == [sys.path, str(tmp_path.parent)]
