"""Labels: the usual names of their columns, and labels as integers."""

import re

import numpy as np
from numpy.typing import NDArray

from srsg.types import IntArray

LABEL_NAMES = ("y", "gnd", "label", "labels", "gt", "target", "class")
"""Usual names of arrays and columns of labels, in lower case, the most likely first."""


def is_number(text: str) -> bool:
    """Whether text is a number, with a decimal point or a comma."""
    try:
        float(text.replace(",", "."))
    except ValueError:
        return False
    return True


def missing_labels(labels: NDArray) -> NDArray[np.bool_]:
    """Whether each label is missing: NaN, None or empty text."""
    if labels.dtype.kind == "f":
        return ~np.isfinite(labels)
    if labels.dtype.kind in "OUST":
        return np.array([value is None or value != value or value == "" for value in labels])
    return np.zeros(len(labels), dtype=bool)


def encode_labels(labels: NDArray) -> tuple[IntArray, tuple[str, ...] | None]:
    """Labels as integers: integers stay, other labels become positions among the sorted names.

    Names are sorted as people sort them: s2 before s10.

    Examples
    --------
    >>> import numpy as np
    >>> from srsg.files.labels import encode_labels
    >>> encode_labels(np.array(["s10", "s2", "s10"]))
    (array([1, 0, 1]), ('s2', 's10'))
    >>> encode_labels(np.array([3.0, 1.0]))
    (array([3, 1]), None)
    """
    if labels.dtype.kind in "iu":
        return labels.astype(np.int64), None
    # MATLAB stores labels as floats.
    if labels.dtype.kind == "f" and (labels == np.round(labels)).all():
        return labels.astype(np.int64), None
    names = [str(value) for value in labels]
    if all(re.fullmatch(r"[+-]?\d{1,18}", name) for name in names):
        return np.array(names).astype(np.int64), None
    class_names = sorted(set(names), key=natural_order)
    place = {name: code for code, name in enumerate(class_names)}
    return np.array([place[name] for name in names], dtype=np.int64), tuple(class_names)


def natural_order(name: str) -> tuple[list[tuple[int, int, str]], str]:
    """A key that sorts names by the size of the numbers in them."""
    parts = re.findall(r"\d+|\D+", name)
    return [(0, int(p), "") if p.isdecimal() else (1, 0, p) for p in parts], name
