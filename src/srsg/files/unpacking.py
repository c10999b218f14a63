"""How much a compressed file may unpack: not much more than numbers can shrink.

A megabyte can hold a gigabyte of one character. Such a file is refused before it fills the memory.
"""

from __future__ import annotations

import gzip
import io
import zipfile
import zlib
from collections.abc import Callable
from pathlib import Path

from srsg.files.errors import FileError, parsing

SMALL = 256 * 2**20
"""So many bytes are always unpacked."""

MOST_COMPRESSED = 200
"""More than that is unpacked only up to so many times the size of the file. Tables of numbers
shrink to a third, and tables of nearly nothing but zeros to a hundredth."""

PIECE = 2**20
"""So many bytes are unpacked at a time."""


def check_size(name: str, packed: int, unpacked: int) -> None:
    """Refuse a file of ``packed`` bytes that has become, or says to become, ``unpacked`` bytes.

    Examples
    --------
    >>> from srsg.files.unpacking import check_size
    >>> check_size("a.npz", 1_000_000, 3_000_000)
    >>> check_size("b.npz", 1_000_000, 900_000_000)
    Traceback (most recent call last):
    ...
    srsg.files.errors.FileError: b.npz: 1.0 MB unpack to more than 268 MB, which data hardly ever \
do. If these are data, unpack them first.
    """
    most = max(SMALL, MOST_COMPRESSED * packed)
    if unpacked > most:
        raise FileError(
            f"{name}: {packed / 1e6:.1f} MB unpack to more than {most / 1e6:.0f} MB, which data "
            "hardly ever do. If these are data, unpack them first."
        )


def check_zip(path: Path) -> None:
    """Refuse a zip archive, such as NumPy's and those of spreadsheets, by the sizes it states."""
    # No part is read beyond its stated size.
    with zipfile.ZipFile(path) as archive:
        unpacked = sum(part.file_size for part in archive.infolist())
    check_size(str(path), path.stat().st_size, unpacked)


def from_gzip(name: str, data: bytes) -> bytes:
    """What gzip compressed."""
    with parsing(name, "gzip"), gzip.open(io.BytesIO(data)) as file:
        return _in_pieces(name, len(data), file.read)


def from_zlib(name: str, data: memoryview) -> bytes:
    """What zlib compressed, as in MATLAB's files."""
    stream, rest = zlib.decompressobj(), bytes(data)

    def read(size: int) -> bytes:
        nonlocal rest
        piece = stream.decompress(rest, size)
        rest = stream.unconsumed_tail
        return piece

    unpacked = _in_pieces(name, len(data), read)
    if not stream.eof:
        raise zlib.error("incomplete or truncated stream")
    return unpacked


def _in_pieces(name: str, packed: int, read: Callable[[int], bytes]) -> bytes:
    unpacked = bytearray()
    while piece := read(PIECE):
        unpacked += piece
        check_size(name, packed, len(unpacked))
    return bytes(unpacked)
