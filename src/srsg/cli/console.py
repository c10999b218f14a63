"""What the commands share: messages and progress on the terminal."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import typer
from rich.console import Console
from rich.progress import BarColumn, Progress, TaskID, TextColumn, TimeElapsedColumn
from rich.progress import TimeRemainingColumn as Remaining

errors = Console(stderr=True, highlight=False)
"""Progress and errors; results go to standard output."""


def fail(message: object, code: int = 1) -> typer.Exit:
    """Print one line about what went wrong; raise what this returns."""
    errors.print(f"[bold red]error:[/] {escape(message)}", soft_wrap=True)
    return typer.Exit(code)


def escape(message: object) -> str:
    """Text that is not markup."""
    from rich.markup import escape as escaped

    return escaped(str(message))


class Work:
    """One bar: what runs, how much is done, about how long the rest takes."""

    def __init__(self, progress: Progress, task: TaskID) -> None:
        self._progress, self._task = progress, task

    def starts(self, what: str) -> None:
        """Show what runs now."""
        self._progress.update(self._task, what=escape(what))

    def ends(self, share: float) -> None:
        """So much of the whole, which is 1, is done."""
        self._progress.advance(self._task, share)

    def note(self, message: str) -> None:
        """Print a line above the bar."""
        self._progress.console.print(escape(message), soft_wrap=True)


@contextmanager
def progress(title: str) -> Iterator[Work]:
    """A bar on standard error while the block runs."""
    columns = (
        TextColumn("{task.description}"),
        BarColumn(bar_width=24),
        TextColumn("{task.percentage:>3.0f} %"),
        TimeElapsedColumn(),
        TextColumn("left:"),
        Remaining(),
        TextColumn("{task.fields[what]}"),
    )
    with Progress(*columns, console=errors) as bar:
        yield Work(bar, bar.add_task(title, total=1.0, what=""))
