"""The command line: one file a command.

A command imports what it needs inside its function, so that ``srsg --help`` is instant.
"""

from __future__ import annotations

import typer

from srsg.cli.reproduce import reproduce

app = typer.Typer(
    help="Sparse-graph clustering: SRSG, the l1-graph and the methods they are compared with.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)
app.command()(reproduce)


@app.callback()
def _commands() -> None:
    """Keeps the name of a command necessary while there is only one."""


def main() -> None:
    """The ``srsg`` command."""
    app(prog_name="srsg")
