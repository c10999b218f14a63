"""Atomic writes: a reader finds the old content or the new, never a part."""

from __future__ import annotations

import hashlib
import os
import re
import secrets
import shutil
import socket
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from srsg.files.errors import FileError, explained, one_line
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
    temporary = _beside(target)
    try:
        yield temporary
        with temporary.open("rb+") as file:
            # The content must reach the disk before the name does, or a power cut could leave an
            # empty file under that name.
            os.fsync(file.fileno())
        if target.exists():
            # A new file would get the usual permissions, whatever those of the old one were.
            shutil.copymode(target, temporary)
        os.replace(temporary, target)
    except OSError as error:
        raise FileError(f"{path}: cannot be written ({one_line(error)}).") from error
    finally:
        with suppress(OSError):
            temporary.unlink(missing_ok=True)


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
    with explained(f"{path}: cannot be written"):
        probe = _beside(target)
        probe.touch()
        probe.unlink()


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


def _beside(target: Path) -> Path:
    """A hidden name in the same folder that tells which process created it."""
    _remove_leftovers(target.parent)
    owner = f"{_this_machine()}-{os.getpid()}-{secrets.token_hex(4)}"
    # The name may be nearly as long as a file name can be, so it is cut.
    return target.with_name(f".{target.stem[:100]}-srsg-{owner}{target.suffix}")


_LEFTOVER = re.compile(r"\..*-srsg-([0-9a-f]{8})-([0-9]+)-[0-9a-f]{8}(\.[^.]*)?")
_looked_at: set[Path] = set()
"""Folders that this process has cleared already."""


def _remove_leftovers(folder: Path) -> None:
    """Remove temporary files of processes on this machine that were killed."""
    if folder in _looked_at:
        return
    _looked_at.add(folder)
    with suppress(OSError):
        for path in folder.iterdir():
            made = _LEFTOVER.fullmatch(path.name)
            # A folder can be shared, and processes of other machines may still be running.
            if made and made[1] == _this_machine() and not _is_alive(int(made[2]), path):
                with suppress(OSError):
                    path.unlink()


def _this_machine() -> str:
    return hashlib.blake2b(socket.gethostname().encode(), digest_size=4).hexdigest()


def _is_alive(process: int, path: Path) -> bool:
    if os.name != "posix":  # os.kill would end the process there; no write takes a day
        return time.time() - path.stat().st_mtime < 24 * 3600
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except (PermissionError, OverflowError):
        pass
    return True
