"""The paper's data sets by name, read from a folder: ``python -m paper.datasets`` lists them."""

from __future__ import annotations

from paper.datasets.catalogue import Archive, Entry, OpenML, find_entry, list_datasets
from paper.datasets.fetching import fetch_dataset
from paper.datasets.folders import data_folder, dataset_path
from paper.datasets.loading import Dataset, load_dataset

__all__ = [
    "Archive",
    "Dataset",
    "Entry",
    "OpenML",
    "data_folder",
    "dataset_path",
    "fetch_dataset",
    "find_entry",
    "list_datasets",
    "load_dataset",
]
