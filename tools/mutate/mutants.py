"""Small changes to the source code, one at a time, as somebody might make them by mistake.

Only statements within functions are changed. Constants at the top of a module set sizes of blocks
and bounds of loops, which change the speed and not the result.
"""

from __future__ import annotations

import ast
import copy
import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from types import CodeType

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "src" / "srsg"

LIVING = ("survived", "not reached")
"""What becomes of a mutant that no test notices."""

COMPARISONS = {
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
}
ARITHMETIC = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Div,
    ast.Div: ast.Mult,
    ast.FloorDiv: ast.Mult,
    ast.Pow: ast.Mult,
    ast.BitOr: ast.BitAnd,
    ast.BitAnd: ast.BitOr,
}


@dataclass(frozen=True)
class Mutant:
    """One change: the text of a file from one place to another is replaced.

    Attributes
    ----------
    file : str
        Below ``src/srsg``.
    function : str
        The outermost function that contains the change, with its class.
    statement : int
        The line where the innermost statement begins.
    number : int
        Counts mutants that read the same in one function.
    digest : str
        Of the function: a mutant of another version of it is another mutant.
    """

    file: str
    function: str
    statement: int
    line: int
    column: int
    end_line: int
    end_column: int
    before: str
    after: str
    number: int
    digest: str

    @property
    def name(self) -> str:
        """What it is called in files: without lines, which change whenever code moves."""
        again = f" #{self.number + 1}" if self.number else ""
        return f"{self.file} {self.function}: {self.before} -> {self.after}{again}"

    @property
    def folder(self) -> str:
        """Its room; "." for modules beside the rooms."""
        return str(Path(self.file).parent)

    @property
    def path(self) -> Path:
        return PACKAGE / self.file

    def applied(self) -> str:
        """The source with the change."""
        lines = self.path.read_bytes().splitlines(keepends=True)
        head = b"".join(lines[: self.line - 1]) + lines[self.line - 1][: self.column]
        tail = lines[self.end_line - 1][self.end_column :] + b"".join(lines[self.end_line :])
        return (head + self.after.encode() + tail).decode()

    def code(self) -> CodeType:
        """The changed function, compiled."""
        code = compile(self.applied(), str(self.path), "exec", dont_inherit=True)
        for part in self.function.split("."):
            inner = [each for each in code.co_consts if isinstance(each, CodeType)]
            # Of functions of the same name, as those of a property, the one around the change.
            code = max(
                (
                    each
                    for each in inner
                    if each.co_name == part and each.co_firstlineno <= self.line
                ),
                key=lambda each: each.co_firstlineno,
            )
        return code

    def is_reached_by(self, lines: set[int]) -> bool:
        """Whether it makes a difference to somebody who runs these lines of the file."""
        return any(line in lines for line in range(self.statement, self.end_line + 1))


SKIPPED = {"__init__", "__main__", "compiled", "plot"}
"""Modules without algorithms: ``compiled`` holds the options of the compiler."""


ROOMS = (
    *("kernels", "coding", "cutting", "counting", "explaining", "estimators", "search"),
    *("features", "files", "running", "persistence", "."),
)
"""All folders but ``cli`` and ``report``; "." has the modules beside them."""


def drawn(folder: str, count: int) -> list[Mutant]:
    """Those of a folder among this many mutants of all rooms, drawn by chance.

    A change of the code hardly changes which.
    """
    paths = [path for room in ROOMS for path in sorted((PACKAGE / room).glob("*.py"))]
    every = [mutant for path in paths if path.stem not in SKIPPED for mutant in mutants_of(path)]
    every.sort(key=lambda mutant: hashlib.sha256(mutant.name.encode()).digest())
    return [mutant for mutant in every[:count] if mutant.folder == folder]


def mutants_of(path: Path) -> list[Mutant]:
    """All mutants of a file, in order."""
    file = path.relative_to(PACKAGE).as_posix()
    found: list[Mutant] = []
    for name, function in _functions(ast.parse(path.read_text()), ()):
        seen: dict[tuple[str, str], int] = {}
        digest = hashlib.sha256(ast.unparse(function).encode()).hexdigest()[:12]
        for top in function.body:
            for statement, old, new in _changes(top, top.lineno):
                text = ast.unparse(old)
                number = seen[text, new] = seen.get((text, new), -1) + 1
                place = (old.lineno, old.col_offset, old.end_lineno, old.end_col_offset)
                found.append(Mutant(file, name, statement, *place, text, new, number, digest))
    return found


def _functions(tree: ast.AST, names: tuple[str, ...]) -> Iterator[tuple[str, ast.FunctionDef]]:
    """Functions and methods; those within functions belong to their function."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.ClassDef):
            yield from _functions(node, (*names, node.name))
        elif isinstance(node, ast.FunctionDef) and not _is_overload(node):
            yield ".".join((*names, node.name)), node


def _is_overload(function: ast.FunctionDef) -> bool:
    return any(
        isinstance(each, ast.Name) and each.id == "overload" for each in function.decorator_list
    )


Change = tuple[ast.expr | ast.stmt, str]


def _changes(node: ast.AST, line: int) -> Iterator[tuple[int, ast.expr | ast.stmt, str]]:
    """Nodes below this one, each with the line of its statement and the text to replace it."""
    if isinstance(node, ast.stmt):
        line = node.lineno
    if isinstance(node, (ast.Raise, ast.Assert, ast.JoinedStr, ast.AnnAssign, ast.Import)):
        if isinstance(node, ast.AnnAssign) and node.value is not None:
            yield from _changes(node.value, line)
        return  # the words of messages, and types
    if isinstance(node, ast.keyword) and node.arg == "strict":
        return  # of zip: a check, as an assertion is
    yield from ((line, *change) for change in _changes_here(node))
    for child in ast.iter_child_nodes(node):
        if not isinstance(child, (ast.arguments, ast.expr_context)):
            yield from _changes(child, line)


def _changes_here(node: ast.AST) -> Iterator[Change]:
    if isinstance(node, ast.Compare) and type(node.ops[0]) in COMPARISONS:
        yield node, _with(node, ops=[COMPARISONS[type(node.ops[0])](), *node.ops[1:]])
    elif isinstance(node, (ast.BinOp, ast.AugAssign)) and type(node.op) in ARITHMETIC:
        yield node, _with(node, op=ARITHMETIC[type(node.op)]())
    elif isinstance(node, ast.BoolOp):
        yield node, _with(node, op=ast.Or() if isinstance(node.op, ast.And) else ast.And())
    elif isinstance(node, ast.UnaryOp) and isinstance(node.op, (ast.Not, ast.USub)):
        yield node, f"({ast.unparse(node.operand)})"
    elif isinstance(node, ast.Constant):
        if isinstance(node.value, bool):
            yield node, str(not node.value)
        elif isinstance(node.value, (int, float)):
            yield node, repr(node.value + 1 if node.value in (0, 1) else node.value * 2)
    elif isinstance(node, (ast.If, ast.While, ast.IfExp)):
        yield node.test, f"(not ({ast.unparse(node.test)}))"
    elif isinstance(node, ast.Return) and ast.unparse(node) not in ("return", "return None"):
        yield node, "return None"


def _with(node: ast.expr | ast.stmt, **fields: object) -> str:
    changed = copy.copy(node)
    for name, value in fields.items():
        setattr(changed, name, value)
    text = ast.unparse(changed)
    return text if isinstance(node, ast.stmt) else f"({text})"
