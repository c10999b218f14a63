"""Tables of numbers and categories: which weights and which method find the planted groups?

    python -m benchmarks.mixed_tables [--tables 16] [--seed 0] > docs/results/parts/mixed-tables.txt

Every table has 240 rows in two to five groups, one to four numbers and categories each that differ
between the groups (some numbers with long tails), and up to three of each that say nothing.
Clustering accuracy, number of clusters given.
"""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.cluster import KMeans

from srsg import (
    SRSG,
    LocalScalingSpectralClustering,
    NeighborGraph,
    PreparedClusterer,
    RidgeGraph,
)
from srsg.files import Table, read_points
from srsg.metrics import scores

N_ROWS = 240


def planted_csv(seed: int) -> str:
    """A table as CSV, with the group of each row in the column ``segment``."""
    rng = np.random.default_rng(seed)
    n_groups = int(rng.integers(2, 6))
    group = rng.integers(0, n_groups, N_ROWS)
    columns: dict[str, list[Any]] = {}
    n_numbers, n_categories = rng.integers(1, 5, 2)
    n_idle_numbers, n_idle_categories = rng.integers(0, 4, 2)
    for place in range(n_numbers):
        values = rng.normal(0, 2, n_groups)[group] + rng.normal(size=N_ROWS)
        values = np.exp(values) if place % 3 == 1 else values
        columns[f"number {place}"] = (values * 10.0 ** rng.integers(-1, 4)).tolist()
    for place in range(n_categories):
        n_levels = int(rng.integers(2, 9))
        shares = rng.dirichlet(np.full(n_levels, 0.35), n_groups)
        found = [f"v{rng.choice(n_levels, p=shares[each])}" for each in group]
        columns[f"category {place}"] = found
    for place in range(n_idle_numbers):
        columns[f"idle number {place}"] = rng.normal(size=N_ROWS).tolist()
    for place in range(n_idle_categories):
        levels = rng.integers(0, rng.integers(2, 9), N_ROWS)
        columns[f"idle category {place}"] = [f"w{level}" for level in levels]
    columns["segment"] = [f"g{each}" for each in group]
    rows = [",".join(columns)]
    rows += [",".join(map(str, row)) for row in zip(*columns.values(), strict=True)]
    return "\n".join(rows) + "\n"


def models(table: Table, n_clusters: int) -> dict[str, Any]:
    """What is compared, by name."""
    given: dict[str, Any] = {"n_clusters": n_clusters, "random_state": 0}
    clusterers = {
        "K-means": KMeans(n_init=10, **given),
        "nearest neighbours by distances": NeighborGraph(metric="euclidean", **given),
        "spectral clustering by distances": LocalScalingSpectralClustering(**given),
        "SRSG, affine": SRSG(affine=True, **given),
        "ridge, affine": RidgeGraph(affine=True, **given),
    }
    found: dict[str, Any] = {
        name: PreparedClusterer(each, scale="standard", rules=table.rules)
        for name, each in clusterers.items()
    }
    for name in ("K-means", "SRSG, affine"):
        found[f"{name}, every 0-1 number by itself"] = PreparedClusterer(
            clusterers[name], scale="standard"
        )
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tables", type=int, default=16)
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    accuracy: dict[str, list[float]] = {}
    for seed in range(given.seed, given.seed + given.tables):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "table.csv"
            path.write_text(planted_csv(seed))
            table = read_points(path, labels="segment")
        assert table.y is not None
        for name, model in models(table, len(np.unique(table.y))).items():
            found = scores(table.y, model.fit(table.X).labels_)["AC"]
            accuracy.setdefault(name, []).append(found)
    print(f"mean accuracy over {given.tables} tables")
    for name, values in sorted(accuracy.items(), key=lambda item: -np.mean(item[1])):
        error = np.std(values, ddof=1) / np.sqrt(len(values))
        print(f"{name:<45} {np.mean(values):.3f} +- {error:.3f}")


if __name__ == "__main__":
    main()
