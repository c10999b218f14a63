"""Writes the tables of results in README.md and in the guide: ``python -m tools.result_tables``.

No figure in these pages is typed by hand. They come from what the benchmarks have written into
``docs/results`` and ``benchmarks/results``.
"""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Callable, Iterable, Sequence
from functools import cache
from pathlib import Path
from statistics import median
from typing import Any

ROOT = Path(__file__).parents[1]
RESULTS = ROOT / "docs" / "results" / "parts"

ROWS = [("COIL-20", "20"), ("COIL-100", "100"), ("Yale-B", "38"), ("UMIST Face", "20")]
"""Of every collection the row with all of its classes, but for PIE, which nobody separates."""

IN_SELECTION = {"COIL-20": "COIL20", "COIL-100": "COIL100", "Yale-B": "YaleB"}
"""How the page of the search calls them, where it uses another name."""


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [head, ["---"] + ["---:"] * (len(head) - 1), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


@cache
def measured() -> dict[str, Any]:
    """What ``python -m benchmarks`` wrote."""
    return json.loads((ROOT / "benchmarks" / "results" / "results.json").read_text())


@cache
def evaluation() -> dict[tuple[str, str, str, str], dict[str, str]]:
    """What ``make paper`` wrote: one line for each data set, number, method and setting."""
    lines = {}
    for number in (1, 2, 3):
        with (RESULTS / f"table-{number}.csv").open() as file:
            for line in csv.DictReader(file):
                key = line["dataset"], line["n_clusters"], line["method"], line["settings"]
                lines[key] = line
    return lines


def search_accuracy(data: str, count: str) -> str:
    """What the page of the search has for a row."""
    name = f"{IN_SELECTION.get(data, data.split()[0])}-{count}"
    page = (RESULTS / "selection.md").read_text()
    head, row = (
        re.search(rf"^\| {start} \|.*$", page, re.MULTILINE) for start in ("data", re.escape(name))
    )
    assert head
    assert row
    place = [cell.strip() for cell in head[0].split("|")].index("search")
    return f"{float(row[0].split('|')[place]):.2f}"


def accuracy() -> str:
    """Accuracy on the paper's image data, all classes."""

    def cell(data: str, count: str, method: str, settings: str, column: str = "ac_mean") -> str:
        return f"{float(evaluation()[data, count, method, settings][column]):.2f}"

    head = ["accuracy", "K-means", "spectral", "l1-graph (SSC)", "SMCE", "SRSG in the paper"]
    rows = []
    for data, count in ROWS:
        others = [cell(data, count, each, "default") for each in ("kmeans", "sc", "l1", "smce")]
        published = cell(data, count, "srsg", "paper", "ac_published")
        ours = cell(data, count, "srsg", "default")
        rows.append(
            [f"{data}, {count} classes", *others, published, ours, search_accuracy(data, count)]
        )
    return table([*head, "**SRSG**", "**search**"], rows)


def seconds(case: dict[str, Any], run: str) -> float:
    return median(case["runs"][run]["seconds"])


def fit_times() -> str:
    """How long a fit takes."""
    rows = []
    cases = measured()["cases"].items()
    for name, case in sorted(cases, key=lambda each: each[1]["n_points"]):
        shape = f"{case['n_points']:,}", f"{case['n_features']:,}"
        rows.append([name, *shape, f"{seconds(case, 'clusters: SRSG.fit'):.2g} s"])
    large = measured()["large"]
    shape = f"{large['n_points']:,}", f"{large['n_features']:,}"
    rows.append(["MNIST", *shape, f"{median(large['fit']) / 60:.1f} min"])
    return table(["data", "points", "features", "`SRSG.fit`"], rows)


def in_words(ratio: float) -> str:
    return f"{ratio:,.0f}" if ratio >= 10 else f"{ratio:.1f}"


def ratio_rows(what: str) -> list[list[str]]:
    """The median ratio of every data set that has this figure, and its note."""
    return [
        [each["data"], in_words(each["figure"]["median"]), each["note"]]
        for each in measured()["ratios"]
        if each["what"] == what
    ]


def active_set() -> str:
    rows = ratio_rows("Algorithm 1 at full length over ours (one sweep)")
    return table(["data", "times as long at full length", "how measured"], rows)


def codes() -> str:
    rows = ratio_rows("codes and neighbours over one float64 product")
    return table(["data", "codes and neighbours over one product"], [row[:2] for row in rows])


def peers() -> str:
    """How much longer other exact solvers take for the same codes."""
    solvers = {
        "active sets with SPAMS": "active sets with SPAMS (the toolbox's way)",
        "SPAMS lasso, Gram matrix given": "SPAMS lasso",
        "skglm": "skglm",
        "celer": "celer",
        "scikit-learn Lasso, Gram matrix given": "scikit-learn Lasso",
    }
    data = ["COIL-20", "COIL-100", "MNIST-10k"]
    rows = []
    for solver, name in solvers.items():
        found = {row[0]: row[1] for row in ratio_rows(f"{solver} over ours (codes)")}
        rows.append([name, *(found[each] for each in data)])
    return table(["times as long as srsg", *data], rows)


PUBLISHED_ELSEWHERE = [
    ("Yale-B", "38", "LSR", ".963 / .954"),
    ("UMIST Face", "20", "EnSC", ".725 / .871"),
    ("COIL-20", "20", "EnSC", ".858 / .937"),
    ("COIL-100", "100", "EnSC", ".731 / .929"),
]
"""Figures of other methods that their users quote (AC / NMI): no run of ours."""


def literature() -> str:
    """The best published figures of other methods beside ours."""
    rows = []
    for data, count, method, figures in PUBLISHED_ELSEWHERE:
        line = evaluation()[data, count, "srsg", "default"]
        ours = " / ".join(f"{float(line[name]):.3f}"[1:] for name in ("ac_mean", "nmi_mean"))
        search = search_accuracy(data, count).lstrip("0")
        rows.append([f"{data}, {count} classes", method, figures, ours, f"{search} (AC)"])
    return table(["data", "method", "published", "SRSG's default", "search"], rows)


@cache
def part_table(part: str, heading: str) -> list[list[str]]:
    """The first table below a heading of a part: its head, then its rows."""
    text = (RESULTS / f"{part}.md").read_text().split(f"## {heading}\n", 1)[1]
    lines = re.search(r"(?:^\|.*\n)+", text, re.MULTILINE)
    assert lines
    rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in lines[0].splitlines()]
    return [rows[0], *rows[2:]]


def columns_of(rows: list[list[str]], names: Sequence[str]) -> list[list[str]]:
    """Some columns, each row with two decimals and its best in bold."""
    places = [rows[0].index(name) for name in names]
    chosen = []
    for row in rows[1:]:
        figures = [float(row[place].strip("*")) for place in places]
        best = f"{max(figures):.2f}"
        cells = [f"{figure:.2f}" for figure in figures]
        chosen.append([row[0], *(f"**{cell}**" if cell == best else cell for cell in cells)])
    return chosen


GIVEN = "Accuracy, number of clusters given"
SHOWN = {
    "K-means": "K-means",
    "spectral, 10-NN": "spectral",
    "Ward": "Ward",
    "Gaussian mixture": "mixture",
    "Leiden, number given": "Leiden",
    "EVoC, number wished": "EVoC",
    "SRSG": "SRSG",
    "search": "srsg's search",
}
"""Columns of the families that README.md has, and their names there."""
OURS = {"NeighborGraph", "RidgeGraph", "l1, agreement", "SRSG", "search"}


def families() -> str:
    """One table over all families of data."""
    rows = columns_of(part_table("families", GIVEN), [*SHOWN])
    return table(["accuracy (number of sets)", *SHOWN.values()], rows)


def losses() -> str:
    """Where another tool is better than the search, by the table of families."""
    head, *rows = part_table("families", GIVEN)
    behind = []
    for row in rows:
        figures = {
            name: float(cell.strip("*")) for name, cell in zip(head[1:], row[1:], strict=True)
        }
        ours = figures["search"]
        others = {name: figure for name, figure in figures.items() if name not in OURS}
        best = max(others, key=lambda name: others[name])
        if others[best] > ours:
            name = SHOWN.get(best, best)
            behind.append(f"{row[0].split(' (')[0]} ({name} by {others[best] - ours:.3f})")
    return "Another tool is ahead of the search on " + ", ".join(behind) + "."


def counting() -> str:
    """How far numbers of clusters are from the truth."""
    head, *rows = part_table("families", "Number of clusters found")
    return table(head, rows)


def found() -> str:
    """Accuracy where each tool finds the number of clusters."""
    head, *rows = part_table("families", "Accuracy, number of clusters found")
    return table(head, rows)


def support() -> str:
    """What the support regularisation adds, for long and for short codes."""
    head, *rows = part_table("families", "What the support regularisation adds")
    return table(head, rows[-3:])


def embeddings() -> str:
    """Embedded texts: what each tool finds, and its cost."""
    text = (RESULTS / "embeddings.md").read_text()
    lines = re.search(r"(?:^\|.*\n)+", text, re.MULTILINE)
    assert lines
    return lines[0].rstrip()


def confidence() -> str:
    """Mean errors of calibration, by group of data sets."""
    groups = {
        "Sets on which it was chosen": "five sets on which it was chosen",
        "Other sets": "other sets",
        "Tables whose classes are not clusters": "tables whose classes are not clusters",
        "New points": "new points",
    }
    rows = []
    for heading, name in groups.items():
        head, *lines = part_table("calibration", heading)
        rows.append([name, lines[-1][head.index("error")].strip("*")])
    return table(["", "mean of abs(confidence - accuracy)"], rows)


def first_fit() -> str:
    """What the first fit on a machine takes, and later ones."""
    text = (RESULTS / "cold-start.md").read_text()
    rows = {}
    for line in re.findall(r"^\| (.+) \|$", text, re.MULTILINE):
        cells = line.split(" | ")
        rows[cells[0]] = cells
    compiling, later = (rows[name] for name in ("first fit", "first fit of the next process"))
    return (
        "The first fit on a machine compiles the inner loops, which took "
        f"{compiling[1].split()[0]} processor seconds; "
        f"the next process needed {later[-1].split()[0]} s for its first fit."
    )


TABLES: dict[str, tuple[str, Callable[[], str]]] = {
    "families": ("README.md", families),
    "losses": ("README.md", losses),
    "accuracy": ("docs/results.md", accuracy),
    "counting": ("docs/results.md", counting),
    "embeddings": ("docs/guide/embeddings.md", embeddings),
    "found": ("docs/comparison.md", found),
    "support": ("docs/comparison.md", support),
    "confidence": ("docs/results.md", confidence),
    "first fit": ("docs/results.md", first_fit),
    "literature": ("docs/evaluation.md", literature),
    "fit times": ("docs/guide/large-data.md", fit_times),
    "active set": ("docs/theory/active-set.md", active_set),
    "codes": ("docs/theory/costs.md", codes),
    "peers": ("docs/comparison.md", peers),
}


def with_table(text: str, mark: str, made: str) -> str:
    """The page with the text between the marks replaced."""
    begin = f"<!-- {mark}: python -m tools.result_tables -->\n"
    end = f"<!-- end of {mark} -->"
    before, found, rest = text.partition(begin)
    _, closed, after = rest.partition(end)
    if not (found and closed):
        raise ValueError(f"no marks for the table {mark!r}")
    return f"{before}{begin}{made}\n{end}{after}"


def pages() -> dict[Path, str]:
    """The pages as they should be."""
    texts: dict[Path, str] = {}
    for mark, (name, make) in TABLES.items():
        path = ROOT / name
        texts[path] = with_table(texts.get(path) or path.read_text(), mark, make())
    return texts


if __name__ == "__main__":
    for path, text in pages().items():
        path.write_text(text)
