"""All measurements in one run, or some of them.

    python -m benchmarks [--data DIR] [--only NAME ...] [--quick] [--no-peers] [--out DIR]

Names are those of the data sets, and growth, large, startup. Leaves ``results.json``, and the
table and the picture made from it, in the folder of results; ``--only`` renews a part of them.
"""

from __future__ import annotations

import argparse
import json
import os
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from benchmarks import growth, large, startup
from benchmarks.comparisons import all_rows
from benchmarks.datasets import Dataset
from benchmarks.discovery import all_datasets, all_solvers, is_there
from benchmarks.machine import describe
from benchmarks.pictures import draw
from benchmarks.report import markdown
from benchmarks.runner import run_case
from benchmarks.solvers import Solver
from srsg.files import atomic_write

PARTS = ("growth", "large", "startup")
RESULTS = Path(__file__).parent / "results"


def main(arguments: list[str] | None = None) -> None:
    options = read_options(arguments)
    datasets = all_datasets()
    known = [*datasets, *PARTS]
    if unknown := [name for name in options.only if name not in known]:
        raise SystemExit(f"--only {unknown[0]}: no such name; there are {', '.join(known)}.")
    chosen = options.only or known
    if options.quick and not options.only:
        chosen = [*(name for name in datasets if datasets[name].quick), "growth"]
    results = started(options)
    solvers = list(usable(all_solvers(), options.peers))
    options.out.mkdir(parents=True, exist_ok=True)
    for name in chosen:
        start = time.perf_counter()
        try:
            measure(name, datasets, solvers, options, results)
        except FileNotFoundError:
            print(f"{name}: not in the folder of data (--data or SRSG_DATA), skipped", flush=True)
            continue
        except ModuleNotFoundError as error:
            print(f"{name}: {error}; skipped", flush=True)
            continue
        print(f"{name}: measured in {time.perf_counter() - start:.0f} s", flush=True)
        write(results, options.out)
    for row in all_rows(results):
        met = {True: "yes", False: "NO", None: ""}[row.met]
        print(f"{row.data:<20} {row.what:<70} {row.figure!s:<26} {row.wanted} {met}".rstrip())


def read_options(arguments: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser("python -m benchmarks", description=__doc__.splitlines()[0])
    folder = os.environ.get("SRSG_DATA")
    parser.add_argument(
        "--data", type=Path, default=folder and Path(folder), help="folder of the paper's data"
    )
    parser.add_argument("--only", nargs="+", default=[], metavar="NAME", help="parts to measure")
    parser.add_argument("--quick", action="store_true", help="small data, one round")
    parser.add_argument("--no-peers", dest="peers", action="store_false", help="ours alone")
    parser.add_argument("--runs", type=int, default=3, help="rounds")
    parser.add_argument(
        "--budget", type=float, default=2.5, help="seconds per round for a slow peer"
    )
    parser.add_argument("--out", type=Path, default=RESULTS, help="folder of results")
    options = parser.parse_args(arguments)
    if options.quick:
        options.runs, options.budget = 1, 0.1
    return options


def started(options: argparse.Namespace) -> dict[str, Any]:
    """Results without any; or, where parts are to be renewed, those of the same machine."""
    results = {"machine": describe(), "rounds": options.runs, "cases": {}}
    path = options.out / "results.json"
    if options.only and path.exists():
        earlier = json.loads(path.read_text())
        if all(earlier[key] == results[key] for key in ("machine", "rounds")):
            return earlier
    return results


def usable(solvers: list[Solver], peers: bool) -> Iterator[Solver]:
    for solver in solvers:
        if solver.peer and not peers:
            continue
        if is_there(solver):
            yield solver
        else:
            print(f"{solver.name}: needs {solver.needs}, which is not installed; skipped")


def measure(
    name: str,
    datasets: dict[str, Dataset],
    solvers: list[Solver],
    options: argparse.Namespace,
    results: dict[str, Any],
) -> None:
    """Measure one part and add it to the results."""
    if name == "growth":
        results[name] = growth.measure(min(options.runs, 2), options.quick)
    elif name == "large":
        results[name] = large.measure(options.data)
    elif name == "startup":
        results[name] = startup.measure(options.runs)
    else:
        dataset = datasets[name]
        taking_part = [solver for solver in solvers if dataset.takes(solver)]
        case = dataset.load(options.data)
        results["cases"][name] = run_case(case, taking_part, options.runs, options.budget)


def write(results: dict[str, Any], folder: Path) -> None:
    """The results, and the table and the picture that are made of them."""
    results["ratios"] = [row.as_dict() for row in all_rows(results)]
    with atomic_write(folder / "results.json") as path:
        path.write_text(json.dumps(results, indent=1) + "\n")
    with atomic_write(folder / "README.md") as path:
        path.write_text(markdown(results))
    draw(results, folder)


if __name__ == "__main__":
    main()
