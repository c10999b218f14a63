"""Files that are written whole or not at all."""

from __future__ import annotations

import os
import secrets
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from srsg.files.errors import FileError, one_line


@contextmanager
def written_whole(path: str | os.PathLike[str]) -> Iterator[Path]:
    """A temporary path to write to, which takes the place of ``path`` if all goes well.

    On any failure, Ctrl-C among them, the temporary file is removed and what was at ``path``
    stays. The temporary path is in the same folder and has the same ending.

    Raises
    ------
    FileError
        If it cannot be written: no such folder, no permission, no space.

    Examples
    --------
    >>> import os, tempfile
    >>> from srsg.files import written_whole
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with written_whole(os.path.join(folder, "report.txt")) as path:
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
            os.fsync(file.fileno())
        if target.exists():
            shutil.copymode(target, temporary)
        os.replace(temporary, target)
    except OSError as error:
        raise FileError(f"{path}: cannot be written ({one_line(error)}).") from error
    finally:
        with suppress(OSError):
            temporary.unlink(missing_ok=True)


def check_writable(path: str | os.PathLike[str]) -> None:
    """Find out before long work whether its result can be written; leaves nothing behind.

    Raises
    ------
    FileError
        If there is no such folder, or it may not be written to.

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
        raise FileError(f"{path}: is there already and may not be written.")
    probe = _beside(target)
    try:
        probe.touch()
        probe.unlink()
    except OSError as error:
        raise FileError(f"{path}: cannot be written ({one_line(error)}).") from error


def _target(path: str | os.PathLike[str]) -> Path:
    target = Path(os.path.realpath(path))  # a link stays a link
    if target.is_dir():
        raise FileError(f"{path}: is a folder; name a file.")
    if not target.parent.is_dir():
        raise FileError(f"{path}: there is no folder {target.parent}.")
    return target


def _is_device(target: Path) -> bool:
    """A pipe or a device: nothing to replace."""
    return target.exists() and not target.is_file()


def _beside(target: Path) -> Path:
    """A hidden name in the same folder."""
    return target.with_name(f".{target.stem[:100]}-{secrets.token_hex(4)}{target.suffix}")
