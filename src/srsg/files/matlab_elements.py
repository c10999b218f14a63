"""MATLAB files of version 5 to 7, read without trusting what their headers say.

SciPy's reader takes sizes, types and the indices of sparse matrices from the file as they are; with
damaged ones it reads out of bounds, and the process dies. See "MAT-File Format" by MathWorks: a
file is a list of elements, each with a tag that gives its type and its size in bytes.
"""

from __future__ import annotations

import math
import mmap
import struct
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from srsg.files.unpacking import check_size, from_zlib

HEADER = 128
MATRIX, COMPRESSED = 14, 15
CELL, TEXT, SPARSE = 1, 4, 5
NUMBERS = dict(enumerate(["f8", "f4", "i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8"], start=6))
"""Classes of matrices of numbers, and NumPy's names for their types."""

STORED = {
    1: "i1",
    2: "u1",
    3: "i2",
    4: "u2",
    5: "i4",
    6: "u4",
    7: "f4",
    9: "f8",
    12: "i8",
    13: "u8",
}
"""Types of numbers in elements: MATLAB stores small numbers in fewer bytes than their class has."""

ENCODINGS = {1: "latin-1", 2: "latin-1", 4: "utf-16", 16: "utf-8", 17: "utf-16", 18: "utf-32"}
"""How elements of these types encode text."""

COMPLEX = 0x800
"""The flag of a matrix with an imaginary part."""


class Element(NamedTuple):
    """A type and the bytes that follow."""

    kind: int
    content: memoryview


def byte_order(path: Path) -> str | None:
    """ "<" or ">" for a file of version 5 to 7, otherwise None."""
    with path.open("rb") as file:
        head = file.read(HEADER)
    # A file of version 4 begins with a number below 5,000, which has a zero in its four bytes.
    return None if 0 in head[:4] else {b"IM": "<", b"MI": ">"}.get(head[126:])


def read_variables(path: Path, order: str) -> dict[str, NDArray]:
    """All variables that are numbers or text; others, such as structures, are left out.

    Sparse matrices are returned dense, and cells of text as arrays of text.

    Raises
    ------
    ValueError
        With the reason, for the middle of a sentence.
    """
    found: dict[str, NDArray] = {}
    unpacked = 0
    with path.open("rb") as file:
        data = memoryview(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ))
    for element in _elements(data[HEADER:], order, aligned=False):
        if element.kind == COMPRESSED:
            content = from_zlib(str(path), element.content)
            unpacked += len(content)
            check_size(str(path), len(data), unpacked)  # all of them together
            element = next(_elements(memoryview(content), order))
        if element.kind == MATRIX:
            name, values = _variable(element.content, order)
            if values is not None and not name.startswith("__"):
                found[name] = values
    return found


def _require(true: bool, otherwise: str) -> None:
    if not true:
        raise ValueError(otherwise)


def _elements(data: memoryview, order: str, *, aligned: bool = True) -> Iterator[Element]:
    """The elements one after the other; within matrices each begins at a multiple of 8 bytes."""
    at = 0
    while at < len(data):
        _require(at + 8 <= len(data), "it ends within a tag")
        kind, size = struct.unpack_from(order + "II", data, at)
        start = at + 8
        if kind >> 16:  # a small element: up to four bytes within the tag
            kind, size, start = kind & 0xFFFF, kind >> 16, at + 4
            _require(size <= 4, "an element is larger than its place")
            at += 8
        else:
            at = start + (-(-size // 8) * 8 if aligned else size)
        _require(start + size <= len(data), "it is cut short")
        yield Element(kind, data[start : start + size])


def _variable(data: memoryview, order: str) -> tuple[str, NDArray | None]:
    """Name and values of a matrix; None for what is neither numbers nor text."""
    flags, shape, name, *parts = _header(data, order)
    kind, is_complex = flags & 0xFF, bool(flags & COMPLEX)
    if kind in NUMBERS:
        real, *imaginary = (_dense([part], shape, order, NUMBERS[kind]) for part in parts)
        return name, real + 1j * imaginary[0] if imaginary else real
    if kind == SPARSE and not is_complex:
        return name, _sparse(parts, shape, order)
    if kind == TEXT:
        return name, np.array(_lines(parts, shape, order))
    if kind == CELL:
        return name, _cells(parts, order)
    return name, None


def _header(data: memoryview, order: str) -> list:
    parts = list(_elements(data, order))
    _require(len(parts) >= 3, "a matrix has no header")
    flags, shape, name, *rest = parts
    sizes = [int(size) for size in _numbers(shape, order)]
    _require(len(flags.content) == 8, "a matrix has no class")
    _require(len(sizes) >= 2 and min(sizes) >= 0, "a matrix has no shape")
    return [int(_numbers(flags, order)[0]), sizes, bytes(name.content).decode("latin-1"), *rest]


def _dense(parts: list[Element], shape: list[int], order: str, dtype: str) -> NDArray:
    _require(len(parts) == 1, "a matrix lacks its values")
    values = _numbers(parts[0], order)
    _require(len(values) == math.prod(shape), "values are missing")
    return values.astype(dtype).reshape(shape, order="F")


def _sparse(parts: list[Element], shape: list[int], order: str) -> NDArray:
    _require(len(parts) == 3 and len(shape) == 2, "a sparse matrix lacks a part")
    rows, starts, values = (_numbers(part, order) for part in parts)
    return dense_of_columns(rows, starts, values.astype(np.float64), (shape[0], shape[1]))


def dense_of_columns(
    rows: NDArray, starts: NDArray, values: NDArray, shape: tuple[int, int]
) -> NDArray:
    """A matrix from the row indices of its columns, where these start, and the values.

    Everything is checked first, because SciPy does not look.
    """
    parts = (rows, starts, values)
    _require(all(part.ndim == 1 for part in parts), "a sparse matrix has parts that are not flat")
    _require(all(part.dtype.kind in "iu" for part in parts[:2]), "indices are not integers")
    starts = starts.astype(np.int64)
    _require(len(starts) == shape[1] + 1 and starts[0] == 0, "columns are missing")
    _require(bool((np.diff(starts) >= 0).all()), "columns overlap")
    used = int(starts[-1])  # there may be room for more
    _require(used <= min(len(rows), len(values)), "values are missing")
    rows = rows[:used].astype(np.int64)
    _require(used == 0 or 0 <= rows.min() <= rows.max() < shape[0], "rows are out of range")
    try:
        return sparse.csc_array((values[:used], rows, starts), shape=shape).toarray()
    except MemoryError as error:
        raise ValueError(f"a sparse matrix of shape {shape} exceeds the memory") from error


def _lines(parts: list[Element], shape: list[int], order: str) -> list[str]:
    """The rows of a matrix of characters, which is stored column by column."""
    _require(len(parts) == 1 and len(shape) == 2, "a text lacks its characters")
    element = parts[0]
    encoding = ENCODINGS.get(element.kind, "")
    _require(bool(encoding), f"characters have the unknown type {element.kind}")
    if not encoding.startswith(("latin", "utf-8")):
        encoding += {"<": "-le", ">": "-be"}[order]
    text = bytes(element.content).decode(encoding)
    _require(len(text) == math.prod(shape), "characters are missing")
    return ["".join(text[row :: shape[0]]) for row in range(shape[0])]


def _cells(parts: list[Element], order: str) -> NDArray | None:
    """Cells with one line of text or one number each; None if they hold anything else."""
    found = []
    for part in parts:
        _require(part.kind == MATRIX, "a cell is not a matrix")
        if not len(part.content):
            return None
        flags, shape, _, *inner = _header(part.content, order)
        kind = flags & 0xFF
        if kind == TEXT and shape[0] <= 1:
            found.append("".join(_lines(inner, shape, order)))
        elif kind in NUMBERS and math.prod(shape) == 1 and not flags & COMPLEX:
            found.append(str(_dense(inner, shape, order, NUMBERS[kind]).item()))
        else:
            return None
    return np.array(found)


def _numbers(element: Element, order: str) -> NDArray:
    _require(element.kind in STORED, f"numbers have the unknown type {element.kind}")
    dtype = np.dtype(order + STORED[element.kind])
    _require(len(element.content) % dtype.itemsize == 0, "a number is cut short")
    return np.frombuffer(element.content, dtype)
