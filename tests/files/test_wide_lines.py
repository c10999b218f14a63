"""Text files whose lines do not end are refused at once."""

from __future__ import annotations

import time

import numpy as np
import pytest

from srsg.files import FileError, read_points

MEGABYTES = 50


@pytest.mark.parametrize(
    ("piece", "message"),
    [
        ("0.125,", "first line has .* fields"),
        ("1,5;", "first line has .* fields"),
        ("name\t", "first line has .* fields"),
        ("x", "cannot be read as CSV"),
        ("1", "cannot be read as CSV"),
    ],
)
def test_one_endless_line_takes_seconds(tmp_path, piece, message):
    path = tmp_path / "line.csv"
    path.write_text(piece * (MEGABYTES * 2**20 // len(piece)))
    start = time.perf_counter()
    with pytest.raises(FileError, match=rf"line\.csv: .*{message}"):
        read_points(path)
    assert time.perf_counter() - start < 30


def test_many_columns_are_read_exactly(tmp_path):
    X = np.random.default_rng(0).standard_normal((3, 5000))
    np.savetxt(tmp_path / "wide.csv", X, delimiter=",", fmt="%.17g")
    table = read_points(tmp_path / "wide.csv")
    np.testing.assert_array_equal(table.X, X)
    assert table.feature_names == tuple(map(str, range(5000)))


def test_the_reasons_why_no_column_is_a_feature_are_few(tmp_path):
    (tmp_path / "words.csv").write_text("\n".join([",".join(f"n{j}" for j in range(2000))] * 3))
    with pytest.raises(FileError, match="no column of numbers") as error:
        read_points(tmp_path / "words.csv")
    assert len(str(error.value)) < 1000
