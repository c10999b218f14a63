"""Finished cells on disk: a run that was stopped continues where it stopped."""

from __future__ import annotations

import csv
import json
import os
import subprocess
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from importlib.metadata import version
from io import StringIO
from pathlib import Path
from typing import Any

import srsg
from paper.evaluate import Score

COLUMNS = (
    *("dataset", "n_clusters", "method", "parameters", "data", "code"),
    *("seed", "ac", "nmi", "seconds"),
)
NO_PART_IN_RESULTS = ("cli", "plot.py", "report", "__main__.py", "running/progress.py")
"""Files and folders of the package that change no result."""

PROTOCOL = Path(__file__).with_name("evaluate.py")
"""The only file beside the package that can change one."""


@dataclass(frozen=True)
class Key:
    """What a result depends on; ``data`` and ``code`` are digests."""

    dataset: str
    n_clusters: int
    method: str
    parameters: str
    data: str
    code: str


@cache
def code_digest() -> str:
    """Version of the package and a digest of the files that results depend on.

    Examples
    --------
    >>> import srsg
    >>> from paper.journal import code_digest
    >>> code_digest().startswith(f"{srsg.__version__}-")
    True
    """
    return f"{version('srsg')}-{digest_of_results(Path(srsg.__file__).parent)[:12]}"


def made_by() -> str:
    """The code and the libraries that results come from, for the pages that show them."""
    names = ("numpy", "scipy", "scikit-learn", "numba")
    libraries = ", ".join(f"{name} {version(name)}" for name in names)
    commit = _commit(Path(__file__).parents[1])
    return f"(code {code_digest()}{commit}; {libraries})"


def _commit(repository: Path) -> str:
    """The commit of a checkout, or nothing for a copy without git."""
    command = ["git", "-C", str(repository), "rev-parse", "--short", "HEAD"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        return ""
    return f", commit {done.stdout.strip()}"


def digest_of_results(package: Path) -> str:
    """A digest of the files of a package that results depend on."""
    digest = sha256(version("scikit-learn").encode())  # its K-means labels the points
    digest.update(PROTOCOL.read_bytes())
    for path in sorted(package.rglob("*.py")):
        if not path.relative_to(package).as_posix().startswith(NO_PART_IN_RESULTS):
            digest.update(path.read_bytes())
    return digest.hexdigest()


class Journal:
    """A CSV file with one line per cell and seed.

    A cell is written as soon as it is finished; a line that a crash cut short is ignored.

    Parameters
    ----------
    path : Path
        The file; created with the first cell.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._scores: dict[Key, dict[int, Score]] = {}
        if path.exists():
            # Line by line: an open quote in a line that was cut short must not swallow the next.
            for line in path.read_text(encoding="utf-8").splitlines():
                self._read(line)

    def _read(self, text: str) -> None:
        try:
            line = dict(zip(COLUMNS, next(csv.reader([text])), strict=True))
            key = _key(line)
            score = Score(
                int(line["seed"]), float(line["ac"]), float(line["nmi"]), float(line["seconds"])
            )
        except ValueError:  # the header, or a line that was cut short
            return
        self._scores.setdefault(key, {})[score.seed] = score

    def find(self, key: Key, seeds: Iterable[int]) -> tuple[Score, ...] | None:
        """The scores for all of the seeds, or None if one is missing."""
        kept = self._scores.get(key, {})
        wanted = list(seeds)
        return tuple(kept[seed] for seed in wanted) if all(s in kept for s in wanted) else None

    def add(self, key: Key, scores: Iterable[Score]) -> None:
        """Note a finished cell, in memory and on disk."""
        self._scores.setdefault(key, {}).update({score.seed: score for score in scores})
        self.path.parent.mkdir(parents=True, exist_ok=True)
        # A line that a crash cut short has no end; the next must not be joined to it.
        head = "" if self.path.exists() else ",".join(COLUMNS) + "\n"
        if not head and not self.path.read_bytes().endswith(b"\n"):
            head = "\n"
        with self.path.open("a", encoding="utf-8", newline="") as file:
            file.write(head + _lines(key, scores))
            file.flush()
            # A cell can stand for minutes of work.
            os.fsync(file.fileno())

    def forget_other_code(self) -> None:
        """Rewrite the file without the cells of other versions of the code."""
        text = ",".join(COLUMNS) + "\n"
        for key, scores in self._scores.items():
            if key.code == code_digest():
                text += _lines(key, scores.values())
        # Replaced at once, so that an interrupted run loses nothing.
        fresh = self.path.with_suffix(".tmp")
        fresh.write_text(text, encoding="utf-8")
        fresh.replace(self.path)


def dumped(parameters: dict[str, Any]) -> str:
    """Parameters as one field of the file."""
    return json.dumps(parameters, sort_keys=True)


def _key(line: dict[str, str]) -> Key:
    return Key(
        line["dataset"],
        int(line["n_clusters"]),
        line["method"],
        dumped(json.loads(line["parameters"])),
        line["data"],
        line["code"],
    )


def _lines(key: Key, scores: Iterable[Score]) -> str:
    text = StringIO()
    writer = csv.writer(text, lineterminator="\n")
    for score in scores:
        measured = (score.seed, f"{score.ac:.6f}", f"{score.nmi:.6f}", f"{score.seconds:.3f}")
        writer.writerow((*vars(key).values(), *measured))
    return text.getvalue()
