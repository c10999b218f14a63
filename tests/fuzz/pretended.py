"""Pretended cases for the test of the watchdog, in a module that is quick to import."""

from __future__ import annotations

import os
import signal
import time

from fuzz import watchdog


def pretended(number):
    """In place of a case: one that hangs, one that crashes, one that is found bad."""
    if number == 3:
        time.sleep(60)
    if number == 5:
        os.kill(os.getpid(), signal.SIGSEGV)
    return ("fit", "finding", "bad") if number == 6 else ("fit", "done", "")


def pretend(numbers, pipe):
    """The work of a worker, on pretended cases."""
    watchdog.run_case, watchdog.WARM_UP = pretended, []
    watchdog._work(numbers, pipe)
