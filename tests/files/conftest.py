"""Fixtures of the tests of files."""

from __future__ import annotations

import pytest

HERE = ("test_image_folders", "test_mixed_tables", "test_sparse_files", "test_tables")
"""Tests of what readers make of a file. The others read files in a process of their own, which they
are about, or which a broken file might end."""


@pytest.fixture(autouse=True)
def _files_read_here(request, monkeypatch):
    """Some tests read files in this process, which saves the start of another for each."""

    def read(name, n_bytes, function, *given):
        return function(*given)

    if request.module.__name__.rpartition(".")[2] in HERE:
        monkeypatch.setattr("srsg.files.reading.in_other_process", read)
