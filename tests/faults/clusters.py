"""Workers and schedulers that are lost, that lack the package, or have another version of it."""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from contextlib import contextmanager
from functools import partial
from pathlib import Path

from distributed import Client

from faults.runs import Row, fit_bits
from support.clusters import settled_workers

QUIET = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}


@contextmanager
def processes(*, n_workers=2, nanny=False, **environment):
    """A scheduler and workers in processes of their own: its address, it, and the workers."""
    started = []
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "scheduler.json"
        command = [sys.executable, "-m", "dask", "scheduler", "--host", "127.0.0.1", "--port", "0"]
        started.append(
            subprocess.Popen([*command, "--no-dashboard", "--scheduler-file", str(file)], **QUIET)
        )
        try:
            while not file.exists() or not file.read_text().endswith("}"):
                time.sleep(0.05)
            with Client(scheduler_file=str(file)) as client:
                address = client.scheduler.address
                started += [worker(address, nanny, **environment) for _ in range(n_workers)]
                client.wait_for_workers(n_workers, timeout=120)
            yield address, started
        finally:
            for process in started[::-1]:
                process.kill()
                process.wait()


def worker(address, nanny=False, **environment):
    command = [sys.executable, "-m", "dask", "worker", address, "--no-dashboard", "--nthreads", "1"]
    command.append("--nanny" if nanny else "--no-nanny")
    return subprocess.Popen(command, env={**os.environ, **environment}, **QUIET)


LONGEST = 300.0
"""Seconds after which a fit counts as hung: the bounds of all its waits are shorter."""


def attempt(**settings):
    """Outcome and bits of a fit in this process, whatever it ends with."""
    ended = []

    def fit():
        try:
            ended.append(("done", fit_bits(**settings)))
        except Exception as error:
            ended.append((type(error).__name__, str(error)))

    # In a thread that nobody has to wait for: a fit that hangs becomes a line of the page.
    thread = threading.Thread(target=fit, daemon=True)
    thread.start()
    thread.join(LONGEST)
    return ended[0] if ended else ("hung", f"no end after {LONGEST:.0f} s")


def judged(outcome, bits, expected, kills):
    """What a row notes; only a result has bits to compare."""
    if outcome == "done":
        return ("same result" if kills else "ended before the kill"), bits, expected
    return (f"{outcome}: {bits}",)


def worded(outcome, said, address):
    """An outcome without what differs from run to run."""
    text = re.sub(r"tcp://[\d.:]+", "tcp://...", said.replace(address, "tcp://..."))
    return "same result" if outcome == "done" else f"{outcome}: {text}"


@contextmanager
def after(seconds, action):
    """Do something within the block, this many seconds after it began; gives a list of when it was.

    The list stays empty if the block ends before.
    """
    begun, done = time.monotonic(), []

    def act():
        action()
        done.append(time.monotonic() - begun)

    timer = threading.Timer(seconds, act)
    timer.start()
    try:
        yield done
    finally:
        timer.cancel()
        timer.join()


def duration(engine):
    attempt(engine=engine)  # workers compile, or read what was compiled
    started = time.monotonic()
    attempt(engine=engine)
    return time.monotonic() - started


def workers_with_nanny(expected, n_moments):
    """Nannies start workers again; one of two is killed, then both at once."""
    for killed, moments in ((1, n_moments), (2, n_moments)):
        what = "one of two workers" if killed == 1 else "both of two workers at once"
        row = Row(f"`kill -9` of {what}, with nannies, {moments} moments")
        left = list(range(moments))
        while left:
            with processes(nanny=True) as (address, _), Client(address) as client:
                lasted = duration(client)
                # Dask's nanny gives a worker up that is lost just as it starts; then the rest of
                # the moments need a new cluster.
                while left and has_workers(client, 2):
                    moment = lasted * (left.pop(0) + 0.5) / moments
                    victims = settled_workers(client)[:killed]
                    with after(moment, partial(kill, victims)) as kills:
                        outcome, bits = attempt(engine=client)
                    row.note(*judged(outcome, bits, expected, kills))
        yield row


def kill(victims):
    for process in victims:
        os.kill(process, signal.SIGKILL)


def has_workers(client, count):
    try:
        client.wait_for_workers(count, timeout=60)
    except TimeoutError:
        return False
    return True


def workers_without_nanny(expected, n_moments):
    """A worker is gone for good; the other goes on alone, and a new one joins for the next run."""
    row = Row(f"`kill -9` of one of two workers, no nannies, {n_moments} moments")
    with processes() as (address, started):
        lasted = duration(address)
        for moment in range(n_moments):
            with after(lasted * (moment + 0.5) / n_moments, started[-1].kill) as kills:
                outcome, bits = attempt(engine=address)
            row.note(*judged(outcome, bits, expected, kills))
            if kills:
                started.append(worker(address))
            with Client(address) as client:
                client.wait_for_workers(2, timeout=120)
    yield row
    row = Row("both of two workers killed, no nannies, none comes back")
    with processes() as (address, started):
        lasted = duration(address)

        def kill_both():
            for process in started[1:]:
                process.kill()

        with after(lasted / 2, kill_both):
            outcome, said = attempt(engine=address)
        row.note(worded(outcome, said, address))
    yield row


def schedulers(expected, n_moments):
    """The scheduler is gone: one error; then the fit goes on, on threads, from its checkpoint."""
    row = Row(f"`kill -9` of the scheduler, {n_moments} moments, then resumed on threads")
    for moment in range(n_moments):
        with processes(n_workers=1) as (address, started), tempfile.TemporaryDirectory() as kept:
            lasted = duration(address)
            moment_of_kill = lasted * (moment + 0.5) / n_moments
            with after(moment_of_kill, started[0].kill):
                first, said = attempt(engine=address, store=kept)
            outcome, bits = attempt(store=kept)
            ended = first == "done" or (first == "ClusterError" and "lost" in said)
            label = "one error, resumed" if first != "done" else "ended before the kill"
            row.note(label if ended and outcome == "done" else f"{first}: {said}", bits, expected)
    yield row


def other_packages(expected, package):
    """Workers that cannot import the package, or import another version of it."""
    with tempfile.TemporaryDirectory() as folder:
        empty = Path(folder) / "without" / "srsg"
        empty.mkdir(parents=True)
        (empty / "__init__.py").write_text(
            "raise ModuleNotFoundError(\"No module named 'srsg'\")\n"
        )
        other = Path(folder) / "other"
        shutil.copytree(package, other, ignore=shutil.ignore_patterns("__pycache__"))
        # A version from before a module moved: what the client sends names another place.
        (other / "srsg" / "coding" / "l1.py").rename(other / "srsg" / "coding" / "l_one.py")
        for what, place in (("without the package", empty.parent), ("with another version", other)):
            row = Row(f"a worker {what}")
            with processes(n_workers=1, PYTHONPATH=str(place)) as (address, _):
                outcome, said = attempt(engine=address)
            row.note(worded(outcome, said, address))
            yield row
