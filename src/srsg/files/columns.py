"""Which columns of a table are points, labels or identifiers."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from srsg.files.contents import Contents, Request
from srsg.files.errors import FileError, needed
from srsg.files.labels import LABEL_NAMES

ID_NAMES = ("id", "ids", "index", "idx", "uid", "uuid", "key", "rowid", "row", "name", "unnamed: 0")


def choose_columns(name: str, frame: Any, request: Request) -> Contents:
    """Points, labels and identifiers of a data frame; the rest is set aside with a note."""
    pandas = needed("pandas", "Tables")
    frame.columns = [str(column) for column in frame.columns]
    if not len(frame):
        raise FileError(f"{name}: has no rows.")
    wanted = [*(request.columns or ()), *([request.labels] if request.labels else [])]
    _check_there(name, frame, wanted)
    notes: list[str] = []
    row_ids = (
        None if isinstance(frame.index, pandas.RangeIndex) else _text_or_number(pandas, frame.index)
    )
    chosen = {}
    for place, column in enumerate(request.columns or frame.columns):
        values = frame[column]
        if column == request.labels:
            continue
        reason = None if request.columns else _reason_to_set_aside(pandas, place, values)
        if reason:
            notes.append(f"column {column} set aside: {reason}")
            if reason == "identifier" and row_ids is None:
                row_ids = _text_or_number(pandas, values)
        else:
            chosen[column] = _numbers(pandas, name, values)
            if request.labels is None and column.lower() in LABEL_NAMES:
                notes.append(f"column {column} is used as a feature; labels={column!r} prevents it")
    if not chosen:
        raise FileError(f"{name}: has no column of numbers ({'; '.join(notes)}).")
    return Contents(
        np.column_stack(list(chosen.values())),
        labels=_text_or_number(pandas, frame[request.labels]) if request.labels else None,
        feature_names=tuple(chosen),
        row_ids=row_ids,
        notes=tuple(notes),
        rows_are_points=True,
    )


def _check_there(name: str, frame: Any, wanted: Iterable[str]) -> None:
    if not frame.columns.is_unique:
        twice = frame.columns[frame.columns.duplicated()][0]
        raise FileError(f"{name}: has two columns called {twice!r}.")
    for column in wanted:
        if column not in frame.columns:
            there = ", ".join(frame.columns[:20]) + (", ..." if frame.shape[1] > 20 else "")
            raise FileError(f"{name}: has no column called {column!r}. It has {there}.")


def _reason_to_set_aside(pandas: Any, place: int, values: Any) -> str | None:
    """Why a column is no feature, or None."""
    types = pandas.api.types
    if values.isna().all():
        return "empty"
    named = str(values.name).strip().lower() in ID_NAMES and values.is_unique
    if types.is_integer_dtype(values.dtype):
        counts_rows = place == 0 and len(values) > 1 and _counts(values)
        return "identifier" if named or counts_rows else None
    if types.is_numeric_dtype(values.dtype):  # bool among them
        return None
    if types.is_datetime64_any_dtype(values.dtype):
        return "dates"
    if _mostly_numbers(pandas, values):
        return None
    return "identifier" if named or (place == 0 and values.is_unique) else "text"


def _counts(values: Any) -> bool:
    """Whether integers are 0, 1, 2, ... or 1, 2, 3, ..."""
    if values.isna().any():
        return False
    numbers = values.to_numpy()
    return bool(numbers[0] in (0, 1) and (np.diff(numbers.astype(np.int64)) == 1).all())


def _mostly_numbers(pandas: Any, values: Any) -> bool:
    present = values.dropna()
    return bool(pandas.to_numeric(present, errors="coerce").notna().mean() > 0.5)


def _numbers(pandas: Any, name: str, values: Any) -> NDArray:
    """A column as floats; what is no number among numbers is an error."""
    if pandas.api.types.is_numeric_dtype(values.dtype):
        kind = np.float32 if values.dtype == np.float32 else np.float64
        return values.to_numpy(dtype=kind, na_value=np.nan)
    numbers = pandas.to_numeric(values, errors="coerce")
    wrong = np.flatnonzero((numbers.isna() & values.notna()).to_numpy())
    if wrong.size:
        raise FileError(
            f"{name}: column {values.name}, row {wrong[0]} (counted from 0): "
            f"{values.iloc[wrong[0]]!r} is not a number."
        )
    return numbers.to_numpy(dtype=np.float64, na_value=np.nan)


def _text_or_number(pandas: Any, values: Any) -> NDArray:
    """Integers and floats as such, anything else as text; None where missing."""
    array = values.to_numpy()
    if array.dtype.kind in "iuf":
        return array
    return np.array([None if pandas.isna(value) is True else str(value) for value in array])
