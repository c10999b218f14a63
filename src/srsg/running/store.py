"""Work done so far, kept in a folder: a fit that was interrupted continues where it stopped.

Several processes may work in one folder at once. A file is written atomically, under a name that
contains the checksum of its content, so no process overwrites what another one wrote; and of
blocks that have points in common only one is read.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from srsg.files.atomic import atomic_write
from srsg.files.errors import FileError, one_line
from srsg.points import Points, row_digests
from srsg.points.equal import DIGEST_SIZE
from srsg.running.progress import Arrays, Checkpoint, Result
from srsg.running.warnings import warn_user

ALGORITHMS = 1
"""Raised by one whenever an algorithm gives other results, or keeps other arrays, than before, so
that what older algorithms left in a folder is not used."""


class FolderCheckpoint(Checkpoint):
    """Keeps arrays in the files of a folder, each written atomically.

    A damaged file is skipped with a warning, and its part of the work is done again.

    Parameters
    ----------
    folder : str or path
        Created if it does not exist.
    name : str, optional
        What messages call it; the parameter ``checkpoint`` by default.

    Raises
    ------
    FileError
        If it cannot be made.

    Examples
    --------
    >>> import tempfile
    >>> import numpy as np
    >>> from srsg.running.store import FolderCheckpoint
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     FolderCheckpoint(folder).of("codes", 0.1).save("scan", {"rows": np.arange(2)})
    ...     FolderCheckpoint(folder).of("codes", 0.1).load("scan")
    ...     FolderCheckpoint(folder).of("codes", 0.2).load("scan")
    [{'rows': array([0, 1])}]
    []
    """

    def __init__(self, folder: str | os.PathLike[str], name: str | None = None) -> None:
        self.folder = Path(folder)
        self.name = f"checkpoint={str(folder)!r}" if name is None else name
        if not os.fspath(folder):  # which would be the folder that the program runs in
            raise FileError(f"{self.name}: names no folder.")
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise FileError(f"{self.name}: {_problem(self.folder, error)}.") from error

    def of(self, *facts: Any) -> Checkpoint:
        known = [fact() if callable(fact) else fact for fact in facts]
        return FolderCheckpoint(self.folder / fingerprint(ALGORITHMS, *known), self.name)

    def save(self, name: str, arrays: Arrays) -> None:
        checksum = self._checksum(arrays)  # refuses Python objects, which would be pickled
        with atomic_write(self.folder / f"{name}.{checksum}.npz") as path:
            np.savez(path, **arrays)

    def resume(
        self, name: str, kind: type[Result]
    ) -> tuple[list[Result], Callable[[Result], None] | None]:
        kept = [kind.from_arrays(arrays) for arrays in self.load(name)]
        return kept, lambda result: self.save(name, result.arrays())

    def load(self, name: str) -> list[dict[str, NDArray]]:
        found = []
        seen: set[int] = set()
        for path in sorted(self.folder.glob(f"{name}.*.npz")):
            arrays = self._read(path)
            if arrays is None:
                continue
            # Processes with other block sizes leave blocks that overlap. Each has the same codes
            # for a point, so it does not matter which is taken.
            rows = arrays["rows"].tolist() if "rows" in arrays else []
            if seen.isdisjoint(rows):
                seen.update(rows)
                found.append(arrays)
        self.n_loaded += len(found)
        return found

    def _read(self, path: Path) -> dict[str, NDArray] | None:
        try:
            with path.open("rb") as raw, np.load(raw, allow_pickle=False) as file:
                arrays = {key: file[key] for key in file.files}
            problem = "" if self._checksum(arrays) in path.name else "its checksum differs"
        except Exception as error:  # damaged archives raise nearly anything
            problem = one_line(error)
        if not problem:
            return arrays
        warn_user(
            f"{path} is damaged ({problem}): this part of the work is done again. Delete the file "
            "if you see this warning again.",
            UserWarning,
        )
        return None

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


def points_fingerprint(shards: Sequence[Points]) -> str:
    """A text that differs for different points, whatever shards they lie in.

    Examples
    --------
    >>> from srsg.running.store import points_fingerprint
    >>> from srsg.points import Points, unit_points
    >>> points = unit_points([[3.0, 4.0], [0.0, 2.0], [1.0, 1.0]])
    >>> halves = [Points(points.x[:1]), Points(points.x[1:], first=1)]
    >>> points_fingerprint([points]) == points_fingerprint(halves)
    True
    """
    return combine_digests([row_digests(shard) for shard in shards])


def combine_digests(digests: Sequence[bytes]) -> str:
    """The fingerprint of points, from the digests of their shards in order."""
    return hashlib.blake2b(b"".join(digests), digest_size=DIGEST_SIZE).hexdigest()


def fingerprint(*facts: Any) -> str:
    """A text for some facts, which may be arrays: the same for equal facts, and different
    otherwise."""
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
