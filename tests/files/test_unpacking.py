"""Compressed files that would fill the memory are refused before they do."""

import gzip
import tracemalloc
import zipfile

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet
from scipy import io, sparse

from srsg.files import FileError, read_points, unpacking

MANY = 300_000_000
REFUSED = r"bomb\.\S+: \d+\.\d MB unpack to more than 268 MB"


def gzip_of_one_letter(path):
    path.write_bytes(gzip.compress(b"a" * MANY, 1))


def zeros_in_npz(path):
    np.savez_compressed(path, X=np.zeros((MANY // 80, 10)))


def sparse_zeros(path):
    rows = sparse.csr_array((np.zeros(MANY // 8), np.zeros(MANY // 8, np.int32), [0, MANY // 8]))
    sparse.save_npz(path, rows)


def one_number_in_parquet(path):
    column = pa.array(np.ones(MANY // 8))
    parquet.write_table(pa.table({"a": column, "b": column}), path, compression="zstd")


def zeros_in_mat(path):
    io.savemat(path, {"X": np.zeros((MANY // 80, 10))}, do_compression=True)


def many_zeros_in_mat(path):
    some = np.zeros((MANY // 320, 10))  # a quarter each: none is too much by itself
    io.savemat(path, {f"X{number}": some for number in range(4)}, do_compression=True)


def many_zeros_in_hdf5(path):
    h5py = pytest.importorskip("h5py")
    with h5py.File(path, "w") as file:
        for number in range(4):
            file.create_dataset(f"X{number}", (MANY // 320, 10), "f8", chunks=(10**4, 10))


def zeros_in_hdf5(path):
    h5py = pytest.importorskip("h5py")
    with h5py.File(path, "w") as file:
        file.create_dataset("X", (MANY // 80, 10), "f8", chunks=(10**5, 10), compression="gzip")


def zeros_in_a_spreadsheet(path):
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("xl/worksheets/sheet1.xml", b" " * MANY)


@pytest.mark.parametrize(
    ("write", "ending"),
    [
        (gzip_of_one_letter, ".csv.gz"),
        (zeros_in_npz, ".npz"),
        (sparse_zeros, ".npz"),
        (one_number_in_parquet, ".parquet"),
        (zeros_in_mat, ".mat"),
        (many_zeros_in_mat, ".mat"),
        (zeros_in_hdf5, ".h5"),
        (many_zeros_in_hdf5, ".h5"),
        (zeros_in_a_spreadsheet, ".xlsx"),
    ],
)
def test_what_unpacks_to_far_too_much_is_refused(tmp_path, write, ending):
    path = tmp_path / f"bomb{ending}"
    write(path)
    tracemalloc.start()
    try:
        with pytest.raises(FileError, match=REFUSED):
            read_points(path)
        assert tracemalloc.get_traced_memory()[1] < 2 * MANY
    finally:
        tracemalloc.stop()


def test_large_files_are_unpacked(tmp_path, monkeypatch):
    monkeypatch.setattr(unpacking, "SMALL", 100)
    X = (7 * np.arange(10_000).reshape(5000, 2) + 3) % 997
    text = gzip.compress("\n".join(f"{a},{b}" for a, b in X).encode())
    (tmp_path / "large.csv.gz").write_bytes(text)
    np.savez_compressed(tmp_path / "large.npz", X=X)
    io.savemat(tmp_path / "large.mat", {"X": X.astype(float)}, do_compression=True)
    parquet.write_table(pa.table({"a": X[:, 0], "b": X[:, 1]}), tmp_path / "large.parquet")
    for path in tmp_path.iterdir():
        assert np.asarray(read_points(path, keep_ids=True).X).shape == (5000, 2), path


def test_a_variable_of_matlab_cut_short_is_an_error(tmp_path):
    path = tmp_path / "cut.mat"
    io.savemat(path, {"X": np.random.default_rng(0).random((50, 3))}, do_compression=True)
    assert read_points(path).X.shape == (50, 3)
    head, element = path.read_bytes()[:128], path.read_bytes()[136:-7]
    tag = np.array([15, len(element)], "<u4").tobytes()
    path.write_bytes(head + tag + element)  # its own size is right, that of the stream is not
    with pytest.raises(FileError, match="it is cut short"):
        read_points(path)
