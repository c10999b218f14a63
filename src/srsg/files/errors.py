"""Errors for files that cannot be read or written: one line that names the file."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import Any


class FileError(ValueError):
    """A file that is missing, broken, or not what it should be; the message names it.

    Examples
    --------
    >>> from srsg.files import FileError, read_points
    >>> try:
    ...     read_points("nowhere.csv")
    ... except FileError as error:
    ...     print(error)
    nowhere.csv: there is no such file.
    """


@contextmanager
def explained(failure: str) -> Iterator[None]:
    """Turn whatever a library raises into one line: what failed, and why.

    Parsers of damaged files raise nearly anything, so nearly everything is caught.
    """
    try:
        yield
    except (FileError, MemoryError, ModuleNotFoundError):
        raise
    except Exception as error:
        raise FileError(f"{failure} ({one_line(error)}).") from error


@contextmanager
def parsing(name: str, kind: str) -> Iterator[None]:
    """Name the file that a parser fails on."""
    with explained(f"{name}: cannot be read as {kind}"):
        yield


def one_line(error: BaseException) -> str:
    """The reason an exception gives, for the middle of a sentence."""
    reason = getattr(error, "reason", None)
    if isinstance(reason, BaseException):  # as in a URLError
        return one_line(reason)
    if isinstance(error, OSError) and error.strerror:
        return error.strerror
    text = " ".join(str(error).split())
    return text.rstrip(".") or type(error).__name__


def check_file(path: Path) -> None:
    """Refuse a file that is missing, empty or not readable."""
    with explained(f"{path}: cannot be read"):
        try:
            with path.open("rb") as file:
                empty = not file.read(1)
        except FileNotFoundError as error:
            raise FileError(f"{path}: there is no such file.") from error
    if empty:
        raise FileError(f"{path}: is empty.")


def needed(module: str, kind: str, package: str | None = None, extra: str = "files") -> Any:
    """An optional library, or a one-line error that says how to get it."""
    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        library = package or module.partition(".")[0]
        raise ModuleNotFoundError(f"{kind} need {library}: pip install 'srsg[{extra}]'.") from error
