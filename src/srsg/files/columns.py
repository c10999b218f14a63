"""Tables as Arrow tables, and which of their columns are points, labels or identifiers."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from srsg.files.contents import Contents, Request
from srsg.files.errors import FileError, explained
from srsg.files.kinds import (
    IDENTIFIER,
    MOST_AMOUNTS,
    ROW_NAMES,
    as_numbers,
    is_numeric,
    is_single,
    judged,
    plain_texts,
    texts,
    values_of,
)
from srsg.files.labels import LABEL_NAMES
from srsg.files.rules import ColumnRule, feature_names


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
    rules : tuple of ColumnRule
        How columns become the features of X, in this order.
    identifier : str or None
        The column that names the rows, if there is one.
    dtype : dtype
        Of the features: float32 if all of them are, else float64.
    notes : tuple of str
        Why columns were set aside, one line each.
    """

    rules: tuple[ColumnRule, ...]
    identifier: str | None
    dtype: np.dtype
    notes: tuple[str, ...]

    @property
    def features(self) -> tuple[str, ...]:
        """Names of the columns of X."""
        return feature_names(self.rules)

    @property
    def sources(self) -> list[str]:
        """Names of the columns that they are made of."""
        return [rule.column for rule in self.rules]


def joined(name: str, frames: Sequence[Frame]) -> Frame:
    """Several tables as one; all must have the columns of the first, in any order."""
    first, *others = frames
    if not others:
        return first
    names = first.table.column_names
    for place, other in enumerate(others, 2):
        missing = {*names} ^ {*other.table.column_names}
        if missing or other.has_header != first.has_header or other.index or first.index:
            raise FileError(
                f"{name}: file {place} has other columns than the first"
                f"{f' ({_listed(sorted(missing), 5)})' if missing else ''}."
            )
    tables = [frame.table.select(names) for frame in frames]
    for column in names:
        if any(pa.types.is_string(table.schema.field(column).type) for table in tables):
            tables = [_as_text(table, column) for table in tables]
    as_written = [frame.as_written for frame in frames]
    texts = None if None in as_written else [text.select(names) for text in as_written]
    return Frame(
        pa.concat_tables(tables, promote_options="permissive"),
        as_written=texts and pa.concat_tables(texts),
        has_header=first.has_header,
        notes=tuple(dict.fromkeys(note for frame in frames for note in frame.notes)),
    )


def _as_text(table: Any, column: str) -> Any:
    place = table.column_names.index(column)
    return table.set_column(place, column, table.column(place).cast(pa.string()))


def choose_columns(name: str, frame: Frame, request: Request) -> Contents:
    """Points, labels and identifiers of a table; the rest is set aside with a note."""
    if not frame.table.num_rows:
        raise FileError(f"{name}: has no rows.")
    wanted = wanted_columns(name, frame.table.column_names, request)
    pairs = ((column, frame.table.column(column)) for column in wanted)
    columns = decide_columns(name, pairs, request)
    if request.columns and columns.identifier is None:
        columns = replace(columns, identifier=_identifier_among(name, frame, wanted, request))
    return contents(feature_matrix(name, frame, columns), frame, columns, request)


def contents(values: Any, frame: Frame, columns: Columns, request: Request) -> Contents:
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
        rules=None if all(rule.plain for rule in columns.rules) else columns.rules,
        row_ids=row_ids,
        texts=_texts_of(frame, columns),
        notes=(*frame.notes, *columns.notes),
        rows_are_points=True,
        frame=frame if request.keep_frame else None,
        aside={name: text_or_number(frame.table.column(name)) for name in request.aside},
    )


def _identifier_among(name: str, frame: Frame, used: Sequence[str], request: Request) -> str | None:
    """The column that names the rows among those that were not asked for."""
    for place, column in enumerate(frame.table.column_names):
        if column not in (*used, request.labels, *request.aside):
            reason = judged(name, column, place, frame.table.column(column), request)[1]
            if reason in (IDENTIFIER, ROW_NAMES):
                return column
    return None


def _texts_of(frame: Frame, columns: Columns) -> NDArray | None:
    """The texts that are clustered."""
    (*_, last) = columns.rules
    if last.kind != "text" and not last.encoder:
        return None
    return np.array(plain_texts(frame.table.column(last.column)), dtype=object)


def wanted_columns(name: str, names: Sequence[str], request: Request) -> list[str]:
    """The columns to look at, or an error if one that was asked for is missing."""
    counts = Counter(names)
    for column, count in counts.items():
        if count > 1:
            raise FileError(f"{name}: has two columns called {column!r}.")
    others = [column for column in (request.labels, request.identifier) if column]
    for column in (*(request.columns or ()), *(request.treat or ()), *others, *request.aside):
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
    rules: dict[str, ColumnRule] = {}
    notes: list[str] = []
    identifier, single = request.identifier, set[str]()
    of_model = {rule.column: rule for rule in request.rules or ()}
    only = sole_column(name, request)
    # Columns that a model was fitted on are features, even if here they look like identifiers.
    certain = set(request.columns or request.features or ())
    # Positions count all columns: a first column is more likely an identifier.
    for place, (column, values) in enumerate(columns):
        if column == request.labels or column in request.aside:
            continue
        rule, reason = of_model.get(column), "it names the rows"
        if rule is None and column != request.identifier:
            with explained(f"{name}: column {column} cannot be used", pa.ArrowException):
                rule, reason = judged(name, column, place, values, request)
            if column in certain and (rule is None or request.features):
                rule = ColumnRule(column)
            elif rule and request.features and rule.kind != "number":
                rule, reason = None, "the model does not have it"
            if rule and only not in (None, column):
                rule, reason = None, f"only {only} is used"
        if rule is None:
            notes.append(f"column {column} set aside: {reason}")
            if reason in (IDENTIFIER, ROW_NAMES):
                identifier = identifier or column
            continue
        if rule.kind == "number" and not is_numeric(values.type):
            as_numbers(name, column, values, rule.form)  # names the row of a word in an error
        rules[column] = rule
        if is_single(values.type) and (rule.plain or rule.kind == "vector"):
            single.add(column)
        if request.labels is None and column.lower() in LABEL_NAMES:
            notes.append(f"column {column} is used as a feature; labels={column!r} prevents it")
    vector = next((rule.column for rule in rules.values() if rule.kind == "vector"), None)
    if vector and len(rules) > 1 and not certain and only is None:
        notes += [f"column {c} set aside: only {vector} is used" for c in rules if c != vector]
        rules = {vector: rules[vector]}
    if not rules:
        raise FileError(
            f"{name}: has no column of numbers or categories ({_listed(notes, 5, '; ')})."
        )
    if request.features is not None:
        _check_features(name, list(rules), request.features)
        rules = {feature: rules[feature] for feature in request.features}
    if len(rules) > MOST_AMOUNTS and request.rules is None:
        rules = {column: replace(rule, unit=0.0) for column, rule in rules.items()}
    chosen = tuple(rules.values())
    dtype = np.dtype(np.float32 if rules.keys() <= single else np.float64)
    return Columns(chosen, identifier, dtype, (*notes, *_notes_on_rules(chosen)))


def _notes_on_rules(rules: Sequence[ColumnRule]) -> list[str]:
    """What columns become that are not plain numbers: one line for each kind."""
    kinds: dict[str, list[str]] = {}
    for rule in rules:
        if rule.kind == "category":
            found = f"{rule.column} ({len(rule.levels)} values)"
            kinds.setdefault("used as categories", []).append(found)
        elif rule.kind == "vector":
            found = f"{rule.column} ({rule.encoder or f'{rule.size} numbers'})"
            kinds.setdefault("used as vectors", []).append(found)
        elif rule.kind == "text":
            found = f"{rule.column} ({len(rule.levels)} words)"
            kinds.setdefault("used as text", []).append(found)
        elif rule.kind == "date":
            form = "" if rule.form in ("", "ISO") else f", read as {rule.form}"
            parts = ", ".join(("time", *rule.cycles))
            kinds.setdefault("used as dates", []).append(f"{rule.column} ({parts}{form})")
        elif rule.form:
            found = f"{rule.column} (decimal {'comma' if rule.form == ',' else 'point'})"
            kinds.setdefault("read as numbers", []).append(found)
        if rule.unit:
            kinds.setdefault("replaced by logarithms, for their long tails", []).append(rule.column)
    return [f"{what}: {_listed(columns)}" for what, columns in kinds.items()]


def sole_column(name: str, request: Request) -> str | None:
    """The column that alone is used, if the user or the model says so: texts, or vectors."""
    found = [column for column, kind in (request.treat or {}).items() if kind == "text"]
    if len(found) > 1:
        raise FileError(f"{name}: only one column can be treated as text, not {_listed(found)}.")
    if request.rules and len(request.rules) == 1 and request.rules[0].kind in ("text", "vector"):
        found = [request.rules[0].column]
    return found[0] if found else None


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


def feature_matrix(name: str, frame: Frame, columns: Columns) -> Any:
    """The features of some rows, one row per point; those of texts are sparse."""
    (*_, last) = columns.rules
    if last.kind == "text":
        from srsg.files.texts import weighed_words

        return weighed_words(last, plain_texts(frame.table.column(last.column)))
    values = np.empty((frame.table.num_rows, len(columns.features)), dtype=columns.dtype)
    start = 0
    for rule in columns.rules:
        with explained(f"{name}: column {rule.column} cannot be used", pa.ArrowException):
            found = values_of(name, rule, frame.table.column(rule.column))
        width = len(rule.features)
        values[:, start : start + width] = rule.encoded(found)
        start += width
    return values


def text_or_number(values: Any) -> NDArray:
    """Integers and floats as they are, anything else as text, with None for missing cells."""
    if pa.types.is_floating(values.type) or pa.types.is_integer(values.type):
        return values.to_numpy()
    return np.array(texts(values))


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
