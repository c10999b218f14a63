"""Other kinds of clustering tools beside ours, on data that anyone has.

    python -m benchmarks.other_tools [--data DIR] [--toolbox DIR] [--write FILE]

Every tool gets the number of clusters and its defaults, but for HDBSCAN, which finds the number by
itself. Tables are standardised for all tools. ``--toolbox`` names a checkout of ChongYou's toolbox,
``github.com/ChongYou/subspace-clustering``, whose two main methods are then run too.
"""

from __future__ import annotations

import argparse
import sys
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.cluster import HDBSCAN, AgglomerativeClustering, KMeans, SpectralClustering
from sklearn.datasets import load_breast_cancer, load_digits, load_wine, make_blobs, make_moons
from sklearn.mixture import GaussianMixture
from sklearn.preprocessing import StandardScaler

from paper.datasets import load_dataset
from srsg import SMCE, SRSG, L1Graph, RidgeGraph, StabilitySearch
from srsg.datasets import make_trefoil_knots, make_union_of_subspaces
from srsg.metrics import clustering_accuracy
from srsg.registry import STARTS

Data = tuple[np.ndarray, np.ndarray]
SEED = 0


def standardised(load: Callable[..., Data]) -> Data:
    X, y = load(return_X_y=True)
    return StandardScaler().fit_transform(X), y


def data_sets(folder: str | None) -> dict[str, Data]:
    sets = {
        "moons": make_moons(500, noise=0.06, random_state=SEED),
        "blobs in the plane": make_blobs(500, centers=4, cluster_std=0.8, random_state=2),
        "wine, standardised": standardised(load_wine),
        "breast cancer, standardised": standardised(load_breast_cancer),
        "two trefoil knots, 100 features": make_trefoil_knots(400, noise=0.01, random_state=SEED),
        "10 subspaces in 50 features": make_union_of_subspaces(
            600, n_subspaces=10, dimension=5, n_features=50, noise=0.05, random_state=SEED
        ),
        "digits, the first 600": tuple(part[:600] for part in load_digits(return_X_y=True)),
    }
    # Few enough points for tools that need seconds for each.
    for name, count in (("COIL-20", 8), ("Yale-B", 10), ("UMIST", 20)) if folder else ():
        found = load_dataset(name, count, folder=folder)
        sets[f"{name}, {count} classes"] = found.X, found.y
    return sets


def tools(count: int, toolbox: str | None) -> dict[str, Any]:
    ours = {
        "search": StabilitySearch(n_clusters=count, random_state=SEED),
        "SRSG": SRSG(count, random_state=SEED),
        "ridge codes": RidgeGraph(count, random_state=SEED),
        "l1-graph": L1Graph(count, random_state=SEED),
        "SMCE": SMCE(count, random_state=SEED),
    }
    made = {
        "K-means": KMeans(count, n_init=STARTS, random_state=SEED),
        "Ward": AgglomerativeClustering(count),
        "Gaussian mixture": GaussianMixture(
            count, covariance_type="diag", n_init=STARTS, random_state=SEED
        ),
        "spectral, scikit-learn": SpectralClustering(
            count, affinity="nearest_neighbors", n_init=STARTS, random_state=SEED
        ),
        "HDBSCAN": HDBSCAN(copy=True),
    }
    if toolbox:
        sys.path.insert(0, toolbox)
        from cluster.selfrepresentation import (
            ElasticNetSubspaceClustering,
            SparseSubspaceClusteringOMP,
        )

        made["EnSC, toolbox"] = ElasticNetSubspaceClustering(
            n_clusters=count, algorithm="spams", gamma=50, random_state=SEED
        )
        made["SSC-OMP, toolbox"] = SparseSubspaceClusteringOMP(n_clusters=count, random_state=SEED)
    return ours | made


def measure(tool: Any, X: np.ndarray, y: np.ndarray) -> tuple[str, float]:
    """The accuracy, and the seconds it took; a dash where a tool fails."""
    start = time.perf_counter()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            labels = tool.fit_predict(X)
    except Exception as error:
        print(f"  {error}", file=sys.stderr)
        return "-", float("nan")
    return f"{clustering_accuracy(y, labels):.2f}", time.perf_counter() - start


def page(folder: str | None, toolbox: str | None) -> str:
    names = list(tools(2, toolbox))
    lines = ["| data | " + " | ".join(names) + " |", "|---|" + "---:|" * len(names)]
    SRSG(2).fit(make_union_of_subspaces(60, n_subspaces=2, random_state=0)[0])  # compile
    for data, (X, y) in data_sets(folder).items():
        cells = []
        for name, tool in tools(len(np.unique(y)), toolbox).items():
            accuracy, seconds = measure(tool, X, y)
            print(f"{data}: {name} {accuracy} in {seconds:.1f} s", file=sys.stderr)
            cells.append(accuracy)
        best = max(cells)
        shown = [f"**{cell}**" if cell == best else cell for cell in cells]
        lines.append(f"| {data} | " + " | ".join(shown) + " |")
    return "\n".join(
        [
            "# Other tools on data that anyone has",
            "",
            "Accuracy; written by `python -m benchmarks.other_tools`. All tools get the number of "
            "clusters, except HDBSCAN, which finds it and may call points noise. Defaults "
            "throughout, but for Gaussian mixtures, which have diagonal covariances, and EnSC, "
            "which is solved by SPAMS.",
            "",
            *lines,
            "",
        ]
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", help="folder of the paper's data sets")
    parser.add_argument("--toolbox", help="a checkout of ChongYou's toolbox")
    parser.add_argument("--write", type=Path)
    options = parser.parse_args()
    made = page(options.data, options.toolbox)
    if options.write:
        options.write.write_text(made)
    print(made)


if __name__ == "__main__":
    main()
