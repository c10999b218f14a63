"""Labels beside all columns of the input, in every format, safe for spreadsheets."""

from __future__ import annotations

import gzip
import json

import numpy as np
import pyarrow.parquet
import pytest
from python_calamine import CalamineWorkbook

from srsg.files import FileError, append_labels, read_points, write_labels
from support.file_samples import saved_array, text

CSV = "name,a,b\n=SUM(A1),1.50,-2\n@x,,4\n-y,5.0,6\n"


@pytest.fixture
def table(tmp_path):
    path = text(tmp_path / "f.csv", CSV)
    return read_points(path, drop_missing=True, keep_frame=True)


def test_text_keeps_its_cells_and_formulas_do_not_run(tmp_path, table):
    append_labels(tmp_path / "out.csv", table, {"cluster": np.array([1, 0])})
    assert (tmp_path / "out.csv").read_text().splitlines() == [
        "name,a,b,cluster",
        "'=SUM(A1),1.50,-2,1",
        "'@x,,4,",
        "'-y,5.0,6,0",
    ]


def test_other_formats(tmp_path, table):
    columns = {"cluster": np.array([1, 0]), "confidence": np.array([0.5, 1.0])}
    for name in ("o.json", "o.parquet", "o.xlsx", "o.csv.gz", "o.tsv", "o.feather"):
        append_labels(tmp_path / name, table, columns)
    rows = json.loads((tmp_path / "o.json").read_text())
    expected = {"name": "@x", "a": None, "b": 4, "cluster": None, "confidence": None}
    assert rows[1] == expected
    assert pyarrow.parquet.read_table(tmp_path / "o.parquet").to_pylist()[1] == expected
    [sheet] = [CalamineWorkbook.from_path(str(tmp_path / "o.xlsx")).get_sheet_by_index(0)]
    cells = sheet.to_python()
    assert cells[0] == list(expected)
    assert cells[1] == ["=SUM(A1)", 1.5, -2.0, 1.0, 0.5]  # text, which Excel shows as it is
    with gzip.open(tmp_path / "o.csv.gz", "rt") as file:
        assert file.read().splitlines()[3] == "'-y,5.0,6,0,1.0"


def test_the_same_labels_are_the_same_file(tmp_path):
    for name in ("a.csv.gz", "b.csv.gz"):
        write_labels(tmp_path / name, [1, 2])
    assert (tmp_path / "a.csv.gz").read_bytes() == (tmp_path / "b.csv.gz").read_bytes()


def test_identifiers_are_harmless_too(capsys):
    write_labels("-", [1, 2, 3], row_ids=["=1+1", "-5", "\tx"])
    assert capsys.readouterr().out.splitlines() == ["id,label", "'=1+1,1", "-5,2", "'\tx,3"]


def test_what_cannot_be_appended_to(tmp_path, table):
    with pytest.raises(FileError, match="has a column called 'a' already"):
        append_labels("-", table, {"a": [1, 2]})
    array = read_points(saved_array(tmp_path / "f.npy"), keep_frame=True)
    with pytest.raises(FileError, match="only be appended to a table"):
        append_labels("-", array, {"cluster": [0] * 4})
    with pytest.raises(FileError, match=r"its name must end in one of \.csv"):
        append_labels(tmp_path / "o.npy", table, {"cluster": [1, 0]})
