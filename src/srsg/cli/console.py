"""Messages and errors on the terminal."""

import os
import re
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

import typer
from rich.console import Console
from rich.markup import escape
from typer.core import TyperCommand, TyperGroup

errors = Console(stderr=True, highlight=False)
"""For progress, messages and errors; results go to standard output."""

ERROR, WARNING, NOTE = "[bold red]error:[/] ", "[yellow]warning:[/] ", "[dim]note:[/] "

INTERRUPTED = 130  # the exit status that shells expect from a program ended by Ctrl-C

_UsageError: Any = typer.BadParameter.__mro__[1]  # typer has no other name for it

# Options that are named differently from their parameter.
_OWN = {"n_clusters": "-k", "n_candidates": "--candidates", "n_jobs": "--jobs", "id_column": "--id"}
_OWN |= {"max_memory": "--memory", "max_time": "--time"}

# Words in messages of libraries, and their replacement on the command line.
_PHRASES = {
    "Value error, ": "",
    "keep_missing=True": "srsg cluster --impute median",
    "image_size=(32, 32)": "--image-size 32x32",
    "n_candidates needs": "--candidates needs",
    "with n_jobs": "with --jobs",
}

# How scikit-learn names a parameter that is out of range.
_RANGE = re.compile(r"The '(\w+)' parameter of \w+")

# A parameter with its value, as in messages of this library.
_VALUE = re.compile(
    r"\b(affine|columns|drop_missing|encoder|encoding|gamma|l1_ratio|labels|lam|lam_divisor|max_memory"
    r"|max_time|n_candidates|n_clusters|n_neighbors|n_nonzero|novelty|scale_neighbor|skip_rows|step"
    r"|store|variable)"
    r"=(True\b|\.\.\.|)"
)


class Command(TyperCommand):
    """A command whose flags are shown without a value."""

    def get_params(self, ctx: Any) -> list[Any]:
        return _with_plain_flags(super().get_params(ctx))


class Commands(TyperGroup):
    """All commands: an expected error in any of them is one line, without a traceback.

    Unexpected errors, which are bugs, keep their traceback.
    """

    def get_params(self, ctx: Any) -> list[Any]:
        return _with_plain_flags(super().get_params(ctx))

    def make_context(self, *args: Any, **kwargs: Any) -> Any:
        with one_line_errors():
            return super().make_context(*args, **kwargs)

    def invoke(self, ctx: Any) -> Any:
        with one_line_errors():
            return super().invoke(ctx)


def _with_plain_flags(parameters: list[Any]) -> list[Any]:
    for parameter in parameters:
        if getattr(parameter, "is_flag", False):
            parameter.metavar = ""
    return parameters


@contextmanager
def one_line_errors() -> Iterator[None]:
    """Turn expected errors into one line on standard error and an exit status."""
    try:
        with warnings.catch_warnings():
            warnings.showwarning = lambda message, *_: say(as_options(message), WARNING)
            yield
        # Here and not at exit, where a full disk could no longer be reported in one line.
        sys.stdout.flush()
    # Before OSError, of which it is a special case.
    except BrokenPipeError:  # the program that reads our output has ended: `| head -1`
        _close_output()
        raise typer.Exit(0) from None
    except KeyboardInterrupt as error:  # with advice, if there is any
        raise fail(f"stopped. {error}".strip(), INTERRUPTED) from None
    except _UsageError as error:
        command = error.ctx.command_path if error.ctx else "srsg"
        message = _with_stop(error.format_message())
        raise fail(f"{message} See {command} --help.", error.exit_code) from error
    except MemoryError as error:
        raise fail("not enough memory" + (f" ({error})" if str(error) else "")) from error
    except OSError as error:
        _close_output()
        where = error.filename or "standard output"
        raise fail(f"{where}: {error.strerror}" if error.strerror else error) from error
    except (ValueError, ImportError) as error:  # bad input, or an optional library is missing
        if isinstance(error, ImportError) and "pip install" not in str(error):
            raise
        raise fail(error) from error


def fail(message: object, code: int = 1) -> typer.Exit:
    """Print an error in one line; the caller raises the result."""
    say(_with_stop(as_options(message)), ERROR)
    return typer.Exit(code)


def note(message: object) -> None:
    """Print a note for the user in one line."""
    say(as_options(message), NOTE)


def say(message: str, mark: str = "") -> None:
    """Print one line."""
    errors.print(mark + escape(printable(message)), soft_wrap=True)


def printable(text: str) -> str:
    """Text that a terminal shows as it is: control characters could move its cursor.

    Examples
    --------
    >>> from srsg.cli.console import printable
    >>> printable("a\\x1b[2Jb")
    'a\\\\x1b[2Jb'
    """
    return "".join(
        sign if sign.isprintable() else sign.encode("unicode_escape").decode() for sign in text
    )


def as_options(message: object) -> str:
    """A message in one line, with options of the command line instead of parameters."""
    text = str(message)
    for phrase, option in _PHRASES.items():
        text = text.replace(phrase, option)
    text = _RANGE.sub(lambda match: flag_of(match[1]), text)
    # A value follows its option after a space; flags have none, and dots stand for any.
    text = _VALUE.sub(lambda match: flag_of(match[1]) + ("" if match[2] else " "), text)
    return " ".join(text.split())


def flag_of(parameter: str) -> str:
    """The option that sets a parameter of an estimator."""
    return _OWN.get(parameter, f"--{parameter.replace('_', '-')}")


def _with_stop(message: str) -> str:
    return message if message.endswith((".", "?", "!")) else f"{message}."


def _close_output() -> None:
    """Discard buffered output, so that Python does not try to write it at exit."""
    with suppress(OSError, ValueError):
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, sys.stdout.fileno())
        os.close(nowhere)
