"""Points from tables: CSV and its relatives, Parquet, Feather."""

from __future__ import annotations

import csv
import io
import re
import sys
import warnings
from pathlib import Path
from typing import Any

from srsg.files.columns import choose_columns
from srsg.files.contents import Contents, Request
from srsg.files.errors import FileError, needed, parsing
from srsg.files.labels import is_number


def read_text(path: Path, request: Request) -> Contents:
    """CSV, or TSV by the ending."""
    sep = "\t" if path.suffix.lower() == ".tsv" else None
    return _read_bytes(str(path), path.read_bytes(), sep, request)


def read_standard_input(path: object, request: Request) -> Contents:
    """CSV from standard input."""
    data = sys.stdin.buffer.read()
    if not data.strip():
        raise FileError("standard input: is empty.")
    return _read_bytes("standard input", data, None, request)


def read_parquet(path: Path, request: Request) -> Contents:
    """Parquet through pandas."""
    pandas = needed("pandas", "Parquet files")
    needed("pyarrow", "Parquet files")
    with parsing(str(path), "Parquet"):
        frame = pandas.read_parquet(path)
    return choose_columns(str(path), frame, request)


def read_feather(path: Path, request: Request) -> Contents:
    """Feather through pandas."""
    pandas = needed("pandas", "Feather files")
    needed("pyarrow", "Feather files")
    with parsing(str(path), "Feather"):
        frame = pandas.read_feather(path)
    return choose_columns(str(path), frame, request)


def _read_bytes(name: str, data: bytes, sep: str | None, request: Request) -> Contents:
    pandas = needed("pandas", "CSV files")
    text = _decoded(name, data)
    sep, decimal = _separators(text, sep)
    header = _header(text, sep)
    with parsing(name, "CSV"), warnings.catch_warnings():
        warnings.simplefilter("error", pandas.errors.ParserWarning)
        frame = pandas.read_csv(
            io.StringIO(text),
            sep=sep,
            decimal=decimal,
            header=header,
            skipinitialspace=True,
            na_values=["?"],  # as in many files of the UCI repository
            low_memory=False,
            **_exactly(pandas),
        )
    if frame.isna().to_numpy().any():  # pandas fills up lines that are too short
        _check_lengths(name, text, sep)
    frame.columns = [str(column) for column in frame.columns]
    return choose_columns(name, frame, request)


def _exactly(pandas: Any) -> dict[str, str]:
    """Read numbers as Python does, to the last bit: what pandas does by itself since 3.1."""
    version = tuple(int(part) for part in pandas.__version__.split(".")[:2])
    return {} if version >= (3, 1) else {"float_precision": "round_trip"}


def _decoded(name: str, data: bytes) -> str:
    if b"\0" in data[:65536]:
        raise FileError(f"{name}: cannot be read as CSV: it is binary, not text.")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise FileError(f"{name}: cannot be read as CSV: line {line} is not UTF-8 text.") from error


def _separators(text: str, sep: str | None) -> tuple[str, str]:
    """What separates fields, and the decimal point, which is a comma only next to semicolons."""
    lines = text.lstrip("\n\r").split("\n", 2)[:2]
    if sep is None and ";" in lines[0] and all(map(is_number, lines[0].split(";"))):
        sep = ";"
    elif sep is None:
        sep = max(",;\t", key=lines[0].count)
    commas = sep == ";" and any(re.search(r"\d,\d", line) for line in lines)
    return sep, "," if commas else "."


def _header(text: str, sep: str) -> int | None:
    """The line of names; None if the first line is data.

    Numbers are data, except 0, 1, 2, ..., which is what pandas calls nameless columns.
    """
    fields = next(csv.reader(io.StringIO(text.lstrip("\n\r")), delimiter=sep), [])
    if len(fields) > 1 and fields == [str(place) for place in range(len(fields))]:
        return 0
    return None if all(is_number(field) for field in fields) else 0


def _check_lengths(name: str, text: str, sep: str) -> None:
    """Name the first line that is shorter or longer than the second one (the first of data)."""
    reader = csv.reader(io.StringIO(text), delimiter=sep)
    expected: Any = None
    for row in reader:
        if not row:
            continue
        if reader.line_num > 1:
            expected = expected or len(row)
            if len(row) != expected:
                raise FileError(
                    f"{name}: line {reader.line_num} has {len(row)} fields instead of {expected}."
                )
