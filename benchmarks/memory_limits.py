"""Whether fits stay within ``max_memory``.

    python -m benchmarks.memory_limits [--write FILE]

Every row is a new process. It loads the code, warms the compiled kernels on a few points, and then
fits all points within the limit, or predicts their clusters, or is refused. What counts is the peak
of the memory of the process, as Linux tells it, above what it had before the fit: threads, caches
and gaps are included.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from pathlib import Path

ALLOWED = 1.2
"""The peak may be this many times the limit."""

CASES = {
    "SRSG": ("SRSG(10)", 6000, 120),
    "SRSG, little": ("SRSG(10)", 6000, 70),
    "L1Graph": ("L1Graph(10)", 6000, 80),
    "L1Graph, n_neighbors=n-1": ("L1Graph(10, n_neighbors=2999)", 3000, 60),
    "L1Graph, lam=0.001": ("L1Graph(10, lam=1e-3)", 2000, 100),
    "ElasticNetGraph": ("ElasticNetGraph(10)", 6000, 80),
    "LaplacianL1Graph": ("LaplacianL1Graph(10)", 4000, 150),
    "LaplacianL1Graph, much": ("LaplacianL1Graph(10)", 4000, 400),
    "RidgeGraph": ("RidgeGraph(10)", 6000, 80),
    "OMPGraph": ("OMPGraph(10)", 6000, 80),
    "TSCGraph": ("TSCGraph(10)", 6000, 80),
    "TSCGraph, n_neighbors=n-1": ("TSCGraph(10, n_neighbors=2999)", 3000, 60),
    "NeighborGraph": ("NeighborGraph(10)", 6000, 80),
    "NeighborGraph, n_neighbors=n-1": ("NeighborGraph(10, n_neighbors=2999)", 3000, 60),
    "LocalScalingSpectralClustering": ("LocalScalingSpectralClustering(10)", 3000, 230),
    "LocalScalingSpectralClustering, little": ("LocalScalingSpectralClustering(10)", 3000, 200),
    "SMCE": ("SMCE(10)", 6000, 80),
    "SMCE, n_neighbors=n-1": ("SMCE(10, n_neighbors=799)", 800, 60),
    "StabilitySearch": ("StabilitySearch(n_clusters=10)", 3000, 150),
    "SRSG, predict": ("SRSG(10)", 6000, 120),
    "L1Graph, predict": ("L1Graph(10)", 6000, 80),
    "LaplacianL1Graph, predict": ("LaplacianL1Graph(10)", 3000, 80),
    "RidgeGraph, predict": ("RidgeGraph(10)", 6000, 80),
    "NeighborGraph, predict": ("NeighborGraph(10)", 6000, 80),
    "SMCE, predict": ("SMCE(10)", 6000, 80),
    "LocalScalingSpectralClustering, predict": ("LocalScalingSpectralClustering(10)", 2000, 80),
}
"""By name: the estimator, the number of points (50 features, float64), the limit in MB. With
"predict", a fit on a third of the points, without a limit, has come before."""

CHILD = """
import json, sys, warnings
import srsg
from srsg.datasets import make_union_of_subspaces

warnings.simplefilter("ignore")
text, n_points, limit, predict = json.loads(sys.argv[1])

def kilobytes(name):
    with open("/proc/self/status") as lines:
        return next(int(line.split()[1]) for line in lines if line.startswith(name))

def estimator(text):
    names = {name: getattr(srsg, name) for name in srsg.__all__}
    return eval(text, names).set_params(random_state=0, n_jobs=2)

X, _ = make_union_of_subspaces(
    n_points, n_subspaces=10, dimension=4, n_features=50, noise=0.05, random_state=0
)
model = estimator(text.split(", n_neighbors")[0].rstrip(")") + ")").fit(X[:300])
if predict:
    model.predict(X[:300])
    model = estimator(text).fit(X[: n_points // 3])
with open("/proc/self/clear_refs", "w") as file:
    file.write("5")  # the peak starts anew
before = kilobytes("VmRSS")
error = ""
with srsg.config_context(max_memory=f"{limit}MB"):
    try:
        model.predict(X) if predict else estimator(text).fit(X)
    except ValueError as refused:
        error = str(refused)
print(json.dumps([(kilobytes("VmHWM") - before) * 1024 / 1e6, error]))
"""


def measured(case: tuple[str, int, int], predict: bool) -> tuple[float, str]:
    """The peak in MB, and the error if the fit was refused."""
    child = subprocess.run(
        [sys.executable, "-c", CHILD, json.dumps([*case, predict])],
        capture_output=True,
        text=True,
        check=False,
    )
    if child.returncode:
        raise RuntimeError(child.stderr)
    peak, error = json.loads(child.stdout)
    return peak, error


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", help="only cases whose names start with one of these")
    parser.add_argument("--write", type=Path, help="write the table to this file, too")
    options = parser.parse_args()
    lines = [
        "| fit | points | limit, MB | peak, MB | peak / limit | |",
        "|---|--:|--:|--:|--:|---|",
    ]
    print("\n".join(lines))
    for name, case in CASES.items():
        if options.names and not name.startswith(tuple(options.names)):
            continue
        peak, error = measured(case, name.endswith("predict"))
        state = "refused" if error else "" if peak <= ALLOWED * case[2] else "**exceeded**"
        row = (name, case[1], case[2], f"{peak:.0f}", f"{peak / case[2]:.2f}", state)
        lines.append(f"| {' | '.join(map(str, row))} |")
        print(lines[-1], flush=True)
    if options.write:
        options.write.write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
