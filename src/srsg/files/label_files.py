"""Labels from a file of their own."""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from srsg.files.arrays import load_arrays, load_npy, usual_name
from srsg.files.errors import FileError, check_file, parsing
from srsg.files.labels import LABEL_NAMES, is_number

READABLE_ENDINGS = (".csv", ".tsv", ".txt", ".npy", ".npz")


def read_labels(path: Path, counts: tuple[int, ...]) -> NDArray:
    """One label per row.

    A single column has a header if it has one line more than the first of ``counts`` that fits:
    the number of points, or another if points are in columns.
    """
    check_file(path)
    ending = path.suffix.lower()
    if ending == ".npy":
        return load_npy(path)
    if ending == ".npz":
        return _read_array(path)
    if ending not in READABLE_ENDINGS:
        raise FileError(f"{path}: labels are read from {' '.join(READABLE_ENDINGS)}.")
    rows = _read_rows(path, ending)
    place, header = 0, True
    if len(rows[0]) == 1:
        header = _has_header([row[0] for row in rows], counts)
    else:
        name = usual_name(rows[0], LABEL_NAMES)
        if name is None:
            raise FileError(f"{path}: has {len(rows[0])} columns and none is called label.")
        place = rows[0].index(name)
    for number, row in enumerate(rows, 1):
        if len(row) <= place:
            raise FileError(f"{path}: row {number} has no label.")
    return np.array([row[place].strip() for row in rows[int(header) :]])


def _read_array(path: Path) -> NDArray:
    arrays = load_arrays(path)
    name = next(iter(arrays)) if len(arrays) == 1 else usual_name(arrays, LABEL_NAMES)
    if name is None:
        raise FileError(f"{path}: has no array called label, but {', '.join(arrays) or 'none'}.")
    return arrays[name]


def _read_rows(path: Path, ending: str) -> list[list[str]]:
    with parsing(path, "labels"), path.open(encoding="utf-8-sig", newline="") as file:
        if ending == ".txt":
            rows = [[line.strip()] for line in file if line.strip()]
        else:
            rows = [
                row for row in csv.reader(file, delimiter="\t" if ending == ".tsv" else ",") if row
            ]
    if not rows:
        raise FileError(f"{path}: has no labels.")
    return rows


def _has_header(lines: list[str], counts: tuple[int, ...]) -> bool:
    """Whether there is one line too many, and not all lines are numbers."""
    for count in counts:
        if len(lines) in (count, count + 1):
            return len(lines) == count + 1 and not all(map(is_number, lines))
    return False
