"""Tables with equal and nearly equal rows, against the same fit on their distinct rows.

    python -m benchmarks.duplicates [--data DIR] [--rows 1000] [--orders 5]

The table has eight binary columns of four groups. Times are ratios to the fit on the distinct rows
alone. With the folder of the paper's data, the accuracy on UMIST, which has ten pairs of equal
pictures, in several orders of these.
"""

from __future__ import annotations

import argparse
import os
from pathlib import Path
from time import perf_counter

import numpy as np

from paper.datasets import load_dataset
from srsg import SRSG
from srsg.metrics import clustering_accuracy

N_GROUPS = 4


def binary_table(n_rows: int) -> tuple[np.ndarray, np.ndarray]:
    """Rows of eight binary columns, none of them zero, and their groups."""
    rng = np.random.default_rng(0)
    shares = rng.uniform(0.15, 0.85, (N_GROUPS, 8))
    groups = rng.integers(0, N_GROUPS, n_rows)
    table = (rng.random((n_rows, 8)) < shares[groups]).astype(float)
    kept = table.any(axis=1)
    return table[kept], groups[kept]


def show(name: str, X: np.ndarray, groups: np.ndarray, base: float | None = None) -> float:
    """Fit, print what came out, and return the seconds."""
    start = perf_counter()
    model = SRSG(N_GROUPS, random_state=0).fit(X)
    seconds = perf_counter() - start
    print(
        f"{name:<24}{len(X):>6} rows {np.sum(model.first_equal_ == np.arange(len(X))):>6} distinct "
        f"{seconds / (base or seconds):>8.1f} x  {model.n_connected_components_:>4} components  "
        "clusters "
        f"{'/'.join(map(str, sorted(np.bincount(model.labels_), reverse=True))):<18} "
        f"AC {clustering_accuracy(groups, model.labels_):.3f}",
        flush=True,
    )
    return seconds


def tables(n_rows: int) -> None:
    X, groups = binary_table(n_rows)
    rng = np.random.default_rng(1)
    noise = rng.standard_normal(X.shape)
    first = np.sort(np.unique(X, axis=0, return_index=True)[1])
    SRSG(N_GROUPS).fit(X[first])  # compiles
    base = show("distinct rows", X[first], groups[first])
    show("all rows", X, groups, base)
    show("rows of any length", X * rng.uniform(0.5, 2.0, (len(X), 1)), groups, base)
    for size in (1e-12, 1e-9, 1e-6, 1e-3):
        show(f"rows changed by {size:g}", X + size * noise, groups, base)


def umist(folder: Path, n_orders: int) -> None:
    for n_classes in (4, 8, 12, 16, 20):
        data = load_dataset("UMIST", n_classes, folder=folder)
        for name, model in (("paper", SRSG.paper(n_classes)), ("default", SRSG(n_classes))):
            found = []
            for seed in range(n_orders):
                rng = np.random.default_rng(seed)
                order = rng.permutation(len(data.X)) if seed else np.arange(len(data.X))
                labels = model.set_params(random_state=0).fit_predict(data.X[order])
                found.append(clustering_accuracy(data.y[order], labels))
            print(
                f"UMIST, {n_classes} classes, {name}: AC {found[0]:.3f} in the given order, "
                f"{min(found):.3f} to {max(found):.3f} in {n_orders} orders",
                flush=True,
            )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, default=os.environ.get("SRSG_DATA"))
    parser.add_argument("--rows", type=int, default=1000)
    parser.add_argument("--orders", type=int, default=5)
    options = parser.parse_args()
    tables(options.rows)
    if options.data:
        umist(Path(options.data), options.orders)


if __name__ == "__main__":
    main()
