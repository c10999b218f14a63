"""Tables in text: CSV and its relatives, each column with the type that fits all of its rows.

Arrow splits the text into columns of text and does nothing more. Which cells are missing, and which
are numbers, is decided here by the whole column: a reader that guesses types from the first rows is
wrong further down.
"""

import csv
import io
import re
from collections import Counter
from collections.abc import Sequence
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import csv as arrow_csv

from srsg.files.columns import Frame
from srsg.files.errors import FileError, count_of
from srsg.files.labels import is_number

SEPARATORS = ",;\t|"

MOST_COLUMNS = 100_000
"""Text with more columns is refused: it would take minutes, and usually the line ends are wrong."""

MISSING = pa.array(
    [
        *("", "?", "NA", "N/A", "n/a", "#N/A", "#N/A N/A", "#NA", "<NA>"),
        *("NaN", "nan", "-NaN", "-nan", "NULL", "null", "None"),
        *("1.#IND", "-1.#IND", "1.#QNAN", "-1.#QNAN"),
    ]
)
"""Cells that stand for a missing value: pandas' list, and the question mark of the UCI repository.
"""

DASHES = pa.array(["-", "--", "\N{EN DASH}", "\N{EM DASH}"])


def parse_table(name: str, text: str, sep: str | None = None) -> Frame:
    """The columns of a table in text, typed by all of their values.

    Parameters
    ----------
    name : str
        Name of the file in messages.
    text : str
        The table, decoded.
    sep : str or None
        The separator; None detects it, the decimal point and a header from the first two rows.

    Examples
    --------
    >>> from srsg.files.text_tables import parse_table
    >>> parse_table("flowers", "length;kind\\n1,5;rose\\n").table.to_pylist()
    [{'length': 1.5, 'kind': 'rose'}]
    """
    text, sep = _separated(name, text, sep)
    file = io.StringIO(text, newline="")
    reader = csv.reader(file, delimiter=sep)
    first = next(filter(None, reader), [])
    start, lines_before = file.tell(), reader.line_num
    second = next(filter(None, reader), [])
    has_header = is_header(first, second)
    if has_header:
        names = distinct_names([field.lstrip(" ") for field in first])
    else:
        names, start, lines_before = [str(place) for place in range(len(first))], 0, 0
    # A row with one field more than there are names begins with the name of the row, as R writes
    # it, or ends with a separator.
    longer = has_header and len(second) == len(names) + 1
    raw = _split(name, text[start:], len(names) + longer, sep, lines_before)
    index: list[Any] = []
    if longer and second[-1] == "":
        if not pc.all(pc.equal(raw.pop(), "")).as_py():
            raise FileError(f"{name}: has more columns than names.")
    elif longer:
        index = [typed(raw.pop(0))]
    commas = sep == ";" and _has_decimal_commas([*first, *second], text)
    columns = [typed(column, decimal_comma=commas) for column in raw]
    return Frame(pa.table(columns, names), index, pa.table(raw, names), has_header)


def _separated(name: str, text: str, sep: str | None) -> tuple[str, str]:
    """The text as Arrow can split it, and its separator."""
    # A first line such as sep=; names the separator for Excel. Its line end stays, so that messages
    # count lines as the file does.
    if stated := re.match(rf"sep=([{SEPARATORS}])\r?(?=\n)", text, re.IGNORECASE):
        sep, text = stated[1], text[stated.end() :]
    lines = io.StringIO(text, newline="")
    line = next((line for line in lines if line.strip()), "").rstrip("\r\n")
    n_columns = max(map(line.count, SEPARATORS)) + 1
    if n_columns > MOST_COLUMNS:
        raise FileError(
            f"{name}: its first line has {n_columns} fields, and text with more than "
            f"{MOST_COLUMNS} columns is not read. Save the numbers as .npy, one row per point."
        )
    sep = sep or _likeliest_separator(line)
    # Arrow sees a quote only at the very start of a field.
    return (_without_spaces(text, sep) if f'{sep} "' in text else text), sep


def _likeliest_separator(line: str) -> str:
    if ";" in line and all(map(is_number, line.split(";"))):  # with commas in its numbers
        return ";"
    # Quoted names may contain any of the separators.
    outside_quotes = re.sub(r'"[^"]*"', "", line)
    return max(SEPARATORS, key=outside_quotes.count)


def _has_decimal_commas(fields: list[str], text: str) -> bool:
    """Whether the first fields have decimal commas, or later ones do and there are no points."""
    return any(re.search(r"\d,\d", field) for field in fields) or (
        "." not in text and re.search(r";\d+,\d+\s*[;\n]", text) is not None
    )


def is_header(first: list[str], second: list[str]) -> bool:
    """Whether the first row consists of names: it has words only, or a word above a number.

    A row of numbers is data, except 0, 1, 2, ..., which pandas writes if columns have no names.
    """
    names = first[1:] if first[:1] == [""] else first
    if len(names) > 1 and names == [str(place) for place in range(len(names))]:
        return True
    words = [bool(field.strip()) and not is_number(field) for field in first]
    return all(words) or any(
        word and is_number(below) for word, below in zip(words, second, strict=False)
    )


def n_lines_above(rows: Sequence[Sequence[str]]) -> int:
    """How many of the first rows are a title or remarks: blank, or with a first field only.

    They are only left out if the names of the columns follow, in as many fields as all rows have.

    Examples
    --------
    >>> from srsg.files.text_tables import n_lines_above
    >>> n_lines_above([["Sales of 2024"], [], ["shop", "sales"], ["a", "1.5"], ["b", "2"]])
    2
    """
    filled = [sum(bool(field.strip()) for field in row) for row in rows]
    above = next((place for place, number in enumerate(filled) if number > 1), 0)
    first, *others = [[*row] for row in rows[above:] if any(row)] or [[]]
    # The name of an index may be empty, so that only another field of the row is filled.
    is_title = above and all(not any(map(str.strip, row[1:])) for row in rows[:above])
    fits = bool(others) and all(len(row) == len(first) for row in others[:-1] or others)
    return above if is_title and fits and is_header(first, others[0]) else 0


def distinct_names(names: Sequence[str]) -> list[str]:
    """Fill in missing names and change repeated ones, as pandas does.

    Examples
    --------
    >>> from srsg.files.text_tables import distinct_names
    >>> distinct_names(["a", "", "a"])
    ['a', 'Unnamed: 1', 'a.1']
    """
    taken: dict[str, None] = {}
    there, repeated = set(names), Counter[str]()
    for place, given in enumerate(names):
        name = given or f"Unnamed: {place}"
        while name in taken or (repeated[given] and name in there):
            repeated[given] += 1
            name = f"{given}.{repeated[given]}"
        taken[name] = None
    return list(taken)


def typed(column: Any, *, decimal_comma: bool = False) -> Any:
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
    missing, null = pc.is_in(trimmed, MISSING), pa.scalar(None, pa.string())
    if pc.any(missing).as_py():
        trimmed = pc.if_else(missing, null, trimmed)
    if trimmed.null_count == len(trimmed):
        return pa.chunked_array([pa.nulls(len(trimmed))])
    if pc.any(pc.match_substring_regex(trimmed, r"^0\d+$")).as_py():
        return trimmed  # a code: as a number, 01067 would lose its zero
    if decimal_comma:
        # 1.234 may be a thousand here, so a cell with a point is not a number.
        trimmed = pc.replace_substring(pc.replace_substring(trimmed, ".", "x"), ",", ".")
    # A dash among numbers stands for none; among words it is one of them.
    dashes = pc.is_in(trimmed, DASHES)
    if pc.any(dashes).as_py() and not pc.all(dashes).as_py():
        numbers = typed(pc.if_else(dashes, null, trimmed))
        if not pa.types.is_string(numbers.type):
            return numbers
    # Integers first: as floats, long identifiers would lose digits.
    for kind in (pa.int64(), pa.float64(), pa.bool_()):
        try:
            values = trimmed.cast(kind)
        except pa.ArrowInvalid:
            continue
        if kind != pa.int64():
            return values
        if pc.any(pc.match_substring(trimmed, "x", ignore_case=True)).as_py():
            break  # Arrow reads 0x10 as sixteen
        return values.cast(pa.float64()) if values.null_count else values
    return pc.if_else(missing, null, pc.utf8_ltrim(column, characters=" "))


def _split(name: str, text: str, width: int, sep: str, lines_before: int) -> list[Any]:
    """The columns of the table as text, unless a line is too short or too long."""
    data = text.encode()
    if not data.strip():
        return [pa.chunked_array([[]], pa.string()) for _ in range(width)]
    names = [str(place) for place in range(width)]
    # A line must fit into a block.
    block_size = min(len(data), max(2**22, 8 * (data.find(b"\n") + 1) or len(data))) + 1
    try:
        return arrow_csv.read_csv(
            io.BytesIO(data),
            arrow_csv.ReadOptions(column_names=names, block_size=block_size),
            arrow_csv.ParseOptions(delimiter=sep, newlines_in_values='"' in text),
            arrow_csv.ConvertOptions(
                column_types=dict.fromkeys(names, pa.string()), null_values=[]
            ),
        ).columns
    except pa.ArrowInvalid:
        _check_lengths(name, text, width, sep, lines_before)
        raise


def _without_spaces(text: str, sep: str) -> str:
    """The same table without the spaces before its fields."""
    rewritten = io.StringIO()
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=sep, skipinitialspace=True)
    csv.writer(rewritten, delimiter=sep, lineterminator="\n").writerows(reader)
    return rewritten.getvalue()


def _check_lengths(name: str, text: str, width: int, sep: str, lines_before: int) -> None:
    """Raise an error that names the first line that is too short or too long."""
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=sep)
    for row in reader:
        if row and len(row) != width:
            above = " skip_rows=... leaves out what is above the names of the columns."
            advice = above if width == 1 else ""
            raise FileError(
                f"{name}: line {lines_before + reader.line_num} has "
                f"{count_of(len(row), 'field')} instead of {width}.{advice}"
            )
