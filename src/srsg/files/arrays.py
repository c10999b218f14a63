"""Points from NumPy's files, and the choice among several arrays."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from srsg.files.contents import Contents, Request
from srsg.files.errors import FileError, parsing
from srsg.files.labels import LABEL_NAMES
from srsg.files.unpacking import check_zip

MAPPED_FROM = 64 * 2**20
"""Files of this many bytes or more are memory-mapped instead of read, and used block by block."""

POINT_NAMES = ("x", "fea", "feature", "features", "data", "points")
SHAPE_NAMES = ("shape", "image_shape")

SPARSE_PARTS = {"format", "shape", "data"}
"""What every file of ``scipy.sparse.save_npz`` has."""


def read_npy(path: Path, request: Request) -> Contents:
    """One array."""
    if request.labels:
        raise FileError(f"{path}: has one array only; labels={request.labels!r} must be a file.")
    return Contents(load_npy(path))


def read_npz(path: Path, request: Request) -> Contents:
    """Several arrays by name."""
    arrays = load_arrays(path)
    if arrays.keys() >= SPARSE_PARTS:
        return _sparse_points(path, request)
    return choose_arrays(path, arrays, request)


def _sparse_points(path: Path, request: Request) -> Contents:
    """The matrix of a file that ``scipy.sparse.save_npz`` wrote, as CSR."""
    if request.labels:
        raise FileError(
            f"{path}: has one sparse matrix only; labels={request.labels!r} must be a file."
        )
    with parsing(str(path), "a sparse matrix"):
        matrix = sparse.load_npz(path)
        # A conversion would follow indices beyond the end, so they are checked before it.
        if hasattr(matrix, "check_format"):
            matrix.check_format(full_check=True)
        rows = sparse.csr_array(matrix)
        rows.sum_duplicates()
    return Contents(rows, rows_are_points=True)


def load_npy(path: Path) -> NDArray:
    """The array of a file, never unpickled."""
    _check_start(path, (b"\x93NUMPY",), "a NumPy array")
    with _unpickling_nothing(path), parsing(str(path), "a NumPy array"):
        large = path.stat().st_size >= MAPPED_FROM
        return np.load(path, mmap_mode="r" if large else None, allow_pickle=False)


def load_arrays(path: Path) -> dict[str, NDArray]:
    """The arrays of a file by name, never unpickled."""
    _check_start(path, (b"PK\x03\x04", b"PK\x05\x06"), "NumPy arrays")
    with (
        _unpickling_nothing(path),
        parsing(str(path), "NumPy arrays"),
        path.open("rb") as raw,  # NumPy leaves a broken file open
        np.load(raw, allow_pickle=False) as file,
    ):
        check_zip(path)
        return {name: file[name] for name in file.files}


def _check_start(path: Path, starts: tuple[bytes, ...], kind: str) -> None:
    # NumPy treats any file that starts otherwise as a pickle, and its message would be about
    # pickles.
    with path.open("rb") as file:
        if not file.read(8).startswith(starts):
            raise FileError(f"{path}: cannot be read as {kind}: it does not start like one.")


@contextmanager
def _unpickling_nothing(path: Path) -> Iterator[None]:
    try:
        yield
    except FileError as error:
        if "allow_pickle" not in str(error) and "Python objects" not in str(error):
            raise
        raise FileError(
            f"{path}: has pickled Python objects, which could run anything and are not read. "
            "Save plain numbers."
        ) from error


def choose_arrays(
    path: Path, arrays: Mapping[str, NDArray], request: Request, *, samples_last: bool = False
) -> Contents:
    """Find points, labels and the shape of images among arrays by their usual names."""
    labels = _named(path, arrays, request.labels) or _usual(arrays, LABEL_NAMES)
    shape = _usual(arrays, SHAPE_NAMES)
    points = _named(path, arrays, request.variable) or _usual(arrays, POINT_NAMES)
    if points is None:
        rest = [key for key in arrays if key not in (labels, shape) and arrays[key].ndim > 1]
        if len(rest) != 1:
            raise FileError(
                f"{path}: which array has the points? It has {_listed(arrays)}; "
                "name one with variable=..."
            )
        points = rest[0]
    return Contents(
        arrays[points],
        labels=arrays[labels] if labels and labels != points else None,
        image_shape=tuple(int(side) for side in arrays[shape].ravel()) if shape else None,
        samples_last=samples_last,
    )


def _named(path: Path, arrays: Mapping[str, NDArray], name: str | None) -> str | None:
    if name is not None and name not in arrays:
        raise FileError(f"{path}: has no array called {name!r}. It has {_listed(arrays)}.")
    return name


def _usual(arrays: Mapping[str, NDArray], names: tuple[str, ...]) -> str | None:
    by_name = {key.rpartition("/")[2].lower(): key for key in arrays}
    return next((by_name[name] for name in names if name in by_name), None)


def _listed(arrays: Mapping[str, NDArray]) -> str:
    return ", ".join(f"{key} {array.shape}" for key, array in arrays.items()) or "none"
