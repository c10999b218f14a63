"""Ten updates of a tenth each beside one fit of all points.

    python -m benchmarks.updates --data DIR [--sets digits COIL20 stackoverflow] [--small]

A tenth of the points is fitted, and the others join by nine updates. With ``--small``, nine tenths
are fitted, and the others join by updates of ten points each. Printed are the agreement of
the labels with those of one fit of all points, in the same order, by normalised mutual information;
the agreement of both with the true classes; and the processor time of the updates and of all the
fits that they replace, of a tenth, two tenths and so on; with ``--small``, of one
fit of all points for each update.
"""

from __future__ import annotations

import argparse
import time
import warnings
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.datasets import load_digits
from sklearn.metrics import normalized_mutual_info_score as nmi

from srsg import SRSG, L1Graph, NeighborGraph

FILES = {"COIL20": "COIL20.npz", "stackoverflow": "families/stackoverflow_wordllama256.npz"}
MOST = 2000


def loaded(name: str, folder: Path) -> tuple[NDArray, NDArray]:
    """Points in random order, at most two thousand, and their classes."""
    if name == "digits":
        X, y = load_digits(return_X_y=True)
    else:
        with np.load(folder / FILES[name]) as file:
            X, y = file["X"], file["y"].ravel()
    order = np.random.default_rng(0).permutation(len(y))[:MOST]
    return X.reshape(len(X), -1)[order].astype(np.float64), y[order]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--data", type=Path, required=True, help="folder of the data")
    parser.add_argument("--sets", nargs="+", default=["digits", *FILES])
    parser.add_argument("--small", action="store_true", help="updates of ten points each")
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    for name in given.sets:
        X, y = loaded(name, given.data)
        k = len(np.unique(y))
        for estimator in (SRSG, L1Graph, NeighborGraph):
            model = estimator(k, random_state=0)
            parts = np.array_split(np.arange(len(X)), 10)
            if given.small:
                first = 9 * len(X) // 10
                parts = np.split(np.arange(len(X)), range(first, len(X), 10))
            updated = clone(model).fit(X[parts[0]])
            start = time.process_time()
            moved = [len(updated.update(X[part]).moved) for part in parts[1:]]
            spent = time.process_time() - start
            start = time.process_time()
            for part in parts[-1:] if given.small else parts[1:]:
                whole = clone(model).fit(X[: part[-1] + 1])
            fits = time.process_time() - start
            if given.small:  # beside a fit for each of them
                fits *= len(parts) - 1
            print(
                f"{name:14} {estimator.__name__:14} NMI with one fit "
                f"{nmi(whole.labels_, updated.labels_):.3f}; with the classes, updated "
                f"{nmi(y, updated.labels_):.3f}, one fit {nmi(y, whole.labels_):.3f}; time of the "
                f"updates / of the fits {spent / fits:.2f}; moved at most {max(moved)}",
                flush=True,
            )


if __name__ == "__main__":
    main()
