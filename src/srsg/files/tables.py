"""Points from tables: CSV and its relatives, Parquet, Feather, spreadsheets."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path

from srsg.files import excel
from srsg.files.columns import NotANumberError, all_numbers, choose_columns
from srsg.files.contents import Contents, Request
from srsg.files.dialects import SEPARATORS, dialect_of, stated_separator
from srsg.files.errors import FileError, parsing
from srsg.files.frames import Frame, frame_of
from srsg.files.text_tables import parse_table
from srsg.files.unpacking import check_size, from_gzip

MOST_COLUMNS = 100_000
"""Text files with more columns are refused: they would take minutes, and usually it is the line
ends that are wrong."""

MARKS = {b"\xff\xfe": "utf-16", b"\xfe\xff": "utf-16", b"\xef\xbb\xbf": "utf-8-sig"}
"""The first bytes of text that names its encoding."""


def read_text(path: Path, request: Request) -> Contents:
    """CSV, or TSV by the ending; compressed by gzip or not."""
    data = path.read_bytes()
    if data.startswith(b"\x1f\x8b"):
        data = from_gzip(str(path), data)
    sep = "\t" if ".tsv" in path.name.lower() else None
    return _read_bytes(str(path), data, sep, request)


def read_standard_input(path: object, request: Request) -> Contents:
    """CSV from standard input."""
    data = sys.stdin.buffer.read()
    if not data.strip():
        raise FileError("standard input: is empty.")
    return _read_bytes("standard input", data, None, request)


def read_parquet(path: Path, request: Request) -> Contents:
    """Parquet."""
    from pyarrow import parquet

    with parsing(str(path), "Parquet"), parquet.ParquetFile(path) as file:
        # One value that is repeated a million times takes a few bytes there.
        numbers = file.metadata.num_rows * file.metadata.num_columns
        check_size(str(path), path.stat().st_size, 8 * numbers)
        frame = frame_of(file.read())
    return choose_columns(str(path), frame, request)


def read_feather(path: Path, request: Request) -> Contents:
    """Feather, of both versions."""
    from pyarrow import feather

    with parsing(str(path), "Feather"):
        frame = frame_of(feather.read_table(path))
    return choose_columns(str(path), frame, request)


def read_excel(path: Path, request: Request) -> Contents:
    """A sheet of a spreadsheet."""
    sheet = excel.read_sheet(path, request.variable)
    found = _choose(str(path), sheet.frame, sheet.has_header, request)
    return replace(found, notes=(*sheet.notes, *found.notes))


def _read_bytes(name: str, data: bytes, sep: str | None, request: Request) -> Contents:
    text = _decoded(name, data, request.encoding)
    if not text.strip():
        raise FileError(f"{name}: cannot be read as CSV: it is blank.")
    _check_width(name, text)
    stated, text = stated_separator(text)
    with parsing(name, "CSV"):
        dialect = dialect_of(text, stated or sep)
        frame = parse_table(name, text, dialect)
    return _choose(name, frame, dialect.has_header, request)


def _choose(name: str, frame: Frame, has_header: bool, request: Request) -> Contents:
    if request.features is not None and has_header == all_numbers(request.features):
        request = replace(request, features=None)  # one of the two has no names: the order counts
    try:
        found = choose_columns(name, frame, request)
    except NotANumberError as error:
        if has_header:
            raise
        raise FileError(
            f"{error} The first row was not taken for the names of the columns: if there is "
            "something above them, remove it."
        ) from error
    if has_header:
        return found
    note = f"no header: columns are called 0 to {len(frame.names) - 1}"
    return replace(found, notes=(note, *found.notes))


def _decoded(name: str, data: bytes, encoding: str | None) -> str:
    known = encoding or next((kind for mark, kind in MARKS.items() if data.startswith(mark)), None)
    if known is None and b"\0" in data[:65536]:
        raise FileError(f"{name}: cannot be read as CSV: it is binary, not text.")
    try:
        return data.decode(known or "utf-8").removeprefix("\ufeff")
    except LookupError as error:
        raise FileError(f"encoding={known!r} is not an encoding that Python knows.") from error
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        advice = "" if encoding else "; name its encoding, for instance encoding='latin-1'"
        raise FileError(
            f"{name}: cannot be read as CSV: line {line} is not {(known or 'utf-8').upper()} text"
            f"{advice}."
        ) from error


def _check_width(name: str, text: str) -> None:
    """Refuse a first line that no table has: every column takes time, however short it is."""
    start = len(text) - len(text.lstrip())
    end = text.find("\n", start)
    first = text[start:] if end < 0 else text[start:end]
    n_columns = max(first.count(separator) for separator in SEPARATORS) + 1
    if n_columns > MOST_COLUMNS:
        raise FileError(
            f"{name}: its first line has {n_columns} fields, and text with more than "
            f"{MOST_COLUMNS} columns is not read. Save the numbers as .npy, one row per point."
        )
