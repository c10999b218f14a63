"""``python -m faults.again --runs 200``: the same fit many times, however busy the machine is."""

from __future__ import annotations

import argparse
import os

from faults.__main__ import keep
from faults.runs import fit_bits


def main():
    parser = argparse.ArgumentParser(prog="faults.again", description=__doc__)
    parser.add_argument("--runs", type=int, default=200, help="fits")
    n_runs = parser.parse_args().runs
    expected, same, load = fit_bits(n_jobs=1), 0, []
    for number in range(n_runs):
        same += fit_bits(n_jobs=1 + number % 2) == expected
        load.append(os.getloadavg()[0])
    found = {"n_runs": n_runs, "same": same, "load": sum(load) / n_runs, "cores": os.cpu_count()}
    keep(**{"same bits": found})
    print(f"{same} of {n_runs} had the same bits")


if __name__ == "__main__":
    main()
