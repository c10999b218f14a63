"""Tables of every kind: text in other forms, spreadsheets, identifiers."""

from __future__ import annotations

import datetime
import gzip
import subprocess
import sys

import numpy as np
import pyarrow as pa
import pyarrow.parquet
import pytest
import xlsxwriter

from srsg.files import FileError, read_points
from srsg.files.kinds import looks_like_identifier
from srsg.files.tables import _column
from support.file_samples import X, raw, text

CSV = "a,b,kind\n1.5,2,x\n3,4.25,y\n"
ROWS = [[1.5, 2], [3, 4.25]]


def sheets(path, **content):
    with xlsxwriter.Workbook(path, {"default_date_format": "yyyy-mm-dd"}) as book:
        for name, rows in content.items():
            sheet = book.add_worksheet(name)
            for place, row in enumerate(rows):
                sheet.write_row(place, 0, row)
    return path


def test_tables_need_no_pandas(tmp_path):
    text(tmp_path / "f.csv", CSV)
    pyarrow.parquet.write_table(pa.table({"a": [1.5, 3], "b": [2, 4.25]}), tmp_path / "f.parquet")
    sheets(tmp_path / "f.xlsx", s=[["a", "b"], *ROWS])
    program = (
        "import sys\n"
        "class NoPandas:\n"
        "    def find_spec(self, name, *_):\n"
        "        if name == 'pandas': raise ModuleNotFoundError(name)\n"
        "sys.meta_path.insert(0, NoPandas())\n"
        "from srsg.files import read_points\n"
        "for name in ('f.csv', 'f.parquet', 'f.xlsx'): print(read_points(name).X.tolist())"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, cwd=tmp_path
    )
    assert done.stdout.splitlines() == [str([[float(v) for v in row] for row in ROWS])] * 3, (
        done.stderr
    )


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
def test_texts_that_say_their_encoding(tmp_path, encoding):
    path = raw(tmp_path / "f.csv", CSV.encode(encoding))
    np.testing.assert_array_equal(read_points(path).X, ROWS)


def test_texts_in_other_encodings(tmp_path):
    path = raw(tmp_path / "f.csv", CSV.replace("x", "é").encode("latin-1"))
    with pytest.raises(FileError, match=r"line 2 is not UTF-8 text; .*encoding='latin-1'"):
        read_points(path)
    assert read_points(path, labels="kind", encoding="latin-1").class_names == ("y", "é")
    with pytest.raises(FileError, match="encoding='klingon' is not an encoding that Python knows"):
        read_points(path, encoding="klingon")


def test_compressed_text(tmp_path):
    path = raw(tmp_path / "f.CSV.gz", gzip.compress(CSV.encode()))
    np.testing.assert_array_equal(read_points(path).X, ROWS)
    cut = raw(tmp_path / "cut.csv.gz", gzip.compress(CSV.encode())[:-9])
    with pytest.raises(FileError, match=r"cut\.csv\.gz: cannot be read as gzip"):
        read_points(cut)


@pytest.mark.parametrize(
    ("content", "rows"),
    [
        ('"a, cm";"b"\n1,5;2\n3;4,25\n', ROWS),
        ("a;b\n7;2\n5;3\n3;4,25\n", [[7, 2], [5, 3], [3, 4.25]]),
        ('a,"b"\n1.5,"2"\n3, "4.25"\n', ROWS),
        ("a,b,t\n1.5,2,0x10\n3,4.25,7\n", ROWS),
        ("a,b,b\n1.5,2,8\n3,4.25,9\n", [[1.5, 2, 8], [3, 4.25, 9]]),
        ("\r\na,b\r\n1.5,2\r\n\r\n3,4.25\r\n", ROWS),
        ('a,b,"two\nlines"\n1.5,2,"x\ny"\n3,4.25,z\n', ROWS),
        ("a,b\n +1.5 ,2\n3.,.425e1\n", ROWS),
        ("a,b\r1.5,2\r3,4.25\r", ROWS),
    ],
    ids=[
        *("commas in names", "decimal commas late", "quotes after spaces", "hexadecimal"),
        *("two of a name", "Windows", "lines in quotes", "signs and spaces", "old Mac"),
    ],
)
def test_forms_of_text(tmp_path, content, rows):
    np.testing.assert_array_equal(read_points(text(tmp_path / "f.csv", content)).X, rows)


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("f.json", '[{"a": 1.5, "b": "2"}, {"b": "4.25", "a": 3}]'),
        ("f.json", '{"a": [1.5, 3], "b": ["2", "4.25"]}'),
        ("f.jsonl", '{"a": 1.5, "b": 2}\n\n{"b": 4.25, "a": 3}\n'),
    ],
)
def test_tables_in_json(tmp_path, name, content):
    np.testing.assert_array_equal(read_points(text(tmp_path / name, content)).X, ROWS)


@pytest.mark.parametrize("content", ["3", "[1, 2]", '{"a": 1}', '[{"a": 1}, 2]', "[]", "{", "\0"])
def test_json_that_is_no_table(tmp_path, content):
    with pytest.raises(FileError, match=r"f\.json: (is not a table|cannot be read as JSON)"):
        read_points(text(tmp_path / "f.json", content))


def test_json_in_which_some_cells_are_missing(tmp_path):
    path = text(tmp_path / "f.jsonl", '{"a": 1, "b": 5}\n{"a": 2.5}\n{"a": null, "b": 6}\n')
    kept = read_points(path, keep_missing=True).X
    np.testing.assert_array_equal(kept, [[1, 5], [2.5, np.nan], [np.nan, 6]])


def test_lines_above_a_table_are_skipped(tmp_path):
    path = text(tmp_path / "f.csv", f"A title\n# a remark\n{CSV}")
    np.testing.assert_array_equal(read_points(path, skip_rows=2).X, ROWS)
    broken = text(tmp_path / "g.csv", f"A title\n{CSV}1,2\n")
    with pytest.raises(FileError, match="line 5 has 2 fields instead of 3"):
        read_points(broken, skip_rows=1)
    with pytest.raises(FileError, match="no lines after the first 9"):
        read_points(path, skip_rows=9)
    book = sheets(tmp_path / "f.xlsx", s=[["A title"], ["a", "b"], *ROWS])
    np.testing.assert_array_equal(read_points(book, skip_rows=1).X, ROWS)
    with pytest.raises(FileError, match=r"skip_rows=1 needs text or a spreadsheet"):
        read_points(text(tmp_path / "f.json", "[]"), skip_rows=1)


def test_a_thousands_point_is_no_decimal_point(tmp_path):
    path = text(tmp_path / "f.csv", "a;b\n1,5;2\n1.500;3\n2,5;4\n")
    assert read_points(path).feature_names == ("b",)  # better than a wrong number
    with pytest.raises(FileError, match=r"column a, row 0 .*'1,5' is not a number"):
        read_points(path, columns=["a", "b"])


def test_sheets_of_spreadsheets(tmp_path):
    day = datetime.date(2024, 1, 1)
    rows = [["n", "a", "b", "on", "day", "kind"], [7, 1.5, 2, True, day, "x"]]
    rows.append([9, 3, 4.25, False, day, "y"])
    path = sheets(tmp_path / "f.xlsx", first=rows, second=[[5, 6], [8, 7]])
    table = read_points(path, labels="kind")
    np.testing.assert_array_equal(table.X, [[7, 1.5, 2, 1], [9, 3, 4.25, 0]])
    assert table.class_names == ("x", "y")
    assert table.notes == (
        "sheet first is read, not second; variable=... names another",
        "column day set aside: the same in all rows",
    )
    second = read_points(path, variable="second")
    np.testing.assert_array_equal(second.X, [[5, 6], [8, 7]])
    assert second.notes == ("no header: columns are called 0 to 1",)
    with pytest.raises(FileError, match=r"no sheet called 'third'. It has first, second"):
        read_points(path, variable="third")
    with pytest.raises(FileError, match=r"g\.xlsx: has no rows"):
        read_points(sheets(tmp_path / "g.xlsx", empty=[]))
    with pytest.raises(FileError, match=r"h\.xlsx: cannot be read as a spreadsheet"):
        read_points(raw(tmp_path / "h.xlsx"))


def test_gaps_in_a_spreadsheet_are_missing_values(tmp_path):
    path = sheets(tmp_path / "f.xlsx", s=[["a", "b"], [1, 2], [None, 5], [3, 4]])
    np.testing.assert_array_equal(read_points(path, drop_missing=True).X, [[1, 2], [3, 4]])
    kept = read_points(path, keep_missing=True).X
    np.testing.assert_array_equal(kept, [[1, 2], [np.nan, 5], [3, 4]])


def test_types_of_parquet_that_save_space(tmp_path):
    columns = {
        "d": pa.array([1, 2, 3], pa.decimal128(5, 2)),
        "c": pa.array(["u", "v", "u"]).dictionary_encode(),
        "h": pa.array(np.array([1, 2, 3], np.float16)),
        "l": pa.array([["u"], ["v"], ["w"]]),
    }
    pyarrow.parquet.write_table(pa.table(columns), tmp_path / "f.parquet")
    table = read_points(tmp_path / "f.parquet", labels="c")
    np.testing.assert_array_equal(table.X, [[1, 1], [2, 2], [3, 3]])
    assert table.class_names == ("u", "v")
    assert any("column l set aside: neither numbers nor text" in note for note in table.notes)


RNG = np.random.default_rng(0)
GIVEN_OUT = RNG.permutation(90_000)[:100] + 10_000
MEASURED = np.round(RNG.normal(5e6, 1e6, 100)).astype(int)


@pytest.mark.parametrize(
    ("name", "values", "is_identifier"),
    [
        ("account", GIVEN_OUT, True),
        ("account", np.sort(GIVEN_OUT), True),
        ("year", np.arange(1900, 2000), True),
        ("area", MEASURED, False),
        ("area id", MEASURED, True),
        ("AreaID", MEASURED, True),
        ("humid", MEASURED, False),
        ("population", np.exp(RNG.normal(14, 2, 100)).astype(int) * 100 + np.arange(100), False),
        ("account", np.where(np.arange(100) < 2, 7, GIVEN_OUT), False),
        ("id", np.where(np.arange(100) < 2, 7, GIVEN_OUT), False),
        ("account", GIVEN_OUT[:10], False),
    ],
)
def test_identifiers(name, values, is_identifier):
    assert looks_like_identifier(name, 3, values) == is_identifier


def test_identifiers_are_set_aside_named_or_kept(tmp_path):
    lines = [
        f"{g},{m},{i / 7},n{i}" for i, (g, m) in enumerate(zip(GIVEN_OUT, MEASURED, strict=True))
    ]
    path = text(tmp_path / "f.csv", "\n".join(["account,area,z,name", *lines]))
    table = read_points(path)
    assert table.feature_names == ("area", "z")
    assert table.row_ids.tolist() == GIVEN_OUT.tolist()
    assert table.notes[0] == "column account set aside: identifier"
    named = read_points(path, id_column="name")
    assert named.row_ids[:2].tolist() == ["n0", "n1"]
    kept = read_points(path, keep_ids=True)
    assert kept.feature_names == ("account", "area", "z")
    with pytest.raises(FileError, match="no column called 'number'"):
        read_points(path, id_column="number")


def test_new_rows_may_have_other_identifiers_than_the_model_saw(tmp_path):
    """Few rows show no even spread, but a column that the model lacks is then more likely one."""
    path = text(tmp_path / "new.csv", "b,account,a\n2,881,1\n4,17,3\n")
    table = read_points(path, features=["a", "b"])
    np.testing.assert_array_equal(table.X, [[1, 2], [3, 4]])
    assert table.row_ids.tolist() == [881, 17]
    with pytest.raises(FileError, match=r"not in the model: weight"):
        read_points(text(tmp_path / "g.csv", "a,b,weight\n1,2,.5\n3,4,.5\n"), features=["a", "b"])


def test_rows_without_any_number_cannot_be_filled_in(tmp_path):
    path = text(tmp_path / "f.csv", "a,b\n1,2\n,\n3,inf\n5,\n")
    table = read_points(path, keep_missing=True, drop_missing=True)
    np.testing.assert_array_equal(table.X, [[1, 2], [5, np.nan]])
    assert table.kept_rows.tolist() == [0, 3]


def test_wide_text_is_split_in_blocks_that_hold_a_line(tmp_path):
    wide = RNG.standard_normal((4, 20_000))
    np.savetxt(tmp_path / "f.csv", wide, delimiter=",", fmt="%.17g")
    np.testing.assert_array_equal(read_points(tmp_path / "f.csv").X, wide)
    assert X.shape == (4, 3)


@pytest.mark.parametrize(
    "above", ["Sales of 2024\n\n", "Sales;;\n;;\n", '"Shops, sales"\nmade by me\n\n']
)
def test_a_title_above_the_names_is_found(tmp_path, above):
    body = CSV.replace(",", ";") if ";" in above else CSV
    table = read_points(text(tmp_path / "f.csv", above + body), labels="kind")
    np.testing.assert_array_equal(table.X, ROWS)
    assert table.feature_names == ("a", "b")
    assert "above the table left out: '" in table.notes[0]


@pytest.mark.parametrize(
    ("content", "n_columns"),
    [
        (",x\n0,1.5\n1,2.5\n", 1),  # the index of pandas, without a name
        ("x\na,1.5\nb,2.5\n", 1),  # names of rows, as R writes them
        ("a,b,c\n1.5,,\n2,5,6\n", 3),
    ],
)
def test_rows_with_one_field_are_not_all_titles(tmp_path, content, n_columns):
    table = read_points(text(tmp_path / "f.csv", content), keep_missing=True)
    assert table.X.shape == (2, n_columns)


def test_titles_and_sheets_of_a_spreadsheet(tmp_path):
    rows = [["Sales of 2024"], [""], ["a", "b"], *ROWS]
    table = read_points(sheets(tmp_path / "f.xlsx", s=rows))
    np.testing.assert_array_equal(table.X, ROWS)
    assert table.notes == ("1 line above the table left out: 'Sales of 2024'",)
    path = sheets(tmp_path / "g.xlsx", about=[["by me", "to you"]] * 3, sales=[["a", "b"], *ROWS])
    with pytest.raises(FileError, match=r"sheet about is read, not sales; variable=\.\.\. names"):
        read_points(path)


def test_several_tables_are_one(tmp_path):
    first = text(tmp_path / "1.csv", "shop,a,b\nx,1,2\ny,3,4\n")
    second = text(tmp_path / "2.csv", "shop;b;a\nz;4,5;5\n")
    pyarrow.parquet.write_table(
        pa.table({"shop": ["w"], "a": [7], "b": [8.5]}), tmp_path / "3.parquet"
    )
    table = read_points([first, second, tmp_path / "3.parquet"], keep_frame=True)
    np.testing.assert_array_equal(table.X, [[1, 2], [3, 4], [5, 4.5], [7, 8.5]])
    assert table.row_ids.tolist() == ["x", "y", "z", "w"]
    mixed = text(tmp_path / "4.csv", "shop,a,b\nv,none,9\n")
    with pytest.raises(FileError, match=r"4\.csv: column a, row 2 .*'none' is not a number"):
        read_points([first, mixed], columns=["a", "b"])
    other = text(tmp_path / "5.csv", "shop,a,c\nv,1,9\n")
    with pytest.raises(FileError, match=r"file 2 has other columns than the first \(b, c\)"):
        read_points([first, other])
    np.save(tmp_path / "6.npy", X)
    with pytest.raises(FileError, match="only tables can be read as one"):
        read_points([first, tmp_path / "6.npy"])


def test_rows_keep_their_names_if_columns_are_chosen(tmp_path):
    path = text(tmp_path / "f.csv", "a,b,id\n1.5,2,70\n3,4.25,50\n")
    assert read_points(path, columns=["b", "a"]).row_ids.tolist() == [70, 50]


def test_whole_numbers_of_a_spreadsheet_are_whole(tmp_path):
    """Cells are fractions whatever they hold; a column of whole ones may be codes."""
    assert _column([1.0, 2.0]).type == pa.int64()
    assert _column([1.0, "", 2.5]).type == pa.float64()
    assert _column([1.0, "", 2.5]).to_pylist() == [1.0, None, 2.5]
    with pytest.raises(FileError, match=r"f\.xlsx: has no rows"):
        read_points(sheets(tmp_path / "f.xlsx", s=[["a", "b"]]))
