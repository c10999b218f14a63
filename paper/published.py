"""The figures that the paper prints."""

from __future__ import annotations

import csv
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

from srsg.registry import methods

MEASURES = ("AC", "NMI")
"""Clustering accuracy and normalised mutual information, as the paper calls them."""


@dataclass(frozen=True)
class Row:
    """One data set, or its first clusters: two lines of the paper's tables.

    Attributes
    ----------
    table : int
        The table of the paper that has it.
    dataset : str
        Its name there.
    n_clusters : int or None
        Only this many first clusters; None takes all.
    figures : mapping
        ``figures[measure][method]`` is what the paper prints.
    """

    table: int
    dataset: str
    n_clusters: int | None
    figures: Mapping[str, Mapping[str, float]] = field(compare=False, repr=False)

    @property
    def title(self) -> str:
        """The name of the row in tables."""
        return self.dataset + (f", c = {self.n_clusters}" if self.n_clusters else "")


def compared_methods() -> tuple[str, ...]:
    """Short names of the paper's six methods, in the order of its columns.

    Examples
    --------
    >>> from paper.published import compared_methods
    >>> compared_methods()
    ('kmeans', 'sc', 'l1', 'smce', 'lr-l1', 'srsg')
    """
    return tuple(name for name, method in methods().items() if method.column)


@cache
def published_rows() -> tuple[Row, ...]:
    """All rows of the paper's three tables.

    Examples
    --------
    >>> from paper.published import published_rows
    >>> row = published_rows()[1]
    >>> row.title, row.figures["AC"]["srsg"]
    ('COIL-20, c = 8', 0.9705)
    """
    text = Path(__file__).with_suffix(".csv").read_text(encoding="utf-8")
    figures: dict[tuple[int, str, int | None], dict[str, dict[str, float]]] = {}
    for line in csv.DictReader(text.splitlines()):
        count = int(line["n_clusters"]) if line["n_clusters"] else None
        row = figures.setdefault((int(line["table"]), line["dataset"], count), {})
        row[line["measure"]] = {
            name: float(line[str(methods()[name].column)]) for name in compared_methods()
        }
    return tuple(Row(*key, measures) for key, measures in figures.items())
