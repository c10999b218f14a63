"""Tables as Arrow tables, and which of their columns are points, labels or identifiers."""

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from srsg.files.contents import Contents, Request
from srsg.files.errors import FileError
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

ROW_NAMES = "text that names the rows"
IDENTIFIER = "identifier"

ID_WORDS = {"id", "ids", "index", "idx", "uid", "uuid", "guid", "key", "rowid", "row"}
ID_NAMES = {*ID_WORDS, "name", "unnamed: 0"}

ENOUGH_ROWS = 20
"""With fewer rows, numbers that all differ prove nothing."""


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


@dataclass(frozen=True)
class Columns:
    """What the columns of a table are used for.

    Attributes
    ----------
    features : tuple of str
        The columns of X.
    identifier : str or None
        The column that names the rows, if there is one.
    dtype : dtype
        Of the features: float32 if all of them are, else float64.
    notes : tuple of str
        Why columns were set aside, one line each.
    """

    features: tuple[str, ...]
    identifier: str | None
    dtype: np.dtype
    notes: tuple[str, ...]


class NotANumberError(FileError):
    """A cell that is not a number, in a column of numbers."""


def choose_columns(name: str, frame: Frame, request: Request) -> Contents:
    """Points, labels and identifiers of a table; the rest is set aside with a note."""
    if not frame.table.num_rows:
        raise FileError(f"{name}: has no rows.")
    wanted = wanted_columns(name, frame.table.column_names, request)
    pairs = ((column, frame.table.column(column)) for column in wanted)
    columns = decide_columns(name, pairs, request)
    return contents(feature_matrix(name, frame, columns), frame, columns, request)


def contents(values: NDArray, frame: Frame, columns: Columns, request: Request) -> Contents:
    """The values, with the labels and identifiers of the frame."""
    row_ids = labels = None
    if len(frame.index) == 1:  # an index that was written on purpose
        row_ids = text_or_number(frame.index[0])
    elif frame.index:
        levels = (level.to_pylist() for level in frame.index)
        row_ids = np.array([str(names) for names in zip(*levels, strict=True)])
    if columns.identifier is not None and (row_ids is None or request.identifier):
        row_ids = text_or_number(frame.table.column(columns.identifier))
    if request.labels is not None:
        labels = text_or_number(frame.table.column(request.labels))
    return Contents(
        values,
        labels=labels,
        feature_names=columns.features,
        row_ids=row_ids,
        notes=(*frame.notes, *columns.notes),
        rows_are_points=True,
        frame=frame if request.keep_frame else None,
    )


def wanted_columns(name: str, names: Sequence[str], request: Request) -> list[str]:
    """The columns to look at, or an error if one that was asked for is missing."""
    counts = Counter(names)
    for column, count in counts.items():
        if count > 1:
            raise FileError(f"{name}: has two columns called {column!r}.")
    others = [column for column in (request.labels, request.identifier) if column]
    for column in (*(request.columns or ()), *others):
        if column not in counts:
            raise FileError(f"{name}: has no column called {column!r}. It has {_listed(names)}.")
    wanted = list(names if request.columns is None else request.columns)
    if request.identifier and request.identifier not in wanted:
        wanted.append(request.identifier)
    return wanted


def _listed(names: Sequence[str], most: int = 20, sep: str = ", ") -> str:
    return sep.join(names[:most]) + (f"{sep}..." if len(names) > most else "")


def decide_columns(name: str, columns: Iterable[tuple[str, Any]], request: Request) -> Columns:
    """Decide what each column is used for, judged by all of its values.

    A column judged by its first rows may turn out to be text, or not an identifier, further down.
    Readers that do not hold the whole table at once pass one column after the other, and so come
    to the same decision.

    Parameters
    ----------
    name : str
        Name of the file in messages.
    columns : iterable of (str, pyarrow.ChunkedArray)
        The columns of :func:`wanted_columns`, each with all of its rows.
    request : Request
        Columns that the user asks for are features whatever they look like.
    """
    features: list[str] = []
    notes: list[str] = []
    identifier, all_single = request.identifier, True
    # Columns that a model was fitted on are features, even if here they look like identifiers.
    certain = set(request.columns or request.features or ())
    # Positions count all columns: a first column is more likely an identifier.
    for place, (column, values) in enumerate(columns):
        if column == request.labels:
            continue
        reason = None
        if column == request.identifier:
            reason = "it names the rows"
        elif column not in certain:
            reason = _reason_to_set_aside(column, place, values, request)
        if reason:
            notes.append(f"column {column} set aside: {reason}")
            if reason in (IDENTIFIER, ROW_NAMES):
                identifier = identifier or column
            continue
        if not _is_numeric(values.type):
            as_numbers(name, column, values)  # raises an error that names the row of a word
        features.append(column)
        all_single &= pa.types.is_float32(values.type)
        if request.labels is None and column.lower() in LABEL_NAMES:
            notes.append(f"column {column} is used as a feature; labels={column!r} prevents it")
    if not features:
        raise FileError(f"{name}: has no column of numbers ({_listed(notes, 5, '; ')}).")
    if request.features is not None:
        _check_features(name, features, request.features)
        features = list(request.features)
    dtype = np.dtype(np.float32 if all_single else np.float64)
    return Columns(tuple(features), identifier, dtype, tuple(notes))


def _check_features(name: str, columns: Sequence[str], features: Sequence[str]) -> None:
    """Raise an error that lists the differences between columns and a model's features."""
    there, asked_for = set(columns), set(features)
    missing = [feature for feature in features if feature not in there]
    extra = [column for column in columns if column not in asked_for]
    if missing or extra:
        named = {"missing": missing, "not in the model": extra}
        problems = "; ".join(f"{what}: {_listed(names)}" for what, names in named.items() if names)
        raise FileError(
            f"{name}: its columns are not those of the model ({problems}). Rename them, or name "
            "the ones to use with columns=..."
        )


def feature_matrix(name: str, frame: Frame, columns: Columns) -> NDArray[np.floating]:
    """The features of some rows, one row per point."""
    values = np.empty((frame.table.num_rows, len(columns.features)), dtype=columns.dtype)
    for place, column in enumerate(columns.features):
        values[:, place] = as_numbers(name, column, frame.table.column(column))
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
        return IDENTIFIER if looks_like_identifier(name, place, values.to_numpy(), new) else None
    if pa.types.is_boolean(kind):
        return None
    if pa.types.is_temporal(kind):
        return "dates"
    if not pa.types.is_string(kind):
        return f"neither numbers nor text, but {kind}"
    if _mostly(NUMBER, values):
        return None
    example = repr(pc.drop_null(values)[0].as_py())[:40]
    if _mostly(DRESSED_NUMBER, values):
        return f"not plain numbers, such as {example}"
    if _mostly(SEVERAL_NUMBERS, values):
        return f"several numbers in a cell ({example}), without , ; | or tabs between them"
    unique = not values.null_count and pc.count_distinct(values).as_py() == len(values)
    return ROW_NAMES if unique and (place == 0 or is_identifier_name(name)) else "text"


def _is_numeric(kind: Any) -> bool:
    return pa.types.is_floating(kind) or pa.types.is_integer(kind) or pa.types.is_boolean(kind)


def _mostly(pattern: str, values: Any) -> bool:
    matches = pc.match_substring_regex(pc.utf8_trim_whitespace(values), pattern)
    return bool(pc.mean(pc.cast(matches, pa.uint8())).as_py() > 0.5)


def as_numbers(name: str, column: str, values: Any) -> NDArray[np.floating]:
    """A column as floats; a cell that is not a number is an error that names its row."""
    if _is_numeric(values.type):
        kind = pa.float32() if pa.types.is_float32(values.type) else pa.float64()
        return values.cast(kind, safe=False).to_numpy()  # which turns nulls into NaN
    text = pa.chunked_array([_texts(values)], pa.string())
    trimmed = pc.utf8_trim_whitespace(text)
    number = pc.match_substring_regex(trimmed, NUMBER)
    wrong = np.flatnonzero(pc.invert(pc.fill_null(number, True)).to_numpy())
    if wrong.size:
        raise NotANumberError(
            f"{name}: column {column}, row {wrong[0]} (counted from 0): "
            f"{text[int(wrong[0])].as_py()!r} is not a number."
        )
    return trimmed.cast(pa.float64()).to_numpy()


def _texts(values: Any) -> list[str | None]:
    return [None if value is None else str(value) for value in values.to_pylist()]


def text_or_number(values: Any) -> NDArray:
    """Integers and floats as they are, anything else as text, with None for missing cells."""
    if pa.types.is_floating(values.type) or pa.types.is_integer(values.type):
        return values.to_numpy()
    return np.array(_texts(values))


def is_identifier_name(name: str) -> bool:
    """Whether a column is called id or the like, or has such a word in its name.

    Examples
    --------
    >>> from srsg.files.columns import is_identifier_name
    >>> [is_identifier_name(name) for name in ("customer_id", "PassengerId", "humid", "width")]
    [True, True, False, False]
    """
    # Words in any style: customer_id, customerId, CustomerID.
    words = re.findall(r"[A-Z]*[a-z]+|[A-Z]+|\d+", name)
    return name.strip().lower() in ID_NAMES or bool({w.lower() for w in words} & ID_WORDS)


def looks_like_identifier(
    name: str, place: int, values: NDArray[np.integer], new_to_model: bool = False
) -> bool:
    """Whether whole numbers name the rows: all differ, and their name or their spread says so.

    Numbers that are counted up or drawn at random are spread evenly over their range. Measurements
    and counts, such as salaries or populations, are not: most are in the middle, or most are small.

    Parameters
    ----------
    name : str
        The name of the column.
    place : int
        Its position; a first column of 0, 1, 2, ... needs no further evidence.
    values : ndarray of shape (n,)
        Its values.
    new_to_model : bool
        Whether a fitted model does not have this column. Then it is enough that all values differ.

    Examples
    --------
    >>> import numpy as np
    >>> from srsg.files.columns import looks_like_identifier
    >>> rng = np.random.default_rng(0)
    >>> looks_like_identifier("account", 3, rng.permutation(90_000)[:200] + 10_000)
    True
    >>> looks_like_identifier("population", 3, np.exp(rng.normal(15, 2, 200)).astype(int))
    False
    """
    n = len(values)
    ordered = np.sort(values)
    if n < 2 or (ordered[1:] == ordered[:-1]).any():
        return False
    if new_to_model or is_identifier_name(name):
        return True
    if place == 0 and ordered[0] in (0, 1) and ordered[-1] - ordered[0] == n - 1:
        return bool((ordered == values).all())
    return n >= ENOUGH_ROWS and _evenly_spread(ordered)


def _evenly_spread(ordered: NDArray[np.integer]) -> bool:
    """Whether sorted numbers may be uniform on their range: Kolmogorov's test at 1 %."""
    low, high = float(ordered[0]), float(ordered[-1])
    position = (ordered.astype(np.float64) - low) / (high - low)
    expected = np.linspace(0.0, 1.0, len(ordered))
    return bool(np.abs(position - expected).max() < 1.63 / np.sqrt(len(ordered)))


def frame_of(table: Any) -> Frame:
    """The frame of an Arrow table."""
    index = index_columns(table.schema)
    columns = pa.table([plain(column) for column in table.columns], table.column_names)
    return Frame(columns.drop_columns(index), [columns.column(name) for name in index])


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
