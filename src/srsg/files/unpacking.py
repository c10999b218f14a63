"""Limits on unpacking: a megabyte can hold a gigabyte of one character.

A compressed file that unpacks to far more than a table of numbers would is refused before it fills
the memory.
"""

from __future__ import annotations

import gzip
import io
import zipfile
from pathlib import Path

from srsg.files.errors import FileError, parsing

SMALL = 256 * 2**20
"""This many bytes are always unpacked."""

MOST_COMPRESSED = 200
"""Beyond that, a file may unpack to this many times its size. Tables of numbers shrink to a third,
and tables of almost nothing but zeros to a hundredth."""

PIECE = 2**20
"""Bytes that are unpacked at a time."""


def check_size(name: str | Path, packed: int, unpacked: int) -> None:
    """Raise an error if ``unpacked`` bytes are too many for a file of ``packed`` bytes.

    Examples
    --------
    >>> from srsg.files.unpacking import check_size
    >>> check_size("a.npz", 1_000_000, 3_000_000)
    >>> check_size("b.npz", 1_000_000, 900_000_000)
    Traceback (most recent call last):
    ...
    srsg.files.errors.FileError: b.npz: 1.0 MB unpack to more than 268 MB, which data rarely do. \
If you trust this file, unpack it first.
    """
    most = most_bytes(packed)
    if unpacked > most:
        raise FileError(
            f"{name}: {packed / 1e6:.1f} MB unpack to more than {most / 1e6:.0f} MB, which data "
            "rarely do. If you trust this file, unpack it first."
        )


def most_bytes(packed: int) -> int:
    """The number of bytes that a file of ``packed`` bytes may unpack to."""
    return max(SMALL, MOST_COMPRESSED * packed)


def check_zip(path: Path) -> None:
    """Check a zip archive, such as an ``.npz`` file or a spreadsheet, by the sizes it states."""
    # No part is read beyond its stated size.
    with zipfile.ZipFile(path) as archive:
        unpacked = sum(part.file_size for part in archive.infolist())
    check_size(path, path.stat().st_size, unpacked)


def from_gzip(name: str | Path, data: bytes) -> bytes:
    """Unpack gzip."""
    unpacked = bytearray()
    with parsing(name, "gzip"), gzip.open(io.BytesIO(data)) as file:
        while piece := file.read(PIECE):
            unpacked += piece
            check_size(name, len(data), len(unpacked))
    return bytes(unpacked)
