"""Time and memory of sparse points against the same points as an array, and against other code.

    python -m benchmarks.sparse_text [--points 2500] [--features 10000] [--src OTHER/src ...]

Made-up documents: TF-IDF weights of terms that are as frequent as Zipf says, half of the words of a
document from an order of the terms that is its topic's own. Every fit runs in a process of its own,
after a small one that compiles; its memory is the most that the process held in addition to what
it held before. ``--src`` adds other checkouts, which get the sparse matrix too. All ratios are to
the sparse fit of this code, and the runs alternate.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from pathlib import Path
from statistics import median

import numpy as np
from scipy import sparse

HERE = Path(__file__).parents[1]


def documents(n_points: int, n_features: int, words: int = 85, n_topics: int = 20, seed: int = 0):
    """TF-IDF weights, one document per row."""
    rng = np.random.default_rng(seed)
    chance = 1 / np.arange(10, n_features + 10)
    chance /= chance.sum()
    orders = [rng.permutation(n_features) for _ in range(n_topics)]
    terms = np.empty((n_points, words), np.int64)
    for row, topic in enumerate(rng.integers(n_topics, size=n_points)):
        drawn = rng.choice(n_features, words, p=chance)
        own = rng.random(words) < 0.5
        terms[row] = np.where(own, orders[topic][drawn], drawn)
    places = (np.repeat(np.arange(n_points), words), terms.ravel())
    counts = sparse.csr_array((np.ones(terms.size), places), shape=(n_points, n_features))
    counts.sum_duplicates()
    found_in = np.bincount(counts.indices, minlength=n_features)
    rarity = 1 + np.log((1 + n_points) / (1 + found_in))
    counts.data = (1 + np.log(counts.data)) * rarity[counts.indices]
    return counts


def peak_megabytes(*, reset: bool = False) -> float:
    """The most that this process has held, on Linux; other checkouts need not know how to tell."""
    if reset:
        Path("/proc/self/clear_refs").write_text("5")
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) / 1024 for line in lines if line.startswith("VmHWM:"))


def fit_once(n_points: int, n_features: int, method: str, dense: bool) -> dict[str, float]:
    """What runs in a process of its own."""
    import time

    import srsg

    X = documents(n_points, n_features)
    small = documents(60, 200, words=20)
    if dense:
        X, small = X.toarray(), small.toarray()
    estimator = getattr(srsg, method)
    estimator(2, random_state=0).fit(small)
    before, start, cpu = peak_megabytes(reset=True), time.perf_counter(), time.process_time()
    model = estimator(20, random_state=0).fit(X)
    codes = model.codes_
    return {
        "seconds": time.perf_counter() - start,
        "cpu": time.process_time() - cpu,
        "megabytes": peak_megabytes() - before,
        "codes": float(np.abs(codes).sum()),
        "violation": float(np.max(getattr(model, "kkt_violation_", [np.nan]))),
        "nnz": float(X.nnz if sparse.issparse(X) else (X != 0).sum()),
    }


def run(src: str, arguments: list[str]) -> dict[str, float]:
    """One fit in a new process that imports the package from ``src``."""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([src, str(HERE)])}
    command = [sys.executable, "-m", "benchmarks.sparse_text", "--fit", *arguments]
    done = subprocess.run(command, env=environment, stdout=subprocess.PIPE, text=True, check=True)
    return json.loads(done.stdout.splitlines()[-1])


def main(argv: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--points", type=int, default=2500)
    parser.add_argument("--features", type=int, default=10_000)
    parser.add_argument("--method", default="L1Graph", help="an estimator of srsg")
    parser.add_argument("--src", action="append", default=[], help="another checkout's src")
    parser.add_argument("--runs", type=int, default=1)
    parser.add_argument("--no-dense", action="store_true", help="leave out the array")
    parser.add_argument("--fit", nargs=4, help=argparse.SUPPRESS)
    options = parser.parse_args(argv)
    if options.fit:
        n_points, n_features, method, kind = options.fit
        print(json.dumps(fit_once(int(n_points), int(n_features), method, kind == "dense")))
        return
    case = [str(options.points), str(options.features), options.method]
    own = str(HERE / "src")
    ways = {"sparse": (own, "sparse")}
    if not options.no_dense:
        ways["as an array"] = (own, "dense")
    ways |= {f"sparse, {src}": (src, "sparse") for src in options.src}
    found: dict[str, list[dict[str, float]]] = {name: [] for name in ways}
    for _ in range(options.runs):
        for name, (src, kind) in ways.items():
            found[name].append(run(src, [*case, kind]))
    first = found["sparse"]
    print(
        f"{options.method}, {options.points} x {options.features}, {first[0]['nnz']:.0f} non-zeros"
    )
    print(f"{'':30} {'seconds':>9} {'ratio':>7} {'CPU s':>9} {'ratio':>7} {'MB':>8} {'ratio':>7}")
    for name, runs in found.items():
        cells = ""
        for key in ("seconds", "cpu", "megabytes"):
            value, ours = (median(each[key] for each in some) for some in (runs, first))
            cells += f" {value:9.1f} {value / ours:6.1f}x"
        difference = abs(runs[0]["codes"] / first[0]["codes"] - 1)
        print(f"{name:30}{cells}   l1 norm of all codes differs by {difference:.1e}")


if __name__ == "__main__":
    main()
