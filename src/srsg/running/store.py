"""Results kept in a folder: an interrupted fit goes on, and a finished graph is not built again.

Several processes may work in one folder at once. A file is written atomically, under a name that
contains the checksum of its content, so no process overwrites what another one wrote; and of
blocks that have rows in common only one is read. Every array is checked when it is read, see
:mod:`srsg.running.checking`.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from srsg.files.atomic import atomic_write
from srsg.files.errors import FileError, one_line
from srsg.points.equal import DIGEST_SIZE
from srsg.running.archive import read_arrays, write_arrays
from srsg.running.checking import Rule, check_arrays
from srsg.running.progress import NO_STORE, Arrays, Made, Store
from srsg.running.warnings import warn_user

ALGORITHMS = 2
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

    def __init__(self, folder: str | os.PathLike[str]) -> None:
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
        self,
        name: str,
        rules: Mapping[str, Rule],
        sizes: Mapping[str, int],
        make: Callable[[dict[str, NDArray]], Made],
    ) -> list[Made]:
        loaded = []
        seen: set[int] = set()
        for path in sorted(self.folder.glob(f"{name}.*.npz")):
            try:
                arrays = self._read(path)
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

    def _read(self, path: Path) -> dict[str, NDArray]:
        arrays = read_arrays(path)
        if self._checksum(arrays) not in path.name:
            raise ValueError("its checksum differs")
        return arrays

    def _checksum(self, arrays: Arrays) -> str:
        """Includes the folder's name: a file that belongs to other work counts as damaged."""
        facts: list[Any] = [self.folder.name]
        for key in sorted(arrays):
            facts += [key, np.asarray(arrays[key])]
        return fingerprint(*facts)


def _problem(folder: Path, error: OSError) -> str:
    """Why a folder cannot be made; for a file in its place, the system only says that it exists."""
    if folder.exists():
        return "is a file, not a folder"
    if folder.is_symlink():
        return "is a link to a folder that does not exist"
    return f"cannot be made ({one_line(error)})"


def combine_digests(digests: Sequence[bytes]) -> str:
    """The fingerprint of points, from the digests of their shards in order."""
    return hashlib.blake2b(b"".join(digests), digest_size=DIGEST_SIZE).hexdigest()


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


__all__ = ["NO_STORE", "FolderStore", "Store", "combine_digests", "fingerprint"]
