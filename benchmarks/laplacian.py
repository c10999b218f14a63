"""What a sweep of the Laplacian l1-graph costs beside the l1 codes it starts from.

    python -m benchmarks.laplacian --data DIR [--name "CMU PIE"] [--clusters 10 20] [--sweeps 1]

Both ways to solve the problems run in turns: with the inner products of all pairs of points, which
is the default where they fit into memory, and without. Times are processor seconds on one thread,
so that other programs on the machine count as little as possible.
"""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.case import LAM, N_NEIGHBORS
from paper.datasets import load_dataset
from srsg.coding import l1_codes, laplacian_codes
from srsg.coding.laplacian import GRAM_BYTES
from srsg.points import Points, unit_points
from srsg.running import ThreadEngine

GAMMA = 0.1
WAYS = {"with all inner products": GRAM_BYTES, "without": 0}


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(
        "python -m benchmarks.laplacian", description=__doc__.splitlines()[0]
    )
    folder = os.environ.get("SRSG_DATA")
    parser.add_argument("--data", type=Path, default=folder and Path(folder))
    parser.add_argument("--name", default="CMU PIE")
    parser.add_argument("--clusters", type=int, nargs="+", default=[10, 20])
    parser.add_argument("--sweeps", type=int, default=1)
    parser.add_argument("--fast", action="store_true", help="only the default way")
    options = parser.parse_args(arguments)
    data = load_dataset(options.name, folder=options.data)
    classes = np.unique(data.y)
    engine = ThreadEngine(1)
    measure(unit_points(data.X[:100]), 1, engine, list(WAYS))  # compiles
    for n_clusters in options.clusters:
        chosen = np.isin(data.y, classes[:n_clusters])
        ways = list(WAYS)[:1] if options.fast else list(WAYS)
        rows = measure(unit_points(data.X[chosen]), options.sweeps, engine, ways)
        for label, row in rows.items():
            print(f"{options.name} c = {n_clusters:<3} {label:<24} {row}", flush=True)


def measure(points: Points, sweeps: int, engine: ThreadEngine, ways: list[str]) -> dict[str, str]:
    base, l1 = processor_seconds(
        lambda: l1_codes(points, LAM, n_neighbors=N_NEIGHBORS, engine=engine)
    )
    rows = {}
    for way in ways:
        taken, found = processor_seconds(
            lambda way=way: laplacian_codes(
                points,
                l1.codes,
                l1.neighbors,
                lam=LAM,
                gamma=GAMMA,
                max_sweeps=sweeps,
                tol=0.0,
                gram_bytes=WAYS[way],
                engine=engine,
            )
        )
        rows[way] = (
            f"{taken / sweeps / base:6.1f} times the l1 codes per sweep ({base:.2f} s), "
            f"{found.codes.nnz / points.n:.0f} entries per code, largest violation "
            f"{found.kkt_violation.max():.0e}"
        )
    return rows


def processor_seconds(task: Callable[[], Any]) -> tuple[float, Any]:
    start = time.process_time()
    result = task()
    return time.process_time() - start, result


if __name__ == "__main__":
    main()
