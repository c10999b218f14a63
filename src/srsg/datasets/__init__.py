"""Data whose clusters are known: the paper's data sets, read from a folder, and synthetic ones."""

from __future__ import annotations

from srsg.datasets.catalogue import Archive, Entry, OpenML, find_entry, list_datasets
from srsg.datasets.fetching import fetch_dataset
from srsg.datasets.folders import data_folder, dataset_path
from srsg.datasets.loading import Dataset, load_dataset
from srsg.datasets.synthetic import (
    make_noisy_manifolds,
    make_trefoil_knots,
    make_union_of_subspaces,
    trefoil_knot,
)

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
    "make_noisy_manifolds",
    "make_trefoil_knots",
    "make_union_of_subspaces",
    "trefoil_knot",
]
