"""What is said when a file cannot be read or written: one line that names it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
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
def parsing(name: str, kind: str) -> Iterator[None]:
    """Turn whatever a parser raises on a broken file into one line.

    Parsers of damaged files raise nearly anything, so nearly everything is caught.
    """
    try:
        yield
    except (FileError, MemoryError, ModuleNotFoundError):
        raise
    except Exception as error:
        reason = one_line(error)
        raise FileError(f"{name}: cannot be read as {kind} ({reason}).") from error


def one_line(error: BaseException) -> str:
    """The reason an exception gives, for the middle of a sentence."""
    if isinstance(error, OSError) and error.strerror:
        return error.strerror
    text = " ".join(str(error).split())
    return text.rstrip(".") or type(error).__name__


def needed(module: str, kind: str, package: str | None = None) -> Any:
    """An optional library, or one line that says how to get it."""
    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        library = package or module.partition(".")[0]
        raise ModuleNotFoundError(f"{kind} need {library}: pip install 'srsg[files]'.") from error
