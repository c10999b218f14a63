"""Fixtures: the paper's data where they are, small data everywhere."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from hypothesis import settings

from paper.datasets import load_dataset

# The first example of a property also compiles kernels.
settings.register_profile("default", deadline=None, max_examples=25, derandomize=True)
settings.load_profile("default")

Data = tuple[np.ndarray, np.ndarray]

LONGEST = ("estimators", "project", "tour", "running/dask", "paper", "kernels", "explaining")
"""Folders whose files take longest, or compile most. They run first, so that the last files are
short and no process has to wait for another at the end."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    folders = [Path(__file__).parent / name for name in LONGEST]

    def place(item: pytest.Item) -> int:
        own = (k for k, folder in enumerate(folders) if folder in item.path.parents)
        return next(own, len(folders))

    items.sort(key=place)


@pytest.fixture(scope="session")
def paper_data() -> Callable[..., Data]:
    """Loads a data set, cut to its first classes; skips where it is absent."""

    def load(name: str, n_classes: int | None = None) -> Data:
        try:
            data = load_dataset(name, n_classes)
        except FileNotFoundError as error:
            pytest.skip(str(error))
        return data.X, data.y

    return load


@pytest.fixture
def block_size(monkeypatch):
    """Sets how many points the estimators compare with all points at once."""

    def set_size(size):
        monkeypatch.setattr("srsg.running.config.blocks_within", lambda *budget: (size, np.inf))

    return set_size


READ_HERE = (
    "cli",
    "files/test_image_folders.py",
    "files/test_mixed_tables.py",
    "files/test_sparse_files.py",
    "files/test_tables.py",
)
"""Tests of what is made of a file. The others read files in a process of their own, which they are
about, or which a broken file might end."""


@pytest.fixture(autouse=True)
def _files_read_here(request, monkeypatch):
    """Some tests read files in this process, which saves the start of another for each."""
    here = [Path(__file__).parent / name for name in READ_HERE]
    if any(place in (request.path, *request.path.parents) for place in here):

        def read(name, n_bytes, function, *given):
            return function(*given)

        monkeypatch.setattr("srsg.files.reading.in_other_process", read)
