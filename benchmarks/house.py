"""How much code there is, and how much of it one fit walks through: before and after, side by side.

``python -m benchmarks.house --src OLD/src --src src`` prints one column per source folder;
``--write FILE`` writes the table as a page, and ``--walk`` also lists the files of the fit.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from benchmarks.house_code import code_lines, size

__all__ = ["code_lines", "measured"]

ROOT = Path(__file__).parents[1]
HERE = ROOT / "src"

PAGE = """# Size of the code

Written by `{command}`; do not edit.

Code lines are all lines but blank ones, comments and docstrings. A function has the lines of its
inner functions, too. The fit is `SRSG(n_jobs=1).fit` on 200 digits; a *change of file* is a call in
another file of the package than the call before it.

{table}
"""


def measured(source: Path) -> dict[str, Any]:
    """All numbers of the package in a source folder, by the names of their rows.

    What has to be imported or run is from a process of its own.
    """
    package = source / "srsg"
    environment = os.environ | {"PYTHONPATH": os.pathsep.join([str(source), str(ROOT)])}
    command = [sys.executable, "-m", "benchmarks.house_fit", str(package)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, cwd=source)
    if done.returncode:
        raise SystemExit(done.stderr)
    return size(package) | json.loads(done.stdout.splitlines()[-1])


def table(columns: Sequence[dict[str, Any]], titles: Sequence[str]) -> str:
    """The rows of all columns in Markdown, aligned for the terminal; a dash where there is none."""
    rows = [["", *titles]]
    for name in row_names(columns):
        cells = (f"{column[name]:,}" if name in column else "-" for column in columns)
        rows.append([name, *cells])
    first, *widths = (max(map(len, cells)) for cells in zip(*rows, strict=True))
    lines = [
        " | ".join([name.ljust(first), *map(str.rjust, cells, widths)]) for name, *cells in rows
    ]
    rule = " | ".join(["-" * first, *(f"{'-' * (width - 1)}:" for width in widths)])
    return "\n".join(f"| {line} |" for line in (lines[0], rule, *lines[1:]))


def row_names(columns: Sequence[dict[str, Any]]) -> list[str]:
    """The rows of all columns; one that only a later column has follows the row before it there."""
    names: list[str] = []
    for column in columns:
        place = 0
        for name in column:
            if name not in names:
                names.insert(place, name)
            place = names.index(name) + 1
    names.remove("walk")  # a list of files, not a number
    return names


def title(source: Path) -> str:
    """What a column is called: no path of this machine."""
    return "src" if source == HERE else f"{source.parent.name}/{source.name}"


def page(columns: Sequence[dict[str, Any]], titles: Sequence[str], path: Path) -> str:
    """The table with the command that wrote it."""
    options = [f"--src {name}" for name in titles]
    shown = path.resolve()
    shown = shown.relative_to(ROOT) if shown.is_relative_to(ROOT) else Path(path.name)
    command = " ".join(["python -m benchmarks.house", *options, f"--write {shown.as_posix()}"])
    return PAGE.format(command=command, table=table(columns, titles))


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--src", type=Path, action="append", help="folder that holds srsg/")
    parser.add_argument("--walk", action="store_true", help="also list the files of the fit")
    parser.add_argument("--write", type=Path, help="file for the table as a page")
    options = parser.parse_args(arguments)
    sources = [path.resolve() for path in options.src or [HERE]]
    columns = [measured(source) for source in sources]
    titles = [title(source) for source in sources]
    print(table(columns, titles))
    if options.walk:
        for column in columns:
            print("", *column["walk"], sep="\n")
    if options.write:
        options.write.write_text(page(columns, titles, options.write))


if __name__ == "__main__":
    main()
