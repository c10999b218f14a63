"""Real Dask clusters for tests: worker processes on loopback, and ways to disturb them."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from contextlib import contextmanager

import dask
from distributed import Client, LocalCluster

from srsg.running.progress import Progress
from support.estimators import assert_same as assert_same

NO_FRILLS = {"threads_per_worker": 1, "processes": True, "dashboard_address": "127.0.0.1:0"}


@contextmanager
def local_cluster(n_workers, memory_limit="1GB"):
    """Worker processes, which end when they are beyond their limit and spill nothing before."""
    kept = {f"distributed.worker.memory.{what}": False for what in ("target", "spill", "pause")}
    options = {**NO_FRILLS, "n_workers": n_workers, "memory_limit": memory_limit}
    with dask.config.set(kept), LocalCluster(**options) as cluster, Client(cluster) as client:
        yield client


@contextmanager
def scheduler_process(folder):
    """A scheduler and a worker in processes of their own; gives the address and the scheduler."""
    file = folder / f"scheduler-{time.monotonic_ns()}.json"
    command = [sys.executable, "-m", "dask", "scheduler", "--host", "127.0.0.1", "--port", "0"]
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    scheduler = subprocess.Popen(
        [*command, "--no-dashboard", "--scheduler-file", str(file)], **quiet
    )
    worker = None
    try:
        while not file.exists() or not file.read_text().endswith("}"):
            time.sleep(0.05)
        with Client(scheduler_file=str(file)) as client:
            address = client.scheduler.address
        command = [sys.executable, "-m", "dask", "worker", address, "--no-nanny", "--no-dashboard"]
        worker = subprocess.Popen([*command, "--nthreads", "1"], **quiet)
        yield address, scheduler
    finally:
        for process in (worker, scheduler):
            if process is not None:
                process.kill()
                process.wait()


def kill_workers(client, how_many):
    for process in settled_workers(client)[:how_many]:
        os.kill(process, signal.SIGKILL)


def settled_workers(client):
    """The processes of workers, once their nannies have heard from them.

    Dask does not start a worker again that is lost before. Nannies look every 50 ms.
    """
    found = list(client.run(os.getpid).values())
    time.sleep(0.5)
    return found


class Disturbed(Progress):
    """Does something once a stage of some name begins, or advances; remembers all stages."""

    def __init__(self, begins=None, advances=None):
        self.begins, self.advances = dict(begins or {}), dict(advances or {})
        self.totals = {}

    @contextmanager
    def stage(self, label, total):
        self.totals[label] = total
        self._act(self.begins, label)
        yield _Disturbance(self, label)

    def _act(self, actions, label):
        for start in [start for start in actions if label.startswith(start)]:
            actions.pop(start)()


class _Disturbance:
    def __init__(self, progress, label):
        self.progress, self.label = progress, label

    def advance(self, steps=1):
        self.progress._act(self.progress.advances, self.label)
