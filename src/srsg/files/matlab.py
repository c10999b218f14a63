"""Points from MATLAB files and from HDF5, the format of MATLAB files since version 7.3."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import io, sparse

from srsg.files.arrays import choose_arrays
from srsg.files.contents import Contents, Request
from srsg.files.errors import FileError, needed, parsing
from srsg.files.matlab_elements import byte_order, dense_of_columns, read_variables
from srsg.files.unpacking import check_size

HDF5_START = b"\x89HDF\r\n\x1a\n"
USER_BLOCK = 512
"""Bytes that MATLAB puts in front of its HDF5."""


def read_mat(path: Path, request: Request) -> Contents:
    """Variables of a MATLAB file of any version."""
    with path.open("rb") as file:
        head = file.read(USER_BLOCK + len(HDF5_START))
    if HDF5_START in (head[: len(HDF5_START)], head[USER_BLOCK:]):
        return read_hdf5(path, request)
    with parsing(str(path), "a MATLAB file"):
        order = byte_order(path)
        found = read_variables(path, order) if order else io.loadmat(path)
    arrays = {
        name: _plain(value)
        for name, value in found.items()
        if not name.startswith("__") and (sparse.issparse(value) or isinstance(value, np.ndarray))
    }
    return choose_arrays(path, arrays, request, samples_last=True)


def _plain(value: Any) -> NDArray:
    """Sparse matrices as dense ones, and cells of text as text."""
    if sparse.issparse(value):
        return value.toarray()
    if value.dtype == object and all(isinstance(cell, np.ndarray) for cell in value.flat):
        return np.array([str(cell.squeeze()) for cell in value.flat])
    return value


def read_hdf5(path: Path, request: Request) -> Contents:
    """Arrays of an HDF5 file, in any of its groups; those of MATLAB are transposed back."""
    h5py = needed("h5py", "HDF5 files, and MATLAB files since version 7.3, need h5py")
    arrays: dict[str, NDArray] = {}
    matlab = False

    def visit(name: str, item: Any) -> None:
        nonlocal matlab
        if name.startswith("#"):  # where MATLAB keeps the insides of cells
            return
        kind = item.attrs.get("MATLAB_class")
        matlab = matlab or kind is not None
        if "MATLAB_sparse" in item.attrs:
            arrays[name] = _sparse(item)
        elif isinstance(item, h5py.Dataset) and name.rpartition("/")[0] not in arrays:
            array = _dataset(h5py, item)
            if array is not None:
                arrays[name] = array if kind is None else array.T

    sizes: list[int] = []
    with parsing(str(path), "HDF5"), h5py.File(path, "r") as file:
        file.visititems(lambda _, item: sizes.append(getattr(item, "nbytes", 0)))
        check_size(str(path), path.stat().st_size, sum(sizes))
        file.visititems(visit)
    if not arrays:
        raise FileError(f"{path}: has no arrays.")
    return choose_arrays(path, arrays, request, samples_last=matlab)


def _sparse(group: Any) -> NDArray:
    columns = group["jc"][()]
    shape = (int(group.attrs["MATLAB_sparse"]), len(columns) - 1)
    if "data" not in group:  # nothing but zeros
        return np.zeros(shape)
    return dense_of_columns(group["ir"][()], columns, group["data"][()], shape)


def _dataset(h5py: Any, dataset: Any) -> NDArray | None:
    """The numbers or text of a data set; None for references and records."""
    if h5py.check_string_dtype(dataset.dtype):
        return np.atleast_1d(dataset.asstr()[()]).astype(str)
    return dataset[()] if dataset.dtype.kind in "biuf" and dataset.ndim else None
