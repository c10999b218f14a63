"""Temporary files that killed processes leave are removed by the next one that writes there."""

from __future__ import annotations

import os
import subprocess
import sys

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
        assert path.exists()  # its process is alive
    monkeypatch.setattr(module, "_this_machine", lambda: "0" * 8)
    (leftover / name).touch()  # now of another machine
    monkeypatch.setattr(module, "_looked_at", set())
    check_writable(leftover / "other.csv")
    expected = {name, ".labels-1234abcd.csv", "labels-srsg-note.csv", "labels.csv"}
    assert set(os.listdir(leftover)) == expected
