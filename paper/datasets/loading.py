"""Data sets by name."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from paper.datasets.catalogue import Archive, Entry, find_entry
from paper.datasets.folders import dataset_path
from srsg.files import FileError, Table, read_points
from srsg.types import FloatArray, IntArray


@dataclass(frozen=True, eq=False)
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
    FileError
        If the file is broken or has no labels.

    Examples
    --------
    >>> from paper.datasets import load_dataset
    >>> breast = load_dataset("Breast")
    >>> breast.X.shape, breast.n_clusters
    ((569, 30), 2)
    """
    entry = find_entry(name)
    if entry and entry.name == "Breast":
        data = _breast()
    else:
        path = dataset_path(name, folder=folder)
        data = _read(path, entry)
    return data if n_clusters is None else data.first(n_clusters)


def _breast() -> Dataset:
    from sklearn.datasets import load_breast_cancer

    X, y = load_breast_cancer(return_X_y=True)
    return Dataset(X, y.astype(np.int64), "Breast")


def _read(path: Path, entry: Entry | None) -> Dataset:
    # Images in a folder may be larger than those of the paper.
    size = entry.image_shape if entry else None
    table = read_points(path, image_size=size, gray=size is not None)
    y = _classes_in_names(table, entry) if table.y is None else table.y
    if y is None:
        raise FileError(f"{path}: has no labels.")
    X, shape = table.X.astype(np.float64, copy=False), table.image_shape
    if shape is None and size and X.shape[1] == size[0] * size[1]:
        shape = size
        if path.suffix.lower() == ".mat":  # MATLAB stores images column by column
            X = X.reshape(-1, *size[::-1]).swapaxes(1, 2).reshape(X.shape)
    return Dataset(X, y, entry.name if entry else path.stem, shape)


def _classes_in_names(table: Table, entry: Entry | None) -> IntArray | None:
    """The classes of images that are not in sub-folders, if their names give them."""
    if entry is None or not isinstance(entry.home, Archive):
        return None
    # As unpacked from the archive: all images in one folder.
    matches = [re.fullmatch(entry.home.class_in_name, str(row)) for row in table.row_ids]
    classes = [int(match[1]) for match in matches if match]
    return np.array(classes, dtype=np.int64) if len(classes) == len(matches) else None
