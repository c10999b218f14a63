"""A few known labels: accuracy on all other points, beside scikit-learn's label spreading.

One point in a hundred has its label, and at least two of each class. Every row is the mean over
several draws of these points, on at most ``--most`` points of each set. Label spreading is tried
with several kernels, and the best of all is shown, chosen by the true labels: no user could do
better with it. The graph of srsg is the one that the search chooses without labels; the others are
shown too. "alone" is the accuracy of the same graph without any label, its clusters matched with
the classes as well as possible.

    python -m benchmarks.few_labels --data DIR
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import pairwise_distances
from sklearn.preprocessing import normalize
from sklearn.semi_supervised import LabelSpreading

from srsg import SRSG, NeighborGraph, RidgeGraph, StabilitySearch
from srsg.metrics import clustering_accuracy
from srsg.running.progress import quietly

SETS = {
    "PIE, 20 classes": ("PIE", 20),
    "UMIST, 20 classes": ("UMIST", 20),
    "Isolet": ("extra/Isolet", None),
    "banking77": ("families/banking77_wordllama256", None),
    "agnews": ("families/agnews8000_wordllama256", None),
}
"""Files of the folder, and how many of their first classes are taken."""

GRAPHS = {"knn": NeighborGraph, "ridge": RidgeGraph, "srsg": SRSG}
SHARE, LEAST = 0.01, 2


def load(path: Path, n_classes: int | None, most: int) -> tuple[NDArray, NDArray]:
    """Points and their classes, a random part of large sets."""
    with np.load(path.with_name(f"{path.name}.npz")) as file:
        X, y = file["X"], np.unique(file["y"], return_inverse=True)[1]
    rows = np.flatnonzero(y < (n_classes or len(y)))
    if len(rows) > most:
        rows = np.sort(np.random.default_rng(0).choice(rows, most, replace=False))
    return np.ascontiguousarray(X[rows], dtype=np.float64), np.unique(y[rows], return_inverse=True)[
        1
    ]


def few_labels(y: NDArray, seed: int) -> NDArray:
    """The labels of a share of the points and of at least two of each class; -1 for all others."""
    rng, known = np.random.default_rng(seed), np.full(len(y), -1)
    for label in np.unique(y):
        known[rng.choice(np.flatnonzero(y == label), LEAST, replace=False)] = label
    more = round(SHARE * len(y)) - int((known >= 0).sum())
    if more > 0:
        rows = rng.choice(np.flatnonzero(known < 0), more, replace=False)
        known[rows] = y[rows]
    return known


def spreading_models(X: NDArray) -> dict[str, LabelSpreading]:
    """Label spreading with several kernels, on points of unit length."""
    near = np.sort(pairwise_distances(X[:500], metric="sqeuclidean"), axis=1)[:, 7]
    by_count = {
        f"knn {count}, alpha {alpha}": LabelSpreading("knn", n_neighbors=count, alpha=alpha)
        for count in (5, 7, 15)
        for alpha in (0.2, 0.9)
    }
    by_width = {
        f"rbf {width}": LabelSpreading("rbf", gamma=width / np.median(near)) for width in (1, 3, 10)
    }
    return by_count | by_width


def measured(X: NDArray, y: NDArray, n_draws: int) -> dict[str, list[float]]:
    """Accuracies of all methods, one for each draw."""
    n_clusters, found = int(y.max()) + 1, dict[str, list[float]]()
    with quietly():
        search = StabilitySearch("graphs", n_clusters, random_state=0).fit(X)
        models = {name: kind(n_clusters, random_state=0).fit(X) for name, kind in GRAPHS.items()}
    alone = {name: clustering_accuracy(y, model.labels_) for name, model in models.items()}
    unit = normalize(X)
    for seed in range(n_draws):
        known = few_labels(y, seed)
        asked = known < 0
        labels = {}
        with quietly():
            for name, model in spreading_models(unit).items():
                labels[f"spreading, {name}"] = model.fit(unit, known).transduction_
            for name, model in models.items():
                found.setdefault(f"{name} alone", []).append(alone[name])
                labels[name] = model.fit_labels(known_labels=known).labels_
        for name, each in labels.items():
            found.setdefault(name, []).append(float(np.mean(each[asked] == y[asked])))
    for name in (search.best_name_, f"{search.best_name_} alone"):
        found[name.replace(search.best_name_, "search")] = found[name]
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, required=True, help="folder of the data sets")
    parser.add_argument("--most", type=int, default=2000, help="points of each set")
    parser.add_argument("--draws", type=int, default=5)
    parser.add_argument("--sets", nargs="*", default=list(SETS))
    arguments = parser.parse_args()
    names = ("search alone", "search", "knn", "ridge", "srsg", "best spreading")
    print(f"| 1 % of the labels | {' | '.join(names)} | which |\n|---|{'---:|' * len(names)}---|")
    total = []
    for title in arguments.sets:
        file, n_classes = SETS[title]
        X, y = load(arguments.data / file, n_classes, arguments.most)
        means = {n: np.mean(v) for n, v in measured(X, y, arguments.draws).items()}
        best = max((n for n in means if n.startswith("spreading")), key=lambda n: means[n])
        row = [means[name] for name in names[:-1]] + [means[best]]
        total.append(row)
        cells = " | ".join(f"{value:.3f}" for value in row)
        print(f"| {title}, {len(y)} points | {cells} | {best[11:]} |", flush=True)
    print(f"| mean | {' | '.join(f'{value:.3f}' for value in np.mean(total, axis=0))} | |")


if __name__ == "__main__":
    main()
