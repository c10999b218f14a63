"""How the tests run the command line, and on what."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path

from typer.testing import CliRunner

from srsg.cli import app
from support.subspaces import near_planes


def command():
    """The installed entry point, or else the module."""
    script = Path(sys.executable).with_name("srsg")
    return [script] if script.exists() else [sys.executable, "-m", "srsg"]


def run(*arguments, **options):
    """A command in this process."""
    return CliRunner().invoke(app, [str(argument) for argument in arguments], **options)


def good(*arguments, **options):
    done = run(*arguments, **options)
    assert done.exit_code == 0, done.output
    return done


def the_error(*arguments, code=1):
    """The one line that a command fails with."""
    done = run(*arguments)
    assert done.exit_code == code, done.output
    assert done.stdout == ""
    lines = [line for line in done.stderr.splitlines() if not line.startswith("note: ")]
    assert len(lines) == 1, done.stderr
    assert lines[0].startswith("error: ")
    return lines[0]


def start(*arguments, **options):
    """A command in a process of its own, which Ctrl-C stops wherever the tests were started."""
    # A shell lets its background jobs ignore Ctrl-C, and so would all that they start. A handler
    # of ours becomes the default in the new process.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        return subprocess.Popen([*command(), *map(str, arguments)], **options)
    finally:
        signal.signal(signal.SIGINT, before)


def planes(n_classes=3, each=20):
    """Points near random planes, and their classes."""
    return near_planes(0, n_classes * each, 12, n_classes, noise=0.002)


def table_of_planes(path, **sizes):
    X, y = planes(**sizes)
    lines = [",".join([*(f"f{j}" for j in range(X.shape[1])), "kind"])]
    lines += [",".join([*map(repr, row.tolist()), f"c{c}"]) for row, c in zip(X, y, strict=True)]
    path.write_text("\n".join(lines) + "\n")
    return path
