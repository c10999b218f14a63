"""Cases in processes of their own: one that crashes, hangs or takes all memory is a finding.

A worker says which case it begins and how it ended. If it says nothing for too long, or dies, that
case is written down and another worker goes on with the next one.
"""

from __future__ import annotations

import faulthandler
import os
import resource
import time
import traceback
from collections import Counter
from dataclasses import dataclass, field
from multiprocessing import get_context
from multiprocessing.connection import wait

CASE_SECONDS = 30.0
"""A case takes a hundredth of a second; on a busy machine a hundred times as much."""

START_SECONDS = 600.0
"""A worker compiles all kernels before its first case, with checks of all bounds."""

WORKER_BYTES = 12 * 2**30
"""Of address space, most of which libraries only reserve."""

WARM_UP = range(-300, 0)
"""Cases before the first one that counts: kernels are compiled in them."""


@dataclass
class Report:
    """How many cases ended in which way, and those that must not end so."""

    counts: Counter = field(default_factory=Counter)
    findings: list[tuple[int, str, str]] = field(default_factory=list)
    slowest: tuple[float, int] = (0.0, -1)

    @property
    def n_cases(self):
        return sum(self.counts.values())

    def lines(self):
        yield f"{self.n_cases} cases, {len(self.findings)} findings"
        for (name, outcome), count in sorted(self.counts.items()):
            yield f"  {name:12} {outcome:24} {count}"
        yield f"slowest: case {self.slowest[1]}, {self.slowest[0]:.2f} s"
        for number, name, what in sorted(self.findings):
            yield f"FINDING case {number} ({name}): {what}"


def run_case(number):
    """Name and outcome of a case, and what was found if it must not end so."""
    from fuzz.cases import case_of
    from fuzz.outcomes import outcome_of

    name, case, rng = case_of(number)
    try:
        return name, outcome_of(case, rng), ""
    except MemoryError:
        return name, "finding", "MemoryError"
    except Exception as error:
        place = traceback.extract_tb(error.__traceback__)[-1]
        file = os.path.basename(place.filename)
        what = f"{type(error).__name__} at {file}:{place.lineno}: {str(error)[:300]}"
        return name, "finding", what


def _work(numbers, pipe):
    resource.setrlimit(resource.RLIMIT_AS, (WORKER_BYTES, WORKER_BYTES))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    faulthandler.enable()
    for number in WARM_UP:
        pipe.send(("warming up", number))
        run_case(number)
    for number in numbers:
        pipe.send(("begins", number))
        started = time.perf_counter()
        found = run_case(number)
        pipe.send(("ended", (number, *found, time.perf_counter() - started)))
    pipe.send(("finished", None))


WORK = _work


class _Worker:
    """A process that runs cases, and what it last said."""

    def __init__(self, numbers, case_seconds):
        self.numbers, self.case_seconds = list(numbers), case_seconds
        self.start()

    def start(self):
        context = get_context("spawn")
        self.pipe, other = context.Pipe(duplex=False)
        self.process = context.Process(target=WORK, args=(self.numbers, other), daemon=True)
        self.process.start()
        other.close()
        self.case, self.since, self.finished = None, time.monotonic(), False

    @property
    def overdue(self):
        allowed = START_SECONDS if self.case is None else self.case_seconds
        return time.monotonic() - self.since > allowed

    def stop(self):
        self.process.kill()
        self.process.join()

    def hear(self, report):
        """Take in what the worker says; False if it has died."""
        try:
            while self.pipe.poll():
                kind, content = self.pipe.recv()
                self.since = time.monotonic()
                if kind == "begins":
                    self.case = content
                elif kind == "ended":
                    _note(report, *content)
                    self.numbers.remove(content[0])
                elif kind == "finished":
                    self.finished = True
        except EOFError:
            return self.finished
        return True

    def give_up(self, report, what):
        """Write the present case down as a finding, and go on with the next one."""
        self.stop()
        if self.case is None:
            raise RuntimeError(f"A worker {what} before its first case.")
        report.findings.append((self.case, "?", what))
        report.counts["?", "finding"] += 1
        if self.case in self.numbers:
            self.numbers.remove(self.case)
        self.start()


def _note(report, number, name, outcome, what, seconds):
    report.counts[name, outcome] += 1
    report.slowest = max(report.slowest, (seconds, number))
    if what:
        report.findings.append((number, name, what))


def run_cases(first, count, *, n_workers=1, case_seconds=CASE_SECONDS, tell=lambda report: True):
    """Run cases ``first`` to ``first + count - 1``, shared among workers.

    ``tell`` is called with the report now and then; it ends the run if it returns False.
    """
    report = Report()
    numbers = range(first, first + count)
    workers = [_Worker(numbers[k::n_workers], case_seconds) for k in range(n_workers)]
    try:
        while not all(worker.finished for worker in workers):
            wait([worker.pipe for worker in workers if not worker.finished], timeout=1.0)
            for worker in workers:
                if worker.finished:
                    continue
                if not worker.hear(report):
                    worker.process.join()
                    worker.give_up(report, f"died with code {worker.process.exitcode}")
                elif worker.overdue:
                    worker.give_up(report, f"hung for {case_seconds:g} s")
            if not tell(report):
                break
    finally:
        for worker in workers:
            worker.stop()
    return report
