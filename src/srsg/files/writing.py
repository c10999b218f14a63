"""Labels to files, by the ending of the name: alone, or beside the columns of the input."""

import csv
import gzip
import io
import json
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from importlib import import_module
from itertools import chain
from typing import Any, BinaryIO, TextIO

import numpy as np
from numpy.typing import ArrayLike

from srsg.files.atomic import write_file
from srsg.files.contents import Table
from srsg.files.errors import FileError, ending_of, needed
from srsg.files.labels import is_number
from srsg.types import FilePath

STANDARD_OUTPUT = "-"
TEXT_ENDINGS = (".csv", ".tsv", ".csv.gz")

FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r")
"""Spreadsheets treat text that starts like this as a formula, and run it."""

EXCEL_TYPES = (str, bool, int, float, type(None))
"""Types of cells that are written as they are; dates, for instance, become text."""


def write_labels(
    path: FilePath,
    labels: ArrayLike,
    *,
    row_ids: ArrayLike | None = None,
    columns: Mapping[str, ArrayLike] | None = None,
) -> None:
    """Write one label per row, next to the row's identifier and additional columns.

    Parameters
    ----------
    path : path
        Ends in ``.csv .tsv .csv.gz .json .parquet .feather .xlsx .npz`` (columns ``id``, ``label``
        and additional ones) or ``.npy`` (the labels only); ``-`` is CSV to standard output. In CSV
        and TSV, text that a spreadsheet would run as a formula gets an apostrophe in front.
    labels : array-like of shape (n,)
        ``labels_`` of an estimator.
    row_ids : array-like of shape (n,), optional
        ``row_ids`` of the table that was read; 0, 1, 2, ... by default.
    columns : mapping of str to array-like of shape (n,), optional
        Additional columns, such as a confidence.

    Raises
    ------
    FileError
        If the file cannot be written. An existing file then stays as it is.

    Examples
    --------
    >>> from srsg.files import write_labels
    >>> write_labels("-", [0, 1], row_ids=["a", "b"], columns={"confidence": [0.5, 0.25]})
    id,label,confidence
    a,0,0.5
    b,1,0.25
    """
    label = np.asarray(labels)
    ids = np.arange(len(label)) if row_ids is None else np.asarray(row_ids)
    table = {"id": ids, "label": label}
    for name, column in (columns or {}).items():
        if name in table:
            raise ValueError(f"columns has {name!r}, which is written already.")
        table[name] = np.asarray(column)
    for name, column in table.items():
        if column.shape != (len(label),):
            raise ValueError(f"{name} of shape {column.shape} does not fit {len(label)} labels.")
    _write(path, table, {**_TABLE_WRITERS, **_ARRAY_WRITERS})


def append_labels(path: FilePath, table: Table, columns: Mapping[str, ArrayLike]) -> None:
    """Write the table that was read, with columns added to it.

    All columns and rows of the input are written, also those that were not clustered; dropped rows
    have empty cells in the new columns.

    Parameters
    ----------
    path : path
        As for :func:`write_labels`, except for ``.npy`` and ``.npz``.
    table : Table
        From ``read_points(..., keep_frame=True)``.
    columns : mapping of str to array-like of shape (n_samples,)
        The new columns.

    Raises
    ------
    FileError
        If the input is not a table, has a column of this name, or the output cannot be written.

    Examples
    --------
    >>> import os, tempfile
    >>> from srsg.files import append_labels, read_points
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = os.path.join(folder, "flowers.csv")
    ...     with open(path, "w") as file:
    ...         _ = file.write("kind,length\\nrose,1.50\\ndaisy,\\n")
    ...     table = read_points(path, drop_missing=True, keep_frame=True)
    >>> append_labels("-", table, {"cluster": [4]})
    kind,length,cluster
    rose,1.50,4
    daisy,,
    """
    check_appendable(table, list(columns))
    source = table.frame.table
    to_text = str(path) == STANDARD_OUTPUT or ending_of(path) in TEXT_ENDINGS
    if to_text and table.frame.as_written is not None:
        source = table.frame.as_written
    whole = source.to_pydict()
    rows = range(source.num_rows) if table.kept_rows is None else table.kept_rows.tolist()
    for name, values in columns.items():
        by_row = dict(zip(rows, np.asarray(values).tolist(), strict=True))
        whole[name] = [by_row.get(row) for row in range(source.num_rows)]
    _write(path, whole, _TABLE_WRITERS)


def check_appendable(table: Table, names: Sequence[str]) -> None:
    """Raise an error if columns of these names cannot be appended to a table."""
    if table.frame is None:
        raise FileError("columns can only be appended to a table: CSV, Parquet, Feather, Excel.")
    for name in names:
        if name in table.frame.table.column_names:
            raise FileError(f"the table has a column called {name!r} already.")


def _write(
    path: FilePath, table: Mapping[str, Any], writers: Mapping[str, Callable[..., None]]
) -> None:
    if str(path) == STANDARD_OUTPUT:
        _write_rows(sys.stdout, table, ",")
    else:
        write_file(path, writers, table)


def _cells(column: Any) -> list[Any]:
    """The values of a column, an array or a list, as Python's own."""
    return column if isinstance(column, list) else column.tolist()


def _rows(table: Mapping[str, Any]) -> Iterator[tuple[Any, ...]]:
    return zip(*map(_cells, table.values()), strict=True)


def harmless(cell: Any) -> Any:
    """A cell of CSV that spreadsheets show as it is: a formula gets an apostrophe in front.

    Examples
    --------
    >>> from srsg.files.writing import harmless
    >>> harmless("=1+1"), harmless("-1.5"), harmless("a-b")
    ("'=1+1", '-1.5', 'a-b')
    """
    dangerous = isinstance(cell, str) and cell.startswith(FORMULA_STARTS) and not is_number(cell)
    return f"'{cell}" if dangerous else cell


def _write_rows(file: TextIO, table: Mapping[str, Any], sep: str) -> None:
    writer = csv.writer(file, delimiter=sep, lineterminator="\n")
    writer.writerow(map(harmless, table))
    writer.writerows(zip(*map(_harmless_cells, table.values()), strict=True))


def _harmless_cells(column: Any) -> list[Any]:
    cells = _cells(column)
    # Numbers are not looked at one by one: there may be millions.
    numbers = isinstance(column, np.ndarray) and column.dtype.kind in "biuf"
    return cells if numbers else list(map(harmless, cells))


def _write_text(
    raw: BinaryIO, table: Mapping[str, Any], *, sep: str = ",", compressed: bool = False
) -> None:
    # Without the time of writing, the same labels are the same file.
    binary = gzip.GzipFile("", "wb", fileobj=raw, mtime=0) if compressed else raw
    with io.TextIOWrapper(binary, encoding="utf-8", newline="") as file:
        _write_rows(file, table, sep)


def _write_arrow(file: BinaryIO, table: Mapping[str, Any], *, kind: str, writer: str) -> None:
    module = needed(f"pyarrow.{kind}", f"{kind.title()} files need pyarrow", "cli")
    columns = import_module("pyarrow").table({name: _cells(table[name]) for name in table})
    getattr(module, writer)(columns, file)


def _write_json(file: BinaryIO, table: Mapping[str, Any]) -> None:
    """A list with one object per row."""
    rows = [dict(zip(table, row, strict=True)) for row in _rows(table)]
    file.write(as_json(rows, ensure_ascii=False, indent=1).encode())


def as_json(value: Any, **layout: Any) -> str:
    """JSON with null for numbers that are not finite, which it does not have.

    Examples
    --------
    >>> from srsg.files.writing import as_json
    >>> as_json({"score": [0.5, float("inf")]})
    '{"score": [0.5, null]}'
    """
    plain = json.loads(json.dumps(value, default=str), parse_constant=lambda name: None)
    return json.dumps(plain, **layout)


def _write_excel(file: BinaryIO, table: Mapping[str, Any]) -> None:
    xlsxwriter = needed("xlsxwriter", "Spreadsheets need XlsxWriter", "cli")
    # Row by row in little memory, and text stays text: a cell must not become a formula or a link.
    options = {"strings_to_formulas": False, "strings_to_urls": False, "nan_inf_to_errors": True}
    with xlsxwriter.Workbook(file, {**options, "constant_memory": True}) as book:
        sheet = book.add_worksheet("clusters")
        for place, row in enumerate(chain([table], _rows(table))):
            cells = [cell if isinstance(cell, EXCEL_TYPES) else str(cell) for cell in row]
            sheet.write_row(place, 0, cells)


def _write_npy(file: BinaryIO, table: Mapping[str, Any]) -> None:
    np.save(file, table["label"], allow_pickle=False)


def _write_npz(file: BinaryIO, table: Mapping[str, Any]) -> None:
    arrays: dict[str, Any] = {
        name: a.astype(str) if a.dtype == object else a for name, a in table.items()
    }
    np.savez(file, **arrays)


_TABLE_WRITERS: dict[str, Callable[..., None]] = {
    ".csv": _write_text,
    ".tsv": partial(_write_text, sep="\t"),
    ".csv.gz": partial(_write_text, compressed=True),
    ".json": _write_json,
    ".parquet": partial(_write_arrow, kind="parquet", writer="write_table"),
    ".feather": partial(_write_arrow, kind="feather", writer="write_feather"),
    ".xlsx": _write_excel,
}
_ARRAY_WRITERS = {".npy": _write_npy, ".npz": _write_npz}

TABLE_ENDINGS = tuple(_TABLE_WRITERS)
LABEL_ENDINGS = (*_TABLE_WRITERS, *_ARRAY_WRITERS)
