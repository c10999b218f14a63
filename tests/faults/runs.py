"""One fit after another in children of this process, which may die, and what is left of them."""

from __future__ import annotations

import hashlib
import json
import os
import select
import signal
import time
import warnings
from collections import Counter
from dataclasses import asdict, dataclass, field

import numpy as np
from sklearn.datasets import load_digits

from srsg import SRSG

POINTS = load_digits().data[:150]
SECONDS = 120.0
"""A run that takes longer hangs."""


@dataclass
class Row:
    """A line of the page."""

    fault: str
    outcomes: Counter = field(default_factory=Counter)
    same: int = 0
    compared: int = 0

    def note(self, outcome, bits=None, expected=None):
        self.outcomes[outcome] += 1
        if bits is not None:
            self.compared += 1
            self.same += bits == expected

    def as_dict(self):
        return {**asdict(self), "outcomes": dict(self.outcomes.most_common())}


def model(**settings):
    return SRSG(5, random_state=0, n_init=2, **{"n_jobs": 2, **settings})


def bits_of(fitted):
    """A digest of all that a fit is judged by."""
    digest = hashlib.blake2b(digest_size=16)
    for name in ("labels_", "neighbors_", "kkt_violation_", "dual_gap_", "objective_history_"):
        digest.update(np.ascontiguousarray(getattr(fitted, name)).tobytes())
    for name in ("codes_", "affinity_matrix_"):
        matrix = getattr(fitted, name)
        for part in (matrix.data, matrix.indices.astype(np.int64)):
            digest.update(part.tobytes())
    return digest.hexdigest()


def fit_bits(**settings):
    with warnings.catch_warnings(action="ignore"):
        return bits_of(model(**settings).fit(POINTS))


def in_child(function, *, kill_after=None, seconds=SECONDS):
    """Run a function in a fork; returns ("done", its result), or how it failed, and a text.

    With ``kill_after`` the child gets SIGKILL after that many seconds.
    """
    read_end, write_end = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(read_end)
        try:
            said = ["done", function()]
        except Exception as error:
            said = [type(error).__name__, str(error)]
        os.write(write_end, json.dumps(said).encode())
        os._exit(0)
    os.close(write_end)
    ready, _, _ = select.select([read_end], [], [], seconds if kill_after is None else kill_after)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    with os.fdopen(read_end, "rb") as pipe:
        said = pipe.read()
    if said:
        return tuple(json.loads(said))
    return ("killed", "") if kill_after is not None else ("hung" if not ready else "died", "")


def timed(function):
    started = time.monotonic()
    result = in_child(function)
    return result, time.monotonic() - started
