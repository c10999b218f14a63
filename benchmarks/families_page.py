"""The page of ``benchmarks/families.py``, from the cells of its journal alone."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from benchmarks.families_choice import Choice, choices, left_out, rules
from benchmarks.families_data import FAMILIES, MAX_ROWS
from benchmarks.families_methods import COMPONENTS, METHODS, STARTS

Cell = dict[str, Any]
Means = dict[str, dict[str, float]]
"""By set, then by method."""

MANY = 25
"""Mean entries of an l1 code from which on codes are not sparse."""

TEN = "always ten"


def means(cells: Iterable[Cell], value: Callable[[Cell], float]) -> Means:
    """The mean over seeds, by set and method."""
    found: dict[str, dict[str, list[float]]] = {}
    for cell in cells:
        found.setdefault(cell["name"], {}).setdefault(cell["method"], []).append(value(cell))
    return {
        name: {method: float(np.mean(values)) for method, values in row.items()}
        for name, row in found.items()
    }


def log_error(cell: Cell) -> float:
    return float(abs(np.log(max(cell["count"], 1) / cell["true"])))


def families_of(cells: Iterable[Cell]) -> dict[str, list[str]]:
    """The sets of each family that there are, in the order of the page."""
    found: dict[str, dict[str, None]] = {family: {} for family in FAMILIES}
    for cell in cells:
        found[cell["family"]][cell["name"]] = None
    return {family: list(names) for family, names in found.items() if names}


def table(heads: list[str], rows: list[list[str]]) -> str:
    lines = [heads, ["---"] + ["---:"] * (len(heads) - 1), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def figure(values: list[float], complete: bool = True) -> str:
    if not values or not complete:
        return "-"
    return f"{np.mean(values):.3f}"


def by_family(
    values: Means, families: dict[str, list[str]], methods: list[str], best: Callable = max
) -> str:
    """Means by family and over all sets; a dash where a method lacks a set."""
    everything = [name for names in families.values() for name in names]
    rows = []
    for family, names in {**families, "all": everything}.items():
        cells = []
        for method in methods:
            found = [values[name][method] for name in names if method in values.get(name, {})]
            cells.append(figure(found, len(found) == len(names)))
        rows.append([f"{family} ({len(names)})", *emphasised(cells, best)])
    return table(["family (sets)", *map(title, methods)], rows)


def emphasised(cells: list[str], best: Callable) -> list[str]:
    known = [cell for cell in cells if cell != "-"]
    return [f"**{cell}**" if known and cell == best(known) else cell for cell in cells]


def title(method: str) -> str:
    return METHODS[method].title if method in METHODS else method


def by_set(values: Means, cells: list[Cell], methods: list[str]) -> str:
    facts = {cell["name"]: (cell["shape"], cell["true"]) for cell in cells}
    rows = []
    for names in families_of(cells).values():
        for name in names:
            (n, d), true = facts[name]
            row = [figure([values[name][m]] if m in values[name] else []) for m in methods]
            rows.append([f"{name}: {n:,} x {d:,}, {true}", *emphasised(row, max)])
    return table(["set: points x features, classes", *map(title, methods)], rows)


def choice_part(found: list[Choice]) -> str:
    """What the search chose, beside each candidate alone, hindsight and rules left out."""
    if not found:
        return "Not run."
    rows = [["the search", figure([each.ac for each in found])]]
    rows.append(["best candidate in hindsight", figure([max(each.acs) for each in found])])
    chosen = left_out(found)
    rows.append(["rule chosen with this family left out", figure([ac for _, ac in chosen])])
    rows += [[f"rule: {rule}", figure([each.by(rule) for each in found])] for rule in rules(found)]
    names = sorted({rule for rule, _ in chosen})
    return (
        table(["choice", "mean AC"], rows)
        + f"\n\nRules that were chosen without a family: {', '.join(names)}."
    )


def counts_part(cells: list[Cell], families: dict[str, list[str]]) -> str:
    counted = [cell for cell in cells if METHODS[cell["method"]].counts]
    if not counted:
        return "Not run."
    errors = means(counted, log_error)
    for cell in counted:
        errors[cell["name"]][TEN] = float(abs(np.log(10 / cell["true"])))
    methods = [name for name in METHODS if any(name in row for row in errors.values())]
    text = by_family(errors, families, [*methods, TEN], min)
    ours = [cell for cell in counted if cell["method"] == "search-count"]
    if ours:
        near = [any(abs(n / c["true"] - 1) <= 0.1 for n in c["three"]) for c in ours]
        text += (
            "\n\nThe truth is within 10 % of one of the numbers that the search offers, the best "
            "and one clearly different on each side, in "
            f"{np.mean(near):.0%} of {len(ours)} runs; `structure_found_` is true in "
            f"{np.mean([c['structure'] for c in ours]):.0%}."
        )
    return text


def ablation_part(values: Means, cells: list[Cell], families: dict[str, list[str]]) -> str:
    """SRSG minus l1 codes with the same agreement and cut."""
    gain = {
        name: row["srsg"] - row["l1"] for name, row in values.items() if {"srsg", "l1"} <= {*row}
    }
    if not gain:
        return "Not run."
    support = {cell["name"]: cell["support"] for cell in cells if cell["method"] == "l1"}
    groups = {family: names for family, names in families.items() if {*names} & {*gain}}
    groups |= {
        f"l1 codes with more than {MANY} entries": [n for n in gain if support[n] > MANY],
        f"l1 codes with {MANY} entries or fewer": [n for n in gain if support[n] <= MANY],
        "all": list(gain),
    }
    rows = []
    for group, names in groups.items():
        found = [gain[name] for name in names if name in gain]
        if found:
            entries = np.mean([support[name] for name in names if name in gain])
            rows.append([f"{group} ({len(found)})", f"{entries:.0f}", with_error(found)])
    return table(["sets", "entries of an l1 code", "AC of SRSG minus l1"], rows)


def with_error(values: list[float]) -> str:
    if len(values) < 2:
        return f"{np.mean(values):+.3f}"
    return f"{np.mean(values):+.3f} ± {np.std(values, ddof=1) / np.sqrt(len(values)):.3f}"


HEAD = """# Families of data

Printed by `python -m benchmarks.families --data DIR`. Of larger sets {rows:,} points are drawn, the
same for all methods. Tables are standardised for all methods but the search, which gets them raw
and decides; our graphs of tables are affine. Raw counts of cells are turned into logarithms of
shares. Every method that begins at random has {starts} starts. Gaussian mixtures have diagonal
covariances, on {components} principal components. Leiden cuts a graph of 15 neighbours; where the
number is given, its resolution is bisected. EVoC takes the number as a wish. {seeds}.{notes}

## Accuracy, number of clusters given

{ac}

## Normalised mutual information, number of clusters given

{nmi}

## Accuracy, number of clusters found

Points that a tool calls noise are one more cluster here.

{own}

## Number of clusters found

Mean |log(found / true)|; 0.69 is wrong by a factor of two.

{counts}

## The choice

What the search chose among its candidates, the number given; mean AC over sets and seeds. A rule
takes the candidate with the largest sum of these columns of `results_`. Last, for each family, the
rule is taken that is best on all other families.

{choice}

## What the support regularisation adds

SRSG minus l1 codes with the same agreement weights and the same cut; standard errors over sets.

{ablation}

## Every set

Accuracy, number of clusters given.

{sets}
"""


def page(cells: list[Cell], notes: list[str]) -> str:
    """The page in Markdown."""
    families = families_of(cells)
    ac, nmi = means(cells, lambda cell: cell["ac"]), means(cells, lambda cell: cell["nmi"])
    ran = [name for name in METHODS if any(name in row for row in ac.values())]
    given = [name for name in ran if not METHODS[name].counts]
    own = [name for name in ran if METHODS[name].counts]
    seeds = [len({c["seed"] for c in cells if c["method"] == m}) for m in ran if METHODS[m].random]
    span = f"{min(seeds)} to {max(seeds)}" if seeds and min(seeds) < max(seeds) else f"{seeds[:1]}"
    return HEAD.format(
        rows=MAX_ROWS,
        starts=STARTS,
        components=COMPONENTS,
        seeds=f"Seeds: {span.strip('[]')}",
        notes=f" Left out: {'; '.join(notes)}." if notes else "",
        ac=by_family(ac, families, given),
        nmi=by_family(nmi, families, given),
        own=by_family(ac, families, own),
        counts=counts_part(cells, families),
        choice=choice_part(choices(cells)),
        ablation=ablation_part(ac, cells, families),
        sets=by_set(ac, cells, given),
    )
