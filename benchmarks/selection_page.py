"""The page of ``benchmarks/selection.py``, from the cells of its journal alone."""

from __future__ import annotations

import subprocess
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from statistics import fmean, median
from typing import Any

from benchmarks import selection_data as data
from benchmarks.machine import describe
from benchmarks.selection_targets import (
    KMEANS,
    NEAR,
    SINGLE,
    WANTED,
    Row,
    Target,
    all_targets,
    by_name,
    counted_names,
    hit_rate,
    labels_rows,
    log_error,
    rows_run,
    there,
    without_pie,
)


def page(cells: Sequence[dict[str, Any]]) -> str:
    """The whole page; parts that were not run are left out."""
    rows = labels_rows(cells)
    counts, costs = by_name(cells, "counts"), by_name(cells, "cost")
    parts = [
        _head(),
        *_targets(all_targets(cells)),
        "## Given the number of clusters: the paper's rows and three further sets\n",
        *_labels_table(rows, WANTED),
        *_single_means(rows),
        "## Given the number of clusters: 20 tables of KEEL\n",
        "Distinct rows, at most 1,200, without a row of zeros (led7digit has one).\n",
        *_labels_table(rows, data.KEEL),
        *_below_kmeans(rows),
        *(["## Number of clusters\n", *_counts_table(counts)] if counts else []),
        "## Other families of data\n",
        *_generalisation(rows),
        *(["## Cost\n", *_cost_table(costs)] if costs else []),
    ]
    return "\n".join(parts).rstrip() + "\n"


def _head() -> str:
    machine = describe()
    libraries = ", ".join(
        f"{name} {number}"
        for name, number in machine["libraries"].items()
        if name in ("numpy", "scipy", "scikit-learn", "numba")
    )
    return (
        "# Choosing the graph and the number of clusters\n\n"
        "Written by `benchmarks/selection.py`, which fits `srsg.StabilitySearch` with its default "
        "candidates. AC is the accuracy by the best matching of clusters and classes, the mean "
        "over the seeds 0, 1, ... of a row; the column *seeds* says how many it has. Seeds change "
        "the samples that decide and the starts of K-means.\n\n"
        f"Package as of commit {_commit()}; Python {machine['python']}, {libraries}; "
        f"{machine['processor']}, {machine['cores']} cores, 2 threads.\n"
    )


def _commit() -> str:
    """The last commit that changed the package, and whether files differ from it."""
    root = Path(__file__).parents[1]

    def git(*arguments: str) -> str:
        command = ["git", "-C", str(root), *arguments, "--", "src/srsg"]
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()

    try:
        changed = " with changes" if git("status", "--porcelain") else ""
        return git("log", "-1", "--format=%h") + changed
    except (OSError, subprocess.CalledProcessError):
        return "unknown"


def _targets(targets: Sequence[Target]) -> Iterator[str]:
    yield "## What was wanted\n"
    yield from _table(
        ["wanted", "measured", "on", "met"],
        [[t.wanted, t.measured, t.on, t.verdict] for t in targets],
    )
    yield (
        f"{sum(t.met for t in targets)} of {len(targets)} are met. "
        "A target with rows missing is judged on those that were run. Scattering features of all "
        "of MNIST, the cost of ridge codes and their closed form are measured elsewhere.\n"
    )


def _table(head: Sequence[str], lines: Iterable[Sequence[str]]) -> Iterator[str]:
    yield "| " + " | ".join(head) + " |"
    yield "|" + "---|" * len(head)
    for line in lines:
        yield "| " + " | ".join(line) + " |"
    yield ""


def _labels_table(rows: dict[str, Row], names: Sequence[str]) -> Iterator[str]:
    found = there(rows, names)
    # A column for every candidate of some row, in the order in which they first appear.
    methods = list(dict.fromkeys(name for row in found for name in row.candidates))
    head = ["data", "points", "features", "seeds", *methods, "search", "chosen", "regret"]
    yield from _table(head, [_labels_line(row, methods) for row in found])
    if found:
        near = sum(row.regret <= NEAR for row in found)
        yield (
            f"Mean AC of the search {fmean(row.search for row in found):.3f}, of the best "
            f"candidate of each row {fmean(row.best for row in found):.3f}; within {NEAR} of it on "
            f"{near} of {len(found)}.\n"
        )
    if missing := [name for name in names if name not in rows]:
        yield f"Not run, or failed: {', '.join(missing)}.\n"


def _labels_line(row: Row, methods: Sequence[str]) -> list[str]:
    shown = [f"{row.ac[name]:.3f}" if name in row.candidates else "" for name in methods]
    times = {name: row.chosen.count(name) for name in sorted(set(row.chosen))}
    chosen = "; ".join(
        name if len(times) == 1 else f"{name} ({count} of {row.n_seeds})"
        for name, count in times.items()
    )
    points, features = row.shape
    size = [str(points), str(features), str(row.n_seeds)]
    return [row.name, *size, *shown, f"{row.search:.3f}", chosen, f"{row.regret:.3f}"]


def _single_means(rows: dict[str, Row]) -> Iterator[str]:
    yield "Means over the paper's rows that were run; here each method is fitted on every row:\n"
    groups = {"without PIE": without_pie(), "with PIE": data.PAPER}
    lines = []
    for title, names in groups.items():
        if found := there(rows, names):
            lines.append([title, str(len(found)), *_means(found)])
    yield from _table(["rows", "number", "search", *SINGLE], lines)


def _means(found: Sequence[Row], methods: Sequence[str] = SINGLE) -> list[str]:
    means = [fmean(row.search for row in found)]
    means += [fmean(row.ac[name] for row in found) for name in methods]
    return [f"{mean:.3f}" for mean in means]


def _below_kmeans(rows: dict[str, Row]) -> Iterator[str]:
    found = there(rows, data.KEEL)
    if found:
        yield from _table(["number", "search", *SINGLE], [[str(len(found)), *_means(found)]])
    below = [row.name for row in found if row.search < row.ac[KMEANS] - NEAR]
    yield f"More than {NEAR} below standardised K-means: {', '.join(below) or 'none'}.\n"


def _counts_table(counts: dict[str, list[dict[str, Any]]]) -> Iterator[str]:
    yield (
        "*Found*, for each seed, is the number that the search settles on; the three best, of seed "
        "0, are what it reports. Where three graphs count, as on tables in one unit, it is the "
        "median of theirs. K-means cannot count: if it is chosen where only one graph counts, the "
        "numbers are those of that graph. Errors are means over the seeds.\n"
    )
    yield (
        "With 100 features or more the links between clusters decide, by a rule that was settled "
        "on COIL and UMIST with the other sets in view; in tables, what two halves of the points "
        "agree on. Tables bound what any rule can reach: the classes of many are no clusters, and "
        "where the links are counted instead, errors are no smaller.\n"
    )
    names = (*counted_names(), *data.SUBSPACES, *data.KEEL_ASIDE, data.MNIST)
    lines = []
    for name in names:
        if name in counts:
            cells = counts[name]
            numbers = ", ".join(str(cell["three"][0]) for cell in cells)
            three = ", ".join(map(str, cells[0]["three"]))
            errors = [f"{log_error(cells):.2f}", f"{hit_rate(cells):.0%}"]
            line = [name, str(cells[0]["true"]), numbers, three, cells[0]["chosen"], *errors]
            lines.append([*line, str(len(cells))])
    head = ["data", "true", "found", "three best", "chosen", "abs(log error)", "truth in three"]
    yield from _table([*head, "seeds"], lines)
    for title, group in _count_groups().items():
        if found := there(counts, group):
            error, hits = fmean(map(log_error, found)), fmean(map(hit_rate, found))
            run = rows_run(found, group)
            yield f"- {title}, {run}: error {error:.2f}, truth in three {hits:.0%}"
    yield ""
    if missing := [name for name in names if name not in counts]:
        yield f"Not run, or failed: {', '.join(missing)}.\n"


def _count_groups() -> dict[str, tuple[str, ...]]:
    return {
        "The paper's rows, ORL, Isolet and Lymphoma": WANTED,
        "20 tables of KEEL": data.KEEL,
        "9 further tables of KEEL": data.KEEL_ASIDE,
    }


def _generalisation(rows: dict[str, Row]) -> Iterator[str]:
    yield (
        "The rule of the search was settled on COIL, UMIST, Yale-B c = 10, ORL, Lymphoma and the "
        "20 tables above. The other groups are listed from the least to the most independent. The "
        "other Yale-B rows have more people of the same collection, so they are hardly new. PIE, "
        "Isolet and MNIST did not decide the rule, but were in view when it was made. Only the 9 "
        "further tables were first run after the rule stood. The paper's three UCI rows are left "
        "out, since KEEL has the same tables.\n"
    )
    groups = {"settled on": tuple(data.settled()), **data.others()}
    together = tuple(name for names in data.others().values() for name in names)
    groups["all that it was not settled on"] = together
    lines = []
    for title, names in groups.items():
        if found := there(rows, names):
            means = _means(found, ("srsg", KMEANS))
            near = sum(row.regret <= NEAR for row in found)
            lines.append([title, rows_run(found, names), *means, f"{near} of {len(found)}"])
    head = ["group", "run", "search", "always SRSG's default", "K-means, standardised"]
    yield from _table([*head, "within .03 of the best candidate"], lines)
    yield "The 9 further tables:\n"
    yield from _labels_table(rows, data.KEEL_ASIDE)
    yield f"{data.MNIST} (1,500 images drawn):\n"
    yield from _labels_table(rows, (data.MNIST,))


def _cost_table(costs: dict[str, list[dict[str, Any]]]) -> Iterator[str]:
    yield (
        "Processor time in seconds, all threads together: the search at a given number of clusters "
        "and one `SRSG.fit`, after each other in one process; the median ratio over the seeds.\n"
    )
    lines = []
    for name, cells in costs.items():
        seconds = [f"{median(cell[part] for cell in cells):.2f}" for part in ("fit", "search")]
        ratios = [cell["search"] / cell["fit"] for cell in cells]
        spread = f"{median(ratios):.1f} ({min(ratios):.1f} to {max(ratios):.1f})"
        lines.append([name, *seconds, spread, str(len(cells))])
    yield from _table(["data", "SRSG.fit", "search", "ratio", "seeds"], lines)
    if missing := [name for name in (data.COST, data.LARGE_COST) if name not in costs]:
        yield f"Not run, or failed: {', '.join(missing)}.\n"
