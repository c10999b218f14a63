"""Progress of long work, and the interface of stores that keep its results."""

from __future__ import annotations

import sys
import time
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from contextvars import ContextVar
from functools import partial
from html import escape
from importlib import import_module
from typing import Any, Protocol, TypeVar


class Stage(Protocol):
    """One piece of work in progress."""

    def advance(self, steps: int = 1) -> None:
        """Note that ``steps`` more are done."""


class Progress:
    """Shows nothing; the base class of progress displays."""

    def stage(self, label: str, total: int) -> AbstractContextManager[Stage]:
        """A piece of work of ``total`` steps."""
        return nullcontext(_Silence())

    def note(self, message: str) -> None:
        """Show a message that stays."""


class _Silence:
    def advance(self, steps: int = 1) -> None:
        pass


class PrintedProgress(Progress):
    """Lines on standard error: one per stage, kept up to date if it is a terminal."""

    @contextmanager
    def stage(self, label: str, total: int) -> Iterator[Stage]:
        stage = _PrintedStage(label, total)
        yield stage
        stage.finish()

    def note(self, message: str) -> None:
        print(message, file=sys.stderr)


class _PrintedStage:
    def __init__(self, label: str, total: int) -> None:
        self.label, self.total, self.done = label, total, 0
        self.start = self.shown = time.monotonic()

    def advance(self, steps: int = 1) -> None:
        self.done += steps
        now = time.monotonic()
        # A terminal takes longer for a line than many steps do.
        if sys.stderr.isatty() and now - self.shown > 0.2:
            self.shown = now
            remaining = (now - self.start) * (self.total - self.done) / self.done
            share = self.done / self.total
            line = f"{self.label}: {share:4.0%}, about {remaining:.0f} s left"
            print(f"\r{line:<70}", end="", file=sys.stderr, flush=True)

    def finish(self) -> None:
        start = "\r" if sys.stderr.isatty() else ""
        line = f"{self.label}: {time.monotonic() - self.start:.2f} s"
        print(f"{start}{line:<70}".rstrip(), file=sys.stderr)


class NotebookProgress(Progress):
    """One bar in a notebook: what is running; it goes when all is done."""

    def __init__(self, display: Any) -> None:
        self._display, self._handle, self._depth = display, None, 0

    @contextmanager
    def stage(self, label: str, total: int) -> Iterator[Stage]:
        self._depth += 1
        try:
            yield _NotebookStage(partial(self._show, label), total)
        finally:
            self._depth -= 1
            if not self._depth and self._handle is not None:
                self._handle.update(self._display.HTML(""))

    def note(self, message: str) -> None:
        self._display.display(self._display.HTML(escape(message)))

    def _show(self, label: str, share: float) -> None:
        drawn = self._display.HTML(f'<progress value="{share:.3f}"></progress> {escape(label)}')
        if self._handle is None:
            self._handle = self._display.display(drawn, display_id=True)
        else:
            self._handle.update(drawn)


class _NotebookStage:
    def __init__(self, show: Callable[[float], None], total: int) -> None:
        self._show, self.total, self.done = show, total, 0
        self.shown = time.monotonic()
        show(0.0)

    def advance(self, steps: int = 1) -> None:
        self.done += steps
        if time.monotonic() - self.shown > 0.2:
            self.shown = time.monotonic()
            self._show(self.done / max(self.total, 1))


def _shown() -> Progress:
    """A bar in a notebook, lines on standard error elsewhere."""
    interactive = sys.modules.get("IPython")
    shell = interactive and interactive.get_ipython()
    if shell is None or not hasattr(shell, "kernel"):
        return PrintedProgress()
    return NotebookProgress(import_module("IPython.display"))


SILENT = Progress()

COMPILING = "compiling, once on this machine: about 15 seconds, a minute or two if it is busy ..."


def announce_compiling(progress: Progress) -> AbstractContextManager[None]:
    """A context in which ``progress`` gets a note when a kernel is compiled instead of loaded.

    Compiling takes up to a minute and happens once, in the first fit or the first prediction.
    """
    from srsg.kernels.compiled import when_compiling

    return when_compiling(lambda: progress.note(COMPILING))


ShownT = TypeVar("ShownT", bound=Progress)

_listener: ContextVar[Progress | None] = ContextVar("listener", default=None)


@contextmanager
def send_progress_to(progress: ShownT) -> Iterator[ShownT]:
    """Send the progress of all work in the block to ``progress``, whatever ``verbose`` asks for.

    In this way a program can show progress as it likes without a parameter of every estimator,
    which would have to be copied, compared and saved with the estimator.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from srsg import OMPGraph
    >>> from srsg.running.progress import PrintedProgress, send_progress_to
    >>> with send_progress_to(PrintedProgress()):  # on standard error
    ...     _ = OMPGraph(3).fit(load_digits().data[:50])
    """
    token = _listener.set(progress)
    try:
        yield progress
    finally:
        _listener.reset(token)


@contextmanager
def quietly() -> Iterator[None]:
    """Show neither progress nor warnings: for fits on samples, about which nobody can act.

    Examples
    --------
    >>> import warnings
    >>> from srsg.running.progress import quietly
    >>> with quietly():
    ...     warnings.warn("not shown", stacklevel=1)
    """
    with send_progress_to(SILENT), warnings.catch_warnings(action="ignore"):
        yield


def progress_for(verbose: bool | int) -> Progress:
    """The progress that an estimator's ``verbose`` asks for, unless :func:`send_progress_to` has
    set another."""
    return _listener.get() or (_shown() if verbose else SILENT)


Arrays = Mapping[str, Any]
"""Arrays by name."""

Made = TypeVar("Made")

Make = Callable[[dict[str, Any]], Made]
"""Makes something of arrays by name."""


class Store:
    """Keeps nothing; the base class of :class:`~srsg.running.store.FolderStore`."""

    keeps = False
    """Whether anything is kept."""

    def save(self, name: str, arrays: Arrays) -> None:
        """Keep some arrays under a name."""

    def load(
        self, name: str, rules: Mapping[str, Any], sizes: Mapping[str, int], make: Make[Made]
    ) -> list[Made]:
        """What ``make`` returns for all arrays under a name that keep the rules, in any order.

        Of arrays with overlapping ``rows`` only some are taken, so that no row comes twice. Arrays
        for which ``make`` raises an error count as damaged.
        """
        return []

    def of(self, *facts: Any) -> Store:
        """The part of the store for one piece of work, which these facts identify.

        Facts that are expensive to compute are passed as functions.
        """
        return self


NO_STORE = Store()
