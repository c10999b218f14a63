"""Accuracies on data that everyone has, so that a test can tell when they are no longer true.

Usage: python -m tools.shipped_results    (writes docs/results/parts/shipped.csv)

The tables of the paper need its data, which are not in the repository. These few cells need only
scikit-learn and the package, so every test run compares them with fresh fits.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from sklearn.datasets import load_digits, load_wine

from srsg.datasets import make_union_of_subspaces
from srsg.metrics import clustering_accuracy, normalized_mutual_info
from srsg.registry import methods

PAGE = Path(__file__).parents[1] / "docs" / "results" / "parts" / "shipped.csv"
COLUMNS = ("data", "method", "settings", "ac", "nmi")


def shipped_data() -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """Small sets that come with scikit-learn, and one of our own."""
    return {
        "digits 0 to 4": load_digits(n_class=5, return_X_y=True),
        "wine": load_wine(return_X_y=True),
        "subspaces": make_union_of_subspaces(
            240, n_subspaces=6, n_features=15, noise=0.15, random_state=0
        ),
    }


def fresh_cells() -> Iterator[dict[str, str]]:
    """One line for each data set, method and setting, fitted now."""
    for data, (X, y) in shipped_data().items():
        for name, method in methods().items():
            for settings, build in (("paper", method.paper), ("default", method.default)):
                labels = build(len(np.unique(y))).set_params(random_state=0).fit_predict(X)
                scores = clustering_accuracy(y, labels), normalized_mutual_info(y, labels)
                figures = (f"{score:.4f}" for score in scores)
                yield dict(zip(COLUMNS, (data, name, settings, *figures), strict=True))


def main() -> None:
    with PAGE.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, COLUMNS, lineterminator="\n")
        writer.writeheader()
        writer.writerows(fresh_cells())


if __name__ == "__main__":
    main()
