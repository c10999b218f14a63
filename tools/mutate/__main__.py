"""``python -m tools.mutate``: change the code, run the tests, write docs/results/mutation.md.

``run FOLDER`` tests mutants of a folder and adds to its file in docs/results; ``page`` writes the
page from it; ``show FOLDER`` prints the mutants and what is known of them.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import sys
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from tools.mutate.mutants import LIVING, ROOT, Mutant, drawn

KEPT = ROOT / "docs" / "results" / "parts"

TESTS = {
    "kernels": ["tests/kernels", "src/srsg/kernels", "src/srsg/coding"],
    "coding": [
        *("tests/coding", "tests/kernels", "tests/running/test_folder_store.py"),
        *("tests/estimators/test_sparse_points.py", "src/srsg/coding"),
        *("tests/estimators/test_affine.py", "tests/running/test_planted_files.py"),
    ],
    **{name: [f"tests/{name}", f"src/srsg/{name}"] for name in ("cutting", "counting")},
    "explaining": [
        *("tests/explaining", "src/srsg/explaining"),
        *(
            f"tests/estimators/test_{name}.py"
            for name in ("confidence", "predict", "unlike_points")
        ),
    ],
    **{
        name: [f"tests/{name}", f"src/srsg/{name}"]
        for name in ("search", "features", "files", "persistence")
    },
    "estimators": [
        *("tests/estimators", "src/srsg/estimators", "tests/running/test_planted_files.py"),
        *("tests/persistence", "tests/cutting/test_small_graphs.py"),
        "tests/cutting/test_labels_errors.py",
    ],
    # Clusters of processes take too long for each mutant.
    "running": [
        *(f"tests/running/test_{name}.py" for name in ("budget", "engine", "folder_store")),
        *("tests/running/test_planted_files.py", "tests/estimators/test_config.py"),
        *(f"src/srsg/running/{name}.py" for name in ("config", "engine", "progress", "store")),
    ],
    ".": [
        *(f"tests/test_{name}.py" for name in ("datasets", "metrics", "principal")),
        *("tests/test_points_mapped.py", "tests/test_points_sparse.py", "tests/coding"),
        *(f"src/srsg/{name}.py" for name in ("points", "principal", "metrics", "graph", "memory")),
    ],
}
"""Where the tests of a folder are."""

COUNT = 400
"""How many mutants are drawn from all rooms."""

CASES = 2
"""Of a test with parameters, so many cases are used: more notice little that these do not."""

LONGEST = 4.0
"""Seconds of the slowest test that is used: what it would notice, others notice sooner. Kernels run
as plain Python, where tests of a usual size never end."""

MOST = 10.0
"""Seconds of all tests that are run on a mutant, the quickest first."""


def run(folder: str, count: int, only: str, again: bool, paths: list[str]) -> None:
    """Test mutants of a folder: those that are not known, and again those that lived if asked.

    With ``paths``, by the tests that are there: a mutant that these miss is not written down.
    """
    os.environ["OPENBLAS_NUM_THREADS"] = "1"
    if folder == "kernels":
        os.environ["NUMBA_DISABLE_JIT"] = "1"  # compiling a mutant takes longer than testing it
    import pytest

    from tools.mutate.children import Loop

    sys.path[:0] = [str(ROOT / "src"), str(ROOT / "tests")]
    loop = Loop(lambda items: _run(loop, items, folder, count, only, again, bool(paths)))
    options = ["-q", "--tb=no", "-s", "-p", "no:cacheprovider", "--rootdir", str(ROOT)]
    chosen = [str(ROOT / each) for each in paths or TESTS[folder]]
    code = pytest.main([*options, *chosen], plugins=[loop])
    if code not in (0, 5):
        raise SystemExit(f"pytest ended with {code}.")


def _run(
    loop: Any, items: list[Any], folder: str, count: int, only: str, again: bool, some: bool
) -> None:
    from tools.mutate.children import fate

    if folder != "kernels":
        _load_kernels()
    known = _reached(loop, items, folder)
    for mutant in drawn(folder, count):
        before = outcome_of(mutant, kept(folder))
        if only not in mutant.name or before not in ("", *(LIVING if again else ())):
            continue
        tests = _tests_of(mutant, items, known, MOST)
        outcome, by = fate(loop, mutant, tests) if tests else ("not reached", "")
        if not (some and outcome in LIVING):
            keep(mutant, outcome, by)
        print(f"{outcome:11} {mutant.line:4} {mutant.name}  {by}", flush=True)


def _load_kernels() -> None:
    """Have the compiled code in this process, so that its children need not load or compile it."""
    from sklearn.datasets import load_digits

    import srsg

    X = load_digits().data[:60]
    for method in srsg.methods().values():
        if method.builds_graph:
            method.default(3, n_jobs=1).fit(X).predict(X[:5])


def _reached(loop: Any, items: list[Any], folder: str) -> dict[str, Any]:
    """For every test the lines that it runs, kept for later runs and other folders.

    What is kept holds as long as the test's file and all files that it reaches stay as they are.
    """
    from tools.mutate.children import lines_run

    kind = "plain" if folder == "kernels" else "compiled"
    place = Path(os.environ.get("TMPDIR", "/tmp")) / f"srsg-lines-{kind}.json"
    known = json.loads(place.read_text()) if place.exists() else {}
    digests: dict[str, str] = {}

    def digest(file: str) -> str:
        if file not in digests:
            path = Path(file)
            digests[file] = hashlib.sha256(path.read_bytes()).hexdigest() if path.exists() else ""
        return digests[file]

    cases: Counter[str] = Counter()
    for item in items:
        test = item.nodeid.partition("[")[0]
        cases[test] += 1
        kept_then = known.get(item.nodeid, {}).get("digests")
        if kept_then and all(digest(file) == then for file, then in kept_then.items()):
            continue
        found = lines_run(loop, item, LONGEST) if cases[test] <= CASES else None
        files = [str(item.path), *(found["files"] if found else ())]
        known[item.nodeid] = {**(found or {}), "digests": {file: digest(file) for file in files}}
        if len(known) % 50 == 0:
            place.write_text(json.dumps(known))
    place.write_text(json.dumps(known))
    return known


def _tests_of(
    mutant: Mutant, items: Iterable[Any], known: dict[str, Any], most: float
) -> list[tuple[Any, float]]:
    """The tests that reach a mutant, the quickest first; else those that come to its file.

    A line that runs in a process of its own, or while modules are imported, leaves no trace.
    Of tests with parameters one case each comes first, then another case each, and so on: a second
    case notices little that the first does not.
    """
    found, near = [], []
    for item in items:
        seen = known[item.nodeid]
        lines = set(seen.get("files", {}).get(str(mutant.path), []))
        if mutant.is_reached_by(lines):
            found.append((item, seen["seconds"]))
        elif lines:
            near.append((item, seen["seconds"]))
    found = found or near
    found.sort(key=lambda pair: pair[1])
    cases: Counter[str] = Counter()
    order = []
    for item, seconds in found:
        test = item.nodeid.partition("[")[0]
        order.append((cases[test], seconds, item))
        cases[test] += 1
    order.sort(key=lambda each: each[:2])
    found = [(item, seconds) for _, seconds, item in order]
    total, chosen = 0.0, []
    for item, seconds in found:
        total += seconds
        if total > most and chosen:
            break
        chosen.append((item, seconds))
    return chosen


def kept(folder: str) -> dict[str, dict[str, Any]]:
    place = _place(folder)
    return json.loads(place.read_text()) if place.exists() else {}


def outcome_of(mutant: Mutant, known: dict[str, dict[str, Any]]) -> str:
    """What became of it in this version of its function; empty if that is not known."""
    found = known.get(mutant.name, {})
    return found["outcome"] if found.get("digest") == mutant.digest else ""


def keep(mutant: Mutant, outcome: str, by: str) -> None:
    before = kept(mutant.folder)
    known = before.get(mutant.name, {})
    first = known.get("first", outcome) if known.get("digest") == mutant.digest else outcome
    facts = {"line": mutant.line, "digest": mutant.digest, "outcome": outcome, "by": by}
    found = {**before, mutant.name: {**facts, "first": first}}
    _place(mutant.folder).write_text(json.dumps(found, indent=0, sort_keys=True) + "\n")


def _place(folder: str) -> Path:
    return KEPT / f"mutation-{'modules' if folder == '.' else folder}.json"


def main() -> None:
    parser = argparse.ArgumentParser(prog="tools.mutate", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    for name, words in (("run", "test mutants"), ("show", "print the mutants to be tested")):
        command = commands.add_parser(name, help=words)
        command.add_argument("folder", choices=sorted(TESTS))
        command.add_argument("--count", type=int, default=COUNT, help="mutants of all rooms")
        command.add_argument("--only", default="", help="mutants whose name contains this")
        command.add_argument("--again", action="store_true", help="those that lived, too")
        command.add_argument("--tests", nargs="+", default=[], help="files of tests to use")
    commands.add_parser("page", help="write docs/results/mutation.md")
    chosen = parser.parse_args()
    if chosen.command == "run":
        run(chosen.folder, chosen.count, chosen.only, chosen.again, chosen.tests)
    elif chosen.command == "show":
        for mutant in drawn(chosen.folder, chosen.count):
            outcome = outcome_of(mutant, kept(chosen.folder)) or "not tested"
            print(f"{outcome:11} {mutant.line:4} {mutant.name}")
    else:
        from tools.mutate.page import write_page

        write_page({folder: kept(folder) for folder in TESTS}, COUNT)


if __name__ == "__main__":
    main()
