"""``python -m faults``: make the faults, and write what came of them to docs/reliability.md."""

from __future__ import annotations

import argparse
import multiprocessing
import os
import platform
import sys
import time
from pathlib import Path

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "reliability.md"

INTRODUCTION = """\
# What becomes of a fit when something breaks

Written by `make faults` ({seconds} s on {cores} cores, Python {python}, {system}); do not edit.
Each run fits `SRSG(5)` to 150 digits while something goes wrong. *Same bits* counts the runs whose
labels, codes, graph, certificates and objectives were bit for bit those of an undisturbed fit, out
of those that ended with a result.

| fault | runs | outcome | same bits |
|---|---|---|---|
"""


def line(row):
    outcomes = "; ".join(
        f"{name.replace('|', '/')[:200]} ({count})" for name, count in row.outcomes.most_common()
    )
    bits = f"{row.same} of {row.compared}" if row.compared else "-"
    return f"| {row.fault} | {row.runs} | {outcomes} | {bits} |"


def rows(chosen):
    from faults.runs import fit_bits, in_child

    package = ROOT / "src"
    # Twice in children, so that this process has no threads when it forks.
    in_child(fit_bits)
    _, expected = in_child(fit_bits)
    many, some, few = (max(1, count * chosen.share // 100) for count in (50, 20, 5))
    from faults import disks, processes

    yield from processes.killed(expected, many)
    if disks.can_mount():
        yield from disks.full(expected, some)
        yield from disks.read_only(expected, package)
    else:
        print("disks: skipped, only root can mount one", file=sys.stderr)
    yield from processes.forked(expected, few)
    yield from processes.nested(expected, few)
    yield from processes.compiling(expected)
    from faults import clusters

    yield from clusters.workers_with_nanny(expected, max(1, some // 2))
    yield from clusters.workers_without_nanny(expected, few)
    yield from clusters.schedulers(expected, few)
    yield from clusters.other_packages(expected, package)


def main():
    parser = argparse.ArgumentParser(prog="faults", description=__doc__)
    parser.add_argument("--share", type=int, default=100, help="per cent of the runs")
    chosen = parser.parse_args()
    started = time.monotonic()
    lines = []
    for row in rows(chosen):
        lines.append(line(row))
        print(lines[-1], flush=True)
    facts = {
        "seconds": int(time.monotonic() - started),
        "cores": os.cpu_count(),
        "python": platform.python_version(),
        "system": platform.system(),
    }
    PAGE.write_text(INTRODUCTION.format(**facts) + "\n".join(lines) + "\n")


if __name__ == "__main__":
    multiprocessing.freeze_support()
    main()
