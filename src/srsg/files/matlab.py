"""Points from MATLAB files and from HDF5, the format of MATLAB files since version 7.3."""

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import io, sparse

from srsg.files.arrays import check_indices, choose_arrays
from srsg.files.contents import Contents, Request
from srsg.files.errors import FileError, needed, parsing

HDF5_START = b"\x89HDF\r\n\x1a\n"
USER_BLOCK = 512
"""Bytes that MATLAB puts in front of its HDF5."""


def read_mat(path: Path, request: Request) -> Contents:
    """Variables of a MATLAB file of any version."""
    with path.open("rb") as file:
        head = file.read(USER_BLOCK + len(HDF5_START))
    if HDF5_START in (head[: len(HDF5_START)], head[USER_BLOCK:]):
        return read_hdf5(path, request)
    return choose_arrays(path, load_mat(path), request, samples_last=True)


def load_mat(path: Path) -> dict[str, NDArray]:
    """Numbers and text of a MATLAB file before version 7.3, by name; the rest is left out."""
    with parsing(path, "a MATLAB file"):
        variables = io.loadmat(path)
        arrays = {name: _plain(value) for name, value in variables.items() if name[:2] != "__"}
    return {name: array for name, array in arrays.items() if array is not None}


def _plain(value: Any) -> NDArray | None:
    """Sparse matrices as dense ones, cells of one text or number each as text."""
    if sparse.issparse(value):
        return _dense(value)
    if value.dtype == bool:
        return value.astype(np.uint8)
    if not value.dtype.hasobject:
        return value
    if value.dtype.names:
        return None
    cells = [np.asarray(cell) for cell in value.flat]
    if any(cell.size > 1 or cell.dtype.hasobject for cell in cells):
        return None
    return np.array(["".join(map(str, cell.flat)) for cell in cells])


def _dense(matrix: Any) -> NDArray:
    check_indices(matrix)
    return matrix.toarray()


def read_hdf5(path: Path, request: Request) -> Contents:
    """Arrays of an HDF5 file, in any of its groups; those of MATLAB are transposed back."""
    h5py = needed("h5py", "HDF5 files, and MATLAB files since version 7.3, need h5py")
    arrays: dict[str, NDArray] = {}
    items: dict[str, Any] = {}
    links: dict[str, Any] = {}
    with parsing(path, "HDF5"), h5py.File(path, "r") as file:
        file.visititems_links(lambda name, link: links.update({name: link}))
        file.visititems(lambda name, item: items.update({name: item}))
        # A file from elsewhere could have others opened that only its reader may see.
        elsewhere = [name for name, link in links.items() if isinstance(link, h5py.ExternalLink)]
        datasets = [item for item in items.values() if isinstance(item, h5py.Dataset)]
        elsewhere += [item.name for item in datasets if item.external or item.is_virtual]
        if elsewhere:
            raise FileError(f"{path}: {elsewhere[0]} is in another file, which is not opened.")
        # MATLAB keeps the insides of cells under names that start with #.
        items = {name: item for name, item in items.items() if not name.startswith("#")}
        of_matlab = {name for name, item in items.items() if "MATLAB_class" in item.attrs}
        for name, item in items.items():
            if "MATLAB_sparse" in item.attrs:
                arrays[name] = _sparse(item)
            elif isinstance(item, h5py.Dataset) and name.rpartition("/")[0] not in arrays:
                array = _dataset(h5py, item)
                if array is not None:
                    arrays[name] = array.T if name in of_matlab else array
    if not arrays:
        raise FileError(f"{path}: has no arrays.")
    return choose_arrays(path, arrays, request, samples_last=bool(of_matlab))


def _sparse(group: Any) -> NDArray:
    starts = group["jc"][()]
    shape = (int(group.attrs["MATLAB_sparse"]), len(starts) - 1)
    if "data" not in group:  # nothing but zeros
        return np.zeros(shape)
    return _dense(sparse.csc_array((group["data"][()], group["ir"][()], starts), shape=shape))


def _dataset(h5py: Any, dataset: Any) -> NDArray | None:
    """The numbers or text of a data set; None for references and records."""
    if h5py.check_string_dtype(dataset.dtype):
        return np.atleast_1d(dataset.asstr()[()]).astype(str)
    return dataset[()] if dataset.dtype.kind in "biuf" and dataset.ndim else None
