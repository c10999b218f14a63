"""Large tables through the whole command line, beside one K-means of scikit-learn.

    python -m benchmarks.tables [--sizes 1000000x6 200000x10] [--spread 2] [--graphs] [--time 5min]

For round clusters: the processor time of `srsg cluster`, search, labels and report included, as a
ratio to that of ``KMeans(n_init=1)`` on the same rows, given the number of clusters; the agreement
of both with the true clusters; and the most memory that the command took. Each runs in a process of
its own. With --graphs the search has no K-means to choose.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import pyarrow as pa
from pyarrow import csv
from sklearn.cluster import KMeans
from sklearn.datasets import make_blobs
from sklearn.metrics import adjusted_rand_score

from benchmarks.approximate import processor_seconds

N_CLUSTERS = 8


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(
        "python -m benchmarks.tables", description=__doc__.splitlines()[0]
    )
    parser.add_argument("--sizes", nargs="+", default=["1000000x6", "200000x10"])
    parser.add_argument("--spread", type=float, default=2.0)
    parser.add_argument("--graphs", action="store_true")
    parser.add_argument("--time", default="5min")
    options = parser.parse_args(arguments)
    more = ["--time", options.time]
    print("| rows x columns | K-means | srsg cluster | ratio | ARI K-means | ARI srsg | memory |")
    print("| --- | ---: | ---: | ---: | ---: | ---: | ---: |")
    for size in options.sizes:
        n_rows, n_columns = map(int, size.split("x"))
        X, y = make_blobs(
            n_rows, n_columns, centers=N_CLUSTERS, cluster_std=options.spread, random_state=0
        )
        seconds, model = processor_seconds(
            lambda X=X: KMeans(N_CLUSTERS, n_init=1, random_state=0).fit(X)
        )
        with tempfile.TemporaryDirectory() as folder:
            own, labels, memory = clustered(X, Path(folder), more, graphs=options.graphs)
        cells = [
            size,
            f"{seconds:.2f} s",
            f"{own:.1f} s",
            f"{own / seconds:.1f}",
            f"{adjusted_rand_score(y, model.labels_):.4f}",
            f"{adjusted_rand_score(y, labels):.4f}",
            f"{memory / 1e9:.2f} GB",
        ]
        print(f"| {' | '.join(cells)} |", flush=True)


def clustered(
    X: np.ndarray, folder: Path, options: list[str], *, graphs: bool
) -> tuple[float, np.ndarray, int]:
    """Processor seconds of the command with all its files, its labels, and its most memory."""
    csv.write_csv(pa.table({f"c{j}": X[:, j] for j in range(X.shape[1])}), folder / "x.csv")
    command = [sys.executable, "-m", "srsg", "cluster", str(folder / "x.csv"), *options]
    command += ["-o", str(folder / "labels.csv"), "--report", str(folder / "page.html")]
    command += ["--graph", str(folder / "graph.npz")] if graphs else []
    process = subprocess.Popen(command)
    _, status, used = os.wait4(process.pid, 0)
    if status:
        raise RuntimeError(f"{' '.join(command)} ended with status {status}.")
    labels = csv.read_csv(folder / "labels.csv")["label"].to_numpy()
    return used.ru_utime + used.ru_stime, labels, used.ru_maxrss * 1024


if __name__ == "__main__":
    main()
