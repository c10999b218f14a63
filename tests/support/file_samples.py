"""Small files of every format, for the tests of reading and writing."""

from __future__ import annotations

import os

import h5py
import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.feather
import scipy.io
from scipy import sparse

X = np.array([[1.5, 2.0, -3.0], [4.0, 0.25, 6.0], [7.0, 8.0, 1e-9], [0.1, 0.2, 0.3]])
Y = np.array([3, 1, 3, 2])
FRAME = pd.DataFrame(X, columns=["a", "b", "c"])


def text(path, content):
    path.write_text(content, encoding="utf-8")
    return path


def matlab_7_3(path, **variables):
    """An HDF5 file as MATLAB writes it: in front a block of its own, arrays turned."""
    with h5py.File(path, "w", userblock_size=512) as file:
        for name, value in variables.items():
            if sparse.issparse(value):
                group = file.create_group(name)
                group.attrs["MATLAB_sparse"] = np.uint64(value.shape[0])
                group.attrs["MATLAB_class"] = np.bytes_("double")
                columns = sparse.csc_array(value)
                group["data"], group["ir"], group["jc"] = (
                    columns.data,
                    columns.indices,
                    columns.indptr,
                )
            else:
                file[name] = np.atleast_2d(value).T
                file[name].attrs["MATLAB_class"] = np.bytes_("double")
    with path.open("r+b") as raw:
        raw.write(b"MATLAB 7.3 MAT-file, Platform: GLNXA64".ljust(124) + b"\x00\x02IM")
    return path


def hdf5(path):
    with h5py.File(path, "w") as file:
        file["train/features"], file["train/labels"] = X, Y
    return path


def numpy_files(path, **arrays):
    np.savez(path, **arrays)
    return path


def mat(path, **variables):
    scipy.io.savemat(path, variables)
    return path


WITH_LABELS = {
    "npz": lambda at: numpy_files(at / "f.npz", X=X, y=Y),
    "npz of relatives": lambda at: numpy_files(at / "f.npz", data=X, Target=Y),
    "mat": lambda at: mat(at / "f.mat", fea=X, gnd=Y[:, None]),
    "mat of points in columns": lambda at: mat(at / "f.mat", X=X.T, Y=Y),
    "sparse mat": lambda at: mat(at / "f.mat", fea=sparse.csc_array(X), gnd=Y * 1.0),
    "mat 7.3": lambda at: matlab_7_3(at / "f.mat", fea=X, gnd=Y[:, None] * 1.0),
    "mat 7.3 of points in columns": lambda at: matlab_7_3(at / "f.mat", fea=X.T, gnd=Y),
    "sparse mat 7.3": lambda at: matlab_7_3(at / "f.mat", fea=sparse.csc_array(X), gnd=Y),
    "hdf5": lambda at: hdf5(at / "f.h5"),
}


TABLES = {
    ".csv": lambda path: FRAME.to_csv(path, index=False),
    ".tsv": lambda path: FRAME.to_csv(path, index=False, sep="\t"),
    ".parquet": FRAME.to_parquet,
    ".feather": FRAME.to_feather,
}


def cut(path, share=0.5):
    path.write_bytes(path.read_bytes()[: int(path.stat().st_size * share)])
    return path


def raw(path, content=bytes(range(256)) * 8):
    path.write_bytes(content)
    return path


def saved(path):
    TABLES[path.suffix](path)
    return path


def saved_array(path, array=X):
    np.save(path, array, allow_pickle=True)
    return path


def feather_with_twins(path):
    table = pa.Table.from_arrays([pa.array([1, 2]), pa.array([3, 4])], names=["a", "a"])
    pyarrow.feather.write_feather(table, path)
    return path


def empty_hdf5(path):
    h5py.File(path, "w").close()
    return path


class Exploit:
    """Makes a folder when it is unpickled."""

    def __init__(self, target):
        self.target = str(target)

    def __reduce__(self):
        return (os.mkdir, (self.target,))
