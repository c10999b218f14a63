"""What a column of a table holds: numbers, categories, dates, identifiers, codes or text."""

import re
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from srsg.files.contents import Request
from srsg.files.errors import FileError
from srsg.files.labels import LABEL_NAMES
from srsg.files.rules import MISSING, ColumnRule

NUMBER = r"^[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?$|^[+-]?(?i:inf|infinity|nan)$"
"""Text that is a number."""

SIGNED = r"^[+-]?\p{Sc}\s?[+-]?\d[\d.,' ]*$|^[+-]?\d[\d.,' ]*\s?[%\p{Sc}]$"
"""Numbers with a currency or a per cent sign."""

GROUPED = r"^[+-]?\d{1,3}([,.' ]\d{3})+([.,]\d+)?$"
"""Numbers in groups of three digits."""

PROOF_OF_GROUPS = r"\d[,.' ]\d{3}[,.' ]\d|\d'\d{3}"
"""Two signs in a number, or an apostrophe: the first separates groups of three digits."""

SEVERAL_NUMBERS = r"^[+-]?[\d.]\S*(\s+[+-]?[\d.]\S*){2,}$"
"""Three numbers or more with spaces between them."""

DATE_LIKE = r"^\d{1,4}[-./ ]\S{1,9}[-./ ,]+\d|^[A-Za-z]{3,9} \d{1,2}, \d{4}"

DATE_FORMATS = (
    "ISO",
    *("%d.%m.%Y", "%m/%d/%Y", "%d/%m/%Y", "%Y/%m/%d", "%d-%m-%Y", "%d.%m.%y", "%m/%d/%y"),
    *("%d %b %Y", "%d %B %Y", "%b %d, %Y", "%B %d, %Y"),
    *("%d.%m.%Y %H:%M", "%m/%d/%Y %H:%M", "%d/%m/%Y %H:%M"),
)
"""How dates are written. The first that fits all cells is taken."""

EARLIEST, LATEST = -354_285, 84_006
"""The years 1000 to 2199, in days since 1970: beyond, text was not a date in this format."""

DAY = 86_400_000_000
"""Microseconds."""

ROW_NAMES = "text that names the rows"
IDENTIFIER = "identifier"
CODE = "a code, not a quantity"
YEAR = "a year, as a label"
SAME = "the same in all rows"

ID_WORDS = {"id", "ids", "index", "idx", "uid", "uuid", "guid", "key", "rowid", "row"}
ID_NAMES = {*ID_WORDS, "name", "unnamed: 0"}
CODE_WORDS = {
    *("zip", "zipcode", "postcode", "postal", "plz", "code", "barcode", "sku", "isbn", "ean"),
    *("phone", "telephone", "tel", "mobile", "fax", "ssn", "iban", "fips"),
}

ENOUGH_ROWS = 20
"""With fewer rows, numbers that all differ prove nothing."""

MOST_LEVELS = 50
"""A column of text with more different values is no category."""

ROWS_PER_LEVEL = 4
"""A column of text with fewer rows per value, on average, is no category, and so is one in which
fewer rows than this differ from the commonest value."""

LONG_TAIL = 3.0
"""The skewness from which on amounts are replaced by logarithms. That of exponential waiting times
is 2, that of incomes and prices often more than 3."""

MOST_AMOUNTS = 100
"""In a table with more columns, they are taken for features in one unit, and none is replaced."""


class NotANumberError(FileError):
    """A cell that is not a number, in a column of numbers."""


def judged(
    name: str, column: str, place: int, values: Any, request: Request
) -> tuple[ColumnRule | None, str]:
    """The rule of a column, or None and why it is set aside.

    Parameters
    ----------
    name : str
        Name of the file in messages.
    column : str
        Name of the column.
    place : int
        Its position; a first column is more likely an identifier.
    values : pyarrow.ChunkedArray
        All of its values.
    request : Request
        What the user says about columns.
    """
    asked = (request.treat or {}).get(column)
    if asked == "ignore":
        return None, "as you asked"
    if asked is not None:
        if asked == "text" and request.encoder:
            return ColumnRule(column, "vector", form=request.encoder), ""
        return treated(name, column, asked, values), ""
    rule, reason = _judged(name, column, place, values, request)
    if rule is None or rule.plain or request.mixed:
        return rule, reason
    return (ColumnRule(column), "") if rule.unit else (None, f"{rule.kind}, not a plain number")


def _judged(
    name: str, column: str, place: int, values: Any, request: Request
) -> tuple[ColumnRule | None, str]:
    kind = values.type
    if pa.types.is_floating(kind):  # the usual case, as fast as can be
        if np.isnan(values.to_numpy()).all():
            return None, "empty"
        return _number(column, as_numbers(name, column, values)), ""
    if values.null_count == len(values):
        return None, "empty"
    if pa.types.is_integer(kind):
        reason = "" if request.keep_ids else _not_a_quantity(column, place, values, request)
        return (None, reason) if reason else (_number(column, as_numbers(name, column, values)), "")
    if pa.types.is_boolean(kind):
        return ColumnRule(column), ""
    if _is_moment(kind):
        return _dated(column, place, values, "")
    if _is_list(kind) and is_numeric(kind.value_type):
        sizes = pc.unique(pc.list_value_length(values)).to_pylist()
        if len(sizes) > 1 or not sizes[0]:
            return None, "lists of different lengths"
        return ColumnRule(column, "vector", size=sizes[0]), ""
    if not pa.types.is_string(kind):
        return None, f"neither numbers nor text, but {kind}"
    return _judged_text(name, column, place, values)


def treated(name: str, column: str, kind: str, values: Any) -> ColumnRule:
    """The rule of a column that the user calls a number, a category, a date or a text."""
    if kind == "number":
        signs = pa.types.is_string(values.type) and not _mostly(NUMBER, values)
        return ColumnRule(column, form=_decimal_sign(values) if signs else "")
    if kind == "category":
        return ColumnRule(column, "category", levels=_levels(values))
    if kind == "text":
        from srsg.files.texts import text_rule

        return text_rule(name, column, plain_texts(values))
    if kind != "date":
        raise ValueError(f"treat={{{column!r}: {kind!r}}} names no kind of column.")
    form = _date_format(values)
    if form is None:
        raise FileError(
            f"{name}: column {column} cannot be treated as dates: write them like 2024-01-31."
        )
    return _date_rule(column, values, form)


def _judged_text(name: str, column: str, place: int, values: Any) -> tuple[ColumnRule | None, str]:
    example = repr(pc.drop_null(values)[0].as_py())[:40]
    if _mostly(NUMBER, values):
        padded = pc.match_substring_regex(pc.utf8_trim_whitespace(values), r"^0\d+$")
        return (None, CODE) if pc.any(padded).as_py() else (ColumnRule(column), "")
    grouped = _mostly(GROUPED, values) and _any(PROOF_OF_GROUPS, values)
    if grouped and set(_words(column)) & CODE_WORDS:
        return None, CODE
    if grouped or _mostly(SIGNED, values):
        form = _decimal_sign(values)
        return _number(column, as_numbers(name, column, values, form), form), ""
    if _mostly(GROUPED, values):
        return None, f"not plain numbers, such as {example}"
    if _mostly(SEVERAL_NUMBERS, values):
        return None, f"several numbers in a cell ({example}), without , ; | or tabs between them"
    if _mostly(DATE_LIKE, values) and (date_format := _date_format(values)):
        return _dated(column, place, values, date_format)
    n_levels = pc.count_distinct(values).as_py()
    if n_levels == len(values) and (place == 0 or is_identifier_name(column)):
        return None, ROW_NAMES
    if n_levels == 1 and not values.null_count:
        return None, SAME
    if column.lower() in LABEL_NAMES:
        return None, f"it may hold the classes; labels={column!r} compares them"
    if n_levels > MOST_LEVELS or ROWS_PER_LEVEL * n_levels > len(values):
        return None, f"text with {n_levels} different values"
    commonest = pc.max(pc.value_counts(values).field("counts")).as_py()
    if len(values) - commonest < ROWS_PER_LEVEL:
        return None, "the same in nearly all rows"
    return ColumnRule(column, "category", levels=_levels(values)), ""


def _mostly(pattern: str, values: Any) -> bool:
    matches = pc.match_substring_regex(pc.utf8_trim_whitespace(values), pattern)
    return bool(pc.mean(pc.cast(matches, pa.uint8())).as_py() > 0.5)


def _any(pattern: str, values: Any) -> bool:
    return bool(pc.any(pc.match_substring_regex(values, pattern)).as_py())


def _number(column: str, numbers: NDArray[np.floating], form: str = "") -> ColumnRule:
    """The rule of numbers: their logarithm if the tail is long."""
    numbers = numbers[np.isfinite(numbers)].astype(np.float64)
    positive = len(numbers) >= ENOUGH_ROWS and numbers.min() >= 0 and numbers.any()
    if not positive or _skewness(numbers) <= LONG_TAIL:
        return ColumnRule(column, form=form)
    # Nearly a plain logarithm, and zero stays zero.
    unit = float(np.quantile(numbers[numbers > 0], 0.05))
    # Counts with hardly anything but zeros stay skewed.
    short = abs(_skewness(np.log1p(numbers / unit))) < LONG_TAIL / 2
    return ColumnRule(column, form=form, unit=unit if short else 0.0)


def _skewness(numbers: NDArray[np.floating]) -> float:
    scaled = numbers / numbers.max()  # so that cubes of huge numbers stay finite
    away = scaled - scaled.mean()
    return float((away**3).mean() / max((away**2).mean() ** 1.5, np.finfo(float).tiny))


def _levels(values: Any) -> tuple[str, ...]:
    """The most common values as text, in their order, and whether some cells are missing."""
    counts = pc.value_counts(_category_text(values).drop_null()).to_pylist()
    common = sorted(counts, key=lambda count: (-count["counts"], count["values"]))[:MOST_LEVELS]
    levels = [*sorted(count["values"] for count in common), *[MISSING] * bool(values.null_count)]
    return tuple(dict.fromkeys(levels))  # some cells may say so themselves


def _category_text(values: Any) -> Any:
    return pc.utf8_trim_whitespace(values.cast(pa.string()))


def _decimal_sign(values: Any) -> str:
    """The decimal sign of numbers with signs and groups, judged by the whole column.

    A last sign with other than three digits behind it is the decimal sign, and so is one that
    follows another sign. Otherwise all signs separate groups, but for shares in per cent.
    """
    cells = [re.sub(r"[^\d.,%]", "", cell) for cell in pc.drop_null(values).to_pylist()]
    for cell in cells:
        last = max(cell.rfind("."), cell.rfind(","))
        sign, digits, before = cell[last : last + 1], cell[last + 1 :], set(cell[: max(last, 0)])
        earlier = before & {".", ","}
        if last >= 0 and sign not in earlier and (earlier or "%" in cell or len(digits) != 3):
            return sign
    return "." if any("," in cell for cell in cells) else ","


def _date_format(values: Any) -> str | None:
    """The first format that fits all cells, empty for dates that are no text; None if none fits."""
    if not pa.types.is_string(values.type):
        return "" if _is_moment(values.type) else None
    for form in DATE_FORMATS:
        days = _days(values, form)
        known = days[np.isfinite(days)]
        whole = len(known) == len(values) - values.null_count
        if whole and len(known) and known.min() >= EARLIEST and known.max() < LATEST:
            return form
    return None


def _is_list(kind: Any) -> bool:
    types = pa.types
    return bool(types.is_list(kind) or types.is_large_list(kind) or types.is_fixed_size_list(kind))


def is_single(kind: Any) -> bool:
    """Whether numbers, or lists of them, are in single precision."""
    return bool(pa.types.is_float32(kind.value_type if _is_list(kind) else kind))


def _is_moment(kind: Any) -> bool:
    return bool(pa.types.is_date(kind) or pa.types.is_timestamp(kind))


def _days(values: Any, form: str) -> NDArray[np.floating]:
    """Dates as days since 1970; NaN for what is missing or not in this format."""
    moments = values
    if not _is_moment(values.type):
        text = _category_text(values)
        if form not in ("", "ISO"):
            moments = pc.strptime(text, form, "us", error_is_null=True)
        else:
            try:
                moments = text.cast(pa.timestamp("us"))
            except pa.ArrowInvalid:
                try:
                    moments = text.cast(pa.timestamp("us", "UTC"))
                except pa.ArrowInvalid:
                    return np.full(len(values), np.nan)
    counted = moments.cast(pa.timestamp("us"), safe=False).cast(pa.int64())
    return counted.cast(pa.float64(), safe=False).to_numpy() / DAY


def _dated(column: str, place: int, values: Any, form: str) -> tuple[ColumnRule | None, str]:
    n_different = pc.count_distinct(values).as_py()
    if n_different == 1 and not values.null_count:
        return None, SAME
    if place == 0 and n_different == len(values):
        return None, ROW_NAMES
    return _date_rule(column, values, form), ""


def _date_rule(column: str, values: Any, form: str) -> ColumnRule:
    """The rule of dates: cycles that the dates go through at least twice."""
    days = _days(values, form)
    span = np.nanmax(days) - np.nanmin(days)
    cycles = [cycle for cycle, least in (("season", 730), ("week", 14)) if span >= least]
    timed = (np.nan_to_num(days) % 1).any() and span >= 2
    return ColumnRule(column, "date", form=form, cycles=(*cycles, *["hour"] * bool(timed)))


def values_of(name: str, rule: ColumnRule, values: Any) -> NDArray:
    """A column as its rule encodes it: numbers, days, or positions of levels."""
    if rule.kind == "number":
        return as_numbers(name, rule.column, values, rule.form)
    if rule.encoder:  # the texts are encoded later
        return np.zeros((len(values), rule.size))
    if rule.kind == "vector":
        numbers = pc.list_flatten(values)
        if len(numbers) != rule.size * len(values) or not is_numeric(numbers.type):
            raise FileError(
                f"{name}: column {rule.column} does not hold {rule.size} numbers a row."
            )
        return as_numbers(name, rule.column, numbers).reshape(len(values), rule.size)
    if rule.kind == "date":
        days = _days(values, rule.form)
        wrong = np.flatnonzero(np.isnan(days) & ~values.is_null().to_numpy())
        if wrong.size:
            raise FileError(
                f"{name}: column {rule.column}, row {wrong[0]} (counted from 0): "
                f"{values[int(wrong[0])].as_py()!r} is not a date like those of the model."
            )
        return days
    text = pc.fill_null(_category_text(values), MISSING)
    return pc.fill_null(pc.index_in(text, pa.array(rule.levels)), -1).to_numpy()


def as_numbers(name: str, column: str, values: Any, decimal: str = "") -> NDArray[np.floating]:
    """A column as floats; a cell that is not a number is an error that names its row."""
    if is_numeric(values.type):
        kind = pa.float32() if pa.types.is_float32(values.type) else pa.float64()
        return values.cast(kind, safe=False).to_numpy()  # which turns nulls into NaN
    text = pa.chunked_array([texts(values)], pa.string())
    trimmed = pc.utf8_trim_whitespace(text)
    if decimal:
        # Signs between groups, currencies and per cent say nothing to a program.
        others = r"[\p{Sc}%' \x{a0}\x{202f}" + {".": ",", ",": "."}[decimal] + "]"
        trimmed = pc.replace_substring_regex(trimmed, others, "")
        trimmed = pc.replace_substring(trimmed, decimal, ".")
    number = pc.match_substring_regex(trimmed, NUMBER)
    wrong = np.flatnonzero(pc.invert(pc.fill_null(number, True)).to_numpy())
    if wrong.size:
        raise NotANumberError(
            f"{name}: column {column}, row {wrong[0]} (counted from 0): "
            f"{text[int(wrong[0])].as_py()!r} is not a number."
        )
    return trimmed.cast(pa.float64()).to_numpy()


def is_numeric(kind: Any) -> bool:
    return pa.types.is_floating(kind) or pa.types.is_integer(kind) or pa.types.is_boolean(kind)


def plain_texts(values: Any) -> list[str]:
    """All cells as text, empty where nothing is known."""
    return [text or "" for text in texts(values)]


def texts(values: Any) -> list[str | None]:
    return [None if value is None else str(value) for value in values.to_pylist()]


def _not_a_quantity(column: str, place: int, values: Any, request: Request) -> str:
    """Why whole numbers are no quantity; empty if they may be one."""
    words = _words(column)
    if set(words) & CODE_WORDS:
        return CODE
    if values.null_count == 0:
        # In a file for a fitted model, a column that the model does not have is more likely one.
        new = request.features is not None
        if looks_like_identifier(column, place, values.to_numpy(), new):
            return IDENTIFIER
    low, high = pc.min_max(values).as_py().values()
    return YEAR if words == ["year"] and low >= 1000 and high < 2200 else ""


def _words(column: str) -> list[str]:
    """Words in any style: customer_id, customerId, CustomerID."""
    return [word.lower() for word in re.findall(r"[A-Z]*[a-z]+|[A-Z]+|\d+", column)]


def is_identifier_name(name: str) -> bool:
    """Whether a column is called id or the like, or has such a word in its name.

    Examples
    --------
    >>> from srsg.files.kinds import is_identifier_name
    >>> [is_identifier_name(name) for name in ("customer_id", "PassengerId", "humid", "width")]
    [True, True, False, False]
    """
    return name.strip().lower() in ID_NAMES or bool(set(_words(name)) & ID_WORDS)


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
    >>> from srsg.files.kinds import looks_like_identifier
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
