"""Data files of every format, whole and broken."""

from __future__ import annotations

import io
import os
import stat
import sys

import h5py
import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.feather
import pytest
import scipy.io
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays as some_arrays
from PIL import Image
from scipy import sparse

from srsg.files import FileError, read_points, write_graph, write_labels, written_whole

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


@pytest.mark.parametrize("make", WITH_LABELS.values(), ids=WITH_LABELS)
def test_arrays_with_labels(tmp_path, make):
    table = read_points(make(tmp_path))
    np.testing.assert_array_equal(table.X, X)
    np.testing.assert_array_equal(table.y, Y)
    np.testing.assert_array_equal(table.row_ids, range(4))
    assert table.X.dtype == np.float64
    assert table.y.dtype == np.int64
    assert table.class_names is None


TABLES = {
    ".csv": lambda path: FRAME.to_csv(path, index=False),
    ".tsv": lambda path: FRAME.to_csv(path, index=False, sep="\t"),
    ".parquet": FRAME.to_parquet,
    ".feather": FRAME.to_feather,
}


@pytest.mark.parametrize("ending", TABLES)
def test_tables(tmp_path, ending):
    path = tmp_path / f"f{ending}"
    TABLES[ending](path)
    table = read_points(path)
    np.testing.assert_array_equal(table.X, X)
    assert table.feature_names == ("a", "b", "c")
    assert table.y is None
    assert table.notes == ()


def test_npy_keeps_float32_and_makes_anything_else_float64(tmp_path):
    for kind, becomes in (("f4", "f4"), ("f2", "f8"), ("u1", "f8"), ("?", "f8")):
        np.save(tmp_path / "f.npy", X.astype(kind))
        table = read_points(tmp_path / "f.npy")
        assert table.X.dtype == becomes
        np.testing.assert_array_equal(table.X, X.astype(kind))


def test_stacks_of_images_become_rows(tmp_path):
    stack = np.arange(4 * 2 * 3.0).reshape(4, 2, 3)
    np.save(tmp_path / "f.npy", stack)
    turned = np.moveaxis(stack, 0, -1)
    files = [
        tmp_path / "f.npy",
        mat(tmp_path / "alone.mat", images=turned),
        mat(tmp_path / "labelled.mat", X=turned, Y=Y),
        numpy_files(tmp_path / "f.npz", X=stack.reshape(4, 6), y=Y, shape=(2, 3)),
    ]
    for path in files:
        table = read_points(path)
        assert table.image_shape == (2, 3)
        np.testing.assert_array_equal(table.X.reshape(stack.shape), stack)


@given(some_arrays(np.float64, (3, 2), elements=st.floats(allow_nan=False, allow_infinity=False)))
def test_csv_gives_back_every_bit(tmp_path_factory, values):
    path = tmp_path_factory.mktemp("bits") / "f.csv"
    pd.DataFrame(values, columns=["a", "b"]).to_csv(path, index=False)
    try:
        read = read_points(path, columns=["a", "b"]).X
    finally:
        path.unlink()
    np.testing.assert_array_equal(read, values)


@pytest.mark.parametrize(
    ("content", "rows"),
    [
        ("5,2\n3,4\n", [[5, 2], [3, 4]]),
        ("0,1\n3,4\n7,5\n", [[3, 4], [7, 5]]),  # the names pandas gives
        ("a;b\n1,5;2\n3;4,25\n", [[1.5, 2], [3, 4.25]]),
        ("\ufeffa,b\n1.5,2\n2.5,4\n", [[1.5, 2], [2.5, 4]]),
        ("a,b\n5,True\n4,False\n", [[5, 1], [4, 0]]),
        ('"a","b"\n"r1",5,2\n"r2",3,4\n', [[5, 2], [3, 4]]),  # row names, as R writes them
    ],
    ids=["no header", "pandas", "semicolons", "mark", "truth", "R"],
)
def test_dialects_of_csv(tmp_path, content, rows):
    np.testing.assert_array_equal(read_points(text(tmp_path / "f.csv", content)).X, rows)


def test_text_identifiers_and_empty_columns_are_set_aside(tmp_path):
    content = "Unnamed: 0,kind,a,none,id\n8,x,1,,u\n6,y,2,,v\n7,x,2,,w\n"
    table = read_points(text(tmp_path / "f.csv", content))
    np.testing.assert_array_equal(table.X, [[1], [2], [2]])
    assert table.row_ids.tolist() == [8, 6, 7]
    assert table.notes == (
        "column Unnamed: 0 set aside: identifier",
        "column kind set aside: text",
        "column none set aside: empty",
        "column id set aside: identifier",
    )


def test_a_first_column_that_counts_is_an_identifier_and_others_are_not(tmp_path):
    table = read_points(text(tmp_path / "f.csv", "t,a,b\n1,1,4\n2,2,4\n3,3,4\n"))
    assert table.feature_names == ("a", "b")
    assert table.row_ids.tolist() == [1, 2, 3]
    kept = read_points(tmp_path / "f.csv", columns=["b", "t"])
    np.testing.assert_array_equal(kept.X, [[4, 1], [4, 2], [4, 3]])
    assert kept.notes == ()


def test_index_and_dates_of_parquet(tmp_path):
    frame = FRAME.assign(when=pd.Timestamp("2020-01-01")).set_index(pd.Index(list("wxyz")))
    frame.to_parquet(tmp_path / "f.parquet")
    table = read_points(tmp_path / "f.parquet")
    assert table.row_ids.tolist() == list("wxyz")
    assert table.notes == ("column when set aside: dates",)
    np.testing.assert_array_equal(table.X, X)


def test_columns_of_parquet_that_may_be_missing(tmp_path):
    pd.DataFrame({"a": pd.array([5, None, 7], "Int64")}).to_parquet(tmp_path / "f.parquet")
    table = read_points(tmp_path / "f.parquet", drop_missing=True)
    np.testing.assert_array_equal(table.X, [[5], [7]])


def test_labels_from_a_column(tmp_path):
    path = text(tmp_path / "f.csv", "a,kind,label\n1,s10,7\n5,s2,9\n3,s10,7\n")
    table = read_points(path, labels="kind")
    assert table.y.tolist() == [1, 0, 1]
    assert table.class_names == ("s2", "s10")
    assert table.feature_names == ("a", "label")
    numbers = read_points(path, labels="label")
    assert (numbers.y.tolist(), numbers.class_names) == ([7, 9, 7], None)
    unused = read_points(path)
    assert "column label is used as a feature; labels='label' prevents it" in unused.notes


LABEL_FILES = {
    "l.csv": "3\n1\n3\n2\n",
    "with header.csv": "class of it\n3\n1\n3\n2\n",
    "of write_labels.csv": "id,label,confidence\n0,3,.5\n1,1,.5\n2,3,.1\n3,2,.1\n",
    "l.tsv": "id\tlabel\n0\t3\n1\t1\n2\t3\n3\t2\n",
    "l.txt": "3\n1\n3\n2\n",
}


@pytest.mark.parametrize("name", LABEL_FILES)
def test_labels_from_a_text_file(tmp_path, name):
    np.save(tmp_path / "f.npy", X)
    table = read_points(tmp_path / "f.npy", labels=str(text(tmp_path / name, LABEL_FILES[name])))
    np.testing.assert_array_equal(table.y, Y)


def test_labels_from_arrays(tmp_path):
    np.save(tmp_path / "f.npy", X)
    np.save(tmp_path / "l.npy", Y)
    numpy_files(tmp_path / "l.npz", id=Y, label=Y)
    for name in ("l.npy", "l.npz"):
        table = read_points(tmp_path / "f.npy", labels=tmp_path / name)
        np.testing.assert_array_equal(table.y, Y)
    path = numpy_files(tmp_path / "f.npz", points=X, first=Y, second=-Y, other=X)
    table = read_points(path, labels="second", variable="other")
    np.testing.assert_array_equal(table.y, -Y)


def test_text_labels_of_matlab_and_hdf5(tmp_path):
    names = ["rose", "daisy", "rose", "iris"]
    cells = mat(tmp_path / "f.mat", X=X, label=np.array(names, dtype=object))
    with h5py.File(tmp_path / "f.hdf5", "w") as file:
        file["X"], file["labels"] = X, names
    for path in (cells, tmp_path / "f.hdf5"):
        table = read_points(path)
        assert table.y.tolist() == [2, 0, 2, 1]
        assert table.class_names == ("daisy", "iris", "rose")


def test_standard_input(monkeypatch):
    given_text = io.TextIOWrapper(io.BytesIO(b"a,b\n5,2\n3,4\n"))
    monkeypatch.setattr("sys.stdin", given_text)
    np.testing.assert_array_equal(read_points("-").X, [[5, 2], [3, 4]])
    with pytest.raises(FileError, match="standard input: is empty"):
        read_points("-")


def test_missing_values_name_their_rows_or_are_dropped(tmp_path):
    path = text(tmp_path / "f.csv", "id,a,l\n5,1,u\n4,,v\n3,inf,u\n2,?,v\n1,3,\n9,7,v\n")
    with pytest.raises(
        FileError, match=r"f\.csv: 4 of 6 rows .* rows 1, 2, 3, 4 .*drop_missing=True"
    ):
        read_points(path, labels="l")
    table = read_points(path, labels="l", drop_missing=True)
    np.testing.assert_array_equal(table.X, [[1], [7]])
    assert table.row_ids.tolist() == [5, 9]
    assert table.y.tolist() == [0, 1]
    assert any("4 of 6 rows" in note and "dropped" in note for note in table.notes)
    nothing = text(tmp_path / "g.csv", "a,b\n1,\n,2\n")
    with pytest.raises(FileError, match="all 2 rows"):
        read_points(nothing, drop_missing=True)


# Broken files ------------------------------------------------------------------------------------


def cut(path, share=0.5):
    path.write_bytes(path.read_bytes()[: int(path.stat().st_size * share)])
    return path


def raw(path, content=bytes(range(256)) * 8):
    path.write_bytes(content)
    return path


def saved(path, frame=FRAME):
    TABLES[path.suffix](path)
    return path


def saved_array(path, array=X):
    np.save(path, array, allow_pickle=True)
    return path


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
    "cut csv": (lambda at: text(at / "f.csv", "a,b\n1,2\n3,4\n5"), "line 4 has 1 fields instead"),
    "long line": (lambda at: text(at / "f.csv", "a,b\n1,2\n3,4,5\n"), "line 3"),
    "short line": (lambda at: text(at / "f.csv", "a,b\n1,2\n\n3\n5,6\n"), "line 4 has 1 fields"),
    "header only": (lambda at: text(at / "f.csv", "a,b\n"), "has no rows"),
    "blank": (lambda at: text(at / "f.csv", "\n\n"), "cannot be read as CSV"),
    "Latin-1": (lambda at: raw(at / "f.csv", b"a,b\n1,2\n\xe9,4\n"), "line 3 is not UTF-8"),
    "text only": (
        lambda at: text(at / "f.csv", "a,b\nx,y\nx,z\n"),
        "no column of numbers .column a set aside: text",
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
    "table of labels": (lambda at: numpy_files(at / "f.npz", X=X, y=X), "labels must be one a row"),
    "image shape": (
        lambda at: numpy_files(at / "f.npz", X=X, y=Y, shape=(2, 2)),
        "do not have the 3 values",
    ),
    "no arrays": (lambda at: empty_hdf5(at / "f.h5"), "has no arrays"),
    "no images": (lambda at: at, "has no images"),
}


def feather_with_twins(path):
    table = pa.Table.from_arrays([pa.array([1, 2]), pa.array([3, 4])], names=["a", "a"])
    pyarrow.feather.write_feather(table, path)
    return path


def empty_hdf5(path):
    h5py.File(path, "w").close()
    return path


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
        ("l.csv", "id,label\n1,2\n3\n", "row 3 has no label"),
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
    ("name", "module", "library"),
    [
        ("f.csv", "pandas", "pandas"),
        ("f.parquet", "pyarrow", "pyarrow"),
        ("f.h5", "h5py", "h5py"),
        ("images", "PIL.Image", "pillow"),
    ],
)
def test_missing_libraries_are_named(tmp_path, monkeypatch, name, module, library):
    if name == "images":
        raw_folder = tmp_path / name
        raw_folder.mkdir()
        raw(raw_folder / "a.png")
    else:
        raw(tmp_path / name)
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(ModuleNotFoundError, match=rf"need {library}: pip install 'srsg\[files\]'"):
        read_points(tmp_path / name)


# Images ------------------------------------------------------------------------------------------


def image(path, size=(3, 2), mode="L", value=7):
    path.parent.mkdir(parents=True, exist_ok=True)
    Image.new(mode, size, value).save(path)
    return path


def test_images_in_folders_of_their_class(tmp_path):
    for number, name in enumerate(["s10/a.png", "s2/b10.pgm", "s2/b9.PNG"]):
        image(tmp_path / name, value=number)
    image(tmp_path / ".hidden" / "c.png")
    text(tmp_path / "s2" / "notes.txt", "no image")
    table = read_points(tmp_path)
    assert table.row_ids.tolist() == ["s2/b9.PNG", "s2/b10.pgm", "s10/a.png"]
    assert table.class_names == ("s2", "s10")
    assert table.y.tolist() == [0, 0, 1]
    assert table.image_shape == (2, 3)
    np.testing.assert_array_equal(table.X, np.repeat([[2.0], [1.0], [0.0]], 6, axis=1))


def test_images_without_classes(tmp_path):
    image(tmp_path / "a.png")
    image(tmp_path / "b.bmp")
    assert read_points(tmp_path).y is None


def test_colours_are_kept_or_turned_gray(tmp_path):
    image(tmp_path / "a.png", mode="RGB", value=(10, 20, 30))
    image(tmp_path / "b.png")
    table = read_points(tmp_path)
    assert table.image_shape == (2, 3, 3)
    np.testing.assert_array_equal(table.X[0].reshape(2, 3, 3)[1, 2], [10, 20, 30])
    np.testing.assert_array_equal(table.X[1], 7)
    assert read_points(tmp_path, gray=True).image_shape == (2, 3)


def test_sixteen_bits_are_not_cut_off(tmp_path):
    Image.fromarray(np.full((2, 3), 40000, dtype=np.uint16)).save(tmp_path / "a.png")
    np.testing.assert_array_equal(read_points(tmp_path).X, 40000)


def test_images_of_different_sizes_get_the_commonest(tmp_path):
    for name, size in (("a", (3, 2)), ("b", (8, 8)), ("c", (3, 2))):
        image(tmp_path / f"{name}.png", size)
    table = read_points(tmp_path)
    assert table.image_shape == (2, 3)
    assert table.notes == ("1 of 3 images resized to 2 x 3",)
    wanted = read_points(tmp_path, image_size=(4, 5))
    assert wanted.image_shape == (4, 5)
    assert wanted.notes == ("3 of 3 images resized to 4 x 5",)
    np.testing.assert_array_equal(wanted.X, np.full((3, 20), 7))


def test_images_taken_on_their_side_stand_upright(tmp_path):
    exif = Image.Exif()
    exif[0x0112] = 6
    Image.new("L", (30, 20)).save(tmp_path / "a.jpg", exif=exif)
    assert read_points(tmp_path).image_shape == (30, 20)


def test_corrupt_images_are_named(tmp_path):
    image(tmp_path / "a.png")
    rng = np.random.default_rng(0)
    noise = Image.fromarray(rng.integers(0, 255, (64, 64), dtype=np.uint8))
    noise.save(tmp_path / "b.png")
    cut(tmp_path / "b.png")
    with pytest.raises(FileError, match=r"b\.png: cannot be read as an image"):
        read_points(tmp_path)
    raw(tmp_path / "b.png")
    with pytest.raises(FileError, match=r"b\.png: cannot be read as an image"):
        read_points(tmp_path)


def test_images_that_are_too_large_are_refused_before_they_are_read(tmp_path, monkeypatch):
    monkeypatch.setattr("srsg.files.images.MOST_VALUES", 5)
    image(tmp_path / "a.png")
    with pytest.raises(FileError, match=r"too much for the memory.*image_size"):
        read_points(tmp_path)


# Writing -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("ending", [".csv", ".tsv", ".npz", ".parquet", ".feather"])
def test_labels_written_are_read_again(tmp_path, ending):
    path = tmp_path / f"labels{ending}"
    ids = np.array(["a b", 'c"d', "é,f", "g"], dtype=object)
    write_labels(path, Y, row_ids=ids, columns={"confidence": X[:, 0]})
    if ending == ".npz":
        with np.load(path) as file:
            columns = dict(file)
    else:
        readers = {".csv": pd.read_csv, ".parquet": pd.read_parquet, ".feather": pd.read_feather}
        read = readers.get(ending, lambda at: pd.read_csv(at, sep="\t"))
        columns = dict(read(path))
    assert list(columns) == ["id", "label", "confidence"]
    assert list(columns["id"]) == list(ids)
    np.testing.assert_array_equal(columns["label"], Y)
    np.testing.assert_array_equal(columns["confidence"], X[:, 0])
    assert os.listdir(tmp_path) == [path.name]


def test_labels_alone(tmp_path):
    write_labels(tmp_path / "l.NPY", Y)
    np.testing.assert_array_equal(np.load(tmp_path / "l.NPY"), Y)
    np.testing.assert_array_equal(
        read_points(saved_array(tmp_path / "f.npy"), labels=tmp_path / "l.NPY").y, Y
    )


def test_labels_to_standard_output(capsys):
    write_labels("-", Y, columns={"confidence": X[:, 2]})
    assert capsys.readouterr().out.splitlines()[:4] == [
        "id,label,confidence",
        "0,3,-3.0",
        "1,1,6.0",
        "2,3,1e-09",
    ]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"row_ids": [1, 2]}, r"id of shape \(2,\) does not fit 4 labels"),
        ({"columns": {"c": X}}, r"c of shape \(4, 3\)"),
        ({"columns": {"label": Y}}, "written already"),
    ],
)
def test_columns_that_do_not_fit(tmp_path, arguments, message):
    with pytest.raises(ValueError, match=message):
        write_labels(tmp_path / "l.csv", Y, **arguments)
    assert os.listdir(tmp_path) == []


GRAPH = sparse.csr_array(np.array([[0, 0.1, 0], [0.1, 0, 1 / 3], [0, 1 / 3, 2.0]]))


def test_graphs_for_scipy(tmp_path):
    write_graph(tmp_path / "g.npz", GRAPH)
    np.testing.assert_array_equal(sparse.load_npz(tmp_path / "g.npz").toarray(), GRAPH.toarray())


@pytest.mark.parametrize("directed", [False, True])
def test_graphs_as_edges(tmp_path, directed):
    graph = sparse.csr_array(sparse.triu(GRAPH)) if directed else GRAPH
    write_graph(tmp_path / "g.csv", graph)
    edges = pd.read_csv(tmp_path / "g.csv")
    again = np.zeros((3, 3))
    again[edges["source"], edges["target"]] = edges["weight"]
    np.testing.assert_array_equal(again, np.triu(GRAPH.toarray()))


@pytest.mark.parametrize("directed", [False, True])
def test_graphs_as_graphml(tmp_path, directed):
    from xml.etree import ElementTree

    graph = sparse.csr_array(sparse.triu(GRAPH)) if directed else GRAPH
    write_graph(tmp_path / "g.graphml", graph, labels=["<a>", "b&c", "d"])
    space = "{http://graphml.graphdrawing.org/xmlns}"
    drawn = ElementTree.parse(tmp_path / "g.graphml").getroot().find(f"{space}graph")
    assert drawn.get("edgedefault") == ("directed" if directed else "undirected")
    labels = [node.find(f"{space}data").text for node in drawn.iter(f"{space}node")]
    assert labels == ["<a>", "b&c", "d"]
    again = np.zeros((3, 3))
    for edge in drawn.iter(f"{space}edge"):
        ends = int(edge.get("source")[1:]), int(edge.get("target")[1:])
        again[ends] = float(edge.find(f"{space}data").text)
    np.testing.assert_array_equal(again, np.triu(GRAPH.toarray()))


def test_graphs_that_are_none(tmp_path):
    with pytest.raises(ValueError, match="must be square"):
        write_graph(tmp_path / "g.npz", GRAPH[:2])
    with pytest.raises(ValueError, match="do not fit 3 nodes"):
        write_graph(tmp_path / "g.graphml", GRAPH, labels=[1])


@pytest.mark.parametrize("error", [KeyboardInterrupt, ValueError, MemoryError])
def test_failures_leave_the_old_file_and_nothing_else(tmp_path, error):
    target = text(tmp_path / "f.csv", "old")

    def fail():
        with written_whole(target) as path:
            path.write_text("half of")
            raise error

    with pytest.raises(error):
        fail()
    assert target.read_text() == "old"
    assert os.listdir(tmp_path) == ["f.csv"]


@pytest.mark.parametrize(
    "write",
    [lambda path: write_labels(path, np.arange(10**6)), lambda path: write_graph(path, GRAPH)],
    ids=["labels", "graph"],
)
def test_a_full_disk_leaves_the_old_file_and_nothing_else(tmp_path, monkeypatch, write):
    resource = pytest.importorskip("resource", reason="limits on file sizes are Unix's")
    signal = pytest.importorskip("signal")
    target = text(tmp_path / "f.csv", "old")
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    ignored = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (10, before[1]))
    try:
        with pytest.raises(FileError, match=r"f\.csv: cannot be written \(File too large\)"):
            write(target)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
        signal.signal(signal.SIGXFSZ, ignored)
    assert target.read_text() == "old"
    assert os.listdir(tmp_path) == ["f.csv"]


def test_success_keeps_links_and_permissions(tmp_path):
    real = text(tmp_path / "real.txt", "old")
    real.chmod(0o640)
    link = tmp_path / "link.txt"
    link.symlink_to(real)
    with written_whole(link) as path:
        assert path.suffix == ".txt"
        path.write_text("new")
    assert link.is_symlink()
    assert real.read_text() == "new"
    assert stat.S_IMODE(real.stat().st_mode) == 0o640


def test_devices_are_written_to_not_replaced():
    with written_whole("/dev/null") as path:
        assert str(path) == "/dev/null"


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("", "is a folder"),
        ("none/l.csv", r"there is no folder .*none"),
        ("l.doc", r"ending in \.doc are not written: \.csv"),
        ("l", "ending in nothing are not written"),
    ],
)
def test_places_that_cannot_be_written_to(tmp_path, name, message):
    path = tmp_path.with_suffix(".csv") if not name else tmp_path / name
    if not name:
        path.mkdir()
    with pytest.raises(FileError, match=message):
        write_labels(path, Y)
