"""Points from NumPy's files, and the choice among several arrays."""

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from srsg.files.contents import Contents, Request
from srsg.files.errors import FileError, parsing
from srsg.files.labels import LABEL_NAMES

MAPPED_FROM = 64 * 2**20
"""Files of this many bytes or more are memory-mapped instead of read, and used block by block."""

POINT_NAMES = ("x", "fea", "feature", "features", "data", "points")
SHAPE_NAMES = ("shape", "image_shape")

SPARSE_PARTS = {"format", "shape", "data"}
"""Arrays that every file of ``scipy.sparse.save_npz`` has."""


def read_npy(path: Path, request: Request) -> Contents:
    """One array."""
    _check_no_labels(path, request, "array")
    return Contents(load_npy(path))


def read_npz(path: Path, request: Request) -> Contents:
    """Several arrays by name, or a sparse matrix."""
    arrays = load_arrays(path)
    if not arrays.keys() >= SPARSE_PARTS:
        return choose_arrays(path, arrays, request)
    _check_no_labels(path, request, "sparse matrix")
    with parsing(path, "a sparse matrix"):
        matrix = sparse.load_npz(path)
        check_indices(matrix)
        rows = sparse.csr_array(matrix)
        rows.sum_duplicates()
    return Contents(rows, rows_are_points=True)


def _check_no_labels(path: Path, request: Request, kind: str) -> None:
    if request.labels:
        raise FileError(f"{path}: has one {kind} only; labels={request.labels!r} must be a file.")


def check_indices(matrix: Any) -> None:
    """Raise an error if indices of a sparse matrix are out of range: SciPy would follow them."""
    if hasattr(matrix, "check_format"):
        matrix.check_format(full_check=True)


def load_npy(path: Path) -> NDArray:
    """The array of a file, never unpickled."""
    with _loading(path, "a NumPy array", b"\x93NUMPY"):
        # Mapped first in any case: that fails if the file is smaller than it says.
        array = np.load(path, mmap_mode="r", allow_pickle=False)
        return array if path.stat().st_size >= MAPPED_FROM else np.array(array)


def load_arrays(path: Path) -> dict[str, NDArray]:
    """The arrays of a file by name, never unpickled."""
    with (
        _loading(path, "NumPy arrays", b"PK\x03\x04", b"PK\x05\x06"),
        path.open("rb") as raw,  # NumPy leaves a broken file open
        np.load(raw, allow_pickle=False) as file,
    ):
        return {name: file[name] for name in file.files}


@contextmanager
def _loading(path: Path, kind: str, *starts: bytes) -> Iterator[None]:
    """Explain why NumPy cannot read a file."""
    # NumPy treats any other file as a pickle, and its message would be about pickles.
    with path.open("rb") as file:
        if not file.read(8).startswith(starts):
            raise FileError(f"{path}: cannot be read as {kind}: it does not start like one.")
    try:
        with parsing(path, kind):
            yield
    except FileError as error:
        if "allow_pickle" not in str(error) and "Python objects" not in str(error):
            raise
        raise FileError(
            f"{path}: has pickled Python objects, which could run any code and are not read. "
            "Save plain numbers."
        ) from error


def choose_arrays(
    path: Path, arrays: Mapping[str, NDArray], request: Request, *, samples_last: bool = False
) -> Contents:
    """Find points, labels and the shape of images among arrays by their usual names."""
    for name in (request.labels, request.variable):
        if name is not None and name not in arrays:
            raise FileError(f"{path}: has no array called {name!r}. It has {_listed(arrays)}.")
    labels = request.labels or usual_name(arrays, LABEL_NAMES)
    shape = usual_name(arrays, SHAPE_NAMES)
    points = request.variable or usual_name(arrays, POINT_NAMES)
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


def usual_name(names: Iterable[str], usual: Iterable[str]) -> str | None:
    """The first of the usual names that is among the names, as it is spelt there.

    Examples
    --------
    >>> from srsg.files.arrays import usual_name
    >>> usual_name(["train/Target", "train/X"], ("y", "target"))
    'train/Target'
    """
    by_name = {name.rpartition("/")[2].strip().lower(): name for name in names}
    return next((by_name[name] for name in usual if name in by_name), None)


def _listed(arrays: Mapping[str, NDArray]) -> str:
    return ", ".join(f"{key} {array.shape}" for key, array in arrays.items()) or "none"
