"""Tables in text: the columns of CSV and its relatives, each with the one type that all its rows
have.

Arrow splits the text into columns of text and nothing more. What is missing, what is a number and
what is not is decided here, by the whole column: a reader that guesses types from the first rows
is wrong further down.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import csv as arrow_csv

from srsg.files.dialects import Dialect
from srsg.files.errors import FileError, count_of, parsing
from srsg.files.frames import Frame

MISSING = pa.array(
    [
        *("", "?", "NA", "N/A", "n/a", "#N/A", "#N/A N/A", "#NA", "<NA>"),
        *("NaN", "nan", "-NaN", "-nan", "NULL", "null", "None"),
        *("1.#IND", "-1.#IND", "1.#QNAN", "-1.#QNAN"),
    ]
)
"""Cells that stand for a missing value: pandas' list, and the question mark of the UCI repository.
"""

TRUE, FALSE = pa.array(["True", "TRUE", "true"]), pa.array(["False", "FALSE", "false"])


def parse_table(name: str, text: str, dialect: Dialect) -> Frame:
    """The columns of a table in text, typed by all of their values.

    Parameters
    ----------
    name : str
        What messages call the file.
    text : str
        The table, decoded.
    dialect : Dialect
        As found by :func:`srsg.files.dialects.dialect_of`.
    """
    if f'{dialect.sep} "' in text:  # a quote counts only at the start of a field, for Arrow
        text = _without_spaces(text, dialect.sep)
    names, first, start, lines_before = _first_lines(name, text, dialect)
    table, ragged = _split(name, text[start:], names, dialect.sep)
    if ragged:
        _check_lengths(name, text[start:], dialect.sep, len(names), lines_before)
    raw = table.columns
    if dialect.ends_with_sep:
        if not pc.all(pc.equal(raw[-1], "")).as_py():
            raise FileError(f"{name}: has more columns than names.")
        raw, names = raw[:-1], names[:-1]
    columns = [typed(column, dialect.decimal) for column in raw]
    if first:  # the names of the rows, which have no name themselves
        return Frame(tuple(names[1:]), columns[1:], columns[:1], raw[1:])
    return Frame(tuple(names), columns, [], raw)


def typed(column: Any, decimal: str = ".") -> Any:
    """A column of text as integers, floats, truth values or text, whichever fits all of its cells.

    Examples
    --------
    >>> import pyarrow as pa
    >>> from srsg.files.text_tables import typed
    >>> str(typed(pa.chunked_array([["1", "?", "2"]])).type)
    'double'
    >>> str(typed(pa.chunked_array([["1", "x", "2"]])).type)
    'string'
    """
    trimmed = pc.utf8_trim_whitespace(column)
    missing = pc.is_in(trimmed, MISSING)
    gaps = pc.any(missing).as_py()
    if gaps and pc.all(missing).as_py():
        return pa.chunked_array([pa.nulls(len(column))])
    if gaps:
        trimmed = pc.if_else(missing, pa.scalar(None, pa.string()), trimmed)
    numbers = _numbers(trimmed, decimal, gaps)
    if numbers is not None:
        return numbers
    true = pc.is_in(trimmed, TRUE)
    known = pc.or_(true, pc.is_in(trimmed, FALSE))
    if pc.all(pc.or_(known, pc.is_null(trimmed))).as_py():
        return pc.if_else(pc.is_null(trimmed), pa.scalar(None, pa.bool_()), true)
    text = pc.utf8_ltrim(column, characters=" ")
    return pc.if_else(missing, pa.scalar(None, pa.string()), text) if gaps else text


def _numbers(text: Any, decimal: str, gaps: bool) -> Any | None:
    """Trimmed text as numbers, None if some of it is not; integers with gaps become floats."""
    if decimal == ",":
        # 1.234 may be a thousand here, so a cell with a point is not a number.
        text = pc.replace_substring(pc.replace_substring(text, ".", "x"), ",", ".")
    # Integers first: as floats, long identifiers would lose digits.
    for kind in (pa.int64(), pa.float64()):
        try:
            found = pc.cast(text, kind)
        except pa.ArrowInvalid:
            continue
        if kind == pa.int64() and pc.any(pc.match_substring(text, "x", ignore_case=True)).as_py():
            return None  # Arrow reads 0x10 as sixteen
        return pc.cast(found, pa.float64()) if gaps else found
    return None


def _first_lines(name: str, text: str, dialect: Dialect) -> tuple[list[str], bool, int, int]:
    """The names of all columns, whether the first has the names of the rows, and where data start.

    That place is given in characters and in lines.
    """
    blank = len(text) - len(text.lstrip("\r\n"))
    reader = csv.reader(io.StringIO(text[blank:], newline=""), delimiter=dialect.sep)
    with parsing(name, "CSV"):
        top = next(reader, [])
        if not dialect.has_header:
            return [str(place) for place in range(len(top))], False, blank, text[:blank].count("\n")
        lines = reader.line_num
        second = next((row for row in reader if row), [])
    names = distinct_names([field.lstrip(" ") for field in top])
    start = blank
    for _ in range(lines):
        start = text.find("\n", start) + 1 or len(text)
    lines += text[:blank].count("\n")
    if dialect.ends_with_sep:
        # No header can have this name.
        return [*names, "\0"], False, start, lines
    if len(second) == len(names) + 1:  # the names of the rows come first, as R writes them
        return ["\0", *names], True, start, lines
    return names, False, start, lines


def distinct_names(names: Sequence[str]) -> list[str]:
    """Names for columns without one, and other names for columns that share one, as in pandas."""
    found: list[str] = []
    taken = set(names)
    for place, given in enumerate(names):
        name, again = given or f"Unnamed: {place}", 0
        while name in found or (again and name in taken):
            again += 1
            name = f"{given}.{again}"
        found.append(name)
    return found


def _split(name: str, text: str, names: Sequence[str], sep: str) -> tuple[Any, bool]:
    """The table as columns of text, and whether lines were too short or too long."""
    ragged: list[int] = []

    def skip(row: Any) -> str:
        ragged.append(row.actual_columns)
        return "skip"

    data = text.encode()
    if not data.strip():
        return pa.table({column: pa.array([], pa.string()) for column in names}), False
    places = [str(place) for place in range(len(names))]  # given names may look alike to Arrow
    with parsing(name, "CSV"):
        table = arrow_csv.read_csv(
            io.BytesIO(data),
            read_options=arrow_csv.ReadOptions(
                column_names=places,
                # A line must fit into a block.
                block_size=min(len(data), max(2**22, 8 * (data.find(b"\n") + 1) or len(data))) + 1,
            ),
            parse_options=arrow_csv.ParseOptions(
                delimiter=sep, newlines_in_values='"' in text, invalid_row_handler=skip
            ),
            convert_options=arrow_csv.ConvertOptions(
                column_types=dict.fromkeys(places, pa.string()), null_values=[]
            ),
        )
    return table.rename_columns(list(names)), bool(ragged)


def _without_spaces(text: str, sep: str) -> str:
    """The same table without the spaces before its fields."""
    rewritten = io.StringIO()
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=sep, skipinitialspace=True)
    csv.writer(rewritten, delimiter=sep, lineterminator="\n").writerows(reader)
    return rewritten.getvalue()


def _check_lengths(name: str, text: str, sep: str, expected: int, lines_before: int) -> None:
    """Raise an error that names the first line that is shorter or longer than it should be."""
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=sep)
    for row in reader:
        if row and len(row) != expected:
            advice = " Remove what is above the names of the columns." if expected == 1 else ""
            raise FileError(
                f"{name}: line {lines_before + reader.line_num} has "
                f"{count_of(len(row), 'field')} instead of {expected}.{advice}"
            )
    raise FileError(f"{name}: cannot be read as CSV: its lines differ in length.")
