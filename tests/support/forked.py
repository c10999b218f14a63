"""Files read in a copy of this process, which has imported everything: 20 ms instead of 300."""

from __future__ import annotations

import io
import os
import pickle
import signal
import subprocess
import sys
import time
from contextlib import contextmanager
from types import SimpleNamespace
from unittest.mock import patch

from srsg.files import guard


def run(command, *, stdout, timeout, **options):
    """``subprocess.run`` of the program that reads files, as a fork.

    The limits on memory and time, what it answers and how it dies are those of the program.
    """
    child = os.fork()
    if child == 0:
        try:
            given = io.BytesIO(options["input"])
            pickle.load(given)  # sys.path, which is the same
            sys.stdin = SimpleNamespace(buffer=given)
            os.dup2(stdout.fileno(), 1)
            os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
            guard.answer()
        finally:
            os._exit(1)
    until = time.monotonic() + timeout
    while not (ended := os.waitpid(child, os.WNOHANG))[0]:
        if time.monotonic() > until:
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
            raise subprocess.TimeoutExpired(command, timeout)
        time.sleep(0.001)
    if code := os.waitstatus_to_exitcode(ended[1]):
        raise subprocess.CalledProcessError(code, command)


@contextmanager
def read_in_forks():
    parts = {name: getattr(subprocess, name) for name in ("TimeoutExpired", "CalledProcessError")}
    own = SimpleNamespace(run=run, DEVNULL=subprocess.DEVNULL, **parts)
    with patch.object(guard, "subprocess", own):
        yield
