"""Data sets by name."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from srsg.datasets.catalogue import find_entry
from srsg.datasets.folders import dataset_path
from srsg.types import FloatArray, IntArray


@dataclass(frozen=True)
class Dataset:
    """Points and their classes.

    Attributes
    ----------
    X : ndarray of shape (n_samples, n_features)
        The points, in the order of their file.
    y : ndarray of shape (n_samples,)
        The class of each, an integer.
    name : str
        As the paper writes it, or the file's.
    image_shape : tuple or None
        ``X[i].reshape(image_shape)`` is an upright picture.
    """

    X: FloatArray
    y: IntArray
    name: str
    image_shape: tuple[int, ...] | None = None

    @property
    def n_clusters(self) -> int:
        """The number of classes."""
        return len(np.unique(self.y))

    def first(self, n_clusters: int) -> Dataset:
        """The points of the classes with the smallest labels: the paper's "first c clusters"."""
        labels = np.unique(self.y)
        if not 1 <= n_clusters <= len(labels):
            raise ValueError(
                f"n_clusters={n_clusters} must be between 1 and the {len(labels)} classes "
                f"of {self.name}."
            )
        chosen = self.y <= labels[n_clusters - 1]
        return Dataset(self.X[chosen], self.y[chosen], self.name, self.image_shape)


def load_dataset(
    name: str, n_clusters: int | None = None, *, folder: str | os.PathLike[str] | None = None
) -> Dataset:
    """A data set of the paper, or any other in the folder of data, by its name.

    Parameters
    ----------
    name : str
        A name of :func:`list_datasets`, or the name of a file in the folder or in its ``extra``,
        without ending; case, spaces and hyphens do not matter.
    n_clusters : int, optional
        Take the first clusters only: the classes with the smallest labels.
    folder : path, optional
        Where the files are; ``$SRSG_DATA`` or else the user's cache by default.

    Returns
    -------
    Dataset

    Raises
    ------
    FileNotFoundError
        Says where it was looked for, under which names, and how to get it.

    Examples
    --------
    >>> from srsg.datasets import load_dataset
    >>> breast = load_dataset("Breast")
    >>> breast.X.shape, breast.n_clusters
    ((569, 30), 2)
    """
    entry = find_entry(name)
    if entry and entry.name == "Breast":
        data = _breast()
    else:
        path = dataset_path(name, folder=folder)
        data = _read(path, entry.name if entry else path.stem)
    return data if n_clusters is None else data.first(n_clusters)


def _breast() -> Dataset:
    from sklearn.datasets import load_breast_cancer

    X, y = load_breast_cancer(return_X_y=True)
    return Dataset(X, y.astype(np.int64), "Breast")


def _read(path: Path, name: str) -> Dataset:
    with np.load(path) as file:
        X, y = file["X"].astype(np.float64), file["y"].astype(np.int64)
        shape = tuple(int(side) for side in file["shape"]) if "shape" in file else None
    return Dataset(X, y, name, shape)
