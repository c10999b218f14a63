"""Temporary files that killed processes leave are removed by the next one that writes there."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from srsg.files import atomic as module
from srsg.files import atomic_write, check_writable

KILLED = """
import os, sys
from srsg.files import atomic_write
with atomic_write(sys.argv[1]) as path:
    path.write_text("half of")
    os.kill(os.getpid(), 9)
"""


@pytest.fixture
def leftover(tmp_path, monkeypatch):
    """A folder in which a process was killed while it wrote."""
    monkeypatch.setattr(module, "_looked_at", set())
    subprocess.run([sys.executable, "-c", KILLED, tmp_path / "labels.csv"], check=False)
    (name,) = os.listdir(tmp_path)
    assert name.startswith(".labels-")
    return tmp_path


def test_the_next_write_removes_them(leftover):
    with atomic_write(leftover / "other.csv") as path:
        path.write_text("all")
    assert os.listdir(leftover) == ["other.csv"]


def test_the_check_before_long_work_removes_them(leftover):
    check_writable(leftover / "labels.csv")
    assert os.listdir(leftover) == []


def test_files_of_others_stay(leftover, monkeypatch):
    (name,) = os.listdir(leftover)
    (leftover / ".labels-1234abcd.csv").touch()  # nothing of ours
    (leftover / "labels-srsg-note.csv").touch()
    with atomic_write(leftover / "labels.csv") as path:
        path.write_text("being written")
        monkeypatch.setattr(module, "_looked_at", set())
        check_writable(leftover / "other.csv")
        assert path.exists()  # it is being written
    assert name not in os.listdir(leftover)
    expected = {".labels-1234abcd.csv", "labels-srsg-note.csv", "labels.csv"}
    assert set(os.listdir(leftover)) == expected


LOCKED = """
import sys, time
from srsg.files import atomic_write
with atomic_write(sys.argv[1]) as path:
    path.write_text("half of")
    print(path, flush=True)
    sys.stdin.read()
"""


def test_what_another_process_is_writing_stays(tmp_path, monkeypatch):
    command = [sys.executable, "-c", LOCKED, tmp_path / "labels.csv"]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as other:
        path = Path(other.stdout.readline().strip())
        # In another container, its number may be that of no process here, or of any other.
        monkeypatch.setattr(module, "_looked_at", set())
        monkeypatch.setattr(os, "kill", lambda *_: pytest.fail("looked for a process"))
        check_writable(tmp_path / "other.csv")
        assert path.read_text() == "half of"
        other.communicate("")
    assert (tmp_path / "labels.csv").read_text() == "half of"


@pytest.mark.skipif(os.name == "nt", reason="permissions are of POSIX")
def test_nobody_else_reads_what_is_being_written(tmp_path):
    before = os.umask(0o022)
    try:
        with atomic_write(tmp_path / "new.csv") as path:
            path.write_text("secret")
            assert path.stat().st_mode & 0o777 == 0o600
        assert (tmp_path / "new.csv").stat().st_mode & 0o777 == 0o644
        (tmp_path / "new.csv").chmod(0o640)
        with atomic_write(tmp_path / "new.csv") as path:
            path.write_text("more")
        assert (tmp_path / "new.csv").stat().st_mode & 0o777 == 0o640
    finally:
        os.umask(before)
