"""How the tests run the command line, and on what."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
from typer.testing import CliRunner

from srsg.cli import app


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
    """A command in a process of its own."""
    return subprocess.Popen([*command(), *map(str, arguments)], **options)


def planes(n_classes=3, each=20, seed=0):
    """Noisy points of random planes, and their classes."""
    rng = np.random.default_rng(seed)
    bases = rng.standard_normal((n_classes, 2, 12))
    X = np.concatenate([rng.standard_normal((each, 2)) @ basis for basis in bases])
    X += 0.01 * rng.standard_normal(X.shape)
    return X, np.repeat(np.arange(n_classes), each)


def table_of_planes(path, **sizes):
    X, y = planes(**sizes)
    lines = [",".join([*(f"f{j}" for j in range(X.shape[1])), "kind"])]
    lines += [",".join([*map(repr, row.tolist()), f"c{c}"]) for row, c in zip(X, y, strict=True)]
    path.write_text("\n".join(lines) + "\n")
    return path
