"""The options of every command as Markdown, taken from the commands themselves."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from sphinx.application import Sphinx


def sections(command: Any, name: str) -> Iterator[str]:
    """A table for a command, or one for each of its subcommands."""
    inner = getattr(command, "commands", None)
    if inner:
        for each in inner.values():
            yield from sections(each, f"{name} {each.name}")
        return
    yield f"\n### {name}\n\n{(command.help or '').split(chr(10) + chr(10))[0]}\n"
    yield "| option | what it does |\n|---|---|"
    for parameter in command.params:
        record = getattr(parameter, "help", None) or ""
        names = [*parameter.opts, *parameter.secondary_opts]
        if "--help" in names or getattr(parameter, "hidden", False):
            continue
        # An argument is named after its place, an option by its dashes.
        shown = ", ".join(names) if names[0].startswith("-") else parameter.name.upper()
        text = " ".join(record.split()).replace("|", "\\|").replace("<", "&lt;")
        yield f"| `{shown}` | {text} |"


def write_options(app: Sphinx) -> None:
    import typer

    from srsg.cli import app as program

    path = Path(app.srcdir) / "reference" / "generated" / "options.md"
    path.parent.mkdir(parents=True, exist_ok=True)
    text = "\n".join(sections(typer.main.get_command(program), "srsg")) + "\n"
    # Unchanged files keep their date, so that nothing is built again for nothing.
    if not path.exists() or path.read_text() != text:
        path.write_text(text)


def setup(app: Sphinx) -> dict[str, bool]:
    app.connect("builder-inited", write_options)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
