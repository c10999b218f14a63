"""What can be counted in the code of a package without running it."""

from __future__ import annotations

import ast
import math
import tokenize
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from statistics import median

FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
DOCUMENTED = (ast.Module, ast.ClassDef, *FUNCTIONS)
NOT_CODE = {tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT}
TOP_LEVEL = "modules at the top level"
CHANGES_OF_A_DICT = {"clear", "pop", "popitem", "setdefault", "update", "__setitem__"}


@dataclass(frozen=True)
class Source:
    """A file of the package."""

    path: Path

    @cached_property
    def text(self) -> str:
        with tokenize.open(self.path) as file:
            return file.read()

    @cached_property
    def tree(self) -> ast.Module:
        return ast.parse(self.text)

    @cached_property
    def tokens(self) -> list[tokenize.TokenInfo]:
        lines = iter(self.text.splitlines(keepends=True))
        return list(tokenize.generate_tokens(lambda: next(lines, "")))

    @cached_property
    def code(self) -> set[int]:
        """Lines that have code: not blank, no comment, not of a docstring."""
        used: set[int] = set()
        for token in self.tokens:
            if token.type not in NOT_CODE and token.string:
                used.update(range(token.start[0], token.end[0] + 1))
        return used - docstring_lines(self.tree)

    @property
    def comments(self) -> int:
        return sum(token.type == tokenize.COMMENT for token in self.tokens)

    def function_lengths(self) -> Iterator[int]:
        """Code lines of every function and method, those of inner functions included."""
        for node in ast.walk(self.tree):
            if isinstance(node, FUNCTIONS):
                yield len(self.code & set(range(node.lineno, (node.end_lineno or 0) + 1)))


def code_lines(path: Path) -> int:
    """Lines of a file that have code: not blank, no comment, not of a docstring."""
    return len(Source(path).code)


def docstring_lines(tree: ast.Module) -> set[int]:
    """Lines of the docstrings of modules, classes and functions."""
    lines: set[int] = set()
    for node in ast.walk(tree):
        if isinstance(node, DOCUMENTED) and ast.get_docstring(node, clean=False) is not None:
            text = node.body[0]
            lines.update(range(text.lineno, (text.end_lineno or text.lineno) + 1))
    return lines


def size(package: Path) -> dict[str, float]:
    """The numbers that need no run, by the names of their rows."""
    sources = [Source(path) for path in sorted(package.rglob("*.py"))]
    estimators = [source.tree for source in sources if room_of(source, package) == "`estimators/`"]
    total = sum(len(source.code) for source in sources)
    lengths = sorted(length for source in sources for length in source.function_lengths())
    return {
        "code lines": total,
        **{f"code lines: {room}": lines for room, lines in code_by_room(sources, package).items()},
        "files": len(sources),
        "longest file, code lines": max(len(source.code) for source in sources),
        "classes": sum(len(list(classes(source.tree))) for source in sources),
        "functions": len(lengths),
        "code lines of a function, median": median(lengths),
        "code lines of a function, 90th percentile": lengths[math.ceil(0.9 * len(lengths)) - 1],
        "code lines of a function, longest": lengths[-1],
        "comments per 100 code lines": round(
            100 * sum(source.comments for source in sources) / total, 1
        ),
        "private methods defined in two or more classes of `estimators/`": len(
            shared_private_methods(estimators)
        ),
        "calls of `getattr` and `hasattr` in `estimators/`": sum(
            map(count_lookups_by_name, estimators)
        ),
        "writes to `vars()` or `__dict__`": sum(count_writes(source.tree) for source in sources),
    }


def room_of(source: Source, package: Path) -> str:
    """The folder in the package that a file belongs to."""
    folders = source.path.relative_to(package).parts[:-1]
    return f"`{folders[0]}/`" if folders else TOP_LEVEL


def code_by_room(sources: Iterable[Source], package: Path) -> dict[str, int]:
    """Code lines of every folder, by name, and then of the modules beside them."""
    counts: Counter[str] = Counter()
    for source in sources:
        counts[room_of(source, package)] += len(source.code)
    return dict(sorted(counts.items(), key=lambda item: (item[0] == TOP_LEVEL, item[0])))


def classes(tree: ast.Module) -> Iterator[ast.ClassDef]:
    return (node for node in ast.walk(tree) if isinstance(node, ast.ClassDef))


def shared_private_methods(trees: Iterable[ast.Module]) -> list[str]:
    """Names of private methods that two or more classes define: hooks, and what overrides them."""
    counts = Counter(
        name
        for tree in trees
        for each in classes(tree)
        for name in {node.name for node in each.body if isinstance(node, FUNCTIONS)}
        if name.startswith("_") and not name.startswith("__")
    )
    return sorted(name for name, count in counts.items() if count > 1)


def count_lookups_by_name(tree: ast.Module) -> int:
    """Calls of ``getattr`` and ``hasattr``."""
    return sum(
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Name)
        and node.func.id in ("getattr", "hasattr")
        for node in ast.walk(tree)
    )


def count_writes(tree: ast.Module) -> int:
    """Statements and calls that change ``vars(x)`` or ``x.__dict__``.

    A variable that one of them was assigned to in the same function counts, too.
    """
    inner = [node for node in ast.walk(tree) if isinstance(node, FUNCTIONS)]
    # A write in an inner function is seen from the functions around it as well.
    return len({place for scope in (tree, *inner) for place in _writes(scope)})


def _writes(scope: ast.AST) -> Iterator[tuple[int, int]]:
    aliases: set[str] = set()
    if isinstance(
        scope, FUNCTIONS
    ):  # not of a module: a name means something else in each function
        for node in ast.walk(scope):
            if isinstance(node, ast.Assign) and _is_namespace(node.value, set()):
                aliases |= {each.id for each in node.targets if isinstance(each, ast.Name)}
    for node in ast.walk(scope):
        if _is_write(node, aliases):
            yield node.lineno, node.col_offset  # type: ignore[attr-defined]


def _is_write(node: ast.AST, aliases: set[str]) -> bool:
    match node:
        case ast.Subscript(value=target, ctx=ast.Store() | ast.Del()):
            return _is_namespace(target, aliases)
        case ast.Attribute(attr="__dict__", ctx=ast.Store() | ast.Del()):
            return True
        case ast.AugAssign(target=ast.Name() as target):
            return _is_namespace(target, aliases)
        case ast.Call(func=ast.Attribute(value=target, attr=name)):
            return name in CHANGES_OF_A_DICT and _is_namespace(target, aliases)
    return False


def _is_namespace(node: ast.AST, aliases: set[str]) -> bool:
    match node:
        case ast.Name(id=name):
            return name in aliases
        case ast.Attribute(attr="__dict__"):
            return True
        case ast.Call(func=ast.Name(id="vars")):
            return True
    return False
