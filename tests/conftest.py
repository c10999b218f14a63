"""Fixtures: the paper's data where they are, small data everywhere."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from hypothesis import settings

# The first example of a property also compiles kernels.
settings.register_profile("default", deadline=None, max_examples=25, derandomize=True)
settings.load_profile("default")

Data = tuple[np.ndarray, np.ndarray]


@pytest.fixture(scope="session")
def paper_data() -> Callable[..., Data]:
    """Loads a file of the data folder, cut to its first classes; skips where it is absent."""

    def load(name: str, n_classes: int | None = None) -> Data:
        folder = os.environ.get("SRSG_DATA")
        if not folder:
            pytest.skip("SRSG_DATA is not set: it names the folder of the paper's data")
        path = Path(folder) / f"{name}.npz"
        if not path.exists():
            pytest.skip(f"{path.name} is not in the folder that SRSG_DATA names")
        with np.load(path) as file:
            X, y = file["X"].astype(np.float64), file["y"]
        chosen = np.isin(y, np.unique(y)[:n_classes])
        return X[chosen], y[chosen]

    return load
