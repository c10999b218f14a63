"""Which columns of a table are points, labels or identifiers."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from srsg.files.contents import Contents, Request
from srsg.files.errors import FileError
from srsg.files.frames import Frame
from srsg.files.identifiers import is_identifier_name, looks_like_identifier
from srsg.files.labels import LABEL_NAMES

NUMBER = r"^[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?$|^[+-]?(?i:inf|infinity|nan)$"
"""Text that is a number."""

DRESSED_NUMBER = (
    r"^[+-]?\p{Sc}\s?\d[\d.,]*$|^[+-]?\d[\d.,]*\s?[%\p{Sc}]$"  # with a currency or a per cent sign
    r"|^[+-]?\d{1,3}([,.' ]\d{3})+([.,]\d+)?$"  # in groups of three digits
)
"""Text that a person reads as a number, and a program cannot without guessing."""

SEVERAL_NUMBERS = r"^[+-]?[\d.]\S*(\s+[+-]?[\d.]\S*){2,}$"
"""Three numbers or more with spaces between them."""


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


class NotANumberError(FileError):
    """A cell that is not a number, in a column that otherwise has numbers."""


def choose_columns(name: str, frame: Frame, request: Request) -> Contents:
    """Points, labels and identifiers of a table; the rest is set aside with a note."""
    if not len(frame):
        raise FileError(f"{name}: has no rows.")
    wanted = wanted_columns(name, frame.names, request)
    place = {column: at for at, column in enumerate(frame.names)}
    pairs = ((column, frame.columns[place[column]]) for column in wanted)
    columns = decide_columns(name, pairs, request)
    if request.features is not None:
        columns = match_features(name, columns, request.features)
    return contents(feature_matrix(name, frame, columns), frame, columns, request)


def contents(values: NDArray, frame: Frame, columns: Columns, request: Request) -> Contents:
    """What was found in a table: the values, and from the frame the labels and identifiers."""
    row_ids = None
    if frame.index:  # an index that was written on purpose
        row_ids = _one_name_per_row(frame.index)
    if columns.identifier is not None and (row_ids is None or request.identifier):
        row_ids = text_or_number(frame.column(columns.identifier))
    return Contents(
        values,
        labels=None if request.labels is None else text_or_number(frame.column(request.labels)),
        feature_names=columns.features,
        row_ids=row_ids,
        notes=columns.notes,
        rows_are_points=True,
        frame=frame if request.keep_frame else None,
    )


def wanted_columns(name: str, names: Sequence[str], request: Request) -> list[str]:
    """The columns to look at, or an error if one that was asked for is missing."""
    seen: set[str] = set()
    for column in names:
        if column in seen:
            raise FileError(f"{name}: has two columns called {column!r}.")
        seen.add(column)
    others = [column for column in (request.labels, request.identifier) if column]
    for column in [*(request.columns or ()), *others]:
        if column not in seen:
            there = ", ".join(names[:20]) + (", ..." if len(names) > 20 else "")
            raise FileError(f"{name}: has no column called {column!r}. It has {there}.")
    if request.columns is None:
        return list(names)
    beside = [] if request.identifier in (None, *request.columns) else [str(request.identifier)]
    return [*request.columns, *beside]


def decide_columns(name: str, columns: Iterable[tuple[str, Any]], request: Request) -> Columns:
    """What each column is used for, judged by all of its values.

    A column judged by its first rows may turn out to be text, or not an identifier, further down.
    Readers that do not hold the whole table at once pass one column after the other, so that they
    come to the same decision.

    Parameters
    ----------
    name : str
        What messages call the file.
    columns : iterable of (str, pyarrow.ChunkedArray)
        The columns of :func:`wanted_columns`, each with all of its rows.
    request : Request
        Columns that the user asks for are features whatever they look like.
    """
    features: list[str] = []
    notes: list[str] = []
    identifier, all_single = request.identifier, True
    # What a model was fitted on is a feature, even if here it looks like an identifier.
    certain = set(request.columns or request.features or ())
    # Places count all columns that are looked at: a first column is more likely an identifier.
    for place, (column, values) in enumerate(columns):
        if column == request.labels:
            continue
        if column == request.identifier:
            notes.append(f"column {column} set aside: it names the rows")
            continue
        reason = None
        if column not in certain:
            reason = _reason_to_set_aside(column, place, values, request)
        if reason:
            notes.append(f"column {column} set aside: {reason}")
            if reason in ("identifier", "text that names the rows"):
                identifier = identifier or column
            continue
        if not _is_numeric(values.type):
            as_numbers(name, column, values)  # names the row of text that is not a number
        features.append(column)
        all_single &= pa.types.is_float32(values.type)
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


def feature_matrix(name: str, frame: Frame, columns: Columns) -> NDArray[np.floating]:
    """The features of some rows, one row per point."""
    place = {column: at for at, column in enumerate(frame.names)}
    values = np.empty((len(frame), len(columns.features)), dtype=columns.dtype)
    for at, column in enumerate(columns.features):
        values[:, at] = as_numbers(name, column, frame.columns[place[column]])
    return values


def _reason_to_set_aside(name: str, place: int, values: Any, request: Request) -> str | None:
    """Why a column is not a feature, or None if it is one."""
    kind = values.type
    if pa.types.is_floating(kind):  # the usual case, as fast as can be
        return "empty" if np.isnan(values.to_numpy()).all() else None
    if values.null_count == len(values):
        return "empty"
    if pa.types.is_integer(kind):
        if request.keep_ids or values.null_count:
            return None
        # In a file for a fitted model, a column that the model does not have is more likely one.
        new = request.features is not None
        return "identifier" if looks_like_identifier(name, place, values.to_numpy(), new) else None
    if _is_numeric(kind):  # truth values
        return None
    if pa.types.is_temporal(kind):
        return "dates"
    if not pa.types.is_string(kind):
        return f"neither numbers nor text, but {kind}"
    if _mostly(NUMBER, values):
        return None
    for pattern, reason in (
        (DRESSED_NUMBER, "not plain numbers, such as {}"),
        (SEVERAL_NUMBERS, "several numbers in a cell ({}), without , ; | or tabs between them"),
    ):
        if _mostly(pattern, values):
            return reason.format(repr(_first_present(values))[:40])
    unique = not values.null_count and pc.count_distinct(values).as_py() == len(values)
    named = is_identifier_name(name)
    return "text that names the rows" if unique and (named or place == 0) else "text"


def _is_numeric(kind: Any) -> bool:
    return pa.types.is_floating(kind) or pa.types.is_integer(kind) or pa.types.is_boolean(kind)


def _mostly(pattern: str, values: Any) -> bool:
    matches = pc.match_substring_regex(pc.utf8_trim_whitespace(values), pattern)
    return bool(pc.mean(pc.cast(matches, pa.uint8())).as_py() > 0.5)


def _first_present(values: Any) -> str:
    return str(pc.drop_null(values)[0].as_py())


def as_numbers(name: str, column: str, values: Any) -> NDArray[np.floating]:
    """A column as floats; an entry that is not a number is an error that names its row."""
    if pa.types.is_boolean(values.type):
        values = pc.cast(values, pa.uint8())
    if _is_numeric(values.type):
        kind = np.float32 if pa.types.is_float32(values.type) else np.float64
        if values.null_count:  # to_numpy has NaN for them
            values = pc.cast(values, pa.from_numpy_dtype(kind), safe=False)
        return values.to_numpy().astype(kind, copy=False)
    text = values if pa.types.is_string(values.type) else _as_text(values)
    trimmed = pc.utf8_trim_whitespace(text)
    number = pc.match_substring_regex(trimmed, NUMBER)
    wrong = np.flatnonzero(pc.invert(pc.fill_null(number, True)).to_numpy())
    if wrong.size:
        raise NotANumberError(
            f"{name}: column {column}, row {wrong[0]} (counted from 0): "
            f"{text[int(wrong[0])].as_py()!r} is not a number."
        )
    return pc.cast(trimmed, pa.float64()).to_numpy()


def _as_text(values: Any) -> Any:
    return pa.chunked_array(
        [[None if value is None else str(value) for value in values.to_pylist()]], pa.string()
    )


def text_or_number(values: Any) -> NDArray:
    """Integers and floats as such, anything else as text; None where missing."""
    if pa.types.is_floating(values.type) or pa.types.is_integer(values.type):
        return values.to_numpy()
    return np.array([None if value is None else str(value) for value in values.to_pylist()])


def _one_name_per_row(index: Sequence[Any]) -> NDArray:
    if len(index) == 1:
        return text_or_number(index[0])
    parts = [level.to_pylist() for level in index]
    return np.array([str(levels) for levels in zip(*parts, strict=True)])
