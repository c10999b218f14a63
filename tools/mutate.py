"""Do the tests notice when the code is wrong? Small changes to it, one at a time.

``python -m tools.mutate run --out FILE`` draws mutants of the solvers, kernels and graph with a
fixed seed and runs the tests on each; ``python -m tools.mutate page FILE`` writes
``docs/mutation.md``. A mutant is caught if a test fails, if it cannot be imported, or if the tests
do not end. Kernels run as plain Python then (``NUMBA_DISABLE_JIT``): compiling each mutant would
take longer than testing it.

Only statements within functions are changed. Constants at the top of a module set sizes of blocks
and bounds of loops, which change the speed and not the result.
"""

from __future__ import annotations

import argparse
import ast
import contextlib
import copy
import io
import json
import os
import random
import shutil
import signal
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from importlib import import_module
from pathlib import Path

ROOT = Path(__file__).parent.parent
SEED = 17
SECONDS = 60.0
"""A mutant whose tests take longer is stuck in a loop."""

PLAIN = "tests/kernels/test_plain_results.py"
TESTS = {
    "kernels": [PLAIN],
    "solvers": [PLAIN, "tests/solvers"],
    "graph": ["tests/graph", "tests/fuzz/test_findings.py"],
}
"""Where the tests of a folder are, those that fail soonest first."""

SLOW = (
    "test_scikit_learn_conventions",
    "test_same_bits_for_any_number_of_threads",
    "test_command_line",
    "test_page_and_file",
    "test_no_worse_than_scikit_learn",
    "test_wrapped_clusterer",
    "disconnected_blocks_are_found_exactly and (38 or 100)",
    "test_exact_on_independent_subspaces",
    "test_equal_to_plain_admm and not 1.0",
)
"""Tests left out for the sake of time: what they would notice, others notice sooner."""

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
    """One change: the text of a file from one place to another is replaced."""

    file: str
    line: int
    column: int
    end_line: int
    end_column: int
    before: str
    after: str

    def __str__(self) -> str:
        return f"{self.file}:{self.line}: {self.before} -> {self.after}"

    def applied(self, source: str) -> str:
        lines = source.encode().splitlines(keepends=True)
        head = b"".join(lines[: self.line - 1]) + lines[self.line - 1][: self.column]
        tail = lines[self.end_line - 1][self.end_column :] + b"".join(lines[self.end_line :])
        return (head + self.after.encode() + tail).decode()


def mutants_of(path: Path) -> list[Mutant]:
    """All mutants of a file, in order."""
    tree = ast.parse(path.read_text())
    name = path.relative_to(ROOT / "src/srsg").as_posix()
    found = []
    for function in ast.walk(tree):
        if isinstance(function, ast.FunctionDef) and not _is_overload(function):
            for statement in function.body:
                found += [_mutant(name, *pair) for pair in _changes(statement)]
    # Functions within functions were seen twice.
    return sorted(set(found), key=lambda each: (each.line, each.column, each.after))


def _is_overload(function: ast.FunctionDef) -> bool:
    return any(
        isinstance(each, ast.Name) and each.id == "overload" for each in function.decorator_list
    )


def _mutant(name: str, old: ast.expr | ast.stmt, new: str) -> Mutant:
    assert old.end_lineno is not None
    assert old.end_col_offset is not None
    place = (old.lineno, old.col_offset, old.end_lineno, old.end_col_offset)
    return Mutant(name, *place, ast.unparse(old), new)


def _changes(node: ast.AST) -> Iterator[tuple[ast.expr | ast.stmt, str]]:
    """Nodes below this one, each with the text to replace it."""
    if isinstance(node, (ast.Raise, ast.Assert, ast.JoinedStr, ast.AnnAssign, ast.Import)):
        if isinstance(node, ast.AnnAssign) and node.value is not None:
            yield from _changes(node.value)
        return  # the words of messages, and types
    yield from _changes_here(node)
    for child in ast.iter_child_nodes(node):
        if not isinstance(child, (ast.arguments, ast.expr_context)):
            yield from _changes(child)


def _changes_here(node: ast.AST) -> Iterator[tuple[ast.expr | ast.stmt, str]]:
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


def drawn(folder: str, count: int) -> list[Mutant]:
    """This many mutants of a folder, drawn at random, the same each time."""
    paths = sorted((ROOT / "src/srsg" / folder).glob("*.py"))
    every = [mutant for path in paths for mutant in mutants_of(path) if path.stem not in SKIPPED]
    return random.Random(SEED).sample(every, min(count, len(every)))


SKIPPED = {"__init__", "compiled"}
"""Modules without algorithms: ``compiled`` holds the options of the compiler, which is off here."""


def run_tests(tests: list[str], source: Path, seconds: float) -> tuple[str, str, float]:
    """Outcome of the tests on a copy of the sources, the test that failed, and the time it took.

    They run in a child of this process, which has imported the large libraries already.
    """
    started = time.monotonic()
    read_end, write_end = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(read_end)
        os.setpgid(0, 0)
        try:
            said = _pytest(tests, source)
        except BaseException as error:
            said = f"error {error!r}"
        os.write(write_end, said.encode()[:4000])
        os._exit(0)
    os.close(write_end)
    outcome = "timeout"
    while time.monotonic() - started < seconds:
        if os.waitpid(child, os.WNOHANG)[0]:
            outcome = ""
            break
        time.sleep(0.02)
    with contextlib.suppress(ProcessLookupError):
        os.killpg(child, signal.SIGKILL)
    if outcome:
        os.waitpid(child, 0)
    with os.fdopen(read_end, "rb") as pipe:
        said = pipe.read().decode()
    code, _, failed = said.partition(" ")
    # Without an answer the child died, which a test would have noticed too.
    outcome = outcome or {"0": "survived", "": "crashed"}.get(code, "failed")
    return outcome, failed, time.monotonic() - started


def _pytest(tests: list[str], source: Path) -> str:
    import pytest

    class Watch:
        failed = ""

        def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
            if report.failed and not self.failed:
                self.failed = report.nodeid

    sys.path.insert(0, str(source))
    sys.modules.pop("srsg", None)
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
    watch = Watch()
    options = [
        "-x",
        "-q",
        "-Wignore::pytest.PytestAssertRewriteWarning",
        "-p",
        "no:cacheprovider",
        "-k",
        f"not ({' or '.join(SLOW)})",
    ]
    with contextlib.redirect_stdout(io.StringIO()):
        code = pytest.main([*options, *tests], plugins=[watch])
    return f"{int(code)} {watch.failed}"


def _preload() -> None:
    for name in ("hypothesis", "pytest", "scipy.sparse.linalg", "sklearn.cluster"):
        import_module(name)


def run(folder: str, count: int, out: Path, seconds: float) -> None:
    """Test mutants of a folder; those in the file already are not tested again."""
    if folder == "kernels":
        os.environ["NUMBA_DISABLE_JIT"] = "1"
    os.environ["HYPOTHESIS_SEED"] = "0"
    _preload()
    known = {json.loads(line)["mutant"] for line in out.open()} if out.exists() else set()
    with tempfile.TemporaryDirectory() as place:
        source = Path(place) / "src"
        shutil.copytree(ROOT / "src", source, ignore=shutil.ignore_patterns("__pycache__"))
        if "NUMBA_CACHE_DIR" not in os.environ and folder != "kernels":
            os.environ["NUMBA_CACHE_DIR"] = str(Path(tempfile.gettempdir()) / "srsg-mutate")
        tests = [str(ROOT / test) for test in TESTS[folder]]
        outcome, failed, took = run_tests(tests, source, 20 * seconds)
        print(f"unchanged: {outcome} {failed}, {took:.1f} s", flush=True)
        if outcome != "survived":
            raise SystemExit("The tests fail without any mutant.")
        for mutant in drawn(folder, count):
            if str(mutant) in known:
                continue
            target = source / "srsg" / mutant.file
            original = target.read_text()
            try:
                target.write_text(mutant.applied(original))
                outcome, failed, took = run_tests(tests, source, seconds)
            finally:
                target.write_text(original)
            record = {"mutant": str(mutant), "outcome": outcome, "by": failed, **asdict(mutant)}
            with out.open("a") as file:
                file.write(json.dumps({**record, "seconds": round(took, 1)}) + "\n")
            print(f"{outcome:9} {took:5.1f} s  {mutant}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    runs = commands.add_parser("run", help="test mutants")
    runs.add_argument("folder", choices=sorted(TESTS))
    runs.add_argument("--count", type=int, default=110)
    runs.add_argument("--out", type=Path, required=True)
    runs.add_argument("--seconds", type=float, default=SECONDS)
    shows = commands.add_parser("show", help="print the mutants that would be tested")
    shows.add_argument("folder", choices=sorted(TESTS))
    shows.add_argument("--count", type=int, default=110)
    chosen = parser.parse_args()
    if chosen.command == "run":
        run(chosen.folder, chosen.count, chosen.out, chosen.seconds)
    else:
        for mutant in drawn(chosen.folder, chosen.count):
            print(mutant)


if __name__ == "__main__":
    main()
