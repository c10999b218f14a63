"""Downloads of the data sets that are publicly available."""

from __future__ import annotations

import hashlib
import os
import re
import warnings
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from zipfile import ZipFile

import numpy as np
from numpy.typing import NDArray

from paper.datasets.catalogue import Archive, Entry, OpenML, find_entry, list_datasets
from paper.datasets.download import download
from paper.datasets.folders import data_folder, dataset_path
from srsg.files import FileError, atomic_write
from srsg.files.errors import explained, needed, parsing
from srsg.files.images import read_image
from srsg.files.labels import encode_labels, natural_order
from srsg.types import IntArray


def fetch_dataset(
    name: str,
    folder: str | os.PathLike[str] | None = None,
    *,
    base_url: str | None = None,
    verbose: bool = False,
) -> Path:
    """Download a data set that is publicly available, unless it is there already.

    Images are converted to gray and resized as in the paper: those of COIL by bilinear
    interpolation, those of UMIST by averaging 4 x 4 pixels. The checksum of a download is kept next
    to it, in ``NAME.sha256``; a later download that differs is refused.

    Parameters
    ----------
    name : str
        A name of :func:`list_datasets`.
    folder : path, optional
        Where to put it; ``$SRSG_DATA`` or else the user's cache by default.
    base_url : str, optional
        A folder on another server that has the same file; not for sets from OpenML.
    verbose : bool
        Name the download and its size on standard error.

    Returns
    -------
    Path
        The file, for :func:`load_dataset`.

    Raises
    ------
    ValueError
        If no set has this name.
    FileError
        If it may not be redistributed (the message says whom to ask), the server cannot be reached,
        or what it sends is cut off or has changed. Nothing is left behind then.

    Examples
    --------
    >>> from paper.datasets import fetch_dataset
    >>> fetch_dataset("CMU PIE", "nowhere")
    Traceback (most recent call last):
    ...
    srsg.files.errors.FileError: CMU PIE cannot be downloaded. For research only: ask ...
    """
    entry = find_entry(name)
    if entry is None:
        names = ", ".join(entry.name for entry in list_datasets())
        raise ValueError(f"No data set is called {name!r}. Known: {names}.")
    with suppress(FileNotFoundError):
        return dataset_path(entry.name, folder=folder)
    if entry.home is None:
        raise FileError(f"{entry.name} cannot be downloaded. {entry.obtain}")
    target = data_folder(folder) / f"{entry.stems[0]}.npz"
    with explained(f"{target.parent}: cannot be made"):
        target.parent.mkdir(parents=True, exist_ok=True)
    if isinstance(entry.home, Archive):
        downloaded = _from_archive(entry, entry.home, target, base_url, verbose)
    else:
        downloaded = _from_openml(entry, entry.home, target)
    _check_size(downloaded, entry)
    arrays: dict[str, Any] = {"X": _compact(downloaded.X), "y": downloaded.y}
    if entry.image_shape:
        arrays["shape"] = np.array(entry.image_shape)
    with atomic_write(target) as temporary, temporary.open("wb") as file:
        np.savez_compressed(file, **arrays)
    with atomic_write(_checksum_file(target)) as temporary:
        temporary.write_text(f"{downloaded.checksum}  {downloaded.origin}\n", encoding="utf-8")
    return target


@dataclass(frozen=True, eq=False)
class _Download:
    """Points and classes from the web, their origin and checksum."""

    X: NDArray
    y: IntArray
    origin: str
    checksum: str


def _from_archive(
    entry: Entry, home: Archive, target: Path, base_url: str | None, verbose: bool
) -> _Download:
    name = home.url.rpartition("/")[2]
    url = home.url if base_url is None else f"{base_url.rstrip('/')}/{name}"
    # On the same disk as the target, where there is room for the data.
    with TemporaryDirectory(dir=target.parent, prefix=".download-") as temporary:
        archive = Path(temporary, name)
        checksum = download(url, archive, verbose=verbose)
        _check_unchanged(url, checksum, home.sha256, target)
        X, y = images_of_archive(archive, entry, home.class_in_name)
    return _Download(X, y, url, checksum)


def _from_openml(entry: Entry, home: OpenML, target: Path) -> _Download:
    from sklearn.datasets import fetch_openml

    needed("pandas", "Downloads from OpenML need pandas", "data")
    name = f"OpenML's {home.query.get('name', entry.name)}"
    with explained(f"{name}: cannot be downloaded from openml.org"), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about retries: only the outcome counts
        # Our own file is the cache, and it is the one whose checksum is kept.
        data = fetch_openml(**home.query, as_frame=False, cache=False, n_retries=1)
    X, y = np.asarray(data.data, dtype=np.float64), encode_labels(np.asarray(data.target))[0]
    checksum = hashlib.sha256(X.tobytes() + y.tobytes()).hexdigest()
    _check_unchanged(name, checksum, None, target)
    if home.shape and entry.image_shape:
        X = _shrunk(name, X, home.shape, entry.image_shape)
    return _Download(X, y, name, checksum)


def _shrunk(name: str, X: NDArray, large: tuple[int, int], small: tuple[int, int]) -> NDArray:
    """Images made smaller by averaging blocks of pixels, rounded to integers as pixels are."""
    if X.shape[1] != large[0] * large[1]:
        raise FileError(f"{name}: has {X.shape[1]} features, not the {large[0]} x {large[1]}.")
    height, width = (side // part for side, part in zip(large, small, strict=True))
    blocks = X.reshape(len(X), small[0], height, small[1], width)
    return np.round(blocks.mean(axis=(2, 4))).reshape(len(X), -1)


def _check_size(downloaded: _Download, entry: Entry) -> None:
    size = (*downloaded.X.shape, len(np.unique(downloaded.y)))
    expected = (entry.n_samples, entry.n_features, entry.n_classes)
    if size != expected:
        raise FileError(
            f"{downloaded.origin}: has {size[0]} x {size[1]} values in {size[2]} classes, not "
            f"{expected[0]} x {expected[1]} in {expected[2]}: this is not {entry.name}."
        )


def _checksum_file(target: Path) -> Path:
    return target.with_suffix(".sha256")


def _check_unchanged(name: str, checksum: str, expected: str | None, target: Path) -> None:
    kept = _checksum_file(target)
    if expected is None and kept.exists():
        expected = kept.read_text(encoding="utf-8").split(" ")[0]
    if expected not in (None, checksum):
        advice = f"; if you trust it, remove {kept}" if kept.exists() else ""
        raise FileError(
            f"{name}: has changed (its SHA-256 is {checksum}, not {expected}) and is refused"
            f"{advice}."
        )


def _compact(X: NDArray) -> NDArray:
    """The values as bytes, if all of them are integers from 0 to 255."""
    # Pixels as float64 would take eight times the space.
    small = X.min() >= 0 and X.max() <= 255 and (np.round(X) == X).all()
    return X.astype(np.uint8) if small else X


def images_of_archive(
    path: Path, entry: Entry, class_in_name: str
) -> tuple[NDArray[np.float64], IntArray]:
    """The images whose names give a class, in gray and resized to the entry's shape, sorted by
    name."""
    assert entry.image_shape is not None
    images, classes = [], []
    with parsing(path.name, "a zip file of images"), ZipFile(path) as archive:
        for name in sorted(archive.namelist(), key=natural_order):
            match = re.fullmatch(class_in_name, name.rpartition("/")[2])
            if match:
                with archive.open(name) as file:
                    images.append(read_image(file, entry.image_shape, color=False).ravel())
                classes.append(int(match[1]))
    if not images:
        raise FileError(f"{path.name}: has none of the images of {entry.name}.")
    return np.array(images), np.array(classes, dtype=np.int64)
