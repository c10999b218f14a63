"""Arrays in files, and results kept in a folder: an interrupted fit goes on from there.

A file of arrays is safe to read: nothing in it is executed. The format is NumPy's ``.npz`` without
compression. Sizes are compared with the file before any memory is taken, so a small file cannot ask
for much.

Several processes may work in one folder at once. A file is written atomically, under a name that
contains the checksum of its content, so no process overwrites what another one wrote; and of
blocks that have rows in common only one is read. Every array is checked when it is read, see
:mod:`srsg.running.checking`.
"""

import hashlib
import os
import zipfile
from collections.abc import Mapping
from io import BytesIO
from itertools import chain
from math import prod
from pathlib import Path
from typing import Any

import numpy as np
from numpy.lib import format as npy
from numpy.typing import NDArray
from scipy import sparse

from srsg.files.atomic import atomic_write
from srsg.files.errors import FileError, one_line
from srsg.points import DIGEST_SIZE
from srsg.running.checking import Rule, check_arrays
from srsg.running.progress import Arrays, Made, Make, Store
from srsg.running.warnings import warn_user
from srsg.types import FilePath

ALGORITHMS = 3
"""Raised by one whenever an algorithm gives other results, or keeps other arrays, than before, so
that what older algorithms left in a folder is not used."""


class FolderStore(Store):
    """Keeps arrays in the files of a folder, each written atomically.

    A damaged file is skipped with a warning, and its part of the work is done again.

    Parameters
    ----------
    folder : str or path
        Created if it does not exist.

    Raises
    ------
    FileError
        If it cannot be created.

    Examples
    --------
    >>> import tempfile
    >>> import numpy as np
    >>> from srsg.running.checking import Rule
    >>> from srsg.running.store import FolderStore
    >>> rules = {"rows": Rule("int", (None,), least=0, below="n")}
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     FolderStore(folder).of("codes", 0.1).save("scan", {"rows": np.arange(2)})
    ...     FolderStore(folder).of("codes", 0.1).load("scan", rules, {"n": 2}, dict)
    ...     FolderStore(folder).of("codes", 0.2).load("scan", rules, {"n": 2}, dict)
    [{'rows': array([0, 1])}]
    []
    """

    keeps = True

    def __init__(self, folder: FilePath) -> None:
        self.folder = Path(folder)
        name = f"store={str(folder)!r}"
        if not os.fspath(folder):  # which would be the folder that the program runs in
            raise FileError(f"{name}: names no folder.")
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise FileError(f"{name}: {_problem(self.folder, error)}.") from error

    def of(self, *facts: Any) -> Store:
        computed = [fact() if callable(fact) else fact for fact in facts]
        return FolderStore(self.folder / fingerprint(ALGORITHMS, *computed))

    def save(self, name: str, arrays: Arrays) -> None:
        checksum = self._checksum(arrays)  # refuses Python objects, which would be pickled
        with atomic_write(self.folder / f"{name}.{checksum}.npz") as path:
            write_arrays(path, arrays)

    def load(
        self, name: str, rules: Mapping[str, Rule], sizes: Mapping[str, int], make: Make[Made]
    ) -> list[Made]:
        loaded = []
        seen: set[int] = set()
        for path in sorted(self.folder.glob(f"{name}.*.npz")):
            try:
                arrays = read_arrays(path)
                if self._checksum(arrays) not in path.name:
                    raise ValueError("its checksum differs")
                check_arrays(arrays, rules, sizes)
                made = make(arrays)
            except Exception as error:  # damaged archives raise nearly anything
                warn_user(
                    f"{path} is damaged ({one_line(error)}): this part of the work is done again. "
                    "Delete the file if you see this warning again.",
                    UserWarning,
                )
                continue
            # Processes with other block sizes leave blocks that overlap. Each has the same codes
            # for a point, so it does not matter which is taken.
            rows = arrays["rows"].tolist() if "rows" in arrays else []
            if seen.isdisjoint(rows):
                seen.update(rows)
                loaded.append(made)
        return loaded

    def _checksum(self, arrays: Arrays) -> str:
        """Includes the folder's name: a file that belongs to other work counts as damaged."""
        facts = ((key, np.asarray(arrays[key])) for key in sorted(arrays))
        return fingerprint(self.folder.name, *chain.from_iterable(facts))


def _problem(folder: Path, error: OSError) -> str:
    """Why a folder cannot be made; for a file in its place, the system only says that it exists."""
    if folder.exists():
        return "is a file, not a folder"
    if folder.is_symlink():
        return "is a link to a folder that does not exist"
    return f"cannot be made ({one_line(error)})"


def fingerprint(*facts: Any) -> str:
    """A text that is the same for equal facts, which may be arrays, and different otherwise."""
    digest = hashlib.blake2b(digest_size=DIGEST_SIZE)
    for fact in facts:
        if sparse.issparse(fact):
            # Its text would say nothing of its entries.
            parts = (fact.shape, fact.data, fact.indices.astype(np.int64), fact.indptr.tolist())
            digest.update(fingerprint("sparse", *parts).encode())
        elif isinstance(fact, np.ndarray):
            digest.update(f"array {fact.dtype.str} {fact.shape} ".encode())
            digest.update(np.ascontiguousarray(fact).reshape(-1).view(np.uint8).data)
        else:
            text = repr(fact).encode()
            # The length in front keeps neighbours apart: ("ab", "c") is not ("a", "bc").
            digest.update(b"%d " % len(text) + text)
    return digest.hexdigest()


def write_arrays(path: FilePath, arrays: Mapping[str, NDArray]) -> None:
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


def read_arrays(path: FilePath) -> dict[str, NDArray]:
    """The arrays of a file that :func:`write_arrays` wrote.

    Raises
    ------
    ValueError, zipfile.BadZipFile
        If the file is something else.

    Examples
    --------
    >>> import tempfile
    >>> import numpy as np
    >>> from srsg.running.store import read_arrays, write_arrays
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
