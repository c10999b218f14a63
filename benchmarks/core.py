"""Time of the core against one matrix product, and what compiling costs.

    python benchmarks/core.py [--data DIR] [--runs 5]

On COIL-20 where the data folder has it, else on scikit-learn's digits. All ratios come from one
run on one machine; bare times mean little on a shared one.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
from timing import medians

FIRST_USE = """
import time
import numpy as np
from sklearn.datasets import load_digits
X = load_digits().data[:100]
from srsg import SRSG
start = time.perf_counter()
SRSG(2, random_state=0).fit(X)
print(time.perf_counter() - start)
"""


def load(folder: str | None) -> tuple[str, np.ndarray, int]:
    path = Path(folder or "") / "COIL20.npz"
    if folder and path.exists():
        with np.load(path) as file:
            return "COIL-20", file["X"].astype(np.float64), 20
    from sklearn.datasets import load_digits

    return "digits", load_digits().data, 10


def first_fit(cache: str) -> float:
    environment = {**os.environ, "NUMBA_CACHE_DIR": cache}
    command = [sys.executable, "-c", FIRST_USE]
    done = subprocess.run(command, env=environment, check=True, capture_output=True, text=True)
    return float(done.stdout)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", default=os.environ.get("SRSG_DATA"))
    parser.add_argument("--runs", type=int, default=5)
    options = parser.parse_args()

    from srsg import SRSG, L1Graph
    from srsg.points import unit_points

    name, X, k = load(options.data)
    x = unit_points(X).x
    tasks: dict[str, Callable[[], object]] = {
        "one float64 X @ X.T": lambda: x @ x.T,
        "l1 codes and neighbours": lambda: L1Graph(k).fit_graph(X),
        "the same and SRSG's sweeps": lambda: SRSG(k).fit_graph(X),
        "SRSG.fit: codes, sweeps, labels": lambda: SRSG(k, random_state=0).fit(X),
        "the same, one thread": lambda: SRSG(k, n_jobs=1, random_state=0).fit(X),
    }
    times = medians(tasks, options.runs)
    product = times["one float64 X @ X.T"]
    print(f"{name}, {X.shape[0]} x {X.shape[1]}, median of {options.runs} alternating runs")
    for label, middle in times.items():
        print(f"  {label:<34}{middle:8.3f} s {middle / product:8.2f} products")
    fit = times["SRSG.fit: codes, sweeps, labels"]
    print(
        f"  SRSG.fit less half a second: {max(0.0, fit - 0.5) / product:.2f} products (at most 10)"
    )

    with tempfile.TemporaryDirectory() as cache:
        first, second = first_fit(cache), first_fit(cache)
    print(
        f"first fit in a new process: {first:.1f} s with compiling, {second:.2f} s from the cache"
    )


if __name__ == "__main__":
    main()
