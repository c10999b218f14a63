"""``python -m fuzz --cases 100000``: many random cases; the exit code is 1 if one was found bad."""

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
    parser.add_argument("--cases", type=int, default=100_000, help="how many")
    parser.add_argument("--first", type=int, default=0, help="number of the first one")
    parser.add_argument("--only", type=int, help="run one case here, and show its error")
    parser.add_argument("--workers", type=int, default=os.cpu_count(), help="processes")
    parser.add_argument("--seconds", type=float, default=30.0, help="most for a case")
    chosen = parser.parse_args()
    if chosen.only is not None:
        from fuzz.cases import case_of
        from fuzz.outcomes import outcome_of

        name, case, rng = case_of(chosen.only)
        print(name, outcome_of(case, rng))
        return 0
    from fuzz.watchdog import run_cases

    started = last = time.monotonic()
    n_told = 0

    def tell(report):
        nonlocal last, n_told
        for number, name, what in report.findings[n_told:]:
            print(f"FINDING case {number} ({name}): {what}", flush=True)
        n_told = len(report.findings)
        if time.monotonic() - last > 30:
            last = time.monotonic()
            seconds = int(last - started)
            found = len(report.findings)
            print(f"{report.n_cases} cases in {seconds} s, {found} findings", flush=True)

    report = run_cases(
        chosen.first,
        chosen.cases,
        n_workers=chosen.workers,
        case_seconds=chosen.seconds,
        tell=tell,
    )
    print("\n".join(report.lines()))
    return 1 if report.findings else 0


if __name__ == "__main__":
    sys.exit(main())
