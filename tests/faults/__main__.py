"""``python -m faults``: make the faults, and write what came of them to docs/reliability.md.

The rows are kept in docs/results/reliability.json, so scenarios can be run one at a time
(``--only killed``) and the page still has all of them. ``--page`` writes the page and runs nothing.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import platform
import sys
from pathlib import Path

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "reliability.md"
KEPT = ROOT / "docs" / "results" / "reliability.json"

INTRODUCTION = """\
# What becomes of a fit when something breaks

Written by `make faults`, `make fuzz` and `python -m tools.same_bits` ({cores} cores, Python {python},
{system}); do not edit. {cases}{again}

## Faults made on purpose

Each run fits `SRSG(5)` to 150 digits while something goes wrong. *Same bits* counts the runs whose
labels, codes, graph, certificates and objectives were bit for bit those of an undisturbed fit, out
of those that ended with a result.

| fault | runs | outcome | same bits |
|---|---|---|---|
"""

CASES = """\
`make fuzz` runs random cases with bounds checks in all kernels and a watchdog; case number k is the
same on every machine. The last run had {n_cases:,} cases from number {first:,} on: {findings}. A
case ends with a result whose invariants are computed again in plain NumPy, or with an error that is
meant for the user; anything else is a finding.

| kind of case | cases | ended with a result | refused with a clear error | findings |
|---|---|---|---|---|
{table}
"""

AGAIN = """\

The same fit was repeated {n_runs} times on a busy machine (about {load:.0f} processes wanted each of
{cores} cores), in turn with `n_jobs` 1 and 2: {same} of {n_runs} had the same bits.
"""


def line(row):
    outcomes = "; ".join(
        f"{name.replace('|', '/')[:200]} ({count})" for name, count in row["outcomes"].items()
    )
    bits = f"{row['same']} of {row['compared']}" if row["compared"] else "-"
    return f"| {row['fault']} | {sum(row['outcomes'].values())} | {outcomes} | {bits} |"


def scenarios(share):
    """Name and rows of every scenario; with a smaller share, in per cent, of fewer moments."""
    from faults import clusters, disks, processes

    many, some, few = (max(1, count * share // 100) for count in (50, 20, 5))
    package = ROOT / "src"
    return {
        "killed": lambda bits: processes.killed(bits, many),
        "full disk": lambda bits: disks.full(bits, some),
        "read-only": lambda bits: disks.read_only(bits, package),
        "forked": lambda bits: processes.forked(bits, few),
        "nested": lambda bits: processes.nested(bits, few),
        "compiling": processes.compiling,
        "workers with nanny": lambda bits: clusters.workers_with_nanny(bits, some),
        "workers without nanny": lambda bits: clusters.workers_without_nanny(bits, some),
        "schedulers": lambda bits: clusters.schedulers(bits, few),
        "other packages": lambda bits: clusters.other_packages(bits, package),
    }


def kept():
    return json.loads(KEPT.read_text()) if KEPT.exists() else {}


def keep(**parts):
    """Replace parts of what is kept, and write the page."""
    found = {**kept(), **parts}
    KEPT.write_text(json.dumps(found, indent=1) + "\n")
    PAGE.write_text(page(found))


def page(found):
    facts = {
        "cores": os.cpu_count(),
        "python": platform.python_version(),
        "system": platform.system(),
        "cases": "\n\n" + CASES.format(**cases(found["fuzz"])) if "fuzz" in found else "",
        "again": AGAIN.format(**found["same bits"]) if "same bits" in found else "",
    }
    rows = [row for name in ORDER for row in found.get("faults", {}).get(name, [])]
    return INTRODUCTION.format(**facts) + "".join(f"{line(row)}\n" for row in rows)


def cases(report):
    table = []
    for kind, counts in sorted(report["counts"].items()):
        done, bad = counts.get("done", 0), counts.get("finding", 0)
        total = sum(counts.values())
        table.append(f"| {kind} | {total:,} | {done:,} | {total - done - bad:,} | {bad} |")
    n_cases = sum(sum(counts.values()) for counts in report["counts"].values())
    said = "no findings" if not report["findings"] else f"{len(report['findings'])} findings"
    return {**report, "n_cases": n_cases, "findings": said, "table": "\n".join(table)}


ORDER = list(scenarios(100))


def run(names, share):
    from faults import disks
    from faults.runs import fit_bits, in_child

    # Twice in children, so that this process has no threads when it forks.
    in_child(fit_bits, seconds=600)
    outcome, expected = in_child(fit_bits)
    assert outcome == "done", expected
    for name in names:
        if name in ("full disk", "read-only") and not disks.can_mount():
            print(f"{name}: skipped, only root can mount a disk", file=sys.stderr)
            continue
        rows = []
        for row in scenarios(share)[name](expected):
            rows.append(row.as_dict())
            print(line(rows[-1]), flush=True)
        keep(faults={**kept().get("faults", {}), name: rows})


def main():
    parser = argparse.ArgumentParser(prog="faults", description=__doc__)
    parser.add_argument("--share", type=int, default=100, help="per cent of the moments")
    parser.add_argument("--only", nargs="+", choices=ORDER, default=ORDER, help="scenarios")
    parser.add_argument("--page", action="store_true", help="write the page, run nothing")
    chosen = parser.parse_args()
    if chosen.page:
        keep()
    else:
        run(chosen.only, chosen.share)


if __name__ == "__main__":
    multiprocessing.freeze_support()
    main()
