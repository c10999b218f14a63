"""Tables as Arrow tables, whatever file they come from."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa


@dataclass(frozen=True, eq=False)
class Frame:
    """The columns of a table, and how the file names columns and rows.

    Attributes
    ----------
    table : pyarrow.Table
        The columns, without those of the index.
    index : sequence of pyarrow.ChunkedArray
        Columns that name the rows, because the file says so.
    as_written : pyarrow.Table or None
        The same table as text, if the file is text.
    has_header : bool
        Whether the file names the columns; otherwise they are called 0, 1, 2, ...
    notes : tuple of str
        Notes for the user, one line each.
    """

    table: Any
    index: Sequence[Any] = ()
    as_written: Any = None
    has_header: bool = True
    notes: tuple[str, ...] = ()


def frame_of(table: Any) -> Frame:
    """The frame of an Arrow table."""
    index = index_columns(table.schema)
    columns = [(name, plain(table.column(place))) for place, name in enumerate(table.column_names)]
    kept = [(name, column) for name, column in columns if name not in index]
    return Frame(
        pa.table([column for _, column in kept], [name for name, _ in kept]),
        [column for name, column in columns if name in index],
    )


def index_columns(schema: Any) -> list[str]:
    """The columns that were the index of a pandas DataFrame, by the notes that pandas leaves.

    An index that only counts the rows is not stored as a column.
    """
    notes = (schema.pandas_metadata or {}).get("index_columns", ())
    return [name for name in notes if isinstance(name, str) and name in schema.names]


def plain(column: Any) -> Any:
    """A column without the types that only save space: categories, decimals, views."""
    kind = column.type
    if pa.types.is_dictionary(kind):
        return plain(column.cast(kind.value_type))
    if pa.types.is_decimal(kind) or pa.types.is_float16(kind):
        return column.cast(pa.float64())
    if pa.types.is_large_string(kind) or pa.types.is_string_view(kind):
        return column.cast(pa.string())
    return column
