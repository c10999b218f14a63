"""Embedded texts: what clusters them, how well, and at what cost beside one K-means.

    python -m benchmarks.embeddings --data DIR [--write FILE]

Needs leidenalg, igraph, evoc, umap-learn and hdbscan; what is not installed is left out. Each tool
finds the number of clusters by itself, but for K-means, which is given the truth, and for
NeighborGraph, which is run both ways. UMAP and HDBSCAN have the settings of BERTopic: five
dimensions, 15 neighbours, clusters of ten points or more.
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.families_data import Sample, load, sources
from benchmarks.families_methods import (
    dense,
    evoc,
    k_means,
    leiden,
    scored,
    search_counts,
)
from srsg import NeighborGraph, StabilitySearch
from tools.result_tables import table

SEED = 0
WARM_UP = 300
"""Points of a first call, in which tools compile what they need."""


HEAD = """# Embedded texts

Written by `python -m benchmarks.embeddings --data DIR --write FILE`. Accuracy, and in brackets the
number of clusters found; one seed. Points that HDBSCAN calls noise are one more cluster here. Times
are medians over the sets, without what is compiled in a first call; K-means has ten starts. UMAP
and HDBSCAN have the settings of BERTopic.

"""


def umap_hdbscan(sample: Sample, seed: int) -> dict[str, Any]:
    from hdbscan import HDBSCAN
    from umap import UMAP

    reducer = UMAP(n_neighbors=15, n_components=5, min_dist=0.0, metric="cosine", random_state=seed)
    return scored(
        sample, HDBSCAN(min_cluster_size=10).fit_predict(reducer.fit_transform(dense(sample)))
    )


def neighbors(n_clusters: bool, sample: Sample, seed: int) -> dict[str, Any]:
    count = sample.n_clusters if n_clusters else "auto"
    model = NeighborGraph(count, assign_labels="tree", random_state=seed, n_jobs=1)
    return scored(sample, model.fit_predict(sample.X))


def search(sample: Sample, seed: int) -> dict[str, Any]:
    model = StabilitySearch(n_clusters=sample.n_clusters, random_state=seed, n_jobs=1)
    return scored(sample, model.fit(sample.X).labels_)


METHODS: dict[str, tuple[Callable[[Sample, int], dict[str, Any]], str | None]] = {
    "K-means, number given": (k_means, None),
    "neighbour tree, number given": (lambda *of: neighbors(True, *of), None),
    "search, number given": (search, None),
    "Leiden": (leiden, "leidenalg"),
    "EVoC": (evoc, "evoc"),
    "UMAP + HDBSCAN": (umap_hdbscan, "umap"),
    "neighbour tree": (lambda *of: neighbors(False, *of), None),
    "search": (search_counts, None),
}


def measured(method: Callable[[Sample, int], Any], sample: Sample) -> tuple[dict[str, Any], float]:
    """What a method finds, and its processor time."""
    with warnings.catch_warnings(action="ignore"):
        start = time.process_time()
        found = method(sample, SEED)
        return found, time.process_time() - start


def page(folder: Path) -> str:
    installed = {name: m for name, (m, need) in METHODS.items() if not need or find_spec(need)}
    rows = []
    ratios: dict[str, list[float]] = {name: [] for name in installed}
    scores: dict[str, list[float]] = {name: [] for name in installed}
    chosen = [each for each in sources(folder) if each[0].startswith("embeddings")]
    for place, source in enumerate(chosen):
        sample = load(source)
        if not place:
            few = Sample(sample.family, sample.name, sample.X[:WARM_UP], sample.y[:WARM_UP])
            for method in installed.values():
                measured(method, few)
        cells, base = [], 0.0
        for name, method in installed.items():
            found, seconds = measured(method, sample)
            base = base or seconds
            ratios[name].append(seconds / base)
            scores[name].append(found["ac"])
            cells.append(f"{found['ac']:.3f} ({found['count']})")
            print(f"{sample.name}, {name}: {cells[-1]}, {seconds:.1f} s", flush=True)
        n, d = sample.X.shape
        rows.append([f"{sample.name}: {n:,} x {d}, {sample.n_clusters}", *cells])
    rows.append(["mean accuracy", *(f"{np.mean(scores[name]):.3f}" for name in installed)])
    cost = [
        "processor time over K-means",
        *(f"{np.median(ratios[name]):.0f}" for name in installed),
    ]
    return HEAD + table(["set: points x features, classes", *installed], [*rows, cost]) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--write", type=Path)
    options = parser.parse_args()
    text = page(options.data)
    print(text)
    if options.write:
        options.write.write_text(text)


if __name__ == "__main__":
    main()
