"""What was measured, by which command and by which code: the manifest of the results.

``python -m tools.results`` lists the results that are older than the code that decides them, with
the commands that make them again. ``python -m tools.results --made PART`` notes that a part of
``docs/results/parts`` was just made by the code of this checkout. Both write the list of all parts,
``docs/results/README.md``.
"""

from __future__ import annotations

import argparse
import json
import subprocess
from hashlib import sha256
from importlib.metadata import version
from os.path import relpath
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
PARTS = ROOT / "docs" / "results" / "parts"
MANIFEST = ROOT / "docs" / "results" / "manifest.json"
INDEX = ROOT / "docs" / "results" / "README.md"
PACKAGES = ("numpy", "scipy", "scikit-learn", "numba")

LABELS = (
    *("kernels", "points.py", "principal.py", "coding", "graph.py", "cutting", "estimators"),
    "registry.py",
)
"""What decides labels, in ``src/srsg``: the registry has the settings of each method."""

CHOICE = (*LABELS, "counting", "explaining", "search")
"""What decides the choice of a method, the number of clusters and the confidence."""

COMMANDS: dict[str, tuple[str, tuple[str, ...]]] = {
    "summary": ("make paper DATA=DIR", LABELS),
    "table-1": ("make paper DATA=DIR", LABELS),
    "table-2": ("make paper DATA=DIR", LABELS),
    "table-3": ("make paper DATA=DIR", LABELS),
    "paper-choices": ("python -m benchmarks.paper_choices --data DIR --write FILE", LABELS),
    "paper-settings": ("python -m benchmarks.paper_settings --data DIR --write FILE", LABELS),
    "generalization": ("python -m benchmarks.generalization --data DIR", LABELS),
    "other-tools": ("python -m benchmarks.other_tools", CHOICE),
    "selection": (
        "python -m benchmarks.selection --data DIR --keel DIR --large --write FILE",
        CHOICE,
    ),
    "families": ("python -m benchmarks.families --data DIR --write FILE", CHOICE),
    "few-columns": ("python -m benchmarks.few_columns --out FILE", CHOICE),
    "calibration": ("python -m benchmarks.calibration --data DIR --keel DIR --out FILE", CHOICE),
    "structure": ("python -m benchmarks.structure --repeats 10 --out FILE", CHOICE),
    "outliers": ("python -m benchmarks.outliers --data DIR --out FILE", CHOICE),
    "speed": ("python -m benchmarks.before_after --before OTHER/src --write FILE", LABELS),
    "cold-start": ("python -m benchmarks.cold_start --src OTHER/src --write FILE", ("kernels",)),
    "eigenvectors": (
        "python -m benchmarks.eigenvectors --data DIR --out FILE",
        ("cutting", "kernels/graphs.py"),
    ),
    "approximate": ("python -m benchmarks.approximate --write FILE", LABELS),
    "bad-cases": (
        "python -m benchmarks.bad_cases --write FILE",
        ("kernels", "coding", "points.py"),
    ),
    "house": ("python -m benchmarks.house --src OTHER/src --src src --write FILE", ("",)),
    "embeddings": ("python -m benchmarks.embeddings --data DIR --write FILE", CHOICE),
    "memory-limits": ("python -m benchmarks.memory_limits", LABELS),
    "mixed-tables.txt": ("python -m benchmarks.mixed_tables > FILE", (*CHOICE, "files")),
    "explanations.txt": ("python -m benchmarks.explanations --seed 0 1 2 > FILE", CHOICE),
    "mnist-scattering.txt": ("python benchmarks/mnist_scattering.py --data DIR > FILE", LABELS),
    "results.json": ("python -m benchmarks", LABELS),
    "dask-costs": ("python benchmarks/dask_cluster.py --write FILE", ("running", "coding")),
}
"""For each part: the command that makes it, and the code in ``src/srsg`` that decides it."""

ELSEWHERE = {
    "results.json": ROOT / "benchmarks" / "results" / "results.json",
    "dask-costs": ROOT / "docs" / "results" / "dask-costs.md",
}
"""Parts that are in other folders."""

HEAD = """# Results: the archive

What was measured, by which command, at which commit. The site has one page of results, made from
these files; the rest is kept here, for those who want every row. `python -m tools.results` writes
this list.

| part | command | commit |
|---|---|---|
"""
OTHERS = """
Beside the parts: [notes](notes.md) on what was tried and dropped, [reliability](reliability.md)
(`make fuzz`, `make faults`), [mutants](mutation.md) (`python -m tools.mutate`),
[the paper's claims](paper-claims.md) (`python -m tools.paper_claims`), and
[speed, memory and growth](../../benchmarks/results/README.md) (`make bench`).
"""


def file_of(part: str) -> Path:
    """The file of a part."""
    return ELSEWHERE.get(part) or PARTS / (part if "." in part else f"{part}.md")


def index() -> str:
    """The list of all parts."""
    rows = [
        f"| [{part}]({Path(relpath(file_of(part), MANIFEST.parent)).as_posix()})"
        f" | `{facts['command']}` | {facts['commit']} |\n"
        for part, facts in sorted(manifest().items())
    ]
    return HEAD + "".join(rows) + OTHERS


def digest_of_code(places: tuple[str, ...]) -> str:
    """A digest of the Python files in some places of the package."""
    package = ROOT / "src" / "srsg"
    digest = sha256()
    files: set[Path] = set()
    for place in places:
        path = package / place
        files |= {path} if path.is_file() else set(path.rglob("*.py"))
    for path in sorted(files):
        digest.update(f"{path.relative_to(package).as_posix()}\n".encode() + path.read_bytes())
    return digest.hexdigest()[:16]


def manifest() -> dict[str, dict[str, Any]]:
    """The manifest, by the names of the parts."""
    return json.loads(MANIFEST.read_text())


def stale() -> dict[str, str]:
    """The parts that other code decides now than when they were made, with their commands."""
    noted = manifest()
    return {
        part: command
        for part, (command, places) in COMMANDS.items()
        if noted[part]["code"] != digest_of_code(places)
    }


def note_made(part: str) -> None:
    """Note that a part was made by the code of this checkout."""
    command, places = COMMANDS[part]
    commit = ["git", "rev-parse", "--short", "HEAD"]
    noted = manifest()
    noted[part] = {
        "command": command,
        "commit": subprocess.run(commit, cwd=ROOT, capture_output=True, text=True).stdout.strip(),
        "versions": {name: version(name) for name in PACKAGES},
        "code": digest_of_code(places),
        "content": digest_of_page(part),
    }
    MANIFEST.write_text(json.dumps(noted, indent=2, sort_keys=True) + "\n")


def digest_of_page(part: str) -> str:
    """A digest of a part, by which changes by hand are seen."""
    return sha256(file_of(part).read_bytes()).hexdigest()[:16]


def main() -> None:
    parser = argparse.ArgumentParser(description="The results and the code that decides them.")
    parser.add_argument("--made", nargs="+", choices=[*COMMANDS], metavar="PART", default=[])
    for part in parser.parse_args().made:
        note_made(part)
    INDEX.write_text(index())
    for part, command in stale().items():
        print(f"{part}: made by older code; run {command}")


if __name__ == "__main__":
    main()
