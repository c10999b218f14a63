"""Labels from a file of their own."""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from srsg.files.arrays import load_arrays, load_npy
from srsg.files.errors import FileError, check_file, parsing
from srsg.files.labels import LABEL_NAMES, is_number

READABLE_ENDINGS = (".csv", ".tsv", ".txt", ".npy", ".npz")


def read_labels(path: Path, counts: tuple[int, ...]) -> NDArray:
    """One label per row; a header is recognised by the number of points.

    That number is the first of ``counts``, or another one if points are in columns.
    """
    check_file(path)
    ending = path.suffix.lower()
    if ending == ".npy":
        return load_npy(path)
    if ending == ".npz":
        return _read_array(path)
    if ending not in READABLE_ENDINGS:
        raise FileError(f"{path}: labels are read from {' '.join(READABLE_ENDINGS)}.")
    rows = _read_rows(path)
    if len(rows[0]) == 1:
        place, header = 0, _has_header([row[0] for row in rows], counts)
    else:
        place, header = _column_of_labels(path, rows[0]), True
    short = next((at for at, row in enumerate(rows, 1) if len(row) <= place), None)
    if short:
        raise FileError(f"{path}: row {short} has no label.")
    return np.array([row[place].strip() for row in rows[int(header) :]])


def _read_array(path: Path) -> NDArray:
    arrays = load_arrays(path)
    known = [key for key in LABEL_NAMES if key in arrays]
    if not known and len(arrays) != 1:
        raise FileError(f"{path}: has no array called label, but {', '.join(arrays) or 'none'}.")
    return arrays[known[0]] if known else next(iter(arrays.values()))


def _read_rows(path: Path) -> list[list[str]]:
    ending = path.suffix.lower()
    with parsing(str(path), "labels"), path.open(encoding="utf-8-sig", newline="") as file:
        if ending == ".txt":
            rows = [[line.strip()] for line in file if line.strip()]
        else:
            reader = csv.reader(file, delimiter="\t" if ending == ".tsv" else ",")
            rows = [row for row in reader if row]
    if not rows:
        raise FileError(f"{path}: has no labels.")
    return rows


def _has_header(lines: list[str], counts: tuple[int, ...]) -> bool:
    """Whether there is one line too many, and the first is not a number among numbers."""
    # The first count that fits the lines decides.
    for count in counts:
        if len(lines) in (count, count + 1):
            return len(lines) == count + 1 and not all(map(is_number, lines))
    return False


def _column_of_labels(path: Path, header: list[str]) -> int:
    names = [field.strip().lower() for field in header]
    known = [name for name in LABEL_NAMES if name in names]
    if not known:
        raise FileError(f"{path}: has {len(header)} columns and none is called label.")
    return names.index(known[0])
