"""What the commands print while they run: progress, and errors of one line."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from shutil import get_terminal_size
from time import monotonic
from typing import NoReturn

from srsg.files.errors import one_line

INTERRUPTED = 130
"""The exit status that shells expect from a program ended by Ctrl-C."""


class Progress:
    """One line on standard error, if that is a terminal: what runs, and the time left.

    Parameters
    ----------
    title : str
        All the work.
    """

    def __init__(self, title: str) -> None:
        self.title = title
        self.done = 0.0
        self._start = monotonic()

    @contextmanager
    def part(self, what: str, share: float = 0.0) -> Iterator[None]:
        """A part of the work, and its share of the whole, which is 1."""
        left = (monotonic() - self._start) * (1 / self.done - 1) if self.done else None
        remaining = "" if left is None else f", {timedelta(seconds=round(left))} left"
        _rewrite(f"{self.title}: {self.done:.0%}{remaining}: {what}")
        yield
        self.done += share

    def note(self, message: str) -> None:
        """Print a line that stays."""
        _rewrite("")
        print(message, file=sys.stderr)

    def finish(self) -> None:
        """Say how long it took."""
        self.note(f"{self.title}: {monotonic() - self._start:.0f} s")


def _rewrite(line: str) -> None:
    """Replace the last line of a terminal."""
    if sys.stderr.isatty():
        width = get_terminal_size().columns - 1
        print(f"\r\x1b[K{line[:width]}", end="", file=sys.stderr, flush=True)


@contextmanager
def one_line_errors() -> Iterator[None]:
    """Turn expected errors into one line and an exit status; a bug keeps its traceback."""
    try:
        yield
    except KeyboardInterrupt:
        _exit("stopped; run the same command again to continue.", INTERRUPTED)
    except ModuleNotFoundError as error:
        if "pip install" not in str(error):  # not an optional library
            raise
        _exit(f"error: {error}")
    except MemoryError:
        _exit("error: there is not enough memory.")
    except (OSError, ValueError) as error:
        file = getattr(error, "filename", None)
        _exit(f"error: {f'{file}: ' if file else ''}{one_line(error)}.")


def _exit(message: str, status: int = 1) -> NoReturn:
    _rewrite("")
    print(message, file=sys.stderr)
    sys.exit(status)
