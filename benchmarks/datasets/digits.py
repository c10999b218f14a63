"""scikit-learn's digits: 1797 small pictures that are always there."""

from __future__ import annotations

from pathlib import Path

from sklearn.datasets import load_digits

from benchmarks.case import Case
from benchmarks.datasets import Dataset


def load(folder: Path | None) -> Case:
    return Case("digits", load_digits().data, 10)


DATASETS = [
    Dataset(
        "digits",
        load,
        ("product", "codes", "sweeps", "one sweep", "clusters", "labels"),
        quick=True,
    )
]
