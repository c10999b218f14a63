"""Data whose clusters are known: the paper's sets, read from a folder, and made-up ones."""

from __future__ import annotations

from srsg.datasets.catalogue import Entry, find_entry, list_datasets
from srsg.datasets.folders import data_folder, dataset_path
from srsg.datasets.knots import make_trefoil_knots, trefoil_knot
from srsg.datasets.loading import Dataset, load_dataset

__all__ = [
    "Dataset",
    "Entry",
    "data_folder",
    "dataset_path",
    "find_entry",
    "list_datasets",
    "load_dataset",
    "make_trefoil_knots",
    "trefoil_knot",
]
