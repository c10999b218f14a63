"""Atomic writes: a reader finds the old content or the new, never a part."""

import os
import re
import secrets
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from srsg.files.errors import FileError, ending_of, explained
from srsg.types import FilePath


@contextmanager
def atomic_write(path: FilePath) -> Iterator[Path]:
    """A temporary path to write to, which replaces ``path`` if all goes well.

    On any failure, including Ctrl-C, the temporary file is removed and the old file stays. The
    temporary path is in the same folder and has the same ending. Temporary files that killed
    processes left there are removed.

    Raises
    ------
    FileError
        If the file cannot be written: no such folder, no permission, no space.

    Examples
    --------
    >>> import os, tempfile
    >>> from srsg.files import atomic_write
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with atomic_write(os.path.join(folder, "report.txt")) as path:
    ...         _ = path.write_text("all of it")
    ...     os.listdir(folder)
    ['report.txt']
    """
    target = _target(path)
    if _is_device(target):
        yield target
        return
    with explained(f"{path}: cannot be written", OSError), _temporary_beside(target) as temporary:
        with temporary.open("rb+") as file:
            _is_free(file.fileno())  # no longer: others see that somebody is writing
            yield temporary
            # The content must reach the disk before the name does, or a power cut could leave an
            # empty file under that name.
            os.fsync(file.fileno())
        # The permissions of the old file, or the usual ones.
        temporary.chmod(target.stat().st_mode if target.exists() else 0o666 & ~_umask())
        os.replace(temporary, target)


def write_file(path: FilePath, writers: Mapping[str, Callable[..., None]], *content: Any) -> None:
    """Write content by the function for files with this ending, which gets an open file first."""
    write = writers.get(ending_of(path))
    if write is None:
        raise FileError(
            f"{path}: cannot be written: its name must end in one of {' '.join(writers)}."
        )
    with atomic_write(path) as temporary, temporary.open("wb") as file:
        write(file, *content)


def check_writable(path: FilePath) -> None:
    """Check before long work that its result can be written; leaves nothing behind.

    Raises
    ------
    FileError
        If there is no such folder, or no permission to write to it.

    Examples
    --------
    >>> from srsg.files import check_writable
    >>> check_writable("nowhere/labels.csv")
    Traceback (most recent call last):
    ...
    srsg.files.errors.FileError: nowhere/labels.csv: there is no folder ...
    """
    target = _target(path)
    if _is_device(target):
        return
    if target.exists() and not os.access(target, os.W_OK):
        raise FileError(f"{path}: exists and may not be overwritten.")
    with explained(f"{path}: cannot be written"), _temporary_beside(target):
        pass


def _target(path: FilePath) -> Path:
    target = Path(os.path.realpath(path))  # a link stays a link
    if target.is_dir():
        raise FileError(f"{path}: is a folder; name a file.")
    if not target.parent.is_dir():
        raise FileError(f"{path}: there is no folder {target.parent}.")
    return target


def _is_device(target: Path) -> bool:
    """Whether the target is a pipe or a device, which cannot be replaced."""
    return target.exists() and not target.is_file()


def _umask() -> int:
    """The permissions that new files do not get; they can only be read by setting them."""
    mask = os.umask(0o077)
    os.umask(mask)
    return mask


_LEFTOVER = re.compile(r"\..*-srsg-[0-9a-f]{16}(\.[^.]*)?")
_looked_at: set[Path] = set()
"""Folders that this process has cleared already."""


@contextmanager
def _temporary_beside(target: Path) -> Iterator[Path]:
    """A hidden file in the same folder that only this user can read, removed in the end."""
    if target.parent not in _looked_at:
        _looked_at.add(target.parent)
        _remove_leftovers(target.parent)
    # The name may be nearly as long as a file name can be, so it is cut.
    name = f".{target.stem[:100]}-srsg-{secrets.token_hex(8)}{target.suffix}"
    temporary = target.with_name(name)
    temporary.touch(0o600, exist_ok=False)
    try:
        yield temporary
    finally:
        with suppress(OSError):
            temporary.unlink(missing_ok=True)


def _remove_leftovers(folder: Path) -> None:
    """Remove temporary files of processes that were killed."""
    with suppress(OSError):
        for path in folder.iterdir():
            if _LEFTOVER.fullmatch(path.name):
                with suppress(OSError), path.open("rb") as file:
                    if _is_free(file.fileno()):
                        path.unlink()


def _is_free(file: int) -> bool:
    """Whether nobody else has locked an open file, which is now ours; without locks, by its age.

    Not by the number of a process: the same number may be another process in another container.
    """
    try:
        import fcntl
    except ImportError:  # Windows, where no write takes a day
        return time.time() - os.fstat(file).st_mtime > 24 * 3600
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:  # locked, or on a file system without locks
        return False
    return True
