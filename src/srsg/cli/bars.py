"""Progress on the terminal: what is running, how much of it is done, and the time left."""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from functools import partial
from types import SimpleNamespace

from rich.markup import escape
from rich.progress import BarColumn, ProgressColumn, SpinnerColumn, Task, TextColumn
from rich.progress import Progress as Display
from rich.table import Column
from rich.text import Text

from srsg.cli.console import errors, note, printable
from srsg.running.progress import SILENT, Progress, Stage, send_progress_to


@contextmanager
def bars(quiet: bool = False) -> Iterator[Progress]:
    """Show the stages of all work in the block on standard error, if that is a terminal.

    Elsewhere only notes are printed, because bars would fill a log file; if quiet, nothing is.
    """
    if quiet or not errors.is_terminal:
        with send_progress_to(SILENT):
            yield SILENT if quiet else Notes()
        return
    with _display() as display:
        shown = Bars(display)
        with send_progress_to(shown):
            yield shown


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


class _Times(ProgressColumn):
    """Time elapsed and, if known, time left."""

    def render(self, task: Task) -> Text:
        times = {"elapsed": task.elapsed, "left": task.time_remaining if task.total else None}
        known = {name: seconds for name, seconds in times.items() if seconds is not None}
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
