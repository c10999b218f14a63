"""S5C, by its authors' MATLAB code run in Octave, beside our graphs.

    python -m benchmarks.s5c --code DIR --data DIR [--write FILE]

``--code`` names a checkout of ``github.com/smatsus/S5C``, and ``--data`` the folder of the paper's
data sets. Octave and its compiler (Debian: ``octave octave-dev``) must be there. S5C has as many
subsamples as its authors give it, 20 for each cluster. They choose lambda with the labels; the page
has the best of a coarser grid, and the range over it.
"""

from __future__ import annotations

import argparse
import resource
import subprocess
import tempfile
import time
from pathlib import Path

import numpy as np
from scipy.io import loadmat, savemat

from benchmarks.other_tools import SEED, data_sets
from srsg import SRSG, L1Graph
from srsg.datasets import make_union_of_subspaces
from srsg.metrics import clustering_accuracy

SETS = (
    "10 subspaces in 50 features",
    "COIL-20, 8 classes",
    "Yale-B, 10 classes",
    "UMIST, 20 classes",
)
LAMBDAS = (2.0**-2, 2.0**-4, 2.0**-6, 2.0**-8)
SUBSAMPLES = 20
"""For each cluster, as in the authors' scripts."""

OCTAVE = """
addpath {code}/representation_learning {code}/spectral_clustering {code}/utils {here}
load {here}/points.mat
C = representation_learning_S5C(X, {lam}, {count} * {subsamples});
labels = spectral_clustering_S5C(abs(C) + abs(C)', {count});
save -v7 {here}/labels.mat labels
"""

# What MATLAB has and Octave lacks: drawing without replacement, and a header of another name.
RANDSAMPLE = "function drawn = randsample(n, k)\n  drawn = randperm(n, k);\nend\n"
HEADER = '#include "mex.h"\n'


def prepare(code: Path, here: Path) -> None:
    (here / "randsample.m").write_text(RANDSAMPLE)
    (here / "matrix.h").write_text(HEADER)
    source = code / "representation_learning" / "cdescentCycleC.c"
    made = str(here / "cdescentCycleC.mex")
    subprocess.run(["mkoctfile", "--mex", f"-I{here}", "-o", made, str(source)], check=True)


def s5c(code: Path, here: Path, X: np.ndarray, count: int, lam: float) -> tuple[np.ndarray, float]:
    """Its labels, and the processor seconds of the Octave that found them."""
    unit = X / np.linalg.norm(X, axis=1, keepdims=True)
    savemat(here / "points.mat", {"X": unit.T})
    labels = here / "labels.mat"
    labels.unlink(missing_ok=True)
    script = here / "one_run.m"
    script.write_text(
        OCTAVE.format(code=code, here=here, lam=lam, count=count, subsamples=SUBSAMPLES)
    )
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    subprocess.run(["octave-cli", "--no-gui", "--quiet", str(script)], check=True)
    seconds = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before
    return loadmat(labels)["labels"].ravel().astype(int), seconds


def line(name: str, X: np.ndarray, y: np.ndarray, code: Path, here: Path) -> str:
    count = len(np.unique(y))
    cells = []
    for model in (SRSG(count, random_state=SEED), L1Graph(count, random_state=SEED)):
        start = time.process_time()
        accuracy = clustering_accuracy(y, model.fit(X).labels_)
        cells += [f"{accuracy:.2f}", f"{time.process_time() - start:.1f}"]
    found = [s5c(code, here, X, count, lam) for lam in LAMBDAS]
    scores = [clustering_accuracy(y, labels) for labels, _ in found]
    seconds = np.mean([each for _, each in found])
    cells += [f"{max(scores):.2f}", f"{min(scores):.2f} to {max(scores):.2f}", f"{seconds:.1f}"]
    return f"| {name} | " + " | ".join(cells) + " |"


def page(code: Path, folder: str) -> str:
    lines = [
        "# S5C beside our graphs",
        "",
        "Written by `python -m benchmarks.s5c`. Accuracy, and processor seconds for codes, graph "
        "and labels; for S5C the mean over "
        f"{len(LAMBDAS)} values of lambda from {LAMBDAS[0]:g} to {LAMBDAS[-1]:g}, with the start "
        "of Octave, which runs its authors' code (they used MATLAB). *Best* is the lambda with the "
        "highest accuracy, which only somebody with labels can choose; ours are defaults.",
        "",
        "| data | SRSG | s | l1-graph | s | S5C, best | S5C, by lambda | s |",
        "|---|" + "---:|" * 7,
    ]
    sets = data_sets(folder)
    SRSG(2).fit(make_union_of_subspaces(60, n_subspaces=2, random_state=0)[0])  # compile
    with tempfile.TemporaryDirectory() as made:
        here = Path(made)
        prepare(code, here)
        for name in SETS:
            lines.append(line(name, *sets[name], code, here))
            print(lines[-1], flush=True)
    return "\n".join([*lines, ""])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--code", type=Path, required=True, help="a checkout of S5C")
    parser.add_argument("--data", required=True, help="folder of the paper's data sets")
    parser.add_argument("--write", type=Path)
    options = parser.parse_args()
    made = page(options.code.resolve() / "code", options.data)
    if options.write:
        options.write.write_text(made)


if __name__ == "__main__":
    main()
