"""Data of two or three columns: spectral clustering by distances beside what the search leaves out.

    python benchmarks/few_columns.py

Prints the accuracy with the number of clusters given, and the numbers that the search reports. The
draws are others than those on which the candidate for few columns was settled.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn import datasets
from sklearn.cluster import KMeans
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from srsg import SRSG, LocalScalingSpectralClustering, StabilitySearch
from srsg.graph.unwrapping import clusterer_of
from srsg.metrics import clustering_accuracy
from srsg.selection.candidates import shares_one_unit

SEEDS = (11, 12)


def samples() -> Iterator[tuple[str, NDArray, NDArray]]:
    """Names, points and classes."""
    for seed in SEEDS:
        for noise in (0.05, 0.1):
            yield f"moons, noise {noise}", *datasets.make_moons(400, noise=noise, random_state=seed)
        yield "rings", *datasets.make_circles(400, noise=0.05, factor=0.5, random_state=seed)
        yield "four groups", *datasets.make_blobs(400, centers=4, random_state=seed)
        widths = [1.0, 2.5, 0.5]
        yield (
            "groups of three widths",
            *datasets.make_blobs(400, centers=3, cluster_std=widths, random_state=seed),
        )
        X, y = datasets.make_blobs(400, centers=3, random_state=seed)
        yield "stretched groups", X @ [[0.6, -0.6], [-0.4, 0.8]], y
        yield (
            "five groups, three columns",
            *datasets.make_blobs(400, centers=5, n_features=3, random_state=seed),
        )
    X, y = datasets.load_iris(return_X_y=True)
    yield "iris, petals", X[:, 2:], y
    yield "iris, sepals", X[:, :2], y
    X, y = datasets.load_wine(return_X_y=True)
    yield "wine, two columns", X[:, [6, 12]], y


def methods(X: NDArray, count: int) -> dict[str, Any]:
    options = {"n_clusters": count, "random_state": 0}
    found = {
        "distances": LocalScalingSpectralClustering(**options),
        "kmeans": KMeans(n_init=10, **options),
    }
    if not shares_one_unit(X):
        found = {name: make_pipeline(StandardScaler(), each) for name, each in found.items()}
    return found | {"srsg": make_pipeline(StandardScaler(), SRSG(affine=True, **options))}


def main() -> None:
    accuracies: list[list[float]] = []
    errors = []
    for name, X, y in samples():
        count = int(y.max()) + 1
        models = {key: each.fit(X) for key, each in methods(X, count).items()}
        row = [clustering_accuracy(y, clusterer_of(each).labels_) for each in models.values()]
        three = StabilitySearch(random_state=0).fit(X).best_counts(3)
        accuracies.append(row)
        errors.append(abs(np.log(three[0] / count)))
        print(name, *(f"{key} {ac:.3f}" for key, ac in zip(models, row, strict=True)), end="; ")
        print(f"true {count}, reported {three}", flush=True)
    print("means", np.mean(accuracies, axis=0).round(3), "error of the number", np.mean(errors))


if __name__ == "__main__":
    with warnings.catch_warnings(action="ignore"):
        main()
