"""SRSG's default compared with the two methods it is made of, on data that the paper does not use.

    python -m benchmarks.generalization --data DIR [--more DIR] [--output docs/results]

The default was chosen on the first group of data sets, and then measured, once, on the second:
other classes, samples and data sets. Both need the folder of the paper's data with its ``extra``;
``--more`` has the folders ``choose`` and ``confirm`` with additional data sets as ``.npz`` files.
"""

from __future__ import annotations

import argparse
import csv
from collections.abc import Callable, Iterator
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits, load_iris, load_wine

from paper.datasets import Dataset, load_dataset
from paper.evaluate import evaluate
from srsg import SRSG, L1Graph
from srsg.datasets import make_union_of_subspaces
from srsg.files import atomic_write

METHODS: dict[str, Callable] = {"l1-graph": L1Graph, "SRSG, paper": SRSG.paper, "SRSG": SRSG}
SEEDS = range(5)
MARGIN = 0.03
"""How far below the better of the first two the third may be."""


def classes(data: Dataset, chosen: np.ndarray, title: str) -> Dataset:
    of_them = np.isin(data.y, chosen)
    return Dataset(data.X[of_them], data.y[of_them], f"{data.name}, {title}")


def last(data: Dataset, count: int) -> Dataset:
    return classes(data, np.unique(data.y)[-count:], f"last {count}")


def drawn(data: Dataset, count: int, seed: int) -> Dataset:
    chosen = np.random.default_rng(seed).choice(np.unique(data.y), count, replace=False)
    return classes(data, chosen, f"{count} drawn")


def sampled(data: Dataset, rows: slice, digits: str, count: int, seed: int) -> Dataset:
    X, y = data.X[rows], data.y[rows]
    of_them = np.flatnonzero(np.isin(y, [int(digit) for digit in digits]))
    chosen = of_them[np.sort(np.random.default_rng(seed).choice(len(of_them), count, False))]
    return Dataset(X[chosen], y[chosen], f"{data.name} {digits}, {count} drawn")


def subspaces(count: int, size: int, seed: int, **parameters: float) -> Dataset:
    X, y = make_union_of_subspaces(count * size, n_subspaces=count, random_state=seed, **parameters)
    return Dataset(X, y, f"{count} subspaces of dimension {parameters['dimension']}")


def to_choose(folder: Path) -> Iterator[Dataset]:
    def load(name: str) -> Dataset:
        return load_dataset(name, folder=folder)

    yield last(load("COIL-20"), 10)
    yield drawn(load("COIL-100"), 25, seed=1)
    yield last(load("Yale-B"), 12)
    yield drawn(load("UMIST Face"), 10, seed=1)
    yield last(load("CMU PIE"), 15)
    yield load("ORL")
    yield load("Isolet")
    yield Dataset(*load_digits(return_X_y=True), "digits")
    yield Dataset(*load_wine(return_X_y=True), "wine")
    mnist, first_half = load("MNIST"), slice(0, 30_000)
    yield sampled(mnist, first_half, "0123456789", 2000, seed=0)
    yield sampled(mnist, first_half, "01234", 1500, seed=1)
    yield sampled(mnist, first_half, "358", 1200, seed=2)
    yield subspaces(10, 60, 0, dimension=5, n_features=50, noise=0.05)
    yield subspaces(6, 80, 1, dimension=6, n_features=40, noise=0.05, overlap=2)
    yield subspaces(20, 40, 2, dimension=3, n_features=30, noise=0.1)


def to_confirm(folder: Path) -> Iterator[Dataset]:
    def load(name: str) -> Dataset:
        return load_dataset(name, folder=folder)

    yield drawn(load("COIL-20"), 10, seed=11)
    yield last(load("COIL-100"), 20)
    yield drawn(load("COIL-100"), 30, seed=11)
    yield drawn(load("Yale-B"), 20, seed=11)
    yield last(load("Yale-B"), 30)
    yield last(load("UMIST Face"), 10)
    yield drawn(load("UMIST Face"), 12, seed=13)
    yield drawn(load("CMU PIE"), 20, seed=11)
    yield drawn(load("ORL"), 20, seed=11)
    yield classes(load("Isolet"), np.arange(1, 14), "first 13")
    yield load("Lymphoma")
    yield load("PCMAC")
    yield Dataset(*load_digits(n_class=5, return_X_y=True), "digits 01234")
    yield Dataset(*load_iris(return_X_y=True), "iris")
    mnist, second_half = load("MNIST"), slice(30_000, 70_000)
    yield sampled(mnist, second_half, "0123456789", 3000, seed=11)
    yield sampled(mnist, second_half, "56789", 2000, seed=12)
    yield sampled(mnist, second_half, "479", 1500, seed=13)
    yield subspaces(12, 50, 21, dimension=4, n_features=60, noise=0.06)
    yield subspaces(8, 70, 22, dimension=7, n_features=50, noise=0.05, overlap=3)
    yield subspaces(15, 40, 23, dimension=2, n_features=20, noise=0.15)


def more(folder: Path | None, group: str) -> Iterator[Dataset]:
    for path in sorted((folder / group).glob("*.npz")) if folder else ():
        with np.load(path) as file:
            yield Dataset(file["X"].astype(float), file["y"], path.stem)


def accuracies(data: Dataset) -> list[float]:
    usable = np.linalg.norm(data.X, axis=1) > 0
    kept = Dataset(data.X[usable], data.y[usable], data.name)
    found = (evaluate(method(kept.n_clusters), kept, SEEDS)[0] for method in METHODS.values())
    return [float(np.mean([score.ac for score in scores])) for scores in found]


def markdown(groups: dict[str, dict[str, list[float]]]) -> Iterator[str]:
    for title, rows in groups.items():
        yield f"## {title}\n"
        yield "| data | " + " | ".join(METHODS) + " |"
        yield "|---|" + "---:|" * len(METHODS)
        for name, values in rows.items():
            best = max(values)
            shown = (f"**{v:.3f}**" if v > best - 5e-4 else f"{v:.3f}" for v in values)
            yield f"| {name} | " + " | ".join(shown) + " |"
        table = np.array(list(rows.values()))
        mean = table.mean(axis=0)
        yield "| mean | " + " | ".join(f"{value:.3f}" for value in mean) + " |\n"
        below = table[:, 2] < table[:, :2].max(axis=1) - MARGIN
        names = [name for name, low in zip(rows, below, strict=True) if low]
        yield (
            f"The default is more than {MARGIN} below the better of the other two on {len(names)} "
            f"of {len(rows)}: {', '.join(names) or 'none'}.\n"
        )


def picture(groups: dict[str, dict[str, list[float]]], path: Path) -> None:
    figure, panels = plt.subplots(
        1, len(groups), figsize=(10, 5), sharey=True, layout="constrained"
    )
    for axes, (title, rows) in zip(panels, groups.items(), strict=True):
        table = np.array(list(rows.values()))
        better = table[:, :2].max(axis=1)
        axes.plot([0, 1], [0, 1], color="0.6", lw=1)
        axes.fill_between([0, 1], [-MARGIN, 1 - MARGIN], [0, 1], color="0.92", lw=0)
        axes.scatter(better, table[:, 2], s=28, color="#0072b2", zorder=3)
        axes.set(xlim=(0, 1.02), ylim=(0, 1.02), aspect="equal", title=title)
        axes.set_xlabel("accuracy of the better of l1-graph and the paper's SRSG")
    panels[0].set_ylabel("accuracy of SRSG's default")
    with atomic_write(path) as temporary:
        figure.savefig(temporary, dpi=110, format="png")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, required=True, help="folder of the paper's data")
    parser.add_argument("--more", type=Path, help="folder with choose/*.npz and confirm/*.npz")
    parser.add_argument("--output", type=Path, default=Path("docs/results/parts"))
    options = parser.parse_args()
    groups: dict[str, dict[str, list[float]]] = {}
    for title, own, name in (
        ("Chosen on", to_choose, "choose"),
        ("Confirmed on", to_confirm, "confirm"),
    ):
        rows = groups.setdefault(title, {})
        for source in (own(options.data), more(options.more, name)):
            for data in source:
                rows[data.name] = accuracies(data)
                shown = "".join(f"{value:8.3f}" for value in rows[data.name])
                print(f"{data.name:<34}{shown}", flush=True)
    options.output.mkdir(parents=True, exist_ok=True)
    text = "# SRSG's default on other data\n\nMade by `benchmarks/generalization.py`. Mean accuracy"
    text += f" of {len(SEEDS)} starts of K-means.\n\n" + "\n".join(markdown(groups))
    with atomic_write(options.output / "generalization.md") as path:
        path.write_text(text)
    with atomic_write(options.output / "generalization.csv") as path, path.open("w") as file:
        writer = csv.writer(file)
        writer.writerow(["group", "data", *METHODS])
        writer.writerows(
            [title, name, *(f"{value:.4f}" for value in values)]
            for title, rows in groups.items()
            for name, values in rows.items()
        )
    picture(groups, options.output / "generalization.png")


if __name__ == "__main__":
    main()
