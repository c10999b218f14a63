"""Points from tables: CSV and its relatives, Parquet, Feather."""

from __future__ import annotations

import csv
import io
import sys
import warnings
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

from srsg.files.columns import all_numbers, choose_columns
from srsg.files.contents import Contents, Request
from srsg.files.dialects import dialect_of
from srsg.files.errors import FileError, needed, parsing

MOST_COLUMNS = 100_000
"""More are refused in text files: they would take minutes, and usually the line ends are wrong."""


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
    _check_width(name, text)
    with parsing(name, "CSV"), warnings.catch_warnings():
        dialect = dialect_of(text, sep)
        warnings.simplefilter("error", pandas.errors.ParserWarning)
        frame = pandas.read_csv(
            io.StringIO(text),
            sep=dialect.sep,
            decimal=dialect.decimal,
            header=0 if dialect.has_header else None,
            index_col=False if dialect.ends_with_sep else None,
            skipinitialspace=True,
            na_values=["?"],  # as in many files of the UCI repository
            low_memory=False,
            **_exactly(pandas),
        )
    if frame.isna().to_numpy().any():  # pandas fills lines that are too short with gaps
        _check_lengths(name, text, dialect.sep)
    if request.features is not None and dialect.has_header == all_numbers(request.features):
        request = replace(request, features=None)  # one of the two has no names: the order counts
    found = choose_columns(name, frame, request)
    if dialect.has_header:
        return found
    note = f"no header: columns are called 0 to {frame.shape[1] - 1}"
    return replace(found, notes=(note, *found.notes))


def _exactly(pandas: Any) -> dict[str, str]:
    """Read numbers as Python does, to the last bit, as pandas does by default since 3.1."""
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


def _check_width(name: str, text: str) -> None:
    """Refuse a first line that no table has: every column takes time, however short it is."""
    start = len(text) - len(text.lstrip())
    end = text.find("\n", start)
    first = text[start:] if end < 0 else text[start:end]
    n_columns = max(first.count(separator) for separator in ",;\t") + 1
    if n_columns > MOST_COLUMNS:
        raise FileError(
            f"{name}: its first line has {n_columns} fields, and text with more than "
            f"{MOST_COLUMNS} columns is not read. Save the numbers as .npy, one row per point."
        )


def _check_lengths(name: str, text: str, sep: str) -> None:
    """Raise an error that names the first line that is shorter or longer than most."""
    reader = csv.reader(io.StringIO(text), delimiter=sep)
    rows = [(reader.line_num, len(row)) for row in reader if row][1:]  # the first may be names
    lengths = Counter(length for _, length in rows)
    expected = lengths.most_common(1)[0][0] if lengths else 0
    for line, length in rows:
        if length != expected:
            raise FileError(f"{name}: line {line} has {length} fields instead of {expected}.")
