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


TABLES: dict[str, tuple[str, Callable[[], str]]] = {
    "accuracy": ("README.md", accuracy),
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
