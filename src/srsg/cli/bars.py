"""Progress on the terminal: what is running, how much of it is done, and the time left."""

import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from functools import partial
from threading import Event, Thread
from types import SimpleNamespace
from typing import Self

from rich.markup import escape
from rich.progress import BarColumn, ProgressColumn, SpinnerColumn, Task, TextColumn
from rich.progress import Progress as Display
from rich.table import Column
from rich.text import Text

from srsg.cli.console import errors, note, printable
from srsg.running.progress import SILENT, Progress, Stage, send_progress_to

EVERY = 10.0
"""Seconds between lines of progress where no bars can be shown."""


@contextmanager
def bars(quiet: bool = False) -> Iterator[Progress]:
    """Show the stages of all work in the block on standard error; if quiet, nothing.

    A terminal has bars. Elsewhere, where they would fill a log file, there is a line every ten
    seconds.
    """
    if quiet:
        with send_progress_to(SILENT):
            yield SILENT
    elif errors.is_terminal:
        with _display() as display, send_progress_to(Bars(display)) as shown:
            yield shown
    else:
        with Lines() as lines, send_progress_to(lines):
            yield lines


def tell(progress: Progress, notes: Iterable[str]) -> None:
    """Print notes for the user, unless the command is quiet."""
    for line in notes:
        progress.note(line)


class Notes(Progress):
    """Prints notes, each once, and no bars."""

    def __init__(self) -> None:
        self._printed: set[str] = set()

    def note(self, message: str) -> None:
        if message not in self._printed:  # several methods may say the same
            self._printed.add(message)
            note(message)


class Bars(Notes):
    """One bar per stage, removed at its end; the bar of a single step only moves."""

    def __init__(self, display: Display) -> None:
        super().__init__()
        self._display = display

    @contextmanager
    def stage(self, label: str, total: int) -> Iterator[Stage]:
        task = self._display.add_task(escape(printable(label)), total=total if total > 1 else None)
        try:
            yield SimpleNamespace(advance=partial(self._display.advance, task))
        finally:
            self._display.remove_task(task)


class Lines(Notes):
    """A line every ten seconds: how much is done, the time left if known, and what is running."""

    def __init__(self) -> None:
        super().__init__()
        self._running: list[_Counted] = []
        self._ended = Event()
        self._start = time.monotonic()

    def __enter__(self) -> Self:
        Thread(target=self._print, daemon=True).start()
        return self

    def __exit__(self, *error: object) -> None:
        self._ended.set()

    @contextmanager
    def stage(self, label: str, total: int) -> Iterator[Stage]:
        stage = _Counted(label, total, time.monotonic())
        self._running.append(stage)
        try:
            yield stage
        finally:
            self._running.remove(stage)

    def _print(self) -> None:
        while not self._ended.wait(EVERY):
            elapsed = timedelta(seconds=int(time.monotonic() - self._start))
            running = "; ".join(stage.line() for stage in [*self._running])
            note(f"{elapsed} {running or 'working'}")


@dataclass
class _Counted:
    """A stage, and how many of its steps are done."""

    label: str
    total: int
    start: float
    done: int = 0

    def advance(self, steps: int = 1) -> None:
        self.done += steps

    def line(self) -> str:
        if not 0 < self.done < self.total:
            return self.label
        left = time_left(time.monotonic() - self.start, self.done, self.total)
        return f"{self.label}: {self.done / self.total:.0%}, left: {timedelta(seconds=int(left))}"


def time_left(elapsed: float, done: float, total: float) -> float:
    """The time left, if the rest goes on as fast as all that is done.

    Steps differ: the speed of the last few alone would jump.

    Examples
    --------
    >>> from srsg.cli.bars import time_left
    >>> time_left(10.0, 1, 3)
    20.0
    """
    return elapsed * (total - done) / done


class _Times(ProgressColumn):
    """Time elapsed and, if known, time left."""

    def render(self, task: Task) -> Text:
        elapsed = task.elapsed or 0.0
        known = {"elapsed": elapsed}
        if task.total and task.completed:
            known["left"] = time_left(elapsed, task.completed, task.total)
        return Text(" ".join(f"{name}: {timedelta(seconds=int(known[name]))}" for name in known))


def _display() -> Display:
    return Display(
        SpinnerColumn(),
        BarColumn(bar_width=24),
        TextColumn("{task.percentage:>3.0f} %"),
        # On a narrow terminal the bar gets shorter, and a line stays one line.
        _Times(table_column=Column(no_wrap=True)),
        TextColumn("{task.description}"),
        console=errors,
        transient=True,
        redirect_stdout=False,  # otherwise results would end up on standard error
    )
