"""Kills, forks, threads and compilers in one machine."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from faults.runs import Row, fit_bits, in_child, timed

FIT = "from faults.runs import fit_bits; print(fit_bits())"


def killed(expected, n_moments):
    """SIGKILL at moments spread over a fit that keeps checkpoints; then the fit goes on."""
    row = Row(f"`kill -9` of a fit on threads, {n_moments} moments, then resumed")
    with tempfile.TemporaryDirectory() as folder:
        _, lasted = timed(lambda: fit_bits(store=f"{folder}/measured"))
        for moment in range(n_moments):
            kept = f"{folder}/{moment}"
            after = lasted * (moment + 0.5) / n_moments
            first, _ = in_child(lambda kept=kept: fit_bits(store=kept), kill_after=after)
            outcome, bits = in_child(lambda kept=kept: fit_bits(store=kept))
            ended = "killed, resumed" if first == "killed" else "ended before the kill"
            row.note(ended if outcome == "done" else f"{outcome}: {bits}", bits, expected)
            left = [path for path in Path(kept).rglob("*") if path.is_file()]
            if any(path.suffix != ".npz" for path in left):
                row.note("leftover files")
    yield row


def forked(expected, n_runs):
    """Forks before, after and during a fit of the parent."""
    for when in ("before", "after", "during"):
        row = Row(f"fork {when} a fit of the parent, fit in the child")
        for _ in range(n_runs):
            row.note(*_judged(in_child(lambda when=when: _parent(when)), expected))
        yield row


def _parent(when):
    """Itself a child, so that the process that runs the scenarios has no threads."""
    if when == "before":
        return in_child(fit_bits)[1]
    if when == "after":
        fit_bits()
        return in_child(fit_bits)[1]
    thread = threading.Thread(target=fit_bits)
    thread.start()
    outcome, bits = in_child(fit_bits, seconds=60)
    thread.join()
    return bits if outcome == "done" else outcome


def _judged(found, expected):
    outcome, bits = found
    return ("same result" if bits == expected else f"{outcome}: {bits}"), bits, expected


def nested(expected, n_runs):
    """Fits in threads of threads, and in loky's processes."""
    row = Row("fits in 4 threads at once, each with 2 threads")
    for _ in range(n_runs):
        row.note(*_judged(in_child(_in_threads), expected))
    yield row
    row = Row("fits in 2 processes of loky, each with 2 threads")
    code = (
        "from joblib import Parallel, delayed; from faults.runs import fit_bits;"
        "found = Parallel(2)(delayed(fit_bits)() for _ in range(3));"
        "print(found[0] if len(set(found)) == 1 else found)"
    )
    row.note(*_judged(_command(code), expected))
    yield row


def _in_threads():
    with ThreadPoolExecutor(4) as threads:
        found = {*threads.map(lambda _: fit_bits(), range(4))}
    return found.pop() if len(found) == 1 else "different bits"


def compiling(expected):
    """Two processes that compile the kernels into one empty cache at the same time."""
    row = Row("two processes compile into one empty cache at once")
    with tempfile.TemporaryDirectory() as cache:
        processes = [_start(FIT, NUMBA_CACHE_DIR=cache) for _ in range(2)]
        for process in processes:
            row.note(*_judged(_end(process), expected))
    yield row


def _start(code, **environment):
    return subprocess.Popen(
        [sys.executable, "-c", code],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, **environment},
    )


def _end(process):
    output, errors = process.communicate(timeout=600)
    lines = (output.strip() or errors.strip() or "nothing").splitlines()
    return ("done" if process.returncode == 0 else "error"), lines[-1]


def _command(code, **environment):
    return _end(_start(code, **environment))
