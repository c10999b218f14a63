"""MATLAB files of version 5 to 7, checked before SciPy reads them.

SciPy's reader trusts the sizes and types that a file states; with damaged ones it reads out of
bounds, and the process dies. See "MAT-File Format" by MathWorks: a file is a list of elements, each
with a tag that gives its type and its size in bytes.
"""

from __future__ import annotations

import io
import mmap
import struct
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from scipy.io import loadmat

from srsg.files.unpacking import check_size, most_bytes

HEADER = 128
MATRIX, COMPRESSED = 14, 15
PLAIN = {*range(1, 8), 9, 12, 13, 16, 17, 18}
"""Types of elements that hold numbers or characters."""

CELL = 1
N_PARTS = {4: 1, 5: 3, **dict.fromkeys(range(6, 16), 1)}
"""Elements that hold the values of a matrix, by its class: text, sparse, numbers."""

COMPLEX = 0x800
"""The flag of a matrix with an imaginary part, which is one more element."""


def byte_order(path: Path) -> str | None:
    """``"<"`` or ``">"`` for a file of version 5 to 7, otherwise None."""
    with path.open("rb") as file:
        head = file.read(HEADER)
    # A file of version 4 begins with a number below 5,000, which has a zero in its four bytes.
    return None if 0 in head[:4] else {b"IM": "<", b"MI": ">"}.get(head[126:])


def read_variables(path: Path, order: str) -> dict[str, Any]:
    """The variables that are numbers or text, as SciPy reads them; others are left out.

    Raises
    ------
    ValueError
        With the reason, to put inside a sentence.
    """
    variables: dict[str, Any] = {}
    unpacked = 0
    with path.open("rb") as file:
        data = memoryview(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ))
    for kind, content in _elements(data[HEADER:], order, aligned=False):
        if kind == COMPRESSED:
            stream = zlib.decompressobj()
            whole = stream.decompress(content, most_bytes(len(data)) + 1 - unpacked)
            unpacked += len(whole)
            check_size(path, len(data), unpacked)
            _require(stream.eof, "it is cut short")
            kind, content = next(_elements(memoryview(whole), order))
        flags = _checked_flags(content, order) if kind == MATRIX else 0
        if flags:
            # Alone in a file of its own, so that SciPy cannot read on in the next variable.
            tag = struct.pack(order + "II", MATRIX, len(content))
            single = io.BytesIO(b"".join((data[:HEADER], tag, content)))
            # The type that MATLAB would give them, except that it drops the imaginary part.
            variables |= loadmat(single, mat_dtype=not flags & COMPLEX)
    return variables


def _require(condition: bool, otherwise: str) -> None:
    if not condition:
        raise ValueError(otherwise)


def _elements(
    data: memoryview, order: str, *, aligned: bool = True
) -> Iterator[tuple[int, memoryview]]:
    """Type and bytes of every element; within matrices each begins at a multiple of 8 bytes."""
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
        yield kind, data[start : start + size]


def _checked_flags(matrix: memoryview, order: str) -> int:
    """Class and flags of a matrix, its elements checked; 0 if it is neither numbers nor text."""
    parts = list(_elements(matrix, order))
    _require(len(parts) >= 3, "a matrix has no header")
    (_, head), _, _, *values = parts
    _require(len(head) == 8, "a matrix has no class")
    (flags,) = struct.unpack_from(order + "I", head)
    if flags & 0xFF == CELL:
        return all(kind == MATRIX and cell and _checked_flags(cell, order) for kind, cell in values)
    n_parts = N_PARTS.get(flags & 0xFF)
    if n_parts is None:
        return 0
    _require(len(values) >= n_parts + bool(flags & COMPLEX), "a matrix lacks its values")
    _require(all(kind in PLAIN for kind, _ in values), "values have an unknown type")
    return flags
