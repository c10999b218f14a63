"""The table of results, all of it from ``results.json``."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from benchmarks import growth
from benchmarks.comparisons import FIT, Row, all_rows, profile


def markdown(results: Mapping[str, Any]) -> str:
    return "\n".join(_lines(results)) + "\n"


def _lines(results: Mapping[str, Any]) -> Iterator[str]:
    rows = all_rows(results)
    bounded = [row for row in rows if row.met is not None]
    stages = stage_profiles(results)
    yield "# Speed, memory and growth"
    yield ""
    yield (
        "Written by `python -m benchmarks`, which `make bench` runs; the figures are those of "
        "`results.json`. Ratios are medians over rounds in which all solvers take "
        "turns, with the least and the most in brackets."
    )
    yield ""
    yield from _machine(results["machine"])
    if bounded:
        yield "## What was wanted"
        yield ""
        yield "| data | what | measured | wanted | met |"
        yield "|---|---|---:|---:|---|"
        for row in bounded:
            met = "yes" if row.met else _why(row, stages)
            yield f"| {row.data} | {_named(row)} | {row.figure} | {row.wanted} | {met} |"
        yield ""
    yield "![Ratios](ratios.png)"
    yield ""
    if stages:
        yield from _profile_table(stages)
    if others := [row for row in rows if row.met is None]:
        yield "## For information"
        yield ""
        yield "| data | what | measured |"
        yield "|---|---|---:|"
        for row in others:
            yield f"| {row.data} | {_named(row)} | {row.figure} |"
        yield ""
    if "growth" in results:
        yield from _growth(results["growth"])
    yield from _small_print(results)


def _named(row: Row) -> str:
    return f"{row.what}; {row.note}" if row.note else row.what


def _why(row: Row, stages: Mapping[str, Any]) -> str:
    return "no, see [where the time goes](#where-the-time-goes)" if row.data in stages else "no"


def _machine(machine: Mapping[str, Any]) -> Iterator[str]:
    libraries = ", ".join(f"{name} {number}" for name, number in machine["libraries"].items())
    yield (
        f"{machine['processor']}, {machine['cores']} cores, {machine['memory_gb']} GB, "
        f"{machine['system']}, Python {machine['python']}; {', '.join(machine['blas'])}; "
        f"{libraries}."
    )
    yield ""


def stage_profiles(results: Mapping[str, Any]) -> dict[str, dict[str, float]]:
    """Seconds of every stage of ``SRSG.fit``, by data."""
    found = {
        name: case["runs"][FIT]["stages"]
        for name, case in results.get("cases", {}).items()
        if FIT in case["runs"]
    }
    if "large" in results:
        found[f"MNIST, {results['large']['n_points']:,} points"] = results["large"]["stages"]
    return found


def _profile_table(profiles: Mapping[str, Mapping[str, float]]) -> Iterator[str]:
    names = list(next(iter(profiles.values())))
    yield "## Where the time goes"
    yield ""
    yield "Shares of `SRSG.fit`, in its last round."
    yield ""
    yield "| data | " + " | ".join(names) + " |"
    yield "|---|" + "---:|" * len(names)
    for data, stages in profiles.items():
        shares = profile(stages)
        yield f"| {data} | " + " | ".join(f"{shares[name]:.1%}" for name in names) + " |"
    yield ""


def _growth(found: Mapping[str, Any]) -> Iterator[str]:
    yield "## Growth"
    yield ""
    yield " ".join(growth.__doc__.split("\n\n")[1].split())
    yield ""
    yield "![Growth](growth.png)"
    yield ""
    for axis in ("n", "d"):
        yield f"| {axis} | ns for a pair of points | non-zeros of a code |"
        yield "|---:|---:|---:|"
        for row in found[f"with_{axis}"]:
            middle = np.median(growth.per_pair(row))
            yield f"| {row[axis]:,} | {middle:.3g} | {row['nonzeros']:.1f} |"
        yield ""


def _small_print(results: Mapping[str, Any]) -> Iterator[str]:
    yield "## Small print"
    yield ""
    yield (
        "Codes have lam 0.1 and come with the 5 nearest neighbours. Solvers that code one point "
        "after the other get as many points, drawn at random, as a few seconds allow; their "
        "time is scaled to all points. They run as they come, with all cores to their linear "
        "algebra; Gram matrices are not timed. The violation of the optimality conditions is "
        "computed for all in the same way, in float64, after the run. Algorithm 1 at full "
        "length solves the same problems as our first sweep."
    )
    yield ""
    yield "Seconds, median of the rounds:"
    yield ""
    yield "| data | solver | s | figures |"
    yield "|---|---|---:|---|"
    for name, case in results.get("cases", {}).items():
        size = f"{name}, {case['n_points']} x {case['n_features']}"
        for key, run in case["runs"].items():
            figures = {
                label: run[label]
                for label in ("violation", "nonzeros", "sweeps", "normalized_cut")
                if label in run
            }
            shown = ", ".join(
                f"{label.replace('_', ' ')} {value:.3g}" for label, value in figures.items()
            )
            yield f"| {size} | {key} | {np.median(run['seconds']):.3g} | {shown} |"
    if "large" in results:
        large = results["large"]
        data = f"MNIST, {large['n_points']} x {large['n_features']}"
        yield f"| {data} | SRSG.fit | {large['fit'][0]:.4g} | |"
        yield f"| {data} | blocked float32 product | {np.median(large['product']):.3g} | |"
