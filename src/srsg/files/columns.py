"""Which columns of a table are points, labels or identifiers."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from srsg.files.contents import Contents, Request
from srsg.files.errors import FileError, needed
from srsg.files.labels import LABEL_NAMES

ID_NAMES = ("id", "ids", "index", "idx", "uid", "uuid", "key", "rowid", "row", "name", "unnamed: 0")


@dataclass(frozen=True)
class Columns:
    """What the columns of a table are used for."""

    features: tuple[str, ...]
    identifier: str | None
    """The column that names the rows, if there is one."""
    dtype: np.dtype
    """Of the features: float32 if all of them are, else float64."""
    notes: tuple[str, ...]
    """Why columns were set aside, one line each."""


def choose_columns(name: str, frame: Any, request: Request) -> Contents:
    """Points, labels and identifiers of a data frame; the rest is set aside with a note."""
    frame.columns = [str(column) for column in frame.columns]
    if not len(frame):
        raise FileError(f"{name}: has no rows.")
    wanted = wanted_columns(name, list(frame.columns), request)
    columns = decide_columns(name, frame[wanted].items(), request)
    if request.features is not None:
        columns = match_features(name, columns, request.features)
    return contents(feature_matrix(name, frame, columns), frame, columns, request.labels)


def contents(values: NDArray, frame: Any, columns: Columns, labels: str | None) -> Contents:
    """What was found in a table: the values, and from the frame the labels and identifiers."""
    pandas = needed("pandas", "Tables")
    identifiers = None if columns.identifier is None else frame[columns.identifier]
    if not isinstance(frame.index, pandas.RangeIndex):  # an index that was written on purpose
        identifiers = frame.index
    return Contents(
        values,
        labels=None if labels is None else _text_or_number(frame[labels]),
        feature_names=columns.features,
        row_ids=None if identifiers is None else _text_or_number(identifiers),
        notes=columns.notes,
        rows_are_points=True,
    )


def wanted_columns(name: str, names: Sequence[str], request: Request) -> list[str]:
    """The columns to look at, or an error if one that was asked for is missing."""
    seen: set[str] = set()
    for column in names:
        if column in seen:
            raise FileError(f"{name}: has two columns called {column!r}.")
        seen.add(column)
    asked = [*(request.columns or ()), *([request.labels] if request.labels else [])]
    for column in asked:
        if column not in seen:
            there = ", ".join(names[:20]) + (", ..." if len(names) > 20 else "")
            raise FileError(f"{name}: has no column called {column!r}. It has {there}.")
    return list(request.columns or names)


def decide_columns(name: str, columns: Iterable[tuple[str, Any]], request: Request) -> Columns:
    """What each column is used for, judged by all of its values.

    A column judged by its first rows may turn out to be text, or not an identifier, further down.
    Readers that do not hold the whole table at once pass one column after the other, so that they
    come to the same decision.

    Parameters
    ----------
    name : str
        What messages call the file.
    columns : iterable of (str, Series)
        The columns of :func:`wanted_columns`, each with all of its rows.
    request : Request
        Columns that the user asks for are features whatever they look like.
    """
    pandas = needed("pandas", "Tables")
    features: list[str] = []
    notes: list[str] = []
    identifier, all_single = None, True
    # What a model was fitted on is a feature, even if here it looks like an identifier.
    certain = set(request.columns or request.features or ())
    for place, (column, values) in enumerate(columns):
        if column == request.labels:
            continue
        reason = None if column in certain else _reason_to_set_aside(pandas, place, values)
        if reason:
            notes.append(f"column {column} set aside: {reason}")
            if reason == "identifier":
                identifier = identifier or column
            continue
        if not pandas.api.types.is_numeric_dtype(values.dtype):
            _as_numbers(name, values)  # text that is no number is found here, with its row
        features.append(column)
        all_single &= values.dtype == np.float32
        if request.labels is None and column.lower() in LABEL_NAMES:
            notes.append(f"column {column} is used as a feature; labels={column!r} prevents it")
    if not features:
        reasons = "; ".join(notes[:5]) + ("; ..." if len(notes) > 5 else "")
        raise FileError(f"{name}: has no column of numbers ({reasons}).")
    dtype = np.dtype(np.float32 if all_single else np.float64)
    return Columns(tuple(features), identifier, dtype, tuple(notes))


def all_numbers(names: Sequence[str]) -> bool:
    """Whether columns are called by their numbers, because there was no header."""
    return all(name.isdecimal() for name in names)


def match_features(name: str, columns: Columns, features: Sequence[str]) -> Columns:
    """The columns in the order of a model's features, or an error that lists the differences."""
    missing = [feature for feature in features if feature not in set(columns.features)]
    extra = [column for column in columns.features if column not in set(features)]
    if missing or extra:
        problems = [
            f"{what}: {', '.join(names[:20])}{', ...' if len(names) > 20 else ''}"
            for what, names in (("missing", missing), ("not in the model", extra))
            if names
        ]
        raise FileError(
            f"{name}: its columns are not those of the model ({'; '.join(problems)}). Rename them, "
            "or name the ones to use with columns=..."
        )
    return replace(columns, features=tuple(features))


def feature_matrix(name: str, frame: Any, columns: Columns) -> NDArray[np.floating]:
    """The features of some rows, one row per point."""
    pandas = needed("pandas", "Tables")
    features = frame[list(columns.features)]
    if all(map(pandas.api.types.is_numeric_dtype, set(features.dtypes))):
        # All at once: tables of 100,000 columns are slow column by column.
        return features.to_numpy(dtype=columns.dtype, na_value=np.nan)
    values = [_as_numbers(name, column) for _, column in features.items()]
    return np.column_stack(values).astype(columns.dtype, copy=False)


def _reason_to_set_aside(pandas: Any, place: int, values: Any) -> str | None:
    """Why a column is not a feature, or None if it is one."""
    types = pandas.api.types
    if values.dtype in (np.float64, np.float32):  # the usual case, as fast as can be
        return "empty" if np.isnan(values.to_numpy()).all() else None
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


def _as_numbers(name: str, values: Any) -> NDArray[np.floating]:
    """A column as floats; an entry that is not a number is an error that names its row."""
    pandas = needed("pandas", "Tables")
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


def _text_or_number(values: Any) -> NDArray:
    """Integers and floats as such, anything else as text; None where missing."""
    pandas = needed("pandas", "Tables")
    array = values.to_numpy()
    if array.dtype.kind in "iuf":
        return array
    return np.array([None if pandas.isna(value) is True else str(value) for value in array])
