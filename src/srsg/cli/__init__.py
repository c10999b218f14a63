"""The command line: one file per command.

A command imports what it needs inside its function, so that ``srsg --help`` is instant.
"""

import os
import sys

import typer

from srsg.cli.cluster import cluster
from srsg.cli.compare import compare
from srsg.cli.console import Command, Commands
from srsg.cli.demo import demo
from srsg.cli.groups import with_groups
from srsg.cli.info import info
from srsg.cli.options import option
from srsg.cli.predict import predict

app = typer.Typer(
    cls=Commands,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
for command in (cluster, compare, predict, info, demo):
    leave_out = ["drop_missing"] if command is info else []  # it counts rows with missing values
    app.command(cls=Command)(with_groups(command, leave_out))


def _print_version(wanted: bool) -> None:
    if wanted:
        from srsg import __version__

        print(f"srsg {__version__}")
        raise typer.Exit


VERSION = option(
    "Show the version.", "--version", default=False, callback=_print_version, is_eager=True
)


@app.callback()
def _options(version: bool = VERSION) -> None:
    """Sparse-graph clustering: SRSG, the l1-graph and the methods they are compared with."""


def main() -> None:
    """The ``srsg`` command."""
    with open(os.devnull, "w") as nowhere:
        # A program may be started without them: srsg info x.csv >&-
        sys.stdout, sys.stderr = sys.stdout or nowhere, sys.stderr or nowhere
        app(prog_name="srsg")
