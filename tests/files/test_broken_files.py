"""Files that are missing, broken or not what they should be."""

from __future__ import annotations

import sys

import numpy as np
import pytest

from srsg.files import FileError, read_points
from srsg.files.contents import Request
from srsg.files.errors import needed
from srsg.files.guard import in_other_process
from srsg.files.reading import read_here
from support.file_samples import (
    WITH_LABELS,
    X,
    Y,
    cut,
    empty_hdf5,
    feather_with_twins,
    numpy_files,
    raw,
    saved,
    saved_array,
    text,
)

BROKEN = {
    "missing": (lambda at: at / "f.csv", "there is no such file"),
    "missing folder": (lambda at: at / "none" / "f.npy", "there is no such file"),
    "unknown ending": (lambda at: raw(at / "f.doc"), r"ending in \.doc are not read. Known: \.npy"),
    "picture": (lambda at: raw(at / "f.png"), "a folder of images"),
    **{
        f"empty {end}": (lambda at, end=end: raw(at / f"f{end}", b""), "is empty")
        for end in (".csv", ".npy", ".npz", ".mat", ".parquet", ".h5")
    },
    **{
        f"rubbish {end}": (lambda at, end=end: raw(at / f"f{end}"), "cannot be read as")
        for end in (".csv", ".tsv", ".npy", ".npz", ".mat", ".parquet", ".feather", ".h5")
    },
    "cut npy": (lambda at: cut(saved_array(at / "f.npy")), "cannot be read as a NumPy array"),
    "cut npz": (lambda at: cut(WITH_LABELS["npz"](at)), "cannot be read as NumPy arrays"),
    "cut mat": (lambda at: cut(WITH_LABELS["mat"](at)), "cannot be read as a MATLAB file"),
    "cut mat 7.3": (lambda at: cut(WITH_LABELS["mat 7.3"](at)), "cannot be read as HDF5"),
    "cut hdf5": (lambda at: cut(WITH_LABELS["hdf5"](at)), "cannot be read as HDF5"),
    "cut parquet": (lambda at: cut(saved(at / "f.parquet")), "cannot be read as Parquet"),
    "cut feather": (lambda at: cut(saved(at / "f.feather")), "cannot be read as Feather"),
    "cut csv": (lambda at: text(at / "f.csv", "a,b\n1,2\n3,4\n5"), "line 4 has 1 field instead"),
    "long line": (lambda at: text(at / "f.csv", "a,b\n1,2\n3,4,5\n"), "line 3"),
    "short line": (
        lambda at: text(at / "f.csv", "a,b\n1,2\n\n3\n5,6\n"),
        "line 4 has 1 field instead",
    ),
    "short first line": (
        lambda at: text(at / "f.csv", "a,b\n1\n3,4\n5,6\n"),
        "line 2 has 1 field instead of 2",
    ),
    "header only": (lambda at: text(at / "f.csv", "a,b\n"), "has no rows"),
    "blank": (lambda at: text(at / "f.csv", "\n\n"), "cannot be read as CSV"),
    "Latin-1": (lambda at: raw(at / "f.csv", b"a,b\n1,2\n\xe9,4\n"), "line 3 is not UTF-8"),
    "text only": (
        lambda at: text(at / "f.csv", "a,b\nx,y\nx,z\n"),
        "no column of numbers or categories .column a set aside: the same",
    ),
    "word among numbers": (
        lambda at: text(at / "f.csv", "z,a\n4,1\n3,2\n3,oops\n"),
        r"column a, row 2 .*'oops' is not a number",
    ),
    "two of a name": (
        lambda at: feather_with_twins(at / "f.feather"),
        "two columns called 'a'",
    ),
    "pickle": (
        lambda at: saved_array(at / "f.npy", np.array([1, "a", None], dtype=object)),
        "pickled Python objects",
    ),
    "pickle in npz": (
        lambda at: numpy_files(at / "f.npz", X=np.array([1, None], dtype=object)),
        "pickled Python objects",
    ),
    "one dimension": (lambda at: saved_array(at / "f.npy", X[0]), r"array of 1 dimension"),
    "five dimensions": (lambda at: saved_array(at / "f.npy", X[None, None, None]), "array of 5"),
    "no rows": (lambda at: saved_array(at / "f.npy", X[:0]), "has no rows"),
    "no columns": (lambda at: saved_array(at / "f.npy", X[:, :0]), "has no columns"),
    "text array": (lambda at: saved_array(at / "f.npy", X.astype(str)), "not real numbers"),
    "complex array": (lambda at: saved_array(at / "f.npy", X * 1j), "not real numbers"),
    "NaN": (lambda at: saved_array(at / "f.npy", np.where(X > 7, np.nan, X)), "1 of 4 rows .* 2 "),
    "ambiguous": (
        lambda at: numpy_files(at / "f.npz", left=X, right=X),
        r"which array has the points\? It has left \(4, 3\), right \(4, 3\)",
    ),
    "other number of labels": (
        lambda at: numpy_files(at / "f.npz", X=X, y=[1, 2]),
        "2 labels do not fit an array of 4 x 3",
    ),
    "table of labels": (
        lambda at: numpy_files(at / "f.npz", X=X, y=X),
        "there must be one label per row",
    ),
    "image shape": (
        lambda at: numpy_files(at / "f.npz", X=X, y=Y, shape=(2, 2)),
        "do not have the 3 values",
    ),
    "no arrays": (lambda at: empty_hdf5(at / "f.h5"), "has no arrays"),
    "no images": (lambda at: at, "has no images"),
}


@pytest.mark.parametrize(("make", "message"), BROKEN.values(), ids=BROKEN)
def test_broken_files_get_one_line_that_names_them(tmp_path, make, message):
    path = make(tmp_path)
    with pytest.raises(FileError, match=message) as caught:
        read_points(path)
    assert str(caught.value).startswith(f"{path}: ")
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"labels": "z"}, r"f\.csv: has no column called 'z'. It has a, b"),
        ({"columns": ["a", "z"]}, "no column called 'z'"),
        ({"columns": ["a", "t"]}, "column t, row 0 .*'x' is not a number"),
        ({"labels": "none.txt"}, r"none\.txt: there is no such file"),
    ],
)
def test_wishes_that_cannot_be_met(tmp_path, options, message):
    path = text(tmp_path / "f.csv", "a,b,t\n5,2,x\n3,4,y\n")
    with pytest.raises(FileError, match=message):
        read_points(path, **options)


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("l.csv", "1\n2\n", "2 labels do not fit an array of 4 x 3"),
        ("l.csv", "a,b\n1,2\n", "2 columns and none is called label"),
        ("l.csv", "id,label\n1,2\n3\n", "line 3 has no label"),
        ("l.csv", "\n\n", "has no labels"),
        ("l.txt", "", "is empty"),
    ],
)
def test_broken_files_of_labels(tmp_path, name, content, message):
    with pytest.raises(FileError, match=message):
        read_points(saved_array(tmp_path / "f.npy"), labels=text(tmp_path / name, content))


def test_arrays_that_are_not_there(tmp_path):
    path = WITH_LABELS["npz"](tmp_path)
    with pytest.raises(FileError, match=r"no array called 'z'. It has X \(4, 3\), y \(4,\)"):
        read_points(path, labels="z")
    with pytest.raises(FileError, match="must be a file"):
        read_points(saved_array(tmp_path / "f.npy"), labels="z")


@pytest.mark.parametrize(
    ("name", "reader", "module", "library"),
    [
        ("f.h5", "matlab:read_hdf5", "h5py", "h5py"),
        ("images", "images:read_images", "PIL.Image", "pillow"),
    ],
)
def test_missing_libraries_are_named(tmp_path, monkeypatch, name, reader, module, library):
    if name == "images":
        raw_folder = tmp_path / name
        raw_folder.mkdir()
        raw(raw_folder / "a.png")
    else:
        raw(tmp_path / name)
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(ModuleNotFoundError, match=rf"need {library}: pip install 'srsg\[files\]'"):
        read_here([tmp_path / name], [reader], Request())


def test_a_library_that_is_missing_in_the_other_process_is_named():
    with pytest.raises(ModuleNotFoundError, match="Wishes need a fairy: pip install"):
        in_other_process("f", 0, needed, "nowhere", "Wishes need a fairy")
