"""How much code there is, and how much of it one fit walks through: before and after, side by side.

``python -m benchmarks.house --src src --src ../before/src`` prints one column per source folder.
Each is measured in a process of its own, so that two versions of the package never meet.
"""

from __future__ import annotations

import argparse
import ast
import json
import os
import subprocess
import sys
import tokenize
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

DOCUMENTED = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
NOT_CODE = {tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT}


def code_lines(path: Path) -> int:
    """Lines of a file that have code: not blank, no comment, not of a docstring."""
    with tokenize.open(path) as file:
        source = file.read()
    used: set[int] = set()
    lines = iter(source.splitlines(keepends=True))
    for token in tokenize.generate_tokens(lambda: next(lines, "")):
        if token.type not in NOT_CODE and token.string:
            used.update(range(token.start[0], token.end[0] + 1))
    return len(used - docstring_lines(ast.parse(source)))


def docstring_lines(tree: ast.Module) -> set[int]:
    """Lines of the docstrings of modules, classes and functions."""
    lines: set[int] = set()
    for node in ast.walk(tree):
        if isinstance(node, DOCUMENTED) and ast.get_docstring(node, clean=False) is not None:
            text = node.body[0]
            lines.update(range(text.lineno, (text.end_lineno or text.lineno) + 1))
    return lines


def comment_lines(path: Path) -> int:
    """Lines of a file with a comment."""
    with path.open("rb") as file:
        return sum(token.type == tokenize.COMMENT for token in tokenize.tokenize(file.readline))


def size(package: Path) -> dict[str, float]:
    """The numbers that need no run."""
    files = sorted(package.rglob("*.py"))
    code = {path: code_lines(path) for path in files}
    total = sum(code.values())
    return {
        "code lines": total,
        "files": len(files),
        "longest file, code lines": max(code.values()),
        "modules at the top level": len(list(package.glob("*.py"))),
        "comments per 100 code lines": round(100 * sum(map(comment_lines, files)) / total, 1),
    }


class Walk:
    """Follows the Python calls of one thread through the files of a package.

    Attributes
    ----------
    files : list of str
        The files that ran, in the order of their first call.
    changes : int
        How often a call was in another file of the package than the one before it.
    """

    def __init__(self, package: Path) -> None:
        self.package = f"{package}{os.sep}"
        # Before Python 3.12 numba reports calls of compiled functions, too.
        self.compiled = {
            _place(each.py_func.__code__)
            for name, module in list(sys.modules.items())
            if name.startswith("srsg.")
            for each in vars(module).values()
            if hasattr(each, "py_func")
        }
        self.files: list[str] = []
        self.changes = 0
        self._last = ""

    def __call__(self, frame: FrameType, event: str, _: Any) -> None:
        name = frame.f_code.co_filename
        if event != "call" or not name.startswith(self.package):
            return
        if _place(frame.f_code) in self.compiled:
            return
        if name not in self.files:
            self.files.append(name)
        if self._last and name != self._last:
            self.changes += 1
        self._last = name


def _place(code: CodeType) -> tuple[str, int]:
    return code.co_filename, code.co_firstlineno


def walk_of_a_fit(package: Path) -> dict[str, Any]:
    """Follow ``SRSG().fit`` of 200 points."""
    from sklearn.datasets import load_digits

    import srsg
    from srsg import SRSG

    assert Path(srsg.__file__).parent == package, "another srsg was imported"
    X = load_digits().data[:200]
    # One thread, which does all the work and is followed; the first fit imports and compiles.
    SRSG(n_jobs=1).fit(X)
    built = count_engines()
    walk = Walk(package)
    sys.setprofile(walk)
    try:
        SRSG(n_jobs=1).fit(X)
    finally:
        sys.setprofile(None)
    return {
        "files of one fit": len(walk.files),
        "changes of file": walk.changes,
        "engines of one fit": len(built),
        "walk": [Path(name).relative_to(package).as_posix() for name in walk.files],
    }


def count_engines() -> list[object]:
    """A list that gets every thread engine made from now on, copies included."""
    try:
        from srsg.running.threads import ThreadEngine
    except ImportError:  # where it was before the package had rooms
        from srsg.engine import ThreadEngine
    built: list[object] = []
    make = ThreadEngine.__init__

    def counted(self: object, *arguments: Any, **options: Any) -> None:
        built.append(self)
        make(self, *arguments, **options)

    ThreadEngine.__init__ = counted
    return built


def measured(source: Path) -> dict[str, Any]:
    """All numbers of the package in a source folder, from a process of its own."""
    environment = os.environ | {"PYTHONPATH": str(source)}
    command = [sys.executable, __file__, "--json", "--src", str(source)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, cwd=source)
    if done.returncode:
        raise SystemExit(done.stderr)
    return json.loads(done.stdout.splitlines()[-1])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--src", type=Path, action="append", help="folder that holds srsg/")
    parser.add_argument("--walk", action="store_true", help="also list the files of the fit")
    parser.add_argument("--json", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    sources = [path.resolve() for path in options.src or [Path(__file__).parents[1] / "src"]]
    if options.json:
        package = sources[0] / "srsg"
        print(json.dumps(size(package) | walk_of_a_fit(package)))
        return
    columns = [measured(source) for source in sources]
    print(" " * 30, *(f"{source.parent.name + '/' + source.name:>18}" for source in sources))
    for name in columns[0]:
        if name != "walk":
            print(f"{name:30}", *(f"{column[name]:>18}" for column in columns))
    if options.walk:
        for column in columns:
            print("", *column["walk"], sep="\n")


if __name__ == "__main__":
    main()
