"""All of MNIST, 70,000 points, in a process of its own: time and memory of ``SRSG.fit``.

    python -m benchmarks.large [--data DIR]

Prints JSON. The time is compared with one float32 product of all points with all points, in
blocks whose result is thrown away; it is taken before and after the fit.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.rounds import blocked_product
from benchmarks.timing import seconds
from paper.datasets import dataset_path, load_dataset


def measure(folder: Path | None) -> dict[str, Any]:
    """What the process found."""
    dataset_path("MNIST", folder=folder)  # or an error before anything starts
    if find_spec("psutil") is None:
        raise ModuleNotFoundError("needs psutil, which is not installed")
    given = ["--data", str(folder.resolve())] if folder else []
    command = [sys.executable, "-m", "benchmarks.large", *given]
    root = Path(__file__).parent.parent
    done = subprocess.run(command, cwd=root, check=True, stdout=subprocess.PIPE, text=True)
    return json.loads(done.stdout)


def fit_and_products(X: np.ndarray, n_clusters: int) -> dict[str, Any]:
    from benchmarks.case import Case
    from benchmarks.solvers.srsg_fit import solve

    case = Case("MNIST", X, n_clusters)
    solve(case.small())  # compiles
    before = blocked_product(X)
    stages: dict[str, float] = {}
    with memory_watched() as memory:

        def fit() -> None:
            stages.update(solve(case)[1])

        time = seconds(fit)
    after = blocked_product(X)
    return {
        "n_points": X.shape[0],
        "n_features": X.shape[1],
        "n_clusters": n_clusters,
        "fit": [time],
        "product": [before, after],
        "stages": stages,
        **memory,
    }


@contextmanager
def memory_watched(interval: float = 0.02) -> Iterator[dict[str, float]]:
    """The most resident memory above that at the start, in bytes.

    Sampling it often could miss a moment, which the system's own record cannot; but that record
    shows only what exceeds everything before the start.
    """
    import psutil

    process = psutil.Process()
    start = process.memory_info().rss
    record = most_resident()
    found = {"memory_at_start": float(start), "memory_above": 0.0}
    ended = threading.Event()

    def look() -> None:
        above = process.memory_info().rss - start
        found["memory_above"] = max(found["memory_above"], float(above))

    def watch() -> None:
        while not ended.wait(interval):
            look()

    watcher = threading.Thread(target=watch, daemon=True)
    watcher.start()
    try:
        yield found
    finally:
        ended.set()
        watcher.join()
        look()  # what is held at the end is seen, however short the time was
        if most_resident() > record:
            found["memory_above"] = max(found["memory_above"], float(most_resident() - start))


def most_resident() -> int:
    """Bytes, or 0 where the system keeps no such record."""
    try:
        import resource
    except ImportError:
        return 0
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, help="folder of the paper's data")
    data = load_dataset("MNIST", folder=parser.parse_args().data)
    print(json.dumps(fit_and_products(data.X, data.n_clusters)))


if __name__ == "__main__":
    main()
