"""``python -m fuzz --cases 100000 --large 2000``: random cases, small ones and then large ones.

What was run goes to docs/results/parts/reliability.json and, with ``--keep``, to
docs/results/reliability.md.
The exit code is 1 if a case was found bad.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time
from pathlib import Path

# Before anything imports numba, in this process and in the workers: kernels check all indices.
os.environ["NUMBA_BOUNDSCHECK"] = "1"
os.environ.setdefault("NUMBA_CACHE_DIR", str(Path(tempfile.gettempdir()) / "srsg-fuzz-kernels"))
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
os.environ.setdefault("OMP_NUM_THREADS", "1")


def main():
    parser = argparse.ArgumentParser(prog="fuzz", description=__doc__)
    parser.add_argument("--cases", type=int, default=100_000, help="how many small ones")
    parser.add_argument("--large", type=int, default=0, help="how many of 1,000 rows or more")
    parser.add_argument("--first", type=int, default=0, help="number of the first one")
    parser.add_argument("--only", type=int, help="run one case here, and show its error")
    parser.add_argument("--workers", type=int, default=os.cpu_count(), help="processes")
    parser.add_argument("--seconds", type=float, default=30.0, help="most for a small case")
    parser.add_argument("--minutes", type=float, default=1e9, help="stop each kind after these")
    parser.add_argument("--keep", action="store_true", help="write the page")
    chosen = parser.parse_args()
    if chosen.only is not None:
        from fuzz.cases import case_of
        from fuzz.outcomes import outcome_of

        name, case, rng = case_of(chosen.only)
        print(name, outcome_of(case, rng))
        return 0
    from fuzz.cases import LARGE

    runs = {
        "small": (chosen.first, chosen.cases, chosen.seconds),
        "large": (LARGE + chosen.first, chosen.large, 20 * chosen.seconds),
    }
    reports = {
        size: _run(size, first, count, seconds, chosen)
        for size, (first, count, seconds) in runs.items()
        if count
    }
    if chosen.keep:
        from faults.__main__ import keep_cases

        keep_cases(reports)
    return 1 if any(report.findings for report in reports.values()) else 0


def _run(size, first, count, seconds, chosen):
    """Run cases, and say now and then how far they are."""
    from fuzz.watchdog import run_cases

    started = last = time.monotonic()
    n_told = 0

    def tell(report):
        nonlocal last, n_told
        for number, name, what in report.findings[n_told:]:
            print(f"FINDING case {number} ({name}): {what}", flush=True)
        n_told = len(report.findings)
        now = time.monotonic()
        if now - last > 30:
            last, found = now, len(report.findings)
            passed = int(now - started)
            print(f"{report.n_cases} cases in {passed} s, {found} findings", flush=True)
        return now - started < 60 * chosen.minutes

    report = run_cases(first, count, n_workers=chosen.workers, case_seconds=seconds, tell=tell)
    print(size, "\n".join(report.lines()))
    return report


if __name__ == "__main__":
    sys.exit(main())
