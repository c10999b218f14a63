"""Explanations judged on tables with planted rules: are the thresholds that are found right?

    python -m benchmarks.explanations --seed 0 1 2 > docs/results/parts/explanations.txt
    python -m benchmarks.explanations --show

Each table has three clusters that follow a rule (ranges of numbers, levels of categories, dates, or
a mixture), one label in thirty at random, and columns that say nothing. A table counts if the
thresholds of all its clusters have precision and recall of at least 0.9.
"""

from __future__ import annotations

import argparse
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from srsg.explaining.thresholds import Thresholds, thresholds_of
from srsg.explaining.traits import traits_of
from srsg.files.rules import ColumnRule

KINDS = ("ranges", "boxes", "categories", "mixture", "dates")
LEAST = 0.9
WRONG = 1 / 30


class Planted(NamedTuple):
    """A table with the cluster of each row."""

    kind: str
    rules: list[ColumnRule]
    columns: list[NDArray]
    cluster: NDArray[np.intp]


def planted_table(kind: str, n_rows: int, rng: np.random.Generator) -> Planted:
    """A table of this kind, its columns in a random order."""
    n_levels = int(rng.integers(5, 9))
    levels = tuple(f"level {place}" for place in range(n_levels))
    columns: dict[ColumnRule, NDArray] = {
        ColumnRule("price", unit=30.0): np.exp(rng.normal(3, 1, n_rows)),
        ColumnRule("age"): rng.integers(18, 90, n_rows).astype(float),
        ColumnRule("noise"): rng.normal(size=n_rows),
        ColumnRule("count"): rng.poisson(4, n_rows).astype(float),
        ColumnRule("day", "date"): rng.integers(18_000, 20_000, n_rows).astype(float),
        ColumnRule("kind", "category", levels=levels): rng.integers(0, n_levels, n_rows),
        ColumnRule("other", "category", levels=levels[:4]): rng.integers(0, 4, n_rows),
    }
    price, age, _, _, day, level, _ = columns.values()
    share = rng.uniform(0.3, 0.6)
    chosen = np.isin(level, rng.choice(n_levels, n_levels // 2, replace=False))
    dear, old, late = (x > np.quantile(x, share) for x in (price, age, day))
    middle = (age > np.quantile(age, 0.25)) & (age <= np.quantile(age, 0.7))
    first, second = {
        "ranges": (middle, ~middle & old),
        "boxes": (dear & old, dear & ~old),
        "categories": (chosen, ~chosen & (level == level[~chosen][0])),
        "mixture": (chosen & dear, chosen & ~dear),
        "dates": (late & chosen, late & ~chosen),
    }[kind]
    cluster = np.where(first, 0, np.where(second, 1, 2))
    wrong = rng.random(n_rows) < WRONG
    cluster[wrong] = rng.integers(0, 3, wrong.sum())
    order = rng.permutation(len(columns))
    rules = list(columns)
    return Planted(
        kind, [rules[j] for j in order], [list(columns.values())[j] for j in order], cluster
    )


def found_thresholds(table: Planted) -> list[Thresholds]:
    """The thresholds of each cluster."""
    return [
        thresholds_of(table.rules, table.columns, table.cluster == cluster) for cluster in range(3)
    ]


def judged(n_tables: int, n_rows: int, seed: int) -> list[tuple[Planted, list[Thresholds], bool]]:
    """All tables, what was found, and whether it is right."""
    rng = np.random.default_rng(seed)
    results = []
    for place in range(n_tables):
        table = planted_table(KINDS[place % len(KINDS)], n_rows, rng)
        found = found_thresholds(table)
        good = all(min(each.precision, each.recall) >= LEAST for each in found)
        results.append((table, found, good))
    return results


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tables", type=int, default=20)
    parser.add_argument("--rows", type=int, default=400)
    parser.add_argument("--seed", type=int, nargs="+", default=[0])
    parser.add_argument("--show", action="store_true", help="all thresholds that were found")
    given = parser.parse_args()
    for seed in given.seed:
        results = judged(given.tables, given.rows, seed)
        for table, found, good in results if given.show else ():
            print(f"{table.kind}: {'right' if good else 'wrong'}")
            traits = traits_of(table.rules, table.columns, table.cluster, 3)
            for cluster, each in enumerate(found):
                first = str(traits[cluster][0]) if traits[cluster] else "no difference"
                print(f"  {each.precision:.2f} {each.recall:.2f}  {each.text}  ({first})")
        right = sum(good for _, _, good in results)
        print(f"seed {seed}: {right} of {len(results)} tables with precision and recall >= {LEAST}")


if __name__ == "__main__":
    main()
