"""Tests in children of this process: what they or a mutant change in it is gone with them."""

from __future__ import annotations

import contextlib
import gc
import json
import os
import select
import signal
import time
from collections.abc import Callable, Sequence
from types import FunctionType
from typing import Any

import pytest

from tools.mutate.mutants import PACKAGE, Mutant

LONGEST = 300.0
"""Seconds after which a child that uses no processor is given up."""


class Loop:
    """A plugin that takes over from pytest once all tests are collected.

    Parameters
    ----------
    work : callable
        Called with the tests, in a process that has imported all of them.
    """

    def __init__(self, work: Callable[[list[pytest.Item]], None]) -> None:
        self.work = work
        self.failed = False

    def pytest_configure(self) -> None:
        from hypothesis import Phase, settings

        # A mutant is caught by the first example that fails; nobody looks at a smaller one.
        phases = (Phase.explicit, Phase.generate)
        settings.register_profile(
            "mutate", settings(derandomize=True, database=None, phases=phases, max_examples=10)
        )
        settings.load_profile("mutate")

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        # A process that reads a file would read it with the code as it is.
        for plugin in session.config.pluginmanager.get_plugins():
            if hasattr(plugin, "READ_HERE"):
                plugin.READ_HERE = ("",)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self.failed |= report.failed

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        self.work(session.items)
        return True

    def fails(self, item: pytest.Item) -> bool:
        self.failed = False
        item.config.hook.pytest_runtest_protocol(item=item, nextitem=None)
        return self.failed


def in_child(function: Callable[[], Any]) -> tuple[str, Any]:
    """Run a function in a child: ("done", result), ("timeout", None) or ("crashed", None).

    The function itself may set a limit with :func:`limit_processor_time`.
    """
    read_end, write_end = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(read_end)
        os.setpgid(0, 0)
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, 1)
        os.dup2(nowhere, 2)
        with contextlib.suppress(BaseException), os.fdopen(write_end, "w") as pipe:
            json.dump(function(), pipe)
        os._exit(0)
    os.close(write_end)
    said, until = b"", time.monotonic() + LONGEST
    while select.select([read_end], [], [], max(0.0, until - time.monotonic()))[0]:
        part = os.read(read_end, 1 << 20)
        said += part
        if not part:
            break
    os.close(read_end)
    late = time.monotonic() >= until
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(child, signal.SIGKILL)
    status = os.waitpid(child, 0)[1]
    if late or (os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGPROF):
        return "timeout", None
    with contextlib.suppress(ValueError):
        return "done", json.loads(said)
    return "crashed", None


def limit_processor_time(seconds: float) -> None:
    """End this process once it has used this much time: on a busy machine it may take longer."""
    signal.signal(signal.SIGPROF, signal.SIG_DFL)
    signal.setitimer(signal.ITIMER_PROF, seconds)


def lines_run(loop: Loop, item: pytest.Item, longest: float) -> dict[str, Any] | None:
    """The lines of the package that a test runs, by file, and the processor time it takes.

    None if it fails, or takes too long.
    """

    import coverage  # here, not in the child, where nobody would see that it is missing

    def run() -> dict[str, Any] | None:
        limit_processor_time(longest)
        tracer = coverage.Coverage(data_file=None, include=[f"{PACKAGE}/*"], config_file=False)
        started = time.process_time()
        tracer.start()
        failed = loop.fails(item)
        tracer.stop()
        seconds = time.process_time() - started
        data = tracer.get_data()
        files = {file: sorted(data.lines(file) or []) for file in data.measured_files()}
        return None if failed else {"seconds": seconds, "files": files}

    return in_child(run)[1]


def fate(loop: Loop, mutant: Mutant, tests: Sequence[tuple[pytest.Item, float]]) -> tuple[str, str]:
    """What becomes of a mutant, and the test that caught it.

    Parameters
    ----------
    tests : sequence of (test, seconds)
        In the order in which they are run, with the processor time they take usually.
    """

    def run() -> int:
        if not _replace_code(mutant):
            return -2
        for index, (item, seconds) in enumerate(tests):
            limit_processor_time(2 + 5 * seconds)
            if loop.fails(item):
                return index
        return -1

    mutant.code()  # an error here is ours
    outcome, index = in_child(run)
    if outcome != "done":
        return outcome, ""
    if index == -2:
        raise LookupError(f"{mutant.name}: no such function among those that are imported")
    return ("survived", "") if index < 0 else ("failed", tests[index][0].nodeid)


def _replace_code(mutant: Mutant) -> bool:
    """Give the changed code to the function itself, which all who imported it then run.

    Kernels are plain functions here, and need not be compiled again. False if there is no such
    function.
    """
    new = mutant.code()
    found = [
        each
        for each in gc.get_objects()
        if isinstance(each, FunctionType)
        and each.__code__.co_filename == str(mutant.path)
        and each.__code__.co_qualname == mutant.function
        and each.__code__.co_firstlineno == new.co_firstlineno
    ]
    for function in found:
        function.__code__ = new
    return bool(found)
