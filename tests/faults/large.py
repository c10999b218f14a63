"""Kills, lack of memory and I/O errors within a fit of 5,000 points and within a search."""

from __future__ import annotations

import errno
import hashlib
import resource
import tempfile
import warnings
from pathlib import Path
from threading import Timer
from unittest.mock import patch

import numpy as np

from faults.runs import Row, bits_of, in_child, timed
from srsg import SRSG, L1Graph, NeighborGraph, StabilitySearch
from srsg.running import store as stores

N_POINTS = 5_000


def points():
    rng = np.random.default_rng(3)
    bases = rng.standard_normal((5, 3, 20))
    member = rng.integers(5, size=N_POINTS)
    X = np.einsum("nr,nrd->nd", rng.standard_normal((N_POINTS, 3)), bases[member])
    return X + 0.05 * rng.standard_normal(X.shape)


def fit(store=None):
    """Bits of a fit of 5,000 points."""
    model = SRSG(5, random_state=0, n_init=2, n_jobs=2, max_sweeps=3, store=store)
    with warnings.catch_warnings(action="ignore"):
        return bits_of(model.fit(points()))


def search(store=None):
    """Bits of a search over the same points, whose candidates share a store."""
    shared = {"random_state": 0, "n_init": 2, "n_jobs": 2, "store": store}
    candidates = [("l1", L1Graph(5, **shared)), ("neighbours", NeighborGraph(5, **shared))]
    with warnings.catch_warnings(action="ignore"):
        found = StabilitySearch(candidates, n_clusters=5, random_state=0, n_jobs=2).fit(points())
    digest = hashlib.blake2b(found.labels_.tobytes(), digest_size=16)
    digest.update(repr((found.best_name_, found.results_)).encode())
    return digest.hexdigest()


WORK = {"a fit of 5,000 points": fit, "a search over 5,000 points": search}

CLEAR = ("MemoryError", "OSError", "FileError")
"""What lack of memory or a failing disk may end with."""


def each(fault, n_moments, spoil):
    """One row for each work: ``spoil`` runs it with a fault, then it goes on without."""
    for what, work in WORK.items():
        outcome, expected = in_child(work, seconds=600)
        assert outcome == "done", expected
        with tempfile.TemporaryDirectory() as folder:
            _, lasted = timed(lambda work=work: work(f"{Path(folder)}/measured"))
            row = Row(f"{fault} in {what}, {n_moments} moments, then resumed")
            for moment in range(n_moments):
                kept = f"{folder}/{moment}"
                share = (moment + 0.5) / n_moments
                first, said = spoil(work, kept, share, lasted)
                second, bits = in_child(lambda work=work, kept=kept: work(kept), seconds=600)
                if second != "done":
                    row.note(f"not resumed, {second}: {bits}")
                    continue
                if first == "done":
                    row.note("no harm" if said == expected else "OTHER BITS", bits, expected)
                else:
                    named = first if first in ("killed", "died", *CLEAR) else f"{first}: {said}"
                    row.note(f"{named}, resumed", bits, expected)
                halves = [
                    path
                    for path in Path(kept).rglob("*")
                    if path.is_file() and path.suffix != ".npz"
                ]
                if halves:
                    row.note("leftover files")
        yield row


def killed(n_moments):
    """SIGKILL at moments spread over the work."""

    def spoil(work, kept, share, lasted):
        return in_child(lambda: work(kept), kill_after=lasted * share)

    yield from each("`kill -9`", n_moments, spoil)


def _limit_memory(room):
    """No more address space than the process has now, and this much more."""
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    most = pages * resource.getpagesize() + int(room)
    resource.setrlimit(resource.RLIMIT_AS, (most, most))


def little_memory(n_moments):
    """A limit on address space from the start, from 5 to 400 MB above what the process has."""

    def spoil(work, kept, share, lasted):
        def limited():
            _limit_memory(5e6 * 80**share)
            return work(kept)

        return in_child(limited, seconds=600)

    yield from each("5 to 400 MB of memory left", n_moments, spoil)


def out_of_memory(n_moments):
    """The memory runs out at a moment within the work, when 5 MB are left.

    Libraries may end the process then; what was kept must still be whole.
    """

    def spoil(work, kept, share, lasted):
        def limited():
            timer = Timer(lasted * share, _limit_memory, [5e6])
            timer.daemon = True
            timer.start()
            return work(kept)

        return in_child(limited, seconds=600)

    yield from each("memory runs out", n_moments, spoil)


def io_errors(n_moments):
    """The disk fails (EIO) at one write, and at all that follow."""

    def spoil(work, kept, share, lasted):
        count = 0
        write = stores.write_arrays

        def failing(path, arrays):
            nonlocal count
            count += 1
            if count > share * 6:
                raise OSError(errno.EIO, "Input/output error", str(path))
            write(path, arrays)

        def spoilt():
            with patch.object(stores, "write_arrays", failing):
                return work(kept)

        return in_child(spoilt, seconds=600)

    yield from each("I/O errors while writing", n_moments, spoil)


def unreadable(n_moments):
    """What was kept cannot be read (EIO): it is done again."""

    def spoil(work, kept, share, lasted):
        in_child(lambda: work(kept), kill_after=lasted * share)

        def failing(path):
            raise OSError(errno.EIO, "Input/output error", str(path))

        def spoilt():
            with patch.object(stores, "read_arrays", failing):
                return work(kept)

        return in_child(spoilt, seconds=600)

    yield from each("I/O errors while reading", n_moments, spoil)
