"""Growth with very many points: deformed digits, points near subspaces, and trees of large graphs.

    python -m benchmarks.many_points digits [--sizes 70000 1000000] [--data DIR]
    python -m benchmarks.many_points subspaces [--sizes 100000 800000]
    python -m benchmarks.many_points trees [--sizes 100000 1000000]

Times are processor seconds of the whole fit with labels, beside K-means (and EVoC, if installed)
for digits and beside one blocked product in float32 for subspaces. The growth is the exponent
between a size and the one before. The memory is the most that the process has taken so far.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.cluster import KMeans

from benchmarks.approximate import processor_seconds
from benchmarks.deformed import deformed_digits
from benchmarks.large import most_resident
from paper.datasets import load_dataset
from srsg import SRSG, NeighborGraph
from srsg.cutting.tree import graph_tree
from srsg.datasets import make_union_of_subspaces
from srsg.metrics import clustering_accuracy

Row = tuple[float, list[str]]
"""Processor seconds, and the cells of a table."""

PRODUCT = 20_000
"""Rows of the product, whose time is that of 100,000 rows by the square."""


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(
        "python -m benchmarks.many_points", description=__doc__.splitlines()[0]
    )
    parser.add_argument("what", choices=list(KINDS))
    parser.add_argument("--sizes", type=int, nargs="+")
    folder = os.environ.get("SRSG_DATA")
    parser.add_argument("--data", type=Path, default=folder and Path(folder))
    options = parser.parse_args(arguments)
    rows, sizes, names = KINDS[options.what]
    sizes = options.sizes or sizes
    names = ["points", "processor s", "growth", "memory", *names]
    print(f"| {' | '.join(names)} |\n|{' ---: |' * len(names)}", flush=True)
    before: tuple[int, float] | None = None
    for size, (seconds, cells) in zip(sizes, rows(sizes, options.data), strict=True):
        growth = "" if before is None else f"{exponent(before, (size, seconds)):.2f}"
        memory = f"{most_resident() / 1e9:.2f} GB"
        shown = [f"{size:,}", f"{seconds:.1f}", growth, memory, *cells]
        print(f"| {' | '.join(shown)} |", flush=True)
        before = size, seconds


def exponent(small: tuple[int, float], large: tuple[int, float]) -> float:
    """The power of the size with which the time grows."""
    return float(np.log(large[1] / small[1]) / np.log(large[0] / small[0]))


def digits(sizes: list[int], folder: Path | None) -> Iterator[Row]:
    data = load_dataset("MNIST", folder=folder)
    pictures = np.asarray(data.X, np.uint8).reshape(-1, 28, 28)
    for size in sizes:
        X, y = deformed_digits(pictures, data.y, size)
        X = X.astype(np.float32)
        model = NeighborGraph(10, n_candidates=100, assign_labels="tree", random_state=0)
        seconds, labels = processor_seconds(lambda X=X, model=model: model.fit(X).labels_)
        cells = [f"{clustering_accuracy(y, labels):.3f}"]
        other: list[Callable[[Any], Any]] = [KMeans(10, n_init=1, random_state=0).fit_predict]
        if find_spec("evoc") is not None:
            from evoc import EVoC

            other.append(EVoC(random_state=0).fit_predict)
        for predict in other:
            taken, labels = processor_seconds(lambda X=X, predict=predict: predict(X))
            cells += [f"{taken:.1f} s", f"{clustering_accuracy(y, labels):.3f}"]
        yield seconds, cells


def subspaces(sizes: list[int], folder: Path | None) -> Iterator[Row]:
    some = np.random.default_rng(0).standard_normal((PRODUCT, 128)).astype(np.float32)
    taken, _ = processor_seconds(
        lambda: [some[i : i + 256] @ some.T for i in range(0, PRODUCT, 256)]
    )
    product = taken * (100_000 / PRODUCT) ** 2
    for size in sizes:
        shape = {"n_subspaces": 50, "dimension": 6, "n_features": 128}
        X, y = make_union_of_subspaces(size, **shape, noise=0.03, random_state=0)
        X = X.astype(np.float32)
        model = SRSG(50, n_candidates=100, assign_labels="tree", random_state=0)
        seconds, model = processor_seconds(lambda X=X, model=model: model.fit(X))
        found = [f"{seconds / product:.2f}", f"{clustering_accuracy(y, model.labels_):.4f}"]
        yield seconds, [*found, f"{model.kkt_quantiles_[0.9]:.1e}"]


def trees(sizes: list[int], folder: Path | None) -> Iterator[Row]:
    rng, width = np.random.default_rng(0), 10
    for size in sizes:
        # Each vertex is joined to some that are near on a ring, and a few to any.
        near = np.arange(size)[:, None] + rng.integers(1, 200, (size, width))
        anywhere = rng.integers(0, size, near.shape)
        columns = np.where(rng.random(near.shape) < 0.05, anywhere, near % size)
        parts = rng.random(columns.size), columns.ravel(), np.arange(0, columns.size + 1, width)
        graph = sparse.csr_array(parts, shape=(size, size))
        graph = sparse.csr_array(graph + graph.T)
        seconds, tree = processor_seconds(lambda graph=graph: graph_tree(graph))
        yield seconds, [f"{graph.nnz:,}", str(tree.n_leaves)]


KINDS: dict[str, tuple[Callable[..., Iterator[Row]], list[int], list[str]]] = {
    "digits": (digits, [70_000, 1_000_000], ["AC", "K-means", "AC", "EVoC", "AC"]),
    "subspaces": (subspaces, [100_000, 800_000], ["over a product", "AC", "90 % violation"]),
    "trees": (trees, [100_000, 1_000_000], ["edges", "leaves"]),
}


if __name__ == "__main__":
    main()
