"""How many clusters ``n_clusters="auto"`` finds on the paper's data, beside the true number.

    python benchmarks/n_clusters.py --data DIR

Without the folder of the paper's data: what ships with scikit-learn.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from sklearn.datasets import load_breast_cancer, load_digits

from srsg import SRSG, ElasticNetGraph, L1Graph

CLASSES = {
    "COIL20": range(4, 21, 2),
    "UMIST": range(4, 21, 4),
    "YaleB": (10, 20, 38),
    "Heart": (2,),
    "Ionosphere": (2,),
}
METHODS = {
    "SRSG": SRSG,
    "SRSG, paper": SRSG.paper,
    "l1-graph": L1Graph,
    "elastic net": ElasticNetGraph,
}


def rows(folder: Path | None) -> Iterator[tuple[str, int, np.ndarray]]:
    """Names, numbers of classes and points."""
    yield "digits", 10, load_digits().data
    yield "Breast", 2, load_breast_cancer().data
    for name, counts in CLASSES.items() if folder else ():
        with np.load(folder / f"{name}.npz") as file:
            X, y = file["X"].astype(float), file["y"]
        for count in counts:
            yield name, count, X[np.isin(y, np.unique(y)[:count])]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, help="folder of the paper's data")
    folder = parser.parse_args().data
    print(f"{'data':<12}{'classes':>8}" + "".join(f"{name:>14}" for name in METHODS))
    for name, count, X in rows(folder):
        found = (method(n_clusters="auto").fit(X).n_clusters_ for method in METHODS.values())
        print(f"{name:<12}{count:>8}" + "".join(f"{number:>14}" for number in found), flush=True)


if __name__ == "__main__":
    main()
