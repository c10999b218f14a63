"""Named arrays in one file, which is safe to read: nothing in it is executed.

The format is NumPy's ``.npz`` without compression. Sizes are compared with the file before any
memory is taken, so a small file cannot ask for much.
"""

from __future__ import annotations

import os
import zipfile
from collections.abc import Mapping
from io import BytesIO
from math import prod
from pathlib import Path
from typing import Any

import numpy as np
from numpy.lib import format as npy
from numpy.typing import NDArray


def write_arrays(path: str | os.PathLike[str], arrays: Mapping[str, NDArray]) -> None:
    """Write arrays of numbers or text to a file.

    Raises
    ------
    ValueError
        If an array holds Python objects.
    """
    for name, array in arrays.items():
        if array.dtype.hasobject:  # NumPy 2.0 would pickle them, whatever it is told
            raise ValueError(f"{name}: holds Python objects")
    # An open file, because ``np.savez`` appends an ending to a name without one.
    with Path(path).open("wb") as file:
        np.savez(file, **dict[str, Any](arrays))


def read_arrays(path: str | os.PathLike[str]) -> dict[str, NDArray]:
    """The arrays of a file that :func:`write_arrays` wrote.

    Raises
    ------
    ValueError, zipfile.BadZipFile
        If the file is something else.

    Examples
    --------
    >>> import tempfile
    >>> import numpy as np
    >>> from srsg.running.archive import read_arrays, write_arrays
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_arrays(f"{folder}/arrays", {"labels": np.array([0, 1])})
    ...     read_arrays(f"{folder}/arrays")
    {'labels': array([0, 1])}
    """
    with open(path, "rb") as file, zipfile.ZipFile(file) as archive:
        members = archive.infolist()
        # A compressed part may unpack to more than it says, and several names may lead to the same
        # bytes.
        stored = all(member.compress_type == zipfile.ZIP_STORED for member in members)
        if not stored or sum(member.file_size for member in members) > os.path.getsize(path):
            raise ValueError("its parts overlap or are compressed")
        return {
            member.filename.removesuffix(".npy"): _read_array(archive.read(member))
            for member in members
        }


def _read_array(content: bytes) -> NDArray:
    """An array in NumPy's format; its stated size must be the size that it has."""
    stream = BytesIO(content)
    version = npy.read_magic(stream)
    read_header = npy.read_array_header_1_0 if version == (1, 0) else npy.read_array_header_2_0
    shape, by_columns, dtype = read_header(stream)
    if dtype.hasobject or prod(shape) * dtype.itemsize != len(content) - stream.tell():
        raise ValueError("an array is not what its header says")
    # A copy, because arrays that share a buffer of bytes cannot be written to.
    flat = np.frombuffer(content, dtype, offset=stream.tell()).copy()
    return flat.reshape(shape[::-1]).T if by_columns else flat.reshape(shape)
