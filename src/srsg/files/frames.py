"""Tables as columns, each an Arrow array: what the readers of all tables share."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc


@dataclass(frozen=True, eq=False)
class Frame:
    """The columns of a table, and the names of its rows if it has any."""

    names: tuple[str, ...]
    columns: Sequence[Any]
    """One ``pyarrow.ChunkedArray`` per name."""
    index: Sequence[Any] = ()
    """Columns that name the rows, because the file says so."""
    as_written: Sequence[Any] | None = None
    """The columns as text, where the file is text."""

    def __len__(self) -> int:
        return len(self.columns[0]) if self.columns else 0

    def column(self, name: str) -> Any:
        """A column by its name."""
        return self.columns[self.names.index(name)]


def frame_of(table: Any) -> Frame:
    """The frame of an Arrow table."""
    index = index_columns(table.schema)
    places = [place for place, name in enumerate(table.column_names) if name not in index]
    return Frame(
        tuple(table.column_names[place] for place in places),
        [plain(table.column(place)) for place in places],
        [plain(table.column(name)) for name in table.column_names if name in index],
    )


def index_columns(schema: Any) -> list[str]:
    """The columns that were the index of a pandas frame, which it notes; one that only counts the
    rows is not a column."""
    notes = (schema.pandas_metadata or {}).get("index_columns", ())
    return [name for name in notes if isinstance(name, str) and name in schema.names]


def plain(column: Any) -> Any:
    """A column without the types that only save space: categories, decimals, views."""
    kind = column.type
    if pa.types.is_dictionary(kind):
        return plain(
            pa.chunked_array(
                [chunk.dictionary_decode() for chunk in column.chunks], kind.value_type
            )
        )
    if pa.types.is_decimal(kind) or pa.types.is_float16(kind):
        return pc.cast(column, pa.float64())
    if pa.types.is_large_string(kind) or pa.types.is_string_view(kind):
        return pc.cast(column, pa.string())
    return column
