"""What a new process waits for: importing, help, compiling, loading what was compiled."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from typing import Any

from benchmarks.timing import seconds

FIT = """
import time
from sklearn.datasets import load_digits
from srsg import SRSG
X = load_digits().data[:100]
start = time.perf_counter()
SRSG(2, random_state=0).fit(X)
print(time.perf_counter() - start)
"""

COMMANDS = {
    "python": ["-c", "pass"],
    "import numpy": ["-c", "import numpy"],
    "import sklearn.cluster": ["-c", "import sklearn.cluster"],
    "import srsg": ["-c", "import srsg"],
    "from srsg import SRSG": ["-c", "from srsg import SRSG"],
    "srsg --help": ["-m", "srsg", "--help"],
}


def measure(rounds: int) -> dict[str, Any]:
    """Times of whole processes in turns, and of a fit of 100 points inside new ones."""
    times: dict[str, list[float]] = {label: [] for label in COMMANDS}
    for _ in range(rounds):
        for label, command in COMMANDS.items():
            times[label].append(seconds(lambda command=command: _process(command)))
    first, second = [], []
    for _ in range(max(1, rounds // 2)):
        with tempfile.TemporaryDirectory() as cache:
            first.append(_fit(cache))
            second.append(_fit(cache))
    return {
        "processes": times,
        "fits": {"first fit, compiling": first, "first fit of another process": second},
    }


def _process(command: list[str]) -> None:
    subprocess.run([sys.executable, *command], check=True, stdout=subprocess.DEVNULL)


def _fit(cache: str) -> float:
    environment = {**os.environ, "NUMBA_CACHE_DIR": cache}
    command = [sys.executable, "-c", FIT]
    done = subprocess.run(command, env=environment, check=True, capture_output=True, text=True)
    return float(done.stdout)
