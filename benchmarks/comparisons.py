"""From what was measured to ratios, and whether they keep their bounds."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np

from benchmarks import growth
from benchmarks.case import ACCURACY
from benchmarks.timing import Spread


@dataclass(frozen=True)
class Row:
    """One line of the table: a figure, and the bound it should keep."""

    data: str
    what: str
    figure: Spread
    at_most: float | None = None
    at_least: float | None = None
    note: str = ""

    @property
    def wanted(self) -> str:
        if self.at_most is not None:
            return f"at most {self.at_most:g}"
        return "" if self.at_least is None else f"at least {self.at_least:g}"

    @property
    def met(self) -> bool | None:
        """Whether the median is within the bound; None without one."""
        if self.at_most is not None:
            return self.figure.median <= self.at_most
        return None if self.at_least is None else self.figure.median >= self.at_least

    def as_dict(self) -> dict[str, Any]:
        return {**asdict(self), "met": self.met}


@dataclass(frozen=True)
class Ratio:
    """The time of one solver over that of another, with bounds by data set."""

    what: str
    above: str
    below: str
    at_most: Mapping[str, float] = field(default_factory=dict)
    at_least: Mapping[str, float] = field(default_factory=dict)


SYMMETRIC = "product: float64, numpy's X @ X.T"
CODES, FIT, PRODUCT = "codes: srsg", "clusters: SRSG.fit", "product: float64"
LARGE_FIT_RATIO = 15
LARGE_MEMORY_GB = 4
FLAT_WITHIN = 1.2

LABELS = "labels over the graph, in the last fit"
LABELS_AT_MOST = 1

CODES_AT_MOST = {"COIL-100": 3, "PIE": 4, "MNIST-10k": 6}
FIT_AT_MOST = {"COIL-100": 6}

RATIOS = (
    Ratio("codes and neighbours over one float64 product", CODES, PRODUCT, CODES_AT_MOST),
    Ratio("codes and neighbours over numpy's X @ X.T", CODES, SYMMETRIC),
    Ratio(
        "SRSG's sweeps over the codes",
        "sweeps: srsg",
        CODES,
        at_most=dict.fromkeys(("COIL-100", "PIE", "MNIST-10k"), 0.25),
    ),
    Ratio("SRSG.fit over one float64 product", FIT, PRODUCT, FIT_AT_MOST),
    Ratio("SRSG.fit over numpy's X @ X.T", FIT, SYMMETRIC),
    Ratio(
        "codes, one thread over all cores",
        "codes: srsg, one thread",
        CODES,
        at_least={"COIL-100": 1.7},
    ),
    Ratio(
        "SRSG.fit, one thread over all cores",
        "clusters: SRSG.fit, one thread",
        FIT,
        at_least=dict.fromkeys(("COIL-100", "PIE", "Yale-B"), 1.7),
    ),
    Ratio("codes and neighbours over one float32 product", CODES, "product: float32"),
    Ratio("numpy's X @ X.T over a general product", SYMMETRIC, PRODUCT),
)
ACTIVE_SETS_AT_LEAST = {"COIL-20": 40, "COIL-100": 20, "MNIST-10k": 20}
PEERS_AT_LEAST = {
    "active sets with SPAMS": ACTIVE_SETS_AT_LEAST,
    "Algorithm 1 at full length": {"COIL-20": 1000},
}


def all_rows(results: Mapping[str, Any]) -> list[Row]:
    """All lines, those with bounds and those for information."""
    rows = [row for name, case in results.get("cases", {}).items() for row in of_case(name, case)]
    if "growth" in results:
        rows += of_growth(results["growth"])
    if "large" in results:
        rows += of_large(results["large"])
    if "startup" in results:
        rows += of_startup(results["startup"])
    return rows


def of_case(name: str, case: Mapping[str, Any]) -> Iterator[Row]:
    runs = case["runs"]
    for ratio in RATIOS:
        if ratio.above in runs and ratio.below in runs:
            yield Row(
                name,
                ratio.what,
                _of(runs[ratio.above], runs[ratio.below]),
                ratio.at_most.get(name),
                ratio.at_least.get(name),
            )
    if FIT in runs:
        stages = runs[FIT]["stages"]
        labels = stages["eigenvectors"] + stages["K-means"]
        over = labels / sum(stages[name] for name in ("scaling", "codes", "sweeps", "affinity"))
        yield Row(name, LABELS, Spread(over, over, over), at_most=LABELS_AT_MOST)
    for run in runs.values():
        ours = f"{run['objective']}: srsg"
        if run["peer"] and ours in runs:
            yield Row(
                name,
                f"{run['solver']} over ours ({run['objective']})",
                _of(run, runs[ours]),
                at_least=PEERS_AT_LEAST.get(run["solver"], {}).get(name),
                note=_note(run, runs[ours]),
            )
    exact = [
        run
        for run in runs.values()
        if run["peer"] and run["objective"] == "codes" and run["violation"] <= ACCURACY
    ]
    if exact and runs[CODES]["violation"] <= ACCURACY:
        best = min(exact, key=lambda run: np.median(run["seconds"]))
        yield Row(
            name,
            "the fastest exact peer over ours (codes)",
            _of(best, runs[CODES]),
            note=f"{best['solver']}, {_note(best, runs[CODES])}",
        )


def _of(above: Mapping[str, Any], below: Mapping[str, Any]) -> Spread:
    return Spread.of_ratios(above["seconds"], below["seconds"])


def _note(run: Mapping[str, Any], ours: Mapping[str, Any]) -> str:
    parts = []
    if run["scaled_from"]:
        parts.append(f"scaled from {run['scaled_from']} points")
    if "violation" in run:
        parts.append(f"violation {run['violation']:.0e}")
    if "difference" in run:
        parts.append(f"codes differ by {run['difference']:.0e}")
    if "normalized_cut" in run:
        cuts = f"{run['normalized_cut']:.4f}, ours {ours['normalized_cut']:.4f}"
        parts.append(f"normalised cut {cuts}")
    return ", ".join(parts)


def of_growth(found: Mapping[str, Any]) -> Iterator[Row]:
    by_size = {row["n"]: growth.per_pair(row) for row in found["with_n"]}
    first, last = growth.JUDGED
    if first in by_size and last in by_size:
        yield Row(
            f"subspaces, d = {growth.FEATURES}",
            f"codes, time of a pair of points at n = {last:,} over that at {first:,}",
            Spread.of_ratios(by_size[last], by_size[first]),
            at_most=FLAT_WITHIN,
            note="1 is flat, less is better than that",
        )
    for axis, title in (("n", "points"), ("d", "features")):
        rows = found[f"with_{axis}"]
        if len(rows) > 1:
            value = growth.slope(rows, axis)
            label = f"codes, log-log slope with the number of {title}"
            note = f"{axis} = {rows[0][axis]:,} to {rows[-1][axis]:,}"
            yield Row("subspaces", label, Spread(value, value, value), note=note)

    for line in found.get("bad_cases", ()):
        yield Row(
            f"{line['name']}, {line['n']:,} x {line['d']:,}",
            "codes over one blocked float32 product, processor time on one thread",
            Spread(line["ratio"], line["ratio"], line["ratio"]),
            note=line["warning"] or f"violation {line['violation']:.0e}",
        )


def of_large(found: Mapping[str, Any]) -> Iterator[Row]:
    ratios = [found["fit"][0] / product for product in found["product"]]
    name = f"MNIST, {found['n_points']:,} points"
    what = "SRSG.fit over one blocked float32 product"
    yield Row(name, what, Spread.of(ratios), at_most=LARGE_FIT_RATIO)
    above = found["memory_above"] / 1e9
    memory = "SRSG.fit, peak memory above the input, GB"
    yield Row(name, memory, Spread(above, above, above), at_most=LARGE_MEMORY_GB)


def of_startup(found: Mapping[str, Any]) -> Iterator[Row]:
    processes = found["processes"]
    for label in ("import srsg", "from srsg import SRSG", "srsg --help"):
        for base in ("python", "import sklearn.cluster"):
            what = f"process of {label!r} over one of {base!r}"
            yield Row("startup", what, Spread.of_ratios(processes[label], processes[base]))
    first, second = found["fits"].values()
    yield Row("startup", "fit of 100 points, compiling, s", Spread.of(first))
    yield Row("startup", "the same in another process, s", Spread.of(second))


def profile(stages: Mapping[str, float]) -> dict[str, float]:
    """The share of every stage."""
    total = float(np.sum(list(stages.values())))
    return {stage: seconds / total for stage, seconds in stages.items()}
