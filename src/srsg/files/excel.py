"""Sheets of spreadsheets: Excel's files, old and new, and OpenDocument's."""

from __future__ import annotations

import zipfile
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from pathlib import Path
from typing import Any

import pyarrow as pa

from srsg.files.dialects import is_header
from srsg.files.errors import FileError, needed, parsing
from srsg.files.frames import Frame
from srsg.files.text_tables import distinct_names, typed
from srsg.files.unpacking import check_zip


@dataclass(frozen=True, eq=False)
class Sheet:
    """One sheet, whether it has a header, and notes for the user."""

    frame: Frame
    has_header: bool
    notes: tuple[str, ...]


def read_sheet(path: Path, name: str | None = None) -> Sheet:
    """The sheet of this name, or the first that has cells."""
    rows, notes = _rows(path, name)
    first = [_text(cell) for cell in rows[0]]
    second = [_text(cell) for cell in rows[1]] if len(rows) > 1 else []
    has_header = is_header(first, second)
    if has_header:
        names, rows = distinct_names(first), rows[1:]
    else:
        names = [str(place) for place in range(len(first))]
    columns = [_column([row[place] for row in rows]) for place in range(len(names))]
    return Sheet(Frame(tuple(names), columns), has_header, notes)


def _rows(path: Path, name: str | None) -> tuple[list[list[Any]], tuple[str, ...]]:
    calamine = needed("python_calamine", "Spreadsheets need python-calamine", "cli")
    with parsing(str(path), "a spreadsheet"):
        if zipfile.is_zipfile(path):  # Excel's old files are not
            check_zip(path)
        try:
            with calamine.CalamineWorkbook.from_path(str(path)) as book:
                sheets = book.sheet_names
                if name is not None and name not in sheets:
                    there = ", ".join(sheets)
                    raise FileError(f"{path}: has no sheet called {name!r}. It has {there}.")
                for sheet in [name] if name is not None else sheets:
                    rows = [
                        row for row in book.get_sheet_by_name(sheet).to_python() if _has_cell(row)
                    ]
                    if rows:
                        break
        except Exception:
            raise
        except BaseException as error:
            # A fault of the library, which is written in Rust, arrives as a PanicException.
            if type(error).__name__ != "PanicException":
                raise
            raise ValueError("it is damaged") from error
    if not sheets or not rows:
        raise FileError(f"{path}: has no rows.")
    others = [other for other in sheets if other != sheet]
    if name is not None or not others:
        return rows, ()
    return rows, (f"sheet {sheet} is read, not {', '.join(others)}; variable=... names another",)


def _has_cell(row: list[Any]) -> bool:
    """Whether a row has a cell that is not empty."""
    return any(cell != "" for cell in row)


def _text(cell: Any) -> str:
    if isinstance(cell, float) and cell.is_integer():
        cell = int(cell)
    return str(cell).strip()


def _column(cells: list[Any]) -> Any:
    """A column typed by all of its cells: numbers, truth values, dates or text."""
    present = [cell for cell in cells if cell != ""]
    kinds = {type(cell) for cell in present}
    given = [None if cell == "" else cell for cell in cells]
    if not present:
        return pa.chunked_array([pa.nulls(len(cells))])
    if kinds <= {int, float}:
        whole = len(present) == len(cells) and all(float(cell).is_integer() for cell in present)
        # From here on, not every whole number is a float, and cells are floats.
        fits = whole and all(abs(cell) < 2**53 for cell in present)
        if fits:
            return pa.chunked_array([[int(cell) for cell in cells]], pa.int64())
        return pa.chunked_array([given], pa.float64())
    if kinds == {bool}:
        return pa.chunked_array([given], pa.bool_())
    if kinds <= {date, datetime}:
        # Both as moments, since a column may have some with a time of day and some without.
        moments = [
            cell if cell is None or isinstance(cell, datetime) else datetime(*cell.timetuple()[:3])
            for cell in given
        ]
        return pa.chunked_array([moments], pa.timestamp("us"))
    if kinds <= {time, timedelta}:
        return pa.chunked_array([[None if cell is None else str(cell) for cell in given]])
    return typed(pa.chunked_array([[_text(cell) for cell in cells]], pa.string()))
