"""Reading a file takes limited memory and time, whatever the file says about itself."""

import gzip
import io as streams
import os
import signal
import subprocess
import sys
import time
import zipfile

import numpy as np
import psutil
import pyarrow as pa
import pytest
from pyarrow import feather, parquet
from scipy import io, sparse

from srsg.files import FileError, guard, read_points
from srsg.files.guard import in_other_process, limits_for
from srsg.files.reading import _is_harmless
from support.file_samples import X
from support.forked import read_in_forks

MANY = 300_000_000
REFUSED = r"bomb\S*: is damaged, or takes more than 250.0 MB of memory .* SRSG_READ_MEMORY"


def gzip_of_one_letter(path):
    with gzip.open(path, "wb", 1) as file:
        for _ in range(60):
            file.write(b"a" * (MANY // 60))


def zeros_in_npz(path):
    np.savez_compressed(path, X=np.zeros((MANY // 10, 10), np.uint8))


def sparse_zeros(path):
    rows = sparse.csr_array((np.zeros(MANY // 8), np.zeros(MANY // 8, np.int32), [0, MANY // 8]))
    sparse.save_npz(path, rows)


def one_number_in_parquet(path):
    column = pa.array(np.ones(MANY // 8))
    parquet.write_table(pa.table({"a": column, "b": column}), path, compression="zstd")


def dictionaries_in_parquet(path):
    words = pa.DictionaryArray.from_arrays(np.zeros(10**5, np.int32), ["x" * 10**4])
    parquet.write_table(pa.table({"a": words, "b": words}), path, compression="zstd")


def zeros_in_feather(path):
    table = pa.table({"a": np.zeros(MANY // 8)})
    feather.write_feather(table, str(path), compression="zstd")


def zeros_in_mat(path):
    io.savemat(path, {"X": np.zeros((MANY // 80, 10))}, do_compression=True)


def zeros_in_hdf5(path):
    h5py = pytest.importorskip("h5py")
    with h5py.File(path, "w") as file:
        for number in range(4):
            file.create_dataset(f"X{number}", (MANY // 320, 10), "f8", chunks=(10**4, 10))


SHEET = """<?xml version="1.0"?>
<worksheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"><sheetData>
<row r="1"><c r="A1"><v>1</v></c></row><row r="1048576"><c r="XFD1048576"><v>1</v></c></row>
</sheetData></worksheet>"""


def one_far_cell(path):
    import xlsxwriter

    with xlsxwriter.Workbook(path) as book:
        book.add_worksheet("a").write(0, 0, 1)
    with zipfile.ZipFile(path) as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    parts["xl/worksheets/sheet1.xml"] = SHEET.encode()
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in parts.items():
            archive.writestr(name, content)


def two_large_pictures(path):
    image = pytest.importorskip("PIL.Image")
    path.mkdir()
    for name in "ab":
        image.new("1", (9000, 9000)).save(path / f"{name}.png")


@pytest.mark.parametrize(
    ("write", "ending"),
    [
        (gzip_of_one_letter, ".csv.gz"),
        (gzip_of_one_letter, ".csv"),
        (zeros_in_npz, ".npz"),
        (sparse_zeros, ".npz"),
        (one_number_in_parquet, ".parquet"),
        (dictionaries_in_parquet, ".parquet"),
        (zeros_in_feather, ".feather"),
        (zeros_in_mat, ".mat"),
        (zeros_in_hdf5, ".h5"),
        (one_far_cell, ".xlsx"),
        (two_large_pictures, ""),
    ],
)
def test_a_file_that_takes_too_much_memory_is_refused(tmp_path, monkeypatch, write, ending):
    path = tmp_path / f"bomb{ending}"
    write(path)
    monkeypatch.setenv("SRSG_READ_MEMORY", "250MB")
    expected = "do not fit into memory; make them smaller" if path.is_dir() else REFUSED
    with pytest.raises(FileError, match=expected) as caught:
        read_points(path)
    assert str(caught.value).startswith(f"{path}: ")


def test_labels_that_take_too_much_memory_are_refused(tmp_path, monkeypatch):
    np.save(tmp_path / "bomb.npy", X)
    zeros_in_npz(tmp_path / "labels.npz")
    monkeypatch.setenv("SRSG_READ_MEMORY", "250MB")
    with pytest.raises(FileError, match=REFUSED):
        read_points(tmp_path / "bomb.npy", labels=tmp_path / "labels.npz")


def test_an_array_that_is_larger_than_its_file_is_refused(tmp_path):
    np.save(tmp_path / "x.npy", X)
    content = (
        (tmp_path / "x.npy").read_bytes().replace(b"(4, 3), }          ", b"(9999999999999, 3),}")
    )
    (tmp_path / "x.npy").write_bytes(content)
    with pytest.raises(FileError, match=r"x\.npy: cannot be read as a NumPy array"):
        read_points(tmp_path / "x.npy")


def test_what_takes_long_is_stopped(tmp_path, monkeypatch):
    monkeypatch.setenv("SRSG_READ_SECONDS", "0.5")
    start = time.perf_counter()
    with pytest.raises(FileError, match=r"slow: takes more than 0.5 seconds .* SRSG_READ_SECONDS"):
        in_other_process("slow", 0, time.sleep, 60)
    assert time.perf_counter() - start < 20


@pytest.mark.parametrize("number", [signal.SIGSEGV, signal.SIGABRT, signal.SIGKILL])
def test_a_parser_that_crashes_is_an_error(number):
    with pytest.raises(FileError, match="f: is damaged, or takes more than"):
        in_other_process("f", 0, signal.raise_signal, number)


def test_limits(monkeypatch):
    monkeypatch.setattr(guard, "free_memory", lambda: 5e9)
    assert limits_for(1000) == (2 * 10**9, 600)
    assert limits_for(2 * 10**8) == (4 * 10**9, 600)
    assert limits_for(10**9).memory == 5 * 10**9
    monkeypatch.setenv("SRSG_READ_MEMORY", "8GB")
    monkeypatch.setenv("SRSG_READ_SECONDS", "7")
    assert limits_for(10**12) == (8 * 10**9, 7)
    monkeypatch.setenv("SRSG_READ_MEMORY", "much")
    with pytest.raises(ValueError, match="SRSG_READ_MEMORY='much' is not an amount"):
        limits_for(1)


def test_standard_input_is_limited_too(monkeypatch):
    monkeypatch.setenv("SRSG_READ_MEMORY", "1KB")
    typed = streams.TextIOWrapper(streams.BytesIO(b"a,b\n" + b"1,2\n" * 100))
    monkeypatch.setattr(sys, "stdin", typed)
    with pytest.raises(FileError, match="standard input: is longer than"):
        read_points("-")


def test_a_module_beside_the_data_is_not_imported(tmp_path):
    np.savez(tmp_path / "x.npz", X=X)
    for name in ("json", "pickle", "numpy"):
        (tmp_path / f"{name}.py").write_text("import os; os._exit(3)")
    program = "import os, sys; from srsg.files import read_points; os.chdir(sys.argv[1])"
    program += "; print(read_points('x.npz').X.shape)"
    done = subprocess.run(
        [sys.executable, "-P", "-c", program, tmp_path], capture_output=True, text=True, check=True
    )
    assert done.stdout == "(4, 3)\n"


def test_nothing_is_left_behind(tmp_path, monkeypatch):
    monkeypatch.setenv("TMPDIR", str(tmp_path / "tmp"))
    monkeypatch.setattr("tempfile.tempdir", None)
    (tmp_path / "tmp").mkdir()
    np.savez(tmp_path / "x.npz", X=X)
    children = psutil.Process().children()  # those of other tests may still be there
    read_points(tmp_path / "x.npz")
    assert os.listdir(tmp_path / "tmp") == []
    assert set(psutil.Process().children()) <= set(children)


def test_large_text_is_parsed_in_another_process(tmp_path, monkeypatch):
    monkeypatch.setattr("srsg.files.reading.MOST_HERE", 10)
    (tmp_path / "x.csv").write_text("a,b\n1,2.5\n3,4.5\n")
    table = read_points(tmp_path / "x.csv", keep_frame=True)
    assert table.X.tolist() == [[1, 2.5], [3, 4.5]]
    assert table.frame.as_written.to_pylist()[0] == {"a": "1", "b": "2.5"}


def test_a_variable_of_matlab_cut_short_is_an_error(tmp_path):
    path = tmp_path / "cut.mat"
    io.savemat(path, {"X": np.random.default_rng(0).random((50, 3))}, do_compression=True)
    assert read_points(path).X.shape == (50, 3)
    head, element = path.read_bytes()[:128], path.read_bytes()[136:-7]
    tag = np.array([15, len(element)], "<u4").tobytes()
    path.write_bytes(head + tag + element)  # its own size is right, that of the stream is not
    with pytest.raises(FileError, match="cannot be read as a MATLAB file"):
        read_points(path)


def test_what_a_parser_prints_is_no_part_of_its_answer():
    with read_in_forks():
        assert in_other_process("f", 0, os.write, 1, b"noise") == 5


def test_only_plain_text_and_plain_arrays_are_harmless(tmp_path, monkeypatch):
    plain, packed = tmp_path / "f.csv", tmp_path / "g.csv"
    plain.write_bytes(b"1,2\n3,4\n")
    packed.write_bytes(gzip.compress(plain.read_bytes()))
    assert _is_harmless(plain, "tables:read_text")
    assert not _is_harmless(packed, "tables:read_text")
    assert _is_harmless(packed, "arrays:read_npy")
    assert not _is_harmless(plain, "arrays:read_npz")
    monkeypatch.setattr("srsg.files.reading.MOST_HERE", 8)
    assert not _is_harmless(plain, "tables:read_text")
