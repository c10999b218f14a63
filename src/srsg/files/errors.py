"""Errors for files that cannot be read or written: one line that names the file."""

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from importlib import import_module
from pathlib import Path
from typing import Any

from srsg.types import FilePath


class FileError(ValueError):
    """A file is missing, broken, or not what it should be; the message names it.

    Examples
    --------
    >>> from srsg.files import FileError, read_points
    >>> try:
    ...     read_points("nowhere.csv")
    ... except FileError as error:
    ...     print(error)
    nowhere.csv: there is no such file.
    """

    def __init__(self, message: str) -> None:
        # The name of a column may have several lines.
        super().__init__(" ".join(message.splitlines()))


@contextmanager
def explained(failure: str, kind: type[Exception] = Exception) -> Iterator[None]:
    """Turn whatever a library raises into one line: what failed, and why.

    Parsers of damaged files raise nearly anything, so nearly everything is caught.
    """
    try:
        yield
    except (FileError, MemoryError, ModuleNotFoundError):
        raise
    except kind as error:
        raise FileError(f"{failure} ({one_line(error)}).") from error


def parsing(name: str | Path, kind: str) -> AbstractContextManager[None]:
    """Name the file if a parser fails on it."""
    return explained(f"{name}: cannot be read as {kind}")


def one_line(error: BaseException) -> str:
    """The reason an exception gives, to put inside a sentence."""
    reason = getattr(error, "reason", None)
    if isinstance(reason, BaseException):  # as in a URLError
        return one_line(reason)
    if isinstance(error, OSError) and error.strerror:
        return error.strerror
    return " ".join(str(error).split()).rstrip(".") or type(error).__name__


def ending_of(path: FilePath) -> str:
    """The ending of a file's name in lower case, with the ending before ``.gz``.

    Examples
    --------
    >>> from srsg.files.errors import ending_of
    >>> ending_of("a.b/points.CSV.gz"), ending_of("points.csv"), ending_of("points")
    ('.csv.gz', '.csv', '')
    """
    endings = [ending.lower() for ending in Path(path).suffixes]
    return "".join(endings[-2:] if endings[-1:] == [".gz"] else endings[-1:])


def count_of(number: int, noun: str) -> str:
    """A number with its noun: 1 point, 2 points.

    Examples
    --------
    >>> from srsg.files.errors import count_of
    >>> count_of(1, "point"), count_of(0, "point")
    ('1 point', '0 points')
    """
    return f"{number} {noun if number == 1 else noun + 's'}"


def check_file(path: Path) -> None:
    """Raise an error if a file is missing, empty, not readable, or a folder, pipe or device."""
    with explained(f"{path}: cannot be read"):
        if not path.exists():
            raise FileError(f"{path}: there is no such file.")
        if not path.is_file():  # a pipe would never end
            raise FileError(f"{path}: is not a file; - reads CSV from standard input.")
        with path.open("rb") as file:
            if not file.read(1):
                raise FileError(f"{path}: is empty.")


def needed(module: str, reason: str, extra: str = "files") -> Any:
    """Import an optional library, or raise a one-line error that says how to install it.

    Parameters
    ----------
    module : str
        What to import.
    reason : str
        The start of the message: what needs which library.
    extra : str
        The extra of this package that installs it.

    Examples
    --------
    >>> from srsg.files.errors import needed
    >>> needed("nowhere", "Wishes need a fairy", "magic")
    Traceback (most recent call last):
    ...
    ModuleNotFoundError: Wishes need a fairy: pip install 'srsg[magic]'.
    """
    try:
        return import_module(module)
    except ImportError as error:
        raise ModuleNotFoundError(f"{reason}: pip install 'srsg[{extra}]'.") from error
