"""Progress on the terminal: what runs, how much of it is done, how long the rest takes."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from rich.progress import BarColumn, SpinnerColumn, TaskID, TextColumn, TimeElapsedColumn
from rich.progress import Progress as Display
from rich.progress import TimeRemainingColumn as Remaining

from srsg.cli.console import errors, escape, note
from srsg.engines.progress import SILENT, Progress, Stage, send_progress_to


@contextmanager
def bars(quiet: bool = False) -> Iterator[Progress]:
    """Show the stages of all work in the block on standard error, if that is a terminal."""
    if quiet or not errors.is_terminal:
        with send_progress_to(SILENT):
            yield SILENT
        return
    with _display(SpinnerColumn(), "{task.description}", transient=True) as display:
        shown = Bars(display)
        with send_progress_to(shown):
            yield shown


class Bars(Progress):
    """One bar per stage, removed when it ends; the bar of a single step only moves."""

    def __init__(self, display: Display) -> None:
        self._display = display

    @contextmanager
    def stage(self, label: str, total: int) -> Iterator[Stage]:
        task = self._display.add_task(escape(label), total=total if total > 1 else None)
        try:
            yield _Bar(self._display, task)
        finally:
            self._display.remove_task(task)

    def note(self, message: str) -> None:
        note(message)


class _Bar:
    def __init__(self, display: Display, task: TaskID) -> None:
        self._display, self._task = display, task

    def advance(self, steps: int = 1) -> None:
        self._display.advance(self._task, steps)


class OverallBar:
    """One bar for all work: what runs, how much is done, about how long the rest takes."""

    def __init__(self, display: Display, task: TaskID) -> None:
        self._display, self._task = display, task

    def starts(self, what: str) -> None:
        """Show what runs now."""
        self._display.update(self._task, what=escape(what))

    def ends(self, share: float) -> None:
        """This share of all work, whose total is 1, is done."""
        self._display.advance(self._task, share)

    def note(self, message: str) -> None:
        """Print a line above the bar."""
        self._display.console.print(escape(message), soft_wrap=True)


@contextmanager
def bar(title: str) -> Iterator[OverallBar]:
    """One bar for all work in the block; it stays on the screen."""
    with _display(TextColumn("{task.description}"), "{task.fields[what]}") as display:
        yield OverallBar(display, display.add_task(title, total=1.0, what=""))


def _display(start: TextColumn | SpinnerColumn, end: str, transient: bool = False) -> Display:
    return Display(
        start,
        BarColumn(bar_width=24),
        TextColumn("{task.percentage:>3.0f} %"),
        TimeElapsedColumn(),
        TextColumn("left:"),
        Remaining(),
        TextColumn(end),
        console=errors,
        transient=transient,
        redirect_stdout=False,  # otherwise results would end up on standard error
    )
