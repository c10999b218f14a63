"""Columns that are not plain numbers: what they become, and how that is undone."""

from __future__ import annotations

import datetime
import json

import numpy as np
import pyarrow as pa
import pyarrow.parquet
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import skew
from sklearn.cluster import KMeans

from srsg import SRSG, PreparedClusterer
from srsg.files import FileError, read_points
from srsg.files.kinds import _date_format, _number, _skewness
from srsg.files.rules import ColumnRule, undone_columns
from srsg.persistence import load_model, save_model
from support.file_samples import text

RNG = np.random.default_rng(0)
N = 60
COLOURS = np.array(["red", "blue", "green"])[np.arange(N) % 3]
DAYS = [datetime.date(2020, 1, 1) + datetime.timedelta(17 * row) for row in range(N)]


def table_of(tmp_path, read=None, name="f.csv", **columns):
    rows = zip(*columns.values(), strict=True)
    lines = [",".join(columns), *(",".join(f'"{cell}"' for cell in row) for row in rows)]
    return read_points(text(tmp_path / name, "\n".join(lines) + "\n"), **(read or {}))


def numbers():
    return RNG.normal(size=N).round(3)


def test_categories_and_dates_become_numbers_and_are_undone(tmp_path):
    table = table_of(tmp_path, a=numbers(), colour=COLOURS, day=DAYS)
    assert table.feature_names[:4] == ("a", "colour = blue", "colour = green", "colour = red")
    assert table.is_mixed
    _, colour, day = undone_columns(table.rules, table.X)
    assert [table.rules[1].shown(code) for code in colour] == COLOURS.tolist()
    assert [table.rules[2].shown(value) for value in day] == [str(date) for date in DAYS]
    assert table.notes == (
        "used as categories: colour (3 values)",
        "used as dates: day (time, season, week)",
    )


@pytest.mark.parametrize(
    "form", ["%Y-%m-%d", "%d.%m.%Y", "%m/%d/%Y", "%Y/%m/%d", "%d %b %Y", "%B %d, %Y", "%d.%m.%y"]
)
def test_forms_of_dates(tmp_path, form):
    table = table_of(tmp_path, a=numbers(), day=[day.strftime(form) for day in DAYS])
    expected = [(day - datetime.date(1970, 1, 1)).days for day in DAYS]
    np.testing.assert_array_equal(table.X[:, 1], expected)


def test_dates_of_parquet_with_times_and_zones(tmp_path):
    moments = pa.array([datetime.datetime(2024, 1, 1 + row % 9, row % 24) for row in range(N)])
    zoned = moments.cast(pa.timestamp("us", "UTC"))
    columns = {"a": numbers(), "t": moments, "z": zoned}
    pyarrow.parquet.write_table(pa.table(columns), tmp_path / "f.parquet")
    table = read_points(tmp_path / "f.parquet")
    assert [rule.cycles for rule in table.rules[1:]] == [("hour",)] * 2
    np.testing.assert_array_equal(*np.split(table.X[:, 1:], 2, axis=1))
    assert table.rules[1].shown(table.X[3, 1]) == "2024-01-04 03:00"


@pytest.mark.parametrize("kind", [pa.list_(pa.float32()), pa.list_(pa.float32(), 5)])
def test_vectors_in_parquet_are_the_features(tmp_path, kind):
    X = RNG.normal(size=(N, 5)).astype(np.float32)
    columns = {"a": numbers(), "e": pa.array(X.tolist(), kind), "kind": COLOURS}
    pyarrow.parquet.write_table(pa.table(columns), tmp_path / "f.parquet")
    table = read_points(tmp_path / "f.parquet", labels="kind")
    np.testing.assert_array_equal(table.X, X)
    assert table.X.dtype == np.float32
    assert table.notes == (
        "column a set aside: only e is used",
        "used as vectors: e (5 numbers)",
    )
    both = read_points(tmp_path / "f.parquet", labels="kind", columns=["a", "e"])
    assert both.X.shape == (N, 6)
    columns["e"] = pa.array([[1.0] * (row % 2 + 1) for row in range(N)])
    pyarrow.parquet.write_table(pa.table(columns), tmp_path / "g.parquet")
    assert (
        "column e set aside: lists of different lengths"
        in read_points(tmp_path / "g.parquet", labels="kind").notes
    )
    with pytest.raises(FileError, match="column e does not hold 5 numbers a row"):
        read_points(tmp_path / "g.parquet", rules=table.rules)


@pytest.mark.parametrize(
    ("name", "values", "reason"),
    [
        ("zip", RNG.integers(10000, 99999, N // 2).tolist() * 2, "a code, not a quantity"),
        ("PostalCode", RNG.integers(10000, 99999, N // 2).tolist() * 2, "a code, not a quantity"),
        ("place", [f"{row % 30:05}" for row in range(N)], "a code, not a quantity"),
        ("phone", [f"030 {row:03} 111" for row in range(N)], "a code, not a quantity"),
        ("year", [1990 + row % 7 for row in range(N)], "a year, as a label"),
        ("remark", [f"words {row // 2}" for row in range(N)], "text with 30 different values"),
        ("unit", ["cm"] * N, "the same in all rows"),
        ("class", COLOURS, "it may hold the classes; labels='class' compares them"),
    ],
)
def test_what_is_no_quantity_is_set_aside(tmp_path, name, values, reason):
    table = table_of(tmp_path, a=numbers(), **{name: values})
    assert table.notes == (f"column {name} set aside: {reason}",)
    assert table.rules is None
    used = table_of(tmp_path, {"treat": {name: "category"}}, a=numbers(), **{name: values})
    assert used.rules[1].kind == "category"


@pytest.mark.parametrize("name", ["humidity", "zipper", "year built", "years"])
def test_names_that_only_begin_like_codes_are_quantities(tmp_path, name):
    table = table_of(tmp_path, a=numbers(), **{name: [1990 + row % 7 for row in range(N)]})
    assert table.feature_names == ("a", name)


def test_long_tails_become_logarithms_and_back(tmp_path):
    amounts = np.exp(np.random.default_rng(1).normal(8, 1.7, N)).round(2)
    table = table_of(tmp_path, a=numbers(), income=amounts, price=[f"€{a:,.2f}" for a in amounts])
    assert "replaced by logarithms, for their long tails: income, price" in table.notes
    for column in undone_columns(table.rules, table.X)[1:]:
        np.testing.assert_allclose(column, amounts, rtol=1e-12)
    assert abs(table.X[:, 1]).max() < 10
    plain = table_of(tmp_path, {"treat": {"income": "number"}}, a=numbers(), income=amounts)
    np.testing.assert_array_equal(plain.X[:, 1], amounts)
    wide = {f"x{j}": amounts for j in range(101)}
    assert table_of(tmp_path, **wide).rules is None


def test_a_dash_among_numbers_is_missing_and_among_words_is_a_word(tmp_path):
    table = table_of(
        tmp_path, {"keep_missing": True}, a=["-", *numbers()[1:]], strand=["+", "-"] * (N // 2)
    )
    assert np.isnan(table.X[:, 0]).nonzero()[0].tolist() == [0]
    assert table.rules[1].levels == ("+", "-")


def test_missing_and_unknown_categories(tmp_path):
    table = table_of(tmp_path, a=numbers(), colour=["", *COLOURS[1:]])
    assert table.rules[1].levels == ("blue", "green", "red", "(missing)")
    assert table.X[0, 1:].tolist() == [0, 0, 0, 1]
    new = table_of(tmp_path, {"rules": table.rules}, "n.csv", colour=["red", "pink"], a=[1, 2])
    assert new.X[:, 1:].tolist() == [[0, 0, 1, 0], [0, 0, 0, 0]]


def test_the_rules_of_a_model_hold_for_other_files(tmp_path):
    table = table_of(
        tmp_path, a=numbers(), price=[f"€{row}.{row:03},50" for row in range(1, N + 1)]
    )
    new = table_of(tmp_path, {"rules": table.rules}, "n.csv", price=["€1.500"], a=[1])
    assert new.X.tolist() == [[1, 1500]]  # alone, it might be one and a half
    with pytest.raises(FileError, match=r"columns are not those of the model .missing: price"):
        table_of(tmp_path, {"rules": table.rules}, "n.csv", a=[1])
    with pytest.raises(FileError, match="knows its columns by name: add the line of names"):
        read_points(text(tmp_path / "n.csv", "1,2\n3,4\n"), rules=table.rules)
    dated = table_of(tmp_path, a=numbers(), day=DAYS)
    with pytest.raises(FileError, match=r"column day, row 0 .*'31.12.2024' is not a date like"):
        table_of(tmp_path, {"rules": dated.rules}, "n.csv", a=[1], day=["31.12.2024"])


def test_what_a_user_asks_for_must_be_possible(tmp_path):
    with pytest.raises(FileError, match="column colour cannot be treated as dates"):
        table_of(tmp_path, {"treat": {"colour": "date"}}, a=numbers(), colour=COLOURS)
    with pytest.raises(FileError, match=r"column colour, row 0 .*'red' is not a number"):
        table_of(tmp_path, {"treat": {"colour": "number"}}, a=numbers(), colour=COLOURS)
    with pytest.raises(FileError, match="no column called 'size'"):
        table_of(tmp_path, {"treat": {"size": "number"}}, a=numbers(), colour=COLOURS)
    left = table_of(tmp_path, {"treat": {"colour": "ignore"}}, a=numbers(), colour=COLOURS)
    assert left.notes == ("column colour set aside: as you asked",)


def test_a_file_of_another_form_is_read_or_named(tmp_path):
    dated = table_of(tmp_path, a=numbers(), day=DAYS)
    columns = {"a": [1.0], "day": pa.array([DAYS[3]])}
    pyarrow.parquet.write_table(pa.table(columns), tmp_path / "f.parquet")
    new = read_points(tmp_path / "f.parquet", rules=dated.rules)
    np.testing.assert_array_equal(new.X[0, 1:], dated.X[3, 1:])
    with pytest.raises(FileError, match="column day, row 0"):
        table_of(tmp_path, {"rules": dated.rules}, "n.csv", a=[1], day=[3.5])
    coloured = table_of(tmp_path, a=numbers(), colour=COLOURS)
    pyarrow.parquet.write_table(pa.table({"a": [1.0], "colour": [["red"]]}), tmp_path / "g.parquet")
    with pytest.raises(FileError, match="column colour cannot be used"):
        read_points(tmp_path / "g.parquet", rules=coloured.rules)
    with pytest.raises(ValueError, match=r"treat={'a': 'colour'} names no kind of column"):
        table_of(tmp_path, {"treat": {"a": "colour"}}, a=numbers(), b=numbers())


def test_huge_numbers_have_tails_too(tmp_path):
    table = table_of(tmp_path, a=10.0 ** np.linspace(0, 307, N), b=["(missing)", "", "x", "y"] * 15)
    assert table.rules[0].unit > 0
    assert table.rules[1].levels == ("(missing)", "x", "y")


def test_every_column_of_a_file_has_the_same_weight(tmp_path):
    table = table_of(tmp_path, a=1e6 * numbers(), colour=COLOURS, day=DAYS)
    model = PreparedClusterer(KMeans(2, n_init=1), scale="standard", rules=table.rules)
    variance = model.fit(table.X).prepared(table.X).var(axis=0)
    np.testing.assert_allclose([variance[0], variance[1:4].sum(), variance[4:].sum()], 1.0)
    np.testing.assert_allclose(variance[4], 1 / 3)  # time, season and week share one weight


def test_a_model_keeps_its_rules(tmp_path):
    table = table_of(tmp_path, a=numbers(), colour=COLOURS, day=DAYS)
    clusterer = SRSG(2, affine=True, random_state=0)
    model = PreparedClusterer(clusterer, scale="standard", rules=table.rules).fit(table.X)
    save_model(model, tmp_path / "m.srsg")
    loaded = load_model(tmp_path / "m.srsg")
    assert loaded.rules == table.rules
    np.testing.assert_array_equal(loaded.predict(table.X), model.predict(table.X))
    with pytest.raises(ValueError, match="rules make 9 columns, and X has 2"):
        model.fit(table.X[:, :2])


values = st.lists(st.floats(0, 1e9), min_size=1, max_size=9)


@given(values, st.floats(1e-3, 1e6), st.lists(st.integers(-1, 2), min_size=1, max_size=9))
def test_rules_are_reversible(amounts, unit, codes):
    rule = ColumnRule("a", unit=unit)
    found = rule.undone(rule.encoded(np.array(amounts)))
    np.testing.assert_allclose(found, amounts, rtol=1e-9, atol=1e-9 * unit)
    level = ColumnRule("c", "category", levels=("x", "y", "z"))
    assert level.undone(level.encoded(np.array(codes))).tolist() == codes
    for kept in (rule, level):
        assert json.loads(json.dumps(vars(kept)))["column"] == kept.column


def test_a_date_goes_round_with_its_cycles():
    rule = ColumnRule("day", "date", cycles=("week",))
    days, sine, cosine = rule.encoded(np.array([7.0, 8.75, 10.5, 14.0])).T
    np.testing.assert_array_equal(days, [7, 8.75, 10.5, 14])
    np.testing.assert_allclose(sine, [0, 1, 0, 0], atol=1e-12)
    np.testing.assert_allclose(cosine, [1, 0, -1, 1], atol=1e-12)


def test_skewness_is_that_of_scipy():
    numbers = np.random.default_rng(0).lognormal(size=50)
    assert _skewness(numbers) == pytest.approx(skew(numbers))


def test_the_unit_of_a_logarithm_is_found_among_positive_numbers():
    """Zeros, of which there may be many, have no logarithm."""
    positive = np.random.default_rng(0).lognormal(sigma=2.0, size=200)
    rule = _number("price", np.append(positive, np.zeros(12)))
    assert rule.unit == np.quantile(positive, 0.05)


def test_dates_may_be_missing_and_end_with_the_year_2199():
    def form_of(*cells):
        return _date_format(pa.chunked_array([cells], pa.string()))

    assert form_of("2024-01-31", None, "2199-12-31") == "ISO"
    assert form_of("1000-01-01") == "ISO"
    assert form_of("2024-01-31", "2200-01-01") is None
    assert form_of("0999-12-31") is None
    assert form_of("2024-01-31", "soon") is None
    assert form_of(None) is None
