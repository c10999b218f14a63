"""Points and labels from data files of every format."""

from __future__ import annotations

import io

import h5py
import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays as some_arrays

from srsg.files import FileError, read_points
from srsg.files.checking import _samples_first
from srsg.files.contents import Contents
from srsg.points import is_memory_mapped
from support.file_samples import (
    FRAME,
    TABLES,
    WITH_LABELS,
    X,
    Y,
    mat,
    matlab_7_3,
    numpy_files,
    text,
)


@pytest.mark.parametrize("make", WITH_LABELS.values(), ids=WITH_LABELS)
def test_arrays_with_labels(tmp_path, make):
    table = read_points(make(tmp_path))
    np.testing.assert_array_equal(table.X, X)
    np.testing.assert_array_equal(table.y, Y)
    np.testing.assert_array_equal(table.row_ids, range(4))
    assert table.X.dtype == np.float64
    assert table.y.dtype == np.int64
    assert table.class_names is None


def test_matlab_files_without_labels_have_a_point_a_row(tmp_path):
    for path in (mat(tmp_path / "old.mat", X=X), matlab_7_3(tmp_path / "new.mat", X=X)):
        np.testing.assert_array_equal(read_points(path).X, X)


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
        matlab_7_3(tmp_path / "new.mat", images=turned),
        matlab_7_3(tmp_path / "labelled_new.mat", X=turned, Y=Y),
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
        ("1,5;2\n3;4,25\n", [[1.5, 2], [3, 4.25]]),
        ("a;b\n1.5;2\n3;4.25\n", [[1.5, 2], [3, 4.25]]),
        ("a\tb\n1.5\t2\n3\t4.25\n", [[1.5, 2], [3, 4.25]]),
        ("a, b\n1.5, 2\n3, 4.25\n", [[1.5, 2], [3, 4.25]]),
        ("a,b\n1.5,2,\n3,4.25,\n", [[1.5, 2], [3, 4.25]]),
        (",0,1\n0,1.5,2\n1,3,4.25\n", [[1.5, 2], [3, 4.25]]),
        ("1.5,,2\n3,,4.25\n", [[1.5, 2], [3, 4.25]]),
        ("1.5,2,rose\n3,4.25,iris\n", [[1.5, 2], [3, 4.25]]),
        ("k,2019,2020\n7.5,1.5,2\n8.5,3,4.25\n", [[7.5, 1.5, 2], [8.5, 3, 4.25]]),
        ("\ufeffa,b\n1.5,2\n2.5,4\n", [[1.5, 2], [2.5, 4]]),
        ("a,b\n5,True\n4,False\n", [[5, 1], [4, 0]]),
        ('"a","b"\n"r1",5,2\n"r2",3,4\n', [[5, 2], [3, 4]]),  # row names, as R writes them
        ("a|b\n1.5|2\n3|4.25\n", [[1.5, 2], [3, 4.25]]),
        ("sep=;\na;b\n1,5;2\n3;4,25\n", [[1.5, 2], [3, 4.25]]),
        ("sep=|\r\na|b\r\n1.5|2\r\n3|4.25\r\n", [[1.5, 2], [3, 4.25]]),
    ],
    ids=[
        *("no header", "pandas", "decimal commas", "no header, decimal commas", "semicolons"),
        *("tabs", "spaces", "separator at the end", "pandas with index", "no header, gaps"),
        *("no header, words", "numbers in the header", "mark", "truth", "R"),
        *("bars", "stated separator", "stated separator, Windows"),
    ],
)
def test_dialects_of_csv(tmp_path, content, rows):
    np.testing.assert_array_equal(read_points(text(tmp_path / "f.csv", content)).X, rows)


def test_a_missing_header_is_noted_and_columns_have_numbers(tmp_path):
    table = read_points(text(tmp_path / "f.csv", "1.5,2,rose\n3,4.25,iris\n"), labels="2")
    assert table.class_names == ("iris", "rose")
    assert table.notes == ("no header: columns are called 0 to 2",)


def test_text_identifiers_and_empty_columns_are_set_aside(tmp_path):
    content = "Unnamed: 0,kind,a,none,id\n8,x,1,,u\n6,y,2,,v\n7,x,2,,w\n"
    table = read_points(text(tmp_path / "f.csv", content))
    np.testing.assert_array_equal(table.X, [[1], [2], [2]])
    assert table.row_ids.tolist() == [8, 6, 7]
    assert table.notes == (
        "column Unnamed: 0 set aside: identifier",
        "column kind set aside: text with 2 different values",
        "column none set aside: empty",
        "column id set aside: text that names the rows",
    )


@pytest.mark.parametrize(
    ("cells", "numbers"),
    [
        (["1,234", "12,345", "1,234,567.5"], [1234, 12345, 1234567.5]),
        (["1.234,5", "2.345,5", "3.456,7"], [1234.5, 2345.5, 3456.7]),
        (["12%", "13.5 %", "9%"], [12, 13.5, 9]),
        (["€1.20", "€ 1", "-€3"], [1.2, 1, -3]),
        (["5 $", "6.5$", "1,000 $"], [5, 6.5, 1000]),
        (["1'234", "12'345", "1 234"], [1234, 12345, 1234]),
        (["€1.234", "€2.500", "€900"], [1234, 2500, 900]),
        (["1.234%", "2.500%", "9.1%"], [1.234, 2.5, 9.1]),
        (["€1.234.567", "€2.500", "€9"], [1234567, 2500, 9]),
        (["205,74 €", "1.000,00 €", "7 €"], [205.74, 1000, 7]),
    ],
)
def test_numbers_with_signs_are_numbers(tmp_path, cells, numbers):
    rows = "".join(f'"{cell}",{place % 2}.5\n' for place, cell in enumerate(cells))
    table = read_points(text(tmp_path / "f.csv", f"id,b\n{rows}"))
    np.testing.assert_array_equal(table.X[:, 0], numbers)
    assert table.notes[0].startswith("read as numbers: id (decimal")
    assert table.row_ids.tolist() == [0, 1, 2]


def test_groups_of_three_digits_alone_may_be_fractions(tmp_path):
    path = text(tmp_path / "f.csv", 'a,b\n"1,234",1.5\n"12,345",2.5\n')
    assert read_points(path).notes == ("column a set aside: not plain numbers, such as '1,234'",)
    np.testing.assert_array_equal(read_points(path, treat={"a": "number"}).X[:, 0], [1234, 12345])


@pytest.mark.parametrize("cells", ["2020-01-02", "1.2.3.4", "12.03.2020", "030 1234", "A1", "3a"])
def test_other_text_with_digits_stays_text(tmp_path, cells):
    table = read_points(text(tmp_path / "f.csv", f"a,b\n{cells},1.5\n{cells},2.5\n"))
    assert table.notes[0] == "column a set aside: the same in all rows"


def test_spaces_between_columns_are_named(tmp_path):
    with pytest.raises(FileError, match=r"several numbers in a cell \('1\.5 2 3'\)"):
        read_points(text(tmp_path / "f.csv", "a b c\n1.5 2 3\n3 4.25 -1\n"))


@pytest.mark.parametrize("title", ["My wines,,2024\n", "1,My wines,2024\n"])
def test_what_is_above_the_header_is_named(tmp_path, title):
    path = text(tmp_path / "f.csv", f"{title}a,b,c\n1.5,2,3\n3,4,5\n4,4,5\n")
    with pytest.raises(FileError, match=r"above .*(remove it|names of the columns)\."):
        read_points(path)


def test_infinite_values_are_not_left_to_an_imputer(tmp_path):
    path = text(tmp_path / "f.csv", "a,b\n1.5,2\ninf,3\n2.5,\n4,1\n")
    with pytest.raises(FileError, match=r"1 of 4 rows has .*: row 1 .*cannot fill in"):
        read_points(path, keep_missing=True)
    kept = read_points(path, keep_missing=True, drop_missing=True)
    np.testing.assert_array_equal(kept.X, [[1.5, 2], [2.5, np.nan], [4, 1]])
    assert "1 of 4 rows has" in kept.notes[0]
    assert "was dropped: row 1" in kept.notes[0]


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
    assert table.notes == ("column when set aside: the same in all rows",)
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


def test_labels_do_not_turn_tables(tmp_path):
    path = text(tmp_path / "f.csv", "a,b,c\n5,2,1\n3,4,1\n")
    with pytest.raises(FileError, match="3 labels do not fit an array of 2 x 3"):
        read_points(path, labels=text(tmp_path / "l.txt", "1\n2\n3\n"))
    headed = read_points(path, labels=text(tmp_path / "l.txt", "kind\n2\n3\n"))
    assert headed.y.tolist() == [2, 3]


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


def test_large_npy_files_are_mapped(tmp_path, monkeypatch):
    X = np.random.default_rng(0).random((100, 5))
    np.save(tmp_path / "X.npy", X)
    assert not is_memory_mapped(read_points(tmp_path / "X.npy").X)
    monkeypatch.setattr("srsg.files.arrays.MAPPED_FROM", 0)
    table = read_points(tmp_path / "X.npy")
    assert is_memory_mapped(table.X)
    np.testing.assert_array_equal(table.X, X)


def test_only_points_that_were_columns_are_told_to_be_turned():
    stack = np.arange(24.0).reshape(2, 4, 3)
    labels, last = np.arange(3), Contents(stack, samples_last=True)
    turned, notes = _samples_first("f", last, labels)
    assert (turned.shape, notes) == ((3, 2, 4), [])
    turned, notes = _samples_first("f", Contents(stack[0]), labels)
    assert turned.shape == (3, 4)
    assert notes == ["points turned from columns to rows, to fit the labels"]
