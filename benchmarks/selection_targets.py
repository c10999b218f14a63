"""What ``benchmarks/selection.py`` measured, per data set, and the targets it is judged by."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from math import log
from statistics import fmean, median
from typing import Any

from benchmarks import selection_data as data

NEAR = 0.03
"""Accuracies this close count as equally good."""

KMEANS = "kmeans, standardised"
SINGLE = ("srsg", "ridge", "srsg, standardised, affine", KMEANS)
"""What was fitted on every data set."""

WANTED = (*data.PAPER, *data.FURTHER)


@dataclass(frozen=True)
class Row:
    """One data set: the means over its seeds, the number of clusters given."""

    name: str
    n_seeds: int
    shape: tuple[int, int]
    candidates: tuple[str, ...]
    ac: dict[str, float]
    search: float
    chosen: tuple[str, ...]

    @property
    def best(self) -> float:
        return max(self.ac[name] for name in self.candidates)

    @property
    def regret(self) -> float:
        return self.best - self.search


@dataclass(frozen=True)
class Target:
    """Something that was wanted, what was measured, and on how much."""

    wanted: str
    measured: str
    on: str
    met: bool

    @property
    def verdict(self) -> str:
        """Yes or no; with rows missing, a yes holds for the others only."""
        if not self.met:
            return "**no**"
        run, _, wanted = self.on.partition(" of ")
        return "yes, on these" if wanted and wanted.split()[0] != run else "yes"


def labels_rows(cells: Iterable[dict[str, Any]]) -> dict[str, Row]:
    """One row per data set, of all cells about labels."""
    return {name: _row(name, group) for name, group in by_name(cells, "labels").items()}


def by_name(cells: Iterable[dict[str, Any]], part: str) -> dict[str, list[dict[str, Any]]]:
    groups: dict[str, list[dict[str, Any]]] = {}
    for cell in cells:
        if cell["part"] == part:
            groups.setdefault(cell["name"], []).append(cell)
    return groups


def _row(name: str, cells: list[dict[str, Any]]) -> Row:
    methods = cells[0]["ac"]
    return Row(
        name,
        len(cells),
        tuple(cells[0]["shape"]),
        tuple(cells[0]["candidates"]),
        {method: fmean(cell["ac"][method] for cell in cells) for method in methods},
        fmean(cell["ac"][cell["chosen"]] for cell in cells),
        tuple(cell["chosen"] for cell in cells),
    )


def there(rows: dict[str, Any], names: Iterable[str]) -> list[Any]:
    return [rows[name] for name in names if name in rows]


def rows_run(found: Sequence[Any], names: Sequence[str], what: str = "rows") -> str:
    return f"{len(found)} of {len(names)} {what}"


def without_pie() -> tuple[str, ...]:
    return tuple(name for name in data.PAPER if not name.startswith("PIE"))


def all_targets(cells: Sequence[dict[str, Any]]) -> list[Target]:
    """Every target that some cell bears on."""
    rows = labels_rows(cells)
    counts, costs = by_name(cells, "counts"), by_name(cells, "cost")
    return [*_of_labels(rows), *_of_tables(rows), *_of_counts(counts), *_of_cost(costs)]


def _of_labels(rows: dict[str, Row]) -> Iterator[Target]:
    if found := there(rows, WANTED):
        near = sum(row.regret <= NEAR for row in found)
        yield Target(
            "AC within .03 of the best candidate on at least 90 % of the rows",
            f"{near} of {len(found)} ({near / len(found):.0%})",
            rows_run(found, WANTED),
            near >= 0.9 * len(found),
        )
    names = without_pie()
    if found := there(rows, names):
        mean = fmean(row.search for row in found)
        best = max(SINGLE, key=lambda name: fmean(row.ac[name] for row in found))
        best_mean = fmean(row.ac[best] for row in found)
        on = rows_run(found, names)
        yield Target("mean AC without PIE at least .90", f"{mean:.3f}", on, mean >= 0.9)
        yield Target(
            "the same mean above that of every single candidate",
            f"{mean:.3f}; best single one: {best}, {best_mean:.3f}",
            on,
            mean > best_mean,
        )
    yield from _at_least(rows, [n for n in data.PAPER if n.startswith("YaleB")], "Yale-B", 0.94)
    yield from _at_least(rows, ["PIE-20"], "PIE c = 20", 0.55)


def _at_least(
    rows: dict[str, Row], names: Sequence[str], title: str, bound: float
) -> Iterator[Target]:
    if found := there(rows, names):
        least = min(row.search for row in found)
        each = " on each row" if len(names) > 1 else ""
        wanted = f"{title}: AC at least {bound:.2f}{each}"
        yield Target(wanted, f"least {least:.3f}", rows_run(found, names), least >= bound)


def _of_tables(rows: dict[str, Row]) -> Iterator[Target]:
    if found := there(rows, data.KEEL):
        mean = fmean(row.search for row in found)
        below = [row for row in found if row.search < row.ac[KMEANS] - NEAR]
        on = rows_run(found, data.KEEL, "tables")
        yield Target("KEEL: mean AC at least .69", f"{mean:.3f}", on, mean >= 0.69)
        wanted = "KEEL: more than .03 below standardised K-means on at most 4"
        yield Target(wanted, str(len(below)), on, len(below) <= 4)


def counted_names() -> tuple[str, ...]:
    return (*WANTED, *data.KEEL)


def log_error(cells: Sequence[dict[str, Any]]) -> float:
    """The mean of ``|log(found / true)|`` over the seeds of a data set."""
    return fmean(abs(log(cell["three"][0] / cell["true"])) for cell in cells)


def hit_rate(cells: Sequence[dict[str, Any]]) -> float:
    """The share of the seeds with the truth among the three best."""
    return fmean(cell["true"] in cell["three"] for cell in cells)


def _of_counts(counts: dict[str, list[dict[str, Any]]]) -> Iterator[Target]:
    names = counted_names()
    if found := there(counts, names):
        error, hits = fmean(map(log_error, found)), fmean(map(hit_rate, found))
        on = rows_run(found, names)
        wanted = "number of clusters: mean of abs(log(found / true)) at most .30"
        yield Target(wanted, f"{error:.2f}", on, error <= 0.3)
        wanted = "the truth among the three best on at least 70 %"
        yield Target(wanted, f"{hits:.0%}", on, hits >= 0.7)
    if found := there(counts, data.SUBSPACES):
        exact = sum(all(cell["three"][0] == cell["true"] for cell in cells) for cells in found)
        on = rows_run(found, data.SUBSPACES, "sets")
        wanted = "number of clusters exact on independent subspaces"
        yield Target(wanted, f"{exact} of {len(found)}", on, exact == len(found))


def cost_ratio(cells: Sequence[dict[str, Any]]) -> float:
    return median(cell["search"] / cell["fit"] for cell in cells)


def _of_cost(costs: dict[str, list[dict[str, Any]]]) -> Iterator[Target]:
    names = (data.COST, data.LARGE_COST)
    for name in names:
        if name in costs:
            ratio = cost_ratio(costs[name])
            wanted = f"search at most 15 times one SRSG.fit on {name}"
            yield Target(wanted, f"{ratio:.1f}", "processor time", ratio <= 15)
