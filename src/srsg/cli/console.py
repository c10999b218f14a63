"""What the commands share: messages and errors on the terminal."""

from __future__ import annotations

import os
import re
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

import typer
from rich.console import Console
from rich.markup import escape as escaped
from typer.core import TyperGroup

errors = Console(stderr=True, highlight=False)
"""Progress, messages and errors; results go to standard output."""

INTERRUPTED = 130
"""The exit status that shells expect from a program ended by Ctrl-C."""

_UsageError: Any = typer.BadParameter.__mro__[1]  # typer has no other name for it

_AS_OPTIONS = {
    "drop_missing=True": "--drop-missing",
    "keep_missing=True": "srsg cluster --impute median",
    "image_size=(32, 32)": "--image-size 32x32",
    "n_clusters=": "-k ",
    "n_neighbors=": "--n-neighbors ",
    "n_candidates=": "--candidates ",
    "n_candidates needs": "--candidates needs",
    "scale_neighbor=": "--scale-neighbor ",
    "labels=": "--labels ",
    "columns=...": "--columns",
    "variable=...": "--variable",
    "encoding=": "--encoding ",
    "novelty=": "--novelty ",
    "max_memory='": "--max-memory '",
    "store='": "--store '",
}
"""The library's messages name parameters; these are the options of the command line for them."""


_PARAMETER = re.compile(r"The '(\w+)' parameter of \w+")


class Commands(TyperGroup):
    """All commands: an expected error in any of them is one line, without a traceback.

    Unexpected errors, which are bugs, keep their traceback.
    """

    def make_context(self, *args: Any, **kwargs: Any) -> Any:
        try:
            return super().make_context(*args, **kwargs)
        except KeyboardInterrupt:  # before a command has begun; typer would say nothing
            raise fail("stopped.", INTERRUPTED) from None

    def invoke(self, ctx: Any) -> Any:
        with one_line_errors():
            return super().invoke(ctx)


@contextmanager
def one_line_errors() -> Iterator[None]:
    """Turn expected errors into one line on standard error and an exit status."""
    try:
        with warnings.catch_warnings():
            warnings.showwarning = _show_warning  # type: ignore[assignment]
            yield
        # Here and not at exit, where a full disk could no longer be reported in one line.
        sys.stdout.flush()
    # Before OSError, of which it is a special case.
    except BrokenPipeError:  # the program that reads our output has ended: `| head -1`
        _close_output()
        raise typer.Exit(0) from None
    except KeyboardInterrupt:
        raise fail("stopped.", INTERRUPTED) from None
    except _UsageError as error:
        command = error.ctx.command_path if error.ctx else "srsg"
        message = _with_stop(error.format_message())
        raise fail(f"{message} See {command} --help.", error.exit_code) from error
    except MemoryError as error:
        reason = f" ({error})" if str(error) else ""
        raise fail(f"there is not enough memory{reason}.") from error
    except OSError as error:
        _close_output()
        raise fail(_named(error)) from error
    except ValueError as error:  # what the library raises for all bad input
        raise fail(" ".join(str(error).split())) from error
    except ImportError as error:
        if "pip install" not in str(error):  # not an optional library
            raise
        raise fail(error) from error


def fail(message: object, code: int = 1) -> typer.Exit:
    """Print one line about what went wrong; the caller raises what this returns."""
    text = _with_stop(as_options(str(message)))
    errors.print(f"[bold red]error:[/] {escape(text)}", soft_wrap=True)
    return typer.Exit(code)


def note(message: object) -> None:
    """Print one line that the user should know about."""
    errors.print(f"[dim]note:[/] {escape(as_options(str(message)))}", soft_wrap=True)


def say(message: object) -> None:
    """Print one line."""
    errors.print(escape(message), soft_wrap=True)


def escape(message: object) -> str:
    """Text that is shown as it is, not read as markup."""
    return escaped(str(message))


def as_options(message: str) -> str:
    """A message of the library, with its parameters replaced by options of the command line."""
    for python, option in _AS_OPTIONS.items():
        message = message.replace(python, option)
    return _PARAMETER.sub(_as_option, message)


def _as_option(found: re.Match[str]) -> str:
    """The option for a parameter that scikit-learn's check of its range names."""
    name = found[1]
    return "-k" if name == "n_clusters" else f"--{name.replace('_', '-')}"


def _with_stop(message: str) -> str:
    return message if message.endswith((".", "?", "!")) else f"{message}."


def _named(error: OSError) -> str:
    """The file and the reason, where the system gives them."""
    if not error.strerror:
        return str(error)
    return f"{error.filename or 'standard output'}: {error.strerror}."


def _show_warning(message: Warning | str, *_: Any) -> None:
    text = as_options(" ".join(str(message).split()))
    errors.print(f"[yellow]warning:[/] {escape(text)}", soft_wrap=True)


def _close_output() -> None:
    """Drop what standard output still holds, so that Python does not try to write it at exit."""
    with suppress(OSError, ValueError):
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, sys.stdout.fileno())
        os.close(nowhere)
