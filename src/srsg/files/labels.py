"""Labels: from a file of their own, and as integers."""

from __future__ import annotations

import csv
import re
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from srsg.files.errors import FileError, parsing
from srsg.types import IntArray

LABEL_ENDINGS = (".csv", ".tsv", ".txt", ".npy", ".npz")
LABEL_NAMES = ("y", "gnd", "label", "labels", "gt", "target", "class")
"""What arrays and columns of labels are called, in lower case, the likeliest first."""


def read_labels(path: Path, counts: tuple[int, ...]) -> NDArray:
    """A label a row; a header is recognised if without it their number is one of ``counts``."""
    from srsg.files.arrays import load_arrays, load_npy
    from srsg.files.reading import check_file

    check_file(path)
    ending = path.suffix.lower()
    if ending == ".npy":
        return load_npy(path)
    if ending == ".npz":
        arrays = load_arrays(path)
        known = [key for key in LABEL_NAMES if key in arrays]
        if not known and len(arrays) > 1:
            raise FileError(f"{path}: has no array called label, but {', '.join(arrays)}.")
        return arrays[known[0]] if known else next(iter(arrays.values()))
    if ending not in LABEL_ENDINGS:
        raise FileError(f"{path}: labels are read from {' '.join(LABEL_ENDINGS)}.")
    return _read_column(path, counts)


def _read_column(path: Path, counts: tuple[int, ...]) -> NDArray:
    ending = path.suffix.lower()
    with parsing(str(path), "labels"), path.open(encoding="utf-8-sig", newline="") as file:
        if ending == ".txt":
            rows = [[line.strip()] for line in file if line.strip()]
        else:
            reader = csv.reader(file, delimiter="\t" if ending == ".tsv" else ",")
            rows = [row for row in reader if row]
    if not rows:
        raise FileError(f"{path}: has no labels.")
    place, header = 0, len(rows) not in counts and len(rows) - 1 in counts
    if len(rows[0]) > 1:
        names = [field.strip().lower() for field in rows[0]]
        known = [name for name in LABEL_NAMES if name in names]
        if not known:
            raise FileError(
                f"{path}: has {len(rows[0])} columns and none is called label: which is it?"
            )
        place, header = names.index(known[0]), True
    short = next((at for at, row in enumerate(rows, 1) if len(row) <= place), None)
    if short:
        raise FileError(f"{path}: row {short} has no label.")
    return np.array([row[place].strip() for row in rows[int(header) :]])


def missing_labels(labels: NDArray) -> NDArray[np.bool_]:
    """Which labels are none: NaN, None or empty text."""
    if labels.dtype.kind == "f":
        return ~np.isfinite(labels)
    if labels.dtype.kind in "OUST":
        return np.array([value is None or value != value or value == "" for value in labels])
    return np.zeros(len(labels), dtype=bool)


def coded(labels: NDArray) -> tuple[IntArray, tuple[str, ...] | None]:
    """Integers as they are; anything else as places in its sorted names.

    Names are sorted as people do: s2 before s10.

    Examples
    --------
    >>> import numpy as np
    >>> from srsg.files.labels import coded
    >>> coded(np.array(["s10", "s2", "s10"]))
    (array([1, 0, 1]), ('s2', 's10'))
    >>> coded(np.array([3.0, 1.0]))
    (array([3, 1]), None)
    """
    if labels.dtype.kind in "iu":
        return labels.astype(np.int64), None
    if labels.dtype.kind == "f" and (labels == np.round(labels)).all():
        return labels.astype(np.int64), None
    names = [str(value) for value in labels]
    if all(re.fullmatch(r"[+-]?\d{1,18}", name) for name in names):
        return np.array(names).astype(np.int64), None
    class_names = sorted(set(names), key=natural_order)
    place = {name: code for code, name in enumerate(class_names)}
    return np.array([place[name] for name in names], dtype=np.int64), tuple(class_names)


def natural_order(name: str) -> tuple[list[tuple[int, int, str]], str]:
    """A key that sorts the numbers within names by their size."""
    parts = re.findall(r"\d+|\D+", name)
    return [(0, int(p), "") if p.isdecimal() else (1, 0, p) for p in parts], name
