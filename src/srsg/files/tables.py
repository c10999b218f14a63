"""Points from tables: CSV and its relatives, Parquet, Feather, spreadsheets."""

import csv
import gzip
import json
import sys
from dataclasses import replace
from datetime import date, datetime
from importlib import import_module
from pathlib import Path
from typing import Any

import pyarrow as pa

from srsg.files.columns import Frame, choose_columns, frame_of, joined
from srsg.files.contents import Contents, Request
from srsg.files.errors import FileError, count_of, needed, parsing
from srsg.files.guard import limits_for
from srsg.files.kinds import NotANumberError
from srsg.files.text_tables import (
    SEPARATORS,
    distinct_names,
    is_header,
    n_lines_above,
    parse_table,
    typed,
)
from srsg.memory import in_words

GZIP_START = b"\x1f\x8b"
MARKS = {b"\xff\xfe": "utf-16", b"\xfe\xff": "utf-16", b"\xef\xbb\xbf": "utf-8-sig"}
"""The first bytes of text that names its encoding."""

MOST_ABOVE, MOST_LETTERS = 30, 100_000
"""Lines that are looked at for a title above the table, and letters."""


def read_text(path: Path, request: Request) -> Frame:
    """CSV, or TSV by the ending; compressed by gzip or not."""
    data = path.read_bytes()
    if data.startswith(GZIP_START):
        with parsing(path, "gzip"):
            data = gzip.decompress(data)
    sep = "\t" if ".tsv" in path.name.lower() else None
    return _read_bytes(str(path), data, sep, request)


def read_standard_input(path: Path, request: Request) -> Frame:
    """CSV from standard input."""
    most = limits_for(0).memory // 20
    data = sys.stdin.buffer.read(most + 1)
    if len(data) > most:
        raise FileError(f"standard input: is longer than {in_words(most)}; save it as a file.")
    if not data.strip():
        raise FileError("standard input: is empty.")
    return _read_bytes("standard input", data, None, request)


def read_columnar(path: Path, request: Request) -> Frame:
    """Parquet, or Feather of both versions, by the ending."""
    kind = path.suffix.lower().removeprefix(".")
    # Of a path, Arrow would also read the names of the folders.
    with parsing(path, kind.title()), path.open("rb") as file:
        return frame_of(import_module(f"pyarrow.{kind}").read_table(file))


def read_excel(path: Path, request: Request) -> Frame:
    """A sheet of a spreadsheet of Excel, old or new, or of OpenDocument."""
    rows, notes = _sheet(path, request.variable)
    rows = rows[request.skip_rows :]
    if not rows:
        raise FileError(f"{path}: has no rows after the first {request.skip_rows}.")
    if not request.skip_rows:
        above = n_lines_above([[_text(cell) for cell in row] for row in rows[:MOST_ABOVE]])
        notes += _note_on_title(above, _text(rows[0][0]))
        rows = rows[above:]
    first, second = ([_text(cell) for cell in row] for row in (*rows, [])[:2])
    has_header = is_header(first, second)
    names = distinct_names(first) if has_header else [str(place) for place in range(len(first))]
    columns = [_column(list(cells)) for cells in zip(*rows[has_header:], strict=True)]
    table = pa.table(columns or [pa.nulls(0)] * len(names), names)
    return Frame(table, has_header=has_header, notes=notes)


def read_json(path: Path, request: Request) -> Frame:
    """JSON: a list of objects, one per row, or an object of columns; or an object in each line."""
    with parsing(path, "JSON"):
        data = path.read_bytes().decode("utf-8-sig")
        if path.suffix.lower() == ".jsonl":
            found: Any = [json.loads(line) for line in data.splitlines() if line.strip()]
        else:
            found = json.loads(data)
        if isinstance(found, list) and found and all(isinstance(row, dict) for row in found):
            names = dict.fromkeys(name for row in found for name in row)
            found = {name: [row.get(name) for row in found] for name in names}
        if not isinstance(found, dict) or not all(isinstance(c, list) for c in found.values()):
            raise FileError(f"{path}: is not a table: a list with one object per row is expected.")
        table = pa.table({name: pa.chunked_array([cells]) for name, cells in found.items()})
    frame = frame_of(table)
    columns = [typed(c) if pa.types.is_string(c.type) else c for c in frame.table.columns]
    return Frame(pa.table(columns, table.column_names))


def _read_bytes(name: str, data: bytes, sep: str | None, request: Request) -> Frame:
    text = _decoded(name, data, request.encoding)
    if not text.strip():
        raise FileError(f"{name}: cannot be read as CSV: it is blank.")
    skipped, notes = request.skip_rows, tuple[str, ...]()
    if not skipped:
        start = text.lstrip().split("\n", 1)[0].strip().strip(SEPARATORS)
        skipped = _n_title_lines(text, sep)
        notes = _note_on_title(skipped, start)
    if skipped:
        # Their line ends stay, so that messages count lines as the file does.
        lines = text.split("\n", skipped)
        text = "\n" * skipped + (lines[-1] if len(lines) > skipped else "")
        if not text.strip():
            raise FileError(f"{name}: has no lines after the first {skipped}.")
    with parsing(name, "CSV"):
        return replace(parse_table(name, text, sep), notes=notes)


def _n_title_lines(text: str, sep: str | None) -> int:
    """How many lines of a text are above the names of the columns, blank ones included."""
    lines = text[:MOST_LETTERS].split("\n")[:MOST_ABOVE]
    for separator in (sep or SEPARATORS) if len(lines) > 2 else ():
        rows = [next(csv.reader([line.rstrip("\r")], delimiter=separator), []) for line in lines]
        if above := n_lines_above(rows):
            return above
    return 0


def _note_on_title(n_lines: int, start: str) -> tuple[str, ...]:
    if not n_lines:
        return ()
    return (f"{count_of(n_lines, 'line')} above the table left out: {start[:40]!r}",)


def chosen(name: str, frames: list[Frame], request: Request) -> Contents:
    """What is used of one table, or of several as one."""
    frame = joined(name, frames)
    try:
        return _choose(name, frame, request)
    except NotANumberError:
        raise
    except FileError as error:
        # The right sheet may be another one.
        sheets = " ".join(note for note in frame.notes if note.startswith("sheet "))
        raise FileError(f"{error} {sheets}".rstrip()) from error


def _choose(name: str, frame: Frame, request: Request) -> Contents:
    """Choose columns by name, or by position if the file or the model has no names."""
    if request.features is not None:
        numbered = all(feature.isdecimal() for feature in request.features)
        if frame.has_header == numbered and request.rules is not None:
            raise FileError(
                f"{name}: the model knows its columns by {'number' if numbered else 'name'}: "
                f"{'remove' if numbered else 'add'} the line of names."
            )
        if frame.has_header == numbered:
            request = replace(request, features=None)
    if frame.has_header:
        return choose_columns(name, frame, request)
    note = f"no header: columns are called 0 to {frame.table.num_columns - 1}"
    try:
        return choose_columns(name, replace(frame, notes=(*frame.notes, note)), request)
    except NotANumberError as error:
        raise FileError(
            f"{error} The first row was not taken for the names of the columns: if there is "
            "something above them, skip_rows=... leaves it out, or remove it."
        ) from error


def _decoded(name: str, data: bytes, encoding: str | None) -> str:
    marked = next((kind for mark, kind in MARKS.items() if data.startswith(mark)), None)
    if not encoding and not marked and b"\0" in data[:65536]:
        raise FileError(f"{name}: cannot be read as CSV: it is binary, not text.")
    codec = encoding or marked or "utf-8"
    try:
        return data.decode(codec).removeprefix("\ufeff")
    except LookupError as error:
        raise FileError(f"encoding={codec!r} is not an encoding that Python knows.") from error
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        advice = "" if encoding else "; name its encoding, for instance encoding='latin-1'"
        raise FileError(
            f"{name}: cannot be read as CSV: line {line} is not {codec.upper()} text{advice}."
        ) from error


def _sheet(path: Path, name: str | None) -> tuple[list[list[Any]], tuple[str, ...]]:
    """The rows of the sheet of this name, or the first that has cells; and notes for the user."""
    calamine = needed("python_calamine", "Spreadsheets need python-calamine", "cli")
    with parsing(path, "a spreadsheet"), calamine.CalamineWorkbook.from_path(str(path)) as book:
        sheets = book.sheet_names
        if name is not None and name not in sheets:
            there = ", ".join(sheets)
            raise FileError(f"{path}: has no sheet called {name!r}. It has {there}.")
        for sheet in sheets if name is None else [name]:
            cells = book.get_sheet_by_name(sheet).to_python()
            rows = [row for row in cells if any(cell != "" for cell in row)]
            if rows:
                break
    if not sheets or not rows:
        raise FileError(f"{path}: has no rows.")
    if name is not None or len(sheets) == 1:
        return rows, ()
    others = ", ".join(other for other in sheets if other != sheet)
    return rows, (f"sheet {sheet} is read, not {others}; variable=... names another",)


def _text(cell: Any) -> str:
    if isinstance(cell, float) and cell.is_integer():
        cell = int(cell)
    return str(cell).strip()


def _column(cells: list[Any]) -> Any:
    """A column typed by all of its cells: dates, fractions, or what its text would be."""
    kinds = {type(cell) for cell in cells if cell != ""}
    if kinds and kinds <= {date, datetime}:
        # Some cells may have a time of day, and some not.
        moments = [None if cell == "" else datetime.fromisoformat(str(cell)) for cell in cells]
        return pa.chunked_array([pa.array(moments, pa.timestamp("us"))])
    if kinds == {float} and not all(cell == "" or cell.is_integer() for cell in cells):
        return pa.chunked_array([[None if cell == "" else cell for cell in cells]], pa.float64())
    return typed(pa.chunked_array([[_text(cell) for cell in cells]], pa.string()))
