"""Work done so far, kept in a folder: a fit that was cut short goes on where it was."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from srsg.files.atomic import written_whole
from srsg.files.errors import FileError
from srsg.points import Points

Arrays = Mapping[str, NDArray]
Result = TypeVar("Result")


class Checkpoint:
    """Keeps nothing; the base of the one that does."""

    def save(self, name: str, arrays: Arrays) -> None:
        """Keep some arrays under a name."""

    def load(self, name: str) -> list[dict[str, NDArray]]:
        """All that was kept under a name, in no order."""
        return []

    def saver(
        self, name: str, arrays: Callable[[Result], Arrays]
    ) -> Callable[[Result], None] | None:
        """Keeps what it is called with, turned into arrays."""
        return None

    def of(self, *facts: Any) -> Checkpoint:
        """The part of it for one piece of work, which these facts tell from others.

        Facts that take work to find out are functions.
        """
        return self


NO_CHECKPOINT = Checkpoint()


class FolderCheckpoint(Checkpoint):
    """Keeps arrays in the files of a folder, each written whole or not at all.

    Parameters
    ----------
    folder : str or path
        Made if it is not there.

    Examples
    --------
    >>> import tempfile
    >>> import numpy as np
    >>> from srsg.engines.checkpoint import FolderCheckpoint
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     FolderCheckpoint(folder).of("codes", 0.1).save("scan", {"rows": np.arange(2)})
    ...     FolderCheckpoint(folder).of("codes", 0.1).load("scan")
    ...     FolderCheckpoint(folder).of("codes", 0.2).load("scan")
    [{'rows': array([0, 1])}]
    []
    """

    def __init__(self, folder: str | os.PathLike[str]) -> None:
        self.folder = Path(folder)
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise FileError(f"checkpoint={str(folder)!r}: no folder ({error.strerror}).") from error

    def of(self, *facts: Any) -> Checkpoint:
        known = [fact() if callable(fact) else fact for fact in facts]
        return FolderCheckpoint(self.folder / fingerprint(*known)[:16])

    def save(self, name: str, arrays: Arrays) -> None:
        count = len(list(self.folder.glob(f"{name}.*.npz")))
        with written_whole(self.folder / f"{name}.{count}.npz") as path:
            np.savez(path, allow_pickle=False, **arrays)

    def saver(
        self, name: str, arrays: Callable[[Result], Arrays]
    ) -> Callable[[Result], None] | None:
        return lambda result: self.save(name, arrays(result))

    def load(self, name: str) -> list[dict[str, NDArray]]:
        found = []
        for path in self.folder.glob(f"{name}.*.npz"):
            with np.load(path, allow_pickle=False) as file:
                found.append({key: file[key] for key in file.files})
        return found


def points_fingerprint(shards: Sequence[Points]) -> str:
    """Tells points from others, whatever shards they lie in.

    Examples
    --------
    >>> from srsg.engines.checkpoint import points_fingerprint
    >>> from srsg.points import Points, unit_points
    >>> whole = unit_points([[3.0, 4.0], [0.0, 2.0], [1.0, 1.0]])
    >>> halves = [Points(whole.x[:1]), Points(whole.x[1:], first=1)]
    >>> points_fingerprint([whole]) == points_fingerprint(halves)
    True
    """
    return combined([mixed(shard) for shard in shards])


def mixed(points: Points) -> int:
    """A number of the points of a shard; those of several shards are added up."""
    words = points.x.view(np.uint64 if points.dtype == np.float64 else np.uint32)
    weights = np.random.default_rng(0).integers(1, 2**63, words.shape[1], dtype=np.uint64)
    total = np.uint64(0)
    for start in range(0, points.n, 4096):  # not all at once in 64 bits
        rows = (words[start : start + 4096].astype(np.uint64) * weights).sum(axis=1)
        places = np.arange(start, start + len(rows), dtype=np.uint64) + np.uint64(points.first)
        rows = (rows ^ (rows >> np.uint64(31))) * (places * np.uint64(2) + np.uint64(1))
        total += (rows ^ (rows >> np.uint64(29))).sum()
    return int(total)


def combined(numbers: Sequence[int]) -> str:
    """The fingerprint of points, from the numbers of their shards."""
    return f"{sum(numbers) % 2**64:016x}"


def fingerprint(*facts: Any) -> str:
    """A number for some facts, arrays among them: equal for equal ones, else another."""
    digest = hashlib.sha256()
    for fact in facts:
        if isinstance(fact, np.ndarray):
            digest.update(f"{fact.shape} {fact.dtype}".encode())
            digest.update(np.ascontiguousarray(fact).data)
        else:
            digest.update(repr(fact).encode())
        digest.update(b"\0")
    return digest.hexdigest()
