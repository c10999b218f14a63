"""Labels from a file of their own."""

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
        arrays = load_arrays(path)
        return arrays[_label_name(path, list(arrays), "arrays")]
    if ending not in READABLE_ENDINGS:
        raise FileError(f"{path}: labels are read from {' '.join(READABLE_ENDINGS)}.")
    with parsing(path, "labels"), path.open(encoding="utf-8-sig", newline="") as file:
        if ending == ".txt":
            rows = [[line.strip()] for line in file if line.strip()]
        else:
            separator = "\t" if ending == ".tsv" else ","
            rows = list(filter(None, csv.reader(file, delimiter=separator)))
    if not rows:
        raise FileError(f"{path}: has no labels.")
    place = rows[0].index(_label_name(path, rows[0], "columns"))
    has_header = len(rows[0]) > 1 or _has_header([row[0] for row in rows], counts)
    for number, row in enumerate(rows, 1):
        if len(row) <= place:
            raise FileError(f"{path}: line {number} has no label.")
    return np.array([row[place].strip() for row in rows[has_header:]])


def _label_name(path: Path, names: list[str], kind: str) -> str:
    """The only name there is, or the one that labels usually have."""
    name = names[0] if len(names) == 1 else usual_name(names, LABEL_NAMES)
    if name is None:
        raise FileError(f"{path}: has {len(names)} {kind} and none is called label.")
    return name


def _has_header(lines: list[str], counts: tuple[int, ...]) -> bool:
    """Whether there is one line too many, and not all lines are numbers."""
    for count in counts:
        if len(lines) in (count, count + 1):
            return len(lines) == count + 1 and not all(map(is_number, lines))
    return False
