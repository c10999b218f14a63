"""Parquet files on the workers: what a file contains, and rows of its features."""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray
from pyarrow import ChunkedArray, Table
from pyarrow.parquet import ParquetFile

from srsg.files import columns as tables
from srsg.files.columns import frame_of, index_columns
from srsg.files.contents import Contents, Request
from srsg.files.errors import FileError
from srsg.running.dask.engine import BYTES_PER_SHARD


def description(path: str, request: Request) -> tuple[list[int], tables.Columns, Contents]:
    """Sizes of the row groups, what the columns are used for, and all but the values."""
    with ParquetFile(path) as file:
        sizes = _row_groups(file)
        index = index_columns(file.schema_arrow)
        names = [name for name in file.schema_arrow.names if name not in index]
    n_rows = sum(sizes)
    if not n_rows:
        raise FileError(f"{path}: has no rows.")
    wanted = tables.wanted_columns(path, names, request)
    columns = tables.decide_columns(path, _column_by_column(path, wanted, n_rows), request)
    beside = [name for name in (request.labels, columns.identifier) if name is not None]
    frame = frame_of(_read_columns(path, [*beside, *index]))
    return sizes, columns, tables.contents(np.empty((0, 0)), frame, columns, request)


def feature_rows(path: str, start: int, end: int, columns: tables.Columns) -> NDArray[np.floating]:
    """Features of some rows; only the row groups that contain them are read."""
    with ParquetFile(path) as file:
        ends = np.cumsum([0, *_row_groups(file)])
        groups = np.flatnonzero((ends[1:] > start) & (ends[:-1] < end))
        table = file.read_row_groups(groups.tolist(), columns=columns.sources)
    skipped = start - int(ends[groups[0]])
    frame = frame_of(table.slice(skipped, end - start))
    return tables.feature_matrix(path, frame, columns)


def _row_groups(file: ParquetFile) -> list[int]:
    """The number of rows in each row group."""
    return [file.metadata.row_group(k).num_rows for k in range(file.num_row_groups)]


def _column_by_column(
    path: str, names: list[str], n_rows: int
) -> Iterator[tuple[str, ChunkedArray]]:
    """Every column with all of its rows, a few columns in memory at a time."""
    at_once = max(1, BYTES_PER_SHARD // (8 * n_rows))
    for first in range(0, len(names), at_once):
        part = names[first : first + at_once]
        yield from zip(part, frame_of(_read_columns(path, part)).table.columns, strict=True)


def _read_columns(path: str, names: list[str]) -> Table:
    with ParquetFile(path) as file:
        return file.read(columns=names).select(names)
