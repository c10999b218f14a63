"""Writes the tables of CONTRIBUTING.md that follow from the code: ``python -m tools.house_map``.

The rooms come in the order of import-linter's layers, with the first line of their docstrings. The
walk lists the files that a fit of 200 points runs through, in the order of their first call.
"""

from __future__ import annotations

import ast
import re
import tomllib
from pathlib import Path

from benchmarks.house import measured

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "src" / "srsg"
CONTRIBUTING = ROOT / "CONTRIBUTING.md"


def summary(path: Path) -> str:
    """The first paragraph of a module's docstring as one line."""
    text = ast.get_docstring(ast.parse(path.read_text())) or ""
    return " ".join(text.partition("\n\n")[0].split()).replace("``", "`")


def rooms() -> str:
    """The table of packages and modules, the highest layer first."""
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]
    (layers,) = (each["layers"] for each in contracts["contracts"] if each["type"] == "layers")
    lines = ["| room | what is in it |", "|---|---|"]
    for name in re.split(r" \| |\n", "\n".join(layers)):
        folder = PACKAGE / name
        path = folder / "__init__.py" if folder.is_dir() else folder.with_suffix(".py")
        shown = f"{name}/" if folder.is_dir() else path.name
        lines.append(f"| `{shown}` | {summary(path)} |")
    return "\n".join(lines)


def walk() -> str:
    """The list of the files that ``SRSG().fit`` runs through."""
    names = measured(ROOT / "src")["walk"]
    return "\n".join(
        f"{place}. `{name}`: {summary(PACKAGE / name)}" for place, name in enumerate(names, start=1)
    )


def with_tables(text: str) -> str:
    """The page with the text between each pair of marks replaced."""
    for mark, make in (("rooms", rooms), ("walk", walk)):
        begin, end = f"<!-- {mark}: python -m tools.house_map -->\n", f"\n<!-- end of {mark} -->"
        before, _, rest = text.partition(begin)
        text = f"{before}{begin}{make()}{end}{rest.partition(end)[2]}"
    return text


if __name__ == "__main__":
    CONTRIBUTING.write_text(with_tables(CONTRIBUTING.read_text()))
