"""Fixtures of the tests of the command line."""

from __future__ import annotations

import pytest


@pytest.fixture(autouse=True)
def _files_read_here(monkeypatch):
    """Files are read in this process, which saves the start of another for each.

    ``tests/files`` and ``tests/tour`` read every kind of file in a process of its own.
    """

    def read(name, n_bytes, function, *given):
        return function(*given)

    monkeypatch.setattr("srsg.files.reading.in_other_process", read)
