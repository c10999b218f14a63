"""``python -m faults``: make faults, and write what came of them to docs/results/reliability.md.

The rows are kept in docs/results/parts/reliability.json, so scenarios can be run one at a time
(``--only killed``) and the page still has all of them. ``--page`` writes the page and runs nothing.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import platform
import re
import subprocess
import sys
from collections import Counter
from pathlib import Path

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "results" / "reliability.md"
KEPT = ROOT / "docs" / "results" / "parts" / "reliability.json"
LIMITS = KEPT.with_name("memory-limits.md")

INTRODUCTION = """\
# What becomes of a fit when something breaks

Written by `make faults`, `make fuzz` and `python -m faults.again` ({cores} cores, Python {python},
{system}); do not edit.
{cases}{again}
## Faults made on purpose

Each run fits `SRSG(5)` to 150 digits while something goes wrong, or does what its line says.
*Same bits* counts the runs whose labels, codes, graph, certificates and objectives were bit for bit
those of an undisturbed fit, out of those that ended with a result. A limit on memory that holds
from the start (`ulimit -v`) is seen before the work: a fit takes fewer threads, or is refused with
one line. Where memory runs out later, a process may die, since OpenBLAS, LLVM and the C library end
it; no error can be shown then, and what was kept stays whole.

| fault | runs | outcome | same bits | commit |
|---|---|---|---|---|
"""

MEMORY = """\

## Limits on memory

Peak of the memory of a process above what it had before, in fits and predictions within
`max_memory` (`python -m benchmarks.memory_limits --write docs/results/parts/memory-limits.md`;
at most 1.2 times the limit is wanted). What cannot fit is refused before any work.

{table}"""

CASES = """\

## Random cases

`make fuzz` runs random cases with bounds checks in all kernels and a watchdog; case number k is the
same on every machine. A case ends with a result whose invariants are computed again in plain NumPy,
or with an error that is meant for the user; anything else is a finding. Small cases have up to 14
points. Large ones have 1,000 to 100,000 rows: a graph must not change with scale, shift (or new
points are warned of), precision, order of rows, duplicates, a column of zeros or a rotation, but
for at most three rows in a thousand where rounding decides (one in twenty to a hundred between
float32 and float64); each relation was seen to fail with a planted fault;
files have up to 20,000 columns; models and stores have wrong values under the right checksums.
Runs so far, each with cases of its own:

| cases | commit | run | crashes or hangs | other findings |
|---|---|---|---|---|
{rows}{found}"""

AGAIN = """\

## The same fit again and again

The same fit was repeated {n_runs} times, in turn with `n_jobs` 1 and 2, on a busy machine
(load average {load:.0f} on {cores} cores): {same} of {n_runs} had the same bits.
"""


def line(row):
    outcomes = "; ".join(
        f"{name.replace('|', '/')[:300]} ({count})" for name, count in row["outcomes"].items()
    )
    bits = f"{row['same']} of {row['compared']}" if row["compared"] else "-"
    counts = f"{sum(row['outcomes'].values())} | {outcomes} | {bits}"
    return f"| {row['fault']} | {counts} | {row.get('commit', 'older')} |"


ORDER = [
    *("killed", "full disk", "read-only", "forked", "nested", "compiling"),
    *("large killed", "little memory", "large memory", "large writing", "large reading"),
    *("workers with nanny", "workers without nanny", "schedulers", "other packages"),
]
"""Scenarios in the order of the page."""


def scenarios(share):
    """Name and rows of every scenario; with a smaller share, in per cent, of fewer moments."""
    from faults import clusters, disks, large, processes

    many, some, few = (max(1, count * share // 100) for count in (50, 20, 5))
    package = ROOT / "src"
    return {
        "killed": lambda bits: processes.killed(bits, many),
        "full disk": lambda bits: disks.full(bits, some),
        "read-only": lambda bits: disks.read_only(bits, package),
        "forked": lambda bits: processes.forked(bits, few),
        "nested": lambda bits: processes.nested(bits, few),
        "compiling": processes.compiling,
        "large killed": lambda bits: large.killed(some),
        "little memory": lambda bits: large.little_memory(some),
        "large memory": lambda bits: large.out_of_memory(some),
        "large writing": lambda bits: large.io_errors(some),
        "large reading": lambda bits: large.unreadable(some),
        "workers with nanny": lambda bits: clusters.workers_with_nanny(bits, some),
        "workers without nanny": lambda bits: clusters.workers_without_nanny(bits, some),
        "schedulers": lambda bits: clusters.schedulers(bits, some),
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
        "cases": CASES.format(**cases(found["fuzz"])) if "fuzz" in found else "",
        "again": AGAIN.format(**found["same bits"]) if "same bits" in found else "",
    }
    rows = [row for name in ORDER for row in found.get("faults", {}).get(name, [])]
    memory = MEMORY.format(table=LIMITS.read_text()) if LIMITS.exists() else ""
    return INTRODUCTION.format(**facts) + "".join(f"{line(row)}\n" for row in rows) + memory


def cases(reports):
    """Rows and findings of the runs of small and of large cases."""
    rows, found = "", ""
    for size, report in [(size, run) for size, runs in reports.items() for run in runs]:
        counts = report["findings"]
        ended = sum(count for what, count in counts.items() if what.startswith(("died", "hung")))
        others = sum(counts.values()) - ended
        run = f"{report['n_cases']:,}"
        rows += f"| {size} | {report['commit']} | {run} | {ended} | {others} |\n"
        for what, count in counts.items():
            since = report.get("since", {}).get(what, "")
            found += f"| {what.replace('|', '/')} | {size} | {count} | {since} |\n"
    head = (
        "\nBy place in that commit:\n\n| finding | cases | how many | since |\n|---|---|---|---|\n"
    )
    return {"rows": rows, "found": head + found if found else ""}


def this_commit():
    command = ["git", "-C", str(ROOT), "rev-parse", "--short", "HEAD"]
    return subprocess.run(command, capture_output=True, text=True).stdout.strip()


def short(what):
    """A finding by its place."""
    match = re.match(r"\w+ at [\w.]+:\d+(: [a-z][a-z ]+)?", what)
    return match.group() if match else what[:60]


def keep_cases(reports, commit=None):
    """Note what ``python -m fuzz`` has run."""
    noted = kept().get("fuzz", {})
    for size, report in reports.items():
        facts = {
            "n_cases": report.n_cases,
            "commit": commit or this_commit(),
            "findings": dict(Counter(short(what) for *_, what in report.findings).most_common()),
        }
        noted.setdefault(size, []).append(facts)
    keep(fuzz=noted)


def read_fuzz_log(path, commit):
    """How far a run of ``python -m fuzz`` came, and its findings by place."""
    text = path.read_text()
    # Each is printed when it is found, and again at the end.
    found = dict(re.findall(r"^FINDING case (\d+) \(.*?\): (.*)", text, re.M))
    counts = Counter(map(short, found.values()))
    n_cases = max(int(number) for number in re.findall(r"^(\d+) cases", text, re.M))
    return {"n_cases": n_cases, "commit": commit, "findings": dict(counts.most_common())}


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
            rows.append(row.as_dict() | {"commit": this_commit()})
            print(line(rows[-1]), flush=True)
            keep(faults={**kept().get("faults", {}), name: rows})


def main():
    parser = argparse.ArgumentParser(prog="faults", description=__doc__)
    parser.add_argument("--share", type=int, default=100, help="per cent of the moments")
    parser.add_argument("--only", nargs="+", choices=ORDER, default=ORDER, help="scenarios")
    parser.add_argument("--page", action="store_true", help="write the page, run nothing")
    parser.add_argument("--fuzz-log", type=Path, help="what python -m fuzz printed, for the page")
    parser.add_argument("--size", choices=["small", "large"], default="small", help="of its cases")
    parser.add_argument("--commit", default="unknown", help="the commit that was fuzzed")
    chosen = parser.parse_args()
    if chosen.fuzz_log:
        noted = kept().get("fuzz", {})
        noted.setdefault(chosen.size, []).append(read_fuzz_log(chosen.fuzz_log, chosen.commit))
        keep(fuzz=noted)
    elif chosen.page:
        keep()
    else:
        run(chosen.only, chosen.share)


if __name__ == "__main__":
    multiprocessing.freeze_support()
    main()
