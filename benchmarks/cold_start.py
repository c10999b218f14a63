"""What the first fit on a machine waits for: compiling.

    python -m benchmarks.cold_start [--src OTHER/src ...] [--rounds 1] [--write FILE]

Every row is a new process. Compiling is given in processor seconds, which other programs on the
machine hardly change, and as a ratio to importing scikit-learn and compiling a trivial function, in
the same round. ``--src`` adds other checkouts; if a fit there starts a second process, what this
takes is included.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

import srsg
from benchmarks.timing import Spread

TRIVIAL = """
import json, time
import sklearn.cluster
from numba import njit

@njit
def total(a):
    s = 0.0
    for x in a:
        s += x
    return s

import numpy as np
start = time.perf_counter()
total(np.ones(3))
seconds = time.perf_counter() - start
print(json.dumps({"compiling": time.process_time(), "fit": seconds, "functions": 1}))
"""

FIT = """
import json, os, sys, time
from numba.core import event
from sklearn.datasets import load_digits

PREPARE
class Compiling(event.Listener):
    depth, functions, seconds, start = 0, 0, 0.0, 0.0

    def on_start(self, _):
        if self.depth == 0:
            self.start = time.process_time()
        self.depth += 1
        self.functions += 1

    def on_end(self, _):
        self.depth -= 1
        if self.depth == 0:
            self.seconds += time.process_time() - self.start

listener = Compiling()
event.register("numba:compile", listener)
from srsg import SRSG
X = load_digits().data[:100].astype("DTYPE")
start = time.perf_counter()
SRSG(2, random_state=0).fit(X)
seconds = time.perf_counter() - start
second = os.times().children_user + os.times().children_system
print(json.dumps(
    {"compiling": listener.seconds + second, "fit": seconds, "functions": listener.functions}
))
"""

NO_COLLECTION = "import gc; gc.disable()"

THREADS = """
import json, time
from concurrent.futures import ThreadPoolExecutor
from numba import njit

def make():
    def work(a):
        s = 0.0
        for i in range(a.shape[0]):
            for j in range(i):
                s += a[i] * a[j] - (a[i] if a[i] > a[j] else a[j])
        return s
    return njit(work)

import numpy as np
a = np.ones(3)
make()(a)
start = time.perf_counter(), time.process_time()
for _ in range(8):
    make()(a)
apart = time.perf_counter() - start[0], time.process_time() - start[1]
start = time.perf_counter(), time.process_time()
with ThreadPoolExecutor(2) as pool:
    list(pool.map(lambda f: f(a), [make() for _ in range(8)]))
together = time.perf_counter() - start[0], time.process_time() - start[1]
print(json.dumps({"one after the other": apart, "on two threads": together}))
"""


@dataclass(frozen=True)
class Run:
    """Processor seconds of compiling, seconds of the fit, and functions compiled in its process."""

    compiling: float
    fit: float
    functions: int


PAGE = """# The first fit in an empty cache

Written by `python -m benchmarks.cold_start --src BEFORE/src --rounds N --write FILE`; do not edit.
Every row is a new process that fits 100 digits. Compiling is given in processor seconds, which
other programs on the machine hardly change, and as a ratio to importing scikit-learn and compiling
a trivial function in the same round. *functions* are those that were compiled, and *fit* is the
time by the clock. Medians, with the least and the most in brackets. *Checkout 1* is the version
before this work.

{table}

{threads}

## Why it is not longer

- Helpers that a kernel calls in one place are inlined by numba (`inlined` in
  `srsg.kernels.compiled`). numba compiles the others by themselves, together with all that they
  call, and again with every function above them.
- Python's garbage collection is paused while numba compiles.
- Kernels take points as a pair of arrays, one for each precision, of which one is empty: to numba
  both are of one type, so float32 points need no second set of kernels.
- Loops instead of `np.arange`, `np.ones`, `np.zeros` and `**`, no wrappers for C functions, no
  LAPACK within a kernel that every fit needs.

Tried and dropped: `inline="always"` for more helpers (no difference: numba's own inlining takes as
long as it saves) or for a few large ones only (slower), compiling on two threads (numba compiles
under one lock, as the lines below the table show), and classes derived from numba's compiler that
compile helpers as parts of kernels only. These took a fifth less time, but numba does not promise
to keep what they need.

Compiled code has the same results, bit for bit, for both precisions, and is as fast.
"""


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(
        "python -m benchmarks.cold_start", description=__doc__.splitlines()[0]
    )
    parser.add_argument("--src", type=Path, nargs="*", default=[], help="other checkouts")
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--write", type=Path, help="a Markdown page to write")
    options = parser.parse_args(arguments)
    table = table_of([one_round(options.src) for _ in range(options.rounds)])
    threads = "\n".join(
        f"- Eight small functions, {label}: {wall:.2f} s, {cpu:.2f} s of processor time"
        for label, (wall, cpu) in json.loads(output_of(THREADS, {})).items()
    )
    print(table, threads, sep="\n\n")
    if options.write:
        options.write.write_text(PAGE.format(table=table, threads=threads), encoding="utf-8")


def table_of(rounds: list[dict[str, Run]]) -> str:
    lines = [
        "| process | compiling, CPU s | over a trivial one | functions | fit, s |",
        "|---|---:|---:|---:|---:|",
    ]
    for label in rounds[0]:
        runs = [found[label] for found in rounds]
        trivial = [found["trivial function"].compiling for found in rounds]
        compiling = Spread.of([run.compiling for run in runs])
        ratio = Spread.of_ratios([run.compiling for run in runs], trivial)
        fit = Spread.of([run.fit for run in runs])
        lines.append(f"| {label} | {compiling} | {ratio} | {runs[0].functions} | {fit} |")
    return "\n".join(lines)


def one_round(others: list[Path]) -> dict[str, Run]:
    """All processes once, each with an empty folder for compiled code unless it says so."""
    here = Path(srsg.__file__).parents[1]
    found = {"trivial function": run(TRIVIAL)}
    for number, source in enumerate(others, start=1):
        found[f"first fit, checkout {number}"] = run(program(), source)
    with tempfile.TemporaryDirectory() as cache:
        found["first fit"] = run(program(), here, cache)
        found["first fit of the next process"] = run(program(), here, cache)
        found["then float32 points"] = run(program("float32"), here, cache)
    found["first fit, without garbage collection"] = run(program(prepare=NO_COLLECTION), here)
    return found


def program(dtype: str = "float64", prepare: str = "") -> str:
    return FIT.replace("PREPARE", prepare).replace("DTYPE", dtype)


def run(code: str, source: Path | None = None, cache: str | None = None) -> Run:
    with tempfile.TemporaryDirectory() as empty:
        variables = {"NUMBA_CACHE_DIR": cache or empty}
        if source is not None:
            variables["PYTHONPATH"] = str(source)
        return Run(**json.loads(output_of(code, variables)))


def output_of(code: str, variables: dict[str, str]) -> str:
    command = [sys.executable, "-c", code]
    # From elsewhere: a checkout in the working folder would come first.
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run(
            command,
            env={**os.environ, **variables},
            cwd=folder,
            check=True,
            capture_output=True,
            text=True,
        )
    return done.stdout


if __name__ == "__main__":
    main()
