"""The kernel of the sweeps, compiled by a second process while this one finds the l1 codes.

numba compiles under one lock, so threads would not help. But it keeps compiled code in a folder,
and what one process has left there another one loads. This happens once for each folder. Whatever
goes wrong with the second process, this one then compiles the kernel itself, and the results are
the same.
"""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryFile
from typing import Any

import numpy as np
from joblib import cpu_count
from scipy import sparse

from srsg.coding.neighbors import neighbor_graph
from srsg.coding.sweep_run import Sweeps, first_pass
from srsg.kernels.compiled import FOLDER
from srsg.kernels.fpgd_sp import Settings
from srsg.kernels.sweep import sweep_points
from srsg.points import Points, Queries
from srsg.running import Engine, ThreadEngine
from srsg.running.memory import free_memory

PATIENCE = 30.0
"""The most seconds to wait for the second process, once there is nothing else to do. It has then
had a start of some seconds, and it takes six in all."""

MEMORY = 1e9
"""Bytes that must be free. The second process takes about 300 MB."""

PROGRAM = """
import pickle, signal, sys
signal.signal(signal.SIGINT, signal.SIG_DFL)  # Ctrl-C ends it at once, wherever it is
sys.path[:] = pickle.load(sys.stdin.buffer)
from srsg.kernels.sweep import sweep_points
sweep_points(*pickle.load(sys.stdin.buffer))
"""

_started: list[subprocess.Popen[bytes]] = []


def compile_ahead(engine: Engine) -> None:
    """Start a second process that compiles the kernel of the sweeps, if that can save time.

    It is started only if the folder has no compiled code of this kernel, and only by the first
    process that finds it so: workers that fit at the same time do not each start another one.

    Parameters
    ----------
    engine : Engine
        For one with a single thread no process is started: the user wants one core to be used.

    Examples
    --------
    >>> from srsg.running import ThreadEngine
    >>> from srsg.coding.ahead import compile_ahead, wait_until_compiled
    >>> compile_ahead(ThreadEngine(1))
    >>> wait_until_compiled()
    """
    # Without the compiler the kernel is a plain function, and without a cache there is no path.
    path = getattr(getattr(sweep_points, "stats", None), "cache_path", None)
    if path is None or FOLDER is None or sweep_points.signatures or not _is_python():
        return
    # With Dask the sweeps run here too, on all cores, and its workers need not be asked.
    n_cores = engine.n_workers if isinstance(engine, ThreadEngine) else cpu_count()
    if n_cores == 1 or cpu_count() == 1 or free_memory() < MEMORY:
        return
    with suppress(OSError):
        if any(Path(path).glob("sweep.sweep_points-*")):
            return
        # Only one process can make this file. It stays, so that a second process that fails is not
        # tried again by every fit.
        Path(path, "sweep.sweep_points-started").touch(exist_ok=False)
        _started.append(_second_process(FOLDER, _small_arguments(engine)))


def wait_until_compiled() -> None:
    """Wait for the second process, if one was started; one that takes too long is ended.

    Examples
    --------
    >>> from srsg.coding.ahead import wait_until_compiled
    >>> wait_until_compiled()
    """
    for process in _started:
        try:
            process.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def _is_python() -> bool:
    """Whether the program of this process is Python: it may be another one that has Python inside,
    and would open a second window."""
    is_frozen = getattr(sys, "frozen", False)
    return not is_frozen and Path(sys.executable or "").name.lower().startswith("python")


def _second_process(folder: Path, arguments: tuple[Any, ...]) -> subprocess.Popen[bytes]:
    with TemporaryFile() as message:
        message.write(pickle.dumps(sys.path) + pickle.dumps(arguments))
        message.seek(0)
        return subprocess.Popen(
            [sys.executable, "-P", "-c", PROGRAM],
            stdin=message,
            # Whatever happens there, nothing is shown.
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            # A program can also have chosen the folder without this variable.
            env={**os.environ, "NUMBA_CACHE_DIR": str(folder.parent)},
            creationflags=getattr(subprocess, "CREATE_NO_WINDOW", 0),  # on Windows
        )


def _small_arguments(engine: Engine) -> tuple[Any, ...]:
    """What the kernel gets in a fit of three points: of the same types as in every other fit."""
    points = Points(np.eye(3))
    codes = sparse.csr_array((3, 3))
    graph = neighbor_graph(np.array([[1], [2], [0]]))
    settings = Settings(0.1, 0.01, 1, 0.0)
    threads = ThreadPoolExecutor(1)
    run = Sweeps(points, Queries.of(points), codes, graph, settings, engine, threads, [])
    return run.arguments(np.arange(3), run.codes, run.at_hand, first_pass(3, 0))
