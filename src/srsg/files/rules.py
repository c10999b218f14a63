"""How the columns of a table become numbers, and how these become columns again.

A rule needs NumPy only: it is kept with a model, and undone where clusters are described.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

import numpy as np
from numpy.typing import NDArray

from srsg.types import FloatArray, IntArray

KINDS = ("number", "category", "date", "text", "vector")

MISSING = "(missing)"
"""The level of cells without a value, in a category that has such cells."""

CYCLES = {"season": 365.2425, "week": 7.0, "hour": 1.0}
"""Periods of dates in days: each becomes a sine and a cosine, so that December is near January."""

MOST_NUMBERS = 1_000_000
"""Numbers of a vector that a model's file may name."""


@dataclass(frozen=True)
class ColumnRule:
    """How one column of a table becomes numbers.

    Attributes
    ----------
    column : str
        Its name in the table.
    kind : {"number", "category", "date", "text", "vector"}
        A number stays one number. A category becomes one number per level, 1 for the level of
        the row and 0 for others. A date becomes days since 1970, and a sine and a cosine for each
        of its cycles. A text becomes one number per word, by TF-IDF. A vector
        is a list of numbers. A "word" is one word of a text that is absent or present, where
        clusters are described.
    levels : tuple of str
        Of a category: a level that is not among them becomes zeros. Of a text: its words.
    form : str
        The decimal sign of numbers that are written with signs; the format of dates in text; what
        made a vector of a text.
    unit : float
        0, or u for the logarithm ``log(1 + x / u)`` of numbers with a long tail.
    cycles : tuple of str
        Of a date: some of "season", "week" and "hour".
    weights : tuple of float
        Of the words of a text: the logarithm of how rare each is.
    size : int
        How many numbers a vector has.

    Examples
    --------
    >>> import numpy as np
    >>> from srsg.files.rules import ColumnRule
    >>> colour = ColumnRule("colour", "category", levels=("red", "blue"))
    >>> colour.features
    ('colour = red', 'colour = blue')
    >>> colour.encoded(np.array([1, 0, -1]))
    array([[0., 1.],
           [1., 0.],
           [0., 0.]])
    >>> colour.undone(colour.encoded(np.array([1, 0, -1])))
    array([ 1,  0, -1])
    """

    column: str
    kind: str = "number"
    levels: tuple[str, ...] = ()
    form: str = ""
    unit: float = 0.0
    cycles: tuple[str, ...] = ()
    weights: tuple[float, ...] = ()
    size: int = 1

    @property
    def parts(self) -> dict[str, int]:
        """The parts of a column that count alike, and how many numbers each has."""
        if self.levels or self.kind == "vector":
            return {self.column: len(self.levels) or self.size}
        return {self.column: 1} | {f"{self.column} ({cycle})": 2 for cycle in self.cycles}

    @property
    def features(self) -> tuple[str, ...]:
        """Names of the numbers."""
        if self.kind == "category":
            return tuple(f"{self.column} = {level}" for level in self.levels)
        if self.kind == "text":
            return self.levels
        if self.kind == "vector":
            return tuple(f"{self.column} {place}" for place in range(self.size))
        waves = [f"{self.column} ({c}, {wave})" for c in self.cycles for wave in ("sin", "cos")]
        return (self.column, *waves)

    @property
    def encoder(self) -> str:
        """The model that makes a vector of a text; empty for anything else."""
        return self.form if self.kind == "vector" else ""

    @property
    def plain(self) -> bool:
        """Whether numbers are taken as they are."""
        return self.kind == "number" and not self.unit and not self.form

    def encoded(self, values: NDArray) -> FloatArray:
        """Numbers, vectors, days or positions of levels as numbers, one row per value."""
        if self.kind == "vector":
            return values
        if self.kind == "category":
            return (values[:, np.newaxis] == np.arange(len(self.levels))).astype(np.float64)
        if self.unit:
            with np.errstate(divide="ignore", invalid="ignore"):  # below -u it is not defined
                return np.log1p(np.asarray(values, np.float64) / self.unit)[:, np.newaxis]
        turns = [2 * np.pi * values / CYCLES[cycle] for cycle in self.cycles]
        return np.column_stack([values, *(wave(t) for t in turns for wave in (np.sin, np.cos))])

    def undone(self, numbers: NDArray) -> NDArray:
        """What was encoded: numbers, days, or positions of levels, -1 for none of them.

        Words cannot be put back into texts, and stay as they are.
        """
        if self.kind in ("text", "vector"):
            return numbers
        if self.kind == "category":
            return np.where(numbers.max(axis=1) > 0.5, numbers.argmax(axis=1), -1)
        first = np.asarray(numbers[:, 0], np.float64)
        return self.unit * np.expm1(first) if self.unit else first

    def shown(self, value: float) -> str:
        """A value of the column as people write it.

        Examples
        --------
        >>> from srsg.files.rules import ColumnRule
        >>> ColumnRule("day", "date").shown(19723.0), ColumnRule("price").shown(1234.5678)
        ('2024-01-01', '1,235')
        """
        if self.kind == "category":
            return self.levels[int(value)] if value >= 0 else "another"
        if not np.isfinite(value):
            return "missing"
        if self.kind == "date":
            moment = datetime(1970, 1, 1) + timedelta(days=float(value))
            return moment.isoformat(" ")[: 16 if "hour" in self.cycles else 10]
        return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.4g}"


def plain_rules(names: Sequence[str]) -> tuple[ColumnRule, ...]:
    """Rules for columns of plain numbers."""
    return tuple(ColumnRule(str(name)) for name in names)


def feature_names(rules: Sequence[ColumnRule]) -> tuple[str, ...]:
    """Names of the numbers of all columns."""
    return tuple(name for rule in rules for name in rule.features)


def weights_of_parts(rules: Sequence[ColumnRule]) -> tuple[IntArray, FloatArray]:
    """For every number, the part that it belongs to and the weight of that part.

    The parts of a column share a weight of 1, so that a category of many levels or a date counts
    as much as one number.

    Examples
    --------
    >>> from srsg.files.rules import ColumnRule, weights_of_parts
    >>> day = ColumnRule("day", "date", cycles=("week",))
    >>> weights_of_parts([ColumnRule("a"), day])
    (array([0, 1, 2, 2]), array([1. , 0.5, 0.5, 0.5]))
    """
    sizes = [size for rule in rules for size in rule.parts.values()]
    weights = [1 / len(rule.parts) for rule in rules for _ in rule.parts]
    return np.repeat(np.arange(len(sizes)), sizes), np.repeat(weights, sizes)


def undone_columns(rules: Sequence[ColumnRule], numbers: NDArray) -> list[NDArray]:
    """The columns of a table from its numbers."""
    if len(rules) == 1:  # a text is the only column there is, and its words are sparse
        return [rules[0].undone(numbers)]
    ends = np.cumsum([len(rule.features) for rule in rules])[:-1]
    blocks = np.split(np.asarray(numbers), ends, axis=1)
    return [rule.undone(block) for rule, block in zip(rules, blocks, strict=True)]


def checked_rules(given: Any) -> tuple[ColumnRule, ...]:
    """Rules from the header of a model's file; a ValueError if one is not such as a fit leaves."""
    rules = []
    for entry in given:
        plain: dict[str, Any] = {k: tuple(v) if type(v) is list else v for k, v in entry.items()}
        rule = ColumnRule(**plain)
        texts = (rule.column, rule.form, *rule.levels, *rule.cycles)
        if not all(type(text) is str for text in texts) or type(rule.unit) is not float:
            raise ValueError(f"the rule of column {rule.column!r} has entries of a wrong type")
        lists = all(type(part) is tuple for part in (rule.levels, rule.cycles, rule.weights))
        known = rule.kind in KINDS and set(rule.cycles) <= CYCLES.keys()
        fits = bool(rule.levels) == (rule.kind in ("category", "text")) and rule.unit >= 0
        fits &= rule.kind == "date" or not rule.cycles
        fits &= len(rule.weights) == (len(rule.levels) if rule.kind == "text" else 0)
        fits &= all(type(weight) is float and 0 < weight < np.inf for weight in rule.weights)
        fits &= len(set(rule.levels)) == len(rule.levels)
        fits &= type(rule.size) is int and 1 <= rule.size <= MOST_NUMBERS
        fits &= rule.size == 1 or rule.kind == "vector"
        if not (lists and known and fits and np.isfinite(rule.unit)):
            raise ValueError(f"the rule of column {rule.column!r} is none that a fit leaves")
        rules.append(rule)
    return tuple(rules)
