"""The speed and the results of two versions of the code, side by side in one run.

    python -m benchmarks.before_after --before OTHER/src [--data DIR] [--only NAME] [--write FILE]

``OTHER`` is a checkout of another commit: ``git worktree add OTHER COMMIT``. Each version runs in a
process of its own, which first fits a few points, so that nothing is compiled later; then the
processes take turns, so that whatever else the machine does is spread over both. All times are
ratios within a round.
"""

from __future__ import annotations

import argparse
import csv
import json
import os
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.rounds import TASKS
from benchmarks.timing import Spread

HERE = Path(__file__).parents[1]
DATASETS = {
    "COIL-20": None,
    "COIL-100": None,
    "CMU PIE": None,
    "Yale-B": None,
    "UMIST Face": None,
    "Isolet": None,
    "MNIST": 10_000,
    "Breast": None,
    "Ionosphere": None,
    "letter": None,
    "spambase": None,
    "texture": None,
}
"""Files of the folder of data, and how many of their rows are taken."""

PATIENCE = 1800.0
ODD_PATIENCE = 240.0
"""Seconds after which a process that does not answer is ended; the second for odd points."""

LAPLACIAN = (("CMU PIE", 20), ("CMU PIE", 68))
"""Data on which one sweep of the Laplacian l1-graph is measured: their first classes."""

Round = dict[str, Any]


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(
        "python -m benchmarks.before_after", description=__doc__.splitlines()[0]
    )
    folder = os.environ.get("SRSG_DATA")
    parser.add_argument("--before", type=Path, help="the folder src of another checkout")
    parser.add_argument("--data", type=Path, default=folder and Path(folder))
    parser.add_argument("--only", nargs="+", default=list(DATASETS), metavar="NAME")
    parser.add_argument("--runs", type=int, default=3, help="rounds")
    parser.add_argument("--large", action="store_true", help="also all of MNIST, in one round")
    parser.add_argument("--odd", action="store_true", help="also points that make codes expensive")
    parser.add_argument("--write", type=Path, help="a Markdown page to write")
    parser.add_argument("--serve", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args(arguments)
    if options.serve:
        serve(options.serve)
        return
    if options.before is None:
        parser.error("--before is needed: the folder src of another checkout.")
    sources = {"before": options.before.resolve(), "now": HERE / "src"}
    known = {
        "before": commit(options.before),
        "now": commit(HERE),
        "load": f"{os.getloadavg()[0]:.1f}",
    }
    found: dict[tuple[str, ...], list[str]] = {}
    # Written after every row, so that a run which is stopped leaves what it has.
    for table, row in measured(options, sources):
        print(row, flush=True)
        found.setdefault(table, []).append(row)
        if options.write:
            lines = [line.format(**known) for line in INTRODUCTION]
            for header, rows in found.items():
                lines += [*header, *rows, ""]
            lines += accuracies(options.before.parent)
            options.write.write_text("\n".join(lines) + "\n", encoding="utf-8")


def measured(
    options: argparse.Namespace, sources: dict[str, Path]
) -> Iterator[tuple[tuple[str, ...], str]]:
    """The rows of all tables, each with the header of its table."""
    folder, runs = options.data, options.runs
    for name in options.only:
        try:
            yield HEADER, measure(name, folder, sources, runs)
        except FileNotFoundError as error:
            print(f"{name} is left out: {error}", file=sys.stderr)
    for name, count in LAPLACIAN:
        if name in options.only:
            yield LAPLACIAN_HEADER, laplacian_row(name, count, folder, sources, runs)
    if options.large:
        yield LARGE_HEADER, large_row(folder, sources)
    if options.odd:
        for row in odd_rows(sources):
            yield ODD_HEADER, row


def measure(name: str, folder: Path | None, sources: dict[str, Path], runs: int) -> str:
    """A row of the table."""
    from paper.datasets import load_dataset
    from srsg.metrics import clustering_accuracy

    data = load_dataset(name, folder=folder)
    X, y = data.X[: DATASETS.get(name)], data.y[: DATASETS.get(name)]
    found = in_turns(sources, runs, task="srsg", X=X, n_clusters=data.n_clusters)
    cells = [f"{name}, {len(X):,} x {X.shape[1]:,}"]
    for above, below in (("fit", "product"), ("labels", "graph"), ("one_thread", "fit")):
        cells += [str(ratio(found[label], above, below)) for label in sources]
    both = zip(found["now"], found["before"], strict=True)
    cells.append(str(Spread.of([now["fit"] / before["fit"] for now, before in both])))
    labels = {label: np.array(rounds[-1]["found"]) for label, rounds in found.items()}
    cells += [f"{clustering_accuracy(y, each):.3f}" for each in labels.values()]
    cells += [f"{rounds[-1]['violation']:.0e}" for rounds in found.values()]
    return "| " + " | ".join(cells) + " |"


def laplacian_row(
    name: str, n_clusters: int, folder: Path | None, sources: dict[str, Path], runs: int
) -> str:
    """A row of the table of the Laplacian l1-graph."""
    from paper.datasets import load_dataset

    data = load_dataset(name, folder=folder)
    X = data.X[np.isin(data.y, np.unique(data.y)[:n_clusters])]
    found = in_turns(sources, runs, task="laplacian", X=X, n_clusters=n_clusters)
    cells = [f"{name}, c = {n_clusters}"]
    cells += [str(ratio(rounds, "sweep", "l1")) for rounds in found.values()]
    both = zip(found["now"], found["before"], strict=True)
    cells.append(str(Spread.of([now["sweep"] / before["sweep"] for now, before in both])))
    cells += [f"{rounds[-1]['violation']:.0e}" for rounds in found.values()]
    return "| " + " | ".join(cells) + " |"


def large_row(folder: Path | None, sources: dict[str, Path]) -> str:
    """The row of all of MNIST."""
    from paper.datasets import load_dataset

    data = load_dataset("MNIST", folder=folder)
    found = in_turns(sources, 1, task="large", X=data.X, n_clusters=data.n_clusters)
    cells = [f"MNIST, {len(data.X):,} x {data.X.shape[1]:,}"]
    cells += [f"{rounds[0]['fit'] / rounds[0]['product']:.3g}" for rounds in found.values()]
    cells.append(f"{found['now'][0]['fit'] / found['before'][0]['fit']:.3g}")
    return "| " + " | ".join(cells) + " |"


def odd_rows(sources: dict[str, Path]) -> Iterator[str]:
    """The rows of points that make codes expensive."""
    from benchmarks.bad_cases import CASES
    from benchmarks.case import LAM

    for case in CASES:
        if "tol" in case.options:  # not a parameter of L1Graph
            continue
        X = case.make(case.n_points)
        work = {"task": "odd", "X": X, "n_clusters": 2, "lam": LAM, **case.options}
        found = in_turns(sources, 1, patience=ODD_PATIENCE, **work)
        cells = [case.name, f"{len(X):,} x {X.shape[1]:,}"]
        for [each] in found.values():
            cells.append(f"{each['codes'] / each['product']:.3g}" if each else "not ended")
        cells += [f"{each['violation']:.0e}" if each else "" for [each] in found.values()]
        yield "| " + " | ".join(cells) + " |"


def in_turns(
    sources: dict[str, Path], runs: int, *, patience: float = PATIENCE, **work: Any
) -> dict[str, list[Round]]:
    """The rounds of every version, each in a process of its own that has the points in memory."""
    with tempfile.TemporaryDirectory() as place:
        path = Path(place) / "work.npz"
        np.savez(path, **work)
        children = {label: started(source, path) for label, source in sources.items()}
        found: dict[str, list[Round]] = {label: [] for label in sources}
        for _ in range(runs):
            for label, child in children.items():
                found[label].append(asked(child, patience))
        for child in children.values():
            if child.poll() is None:
                child.communicate("")
    return found


INTRODUCTION = (
    "# Before and after",
    "",
    "Written by `python -m benchmarks.before_after --before OTHER/src --write FILE`; do not edit. "
    "`SRSG` by its defaults, given the number of clusters, two cores. Each cell is a ratio of "
    "times in the same round: the median, with the least and the most in brackets. *Product*: one "
    "float64 product of all points with all points. *Labels*: all of the fit but the graph. "
    "*Before* is commit {before}, *now* {now}. The load of the machine before the run was {load}: "
    "the more other programs run, the less two threads can gain.",
    "",
)
HEADER = (
    "| data | fit over product, before | now | labels over graph, before | now "
    "| one thread over two, before | now | fit, now over before | AC, before | now "
    "| largest violation, before | now |",
    "|---|" + "---:|" * 11,
)
LAPLACIAN_HEADER = (
    "## One sweep of the Laplacian l1-graph",
    "",
    "`LaplacianL1Graph` by its defaults: what it takes beyond the l1 codes that it starts from, "
    "over these codes. Two cores.",
    "",
    "| data | sweep over l1 codes, before | now | sweep, now over before "
    "| largest violation, before | now |",
    "|---|" + "---:|" * 5,
)
LARGE_HEADER = (
    "## All of MNIST",
    "",
    "`SRSG` by its defaults, over one float32 product of all points with all points in blocks. One "
    "round, two cores.",
    "",
    "| data | fit over product, before | now | fit, now over before |",
    "|---|" + "---:|" * 3,
)
ODD_HEADER = (
    "## Points that make codes expensive",
    "",
    "`L1Graph`, without clusters, over one float32 product of all points with all points in "
    "blocks: processor seconds on one thread, one round. *Not ended*: after "
    f"{ODD_PATIENCE / 60:g} minutes.",
    "",
    "| points | n x d | codes over product, before | now | largest violation, before | now |",
    "|---|" + "---:|" * 5,
)


def commit(folder: Path) -> str:
    """The commit that is checked out there."""
    command = ["git", "rev-parse", "--short", "HEAD"]
    return subprocess.check_output(command, cwd=folder, text=True).strip()


def ratio(rounds: list[Round], above: str, below: str) -> Spread:
    return Spread.of_ratios([each[above] for each in rounds], [each[below] for each in rounds])


# The process of one version


def started(source: Path, points: Path) -> subprocess.Popen[str]:
    """A process that does this work whenever it is asked."""
    command = [sys.executable, "-m", "benchmarks.before_after", "--serve", str(points)]
    return subprocess.Popen(
        command,
        cwd=HERE,
        env=os.environ | {"PYTHONPATH": f"{source}{os.pathsep}{HERE}"},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )


def asked(child: subprocess.Popen[str], patience: float) -> Round:
    """What the process answers; nothing if it takes too long and is ended."""
    assert child.stdin
    assert child.stdout
    child.stdin.write("round\n")
    child.stdin.flush()
    timer = threading.Timer(patience, child.kill)
    timer.start()
    answer = child.stdout.readline()
    if not answer and timer.is_alive():
        raise SystemExit("a process ended before it answered: see its error above.")
    timer.cancel()
    return json.loads(answer) if answer else {}


def serve(path: Path) -> None:
    """Answer each line of the standard input with the times of a round."""
    with np.load(path) as file:
        work = dict(file)
    task, X = TASKS[str(work.pop("task"))], work.pop("X")
    options = {name: value.item() for name, value in work.items()}
    some = np.linspace(0, len(X) - 1, min(300, len(X))).astype(int)
    dict(task(X[some], **options | {"n_clusters": 5}))  # compiles
    for _ in sys.stdin:
        print(json.dumps(dict(task(X, **options))), flush=True)


# The paper's tables


def accuracies(other: Path) -> Iterator[str]:
    """The AC of SRSG in the tables that each version has printed."""
    tables = [printed(root / "docs" / "results" / "parts") for root in (other, HERE)]
    yield "## SRSG's AC on the paper's rows"
    yield ""
    yield (
        "From the tables in `docs/results` of both versions: means over five seeds of K-means, "
        "with their standard deviation in brackets."
    )
    yield ""
    yield "| data | paper's settings, before | now | defaults, before | now |"
    yield "|---|---:|---:|---:|---:|"
    for row in tables[1]:
        figures = [table.get(row, {}).get(setting, "") for setting in SETTINGS for table in tables]
        yield f"| {row} | " + " | ".join(figures) + " |"


SETTINGS = ("paper", "default")


def printed(folder: Path) -> dict[str, dict[str, str]]:
    """For every row of the tables, the AC of SRSG by setting."""
    found: dict[str, dict[str, str]] = {}
    for path in sorted(folder.glob("table-*.csv")):
        with path.open(encoding="utf-8") as file:
            for line in csv.DictReader(file):
                if line["method"] == "srsg" and line["settings"] in SETTINGS and line["ac_mean"]:
                    row = line["dataset"]
                    row += f", c = {line['n_clusters']}" if line["n_clusters"] else ""
                    figure = f"{line['ac_mean']} ({line['ac_std']})"
                    found.setdefault(row, {})[line["settings"]] = figure
    return found


if __name__ == "__main__":
    main()
