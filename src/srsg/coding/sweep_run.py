"""Sweeps in progress: which points are solved at once."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

import numpy as np
from joblib import cpu_count
from scipy import sparse

from srsg.coding.levels import independent_stretches
from srsg.kernels.codes import Codes, Neighbors, fits_of
from srsg.kernels.fpgd_sp import Settings
from srsg.kernels.problems import KeptProblems
from srsg.kernels.sweep import SweepData, new_outcome, sweep_points
from srsg.points import Points, Queries, blocks_of_rows, kernel_rows
from srsg.running import Engine, serial_linear_algebra
from srsg.running.progress import Stage
from srsg.types import FloatArray, IntArray

POINTS_PER_CALL = 512
"""Points solved per call of the kernel: between calls, Ctrl-C is noticed and progress is shown."""

VALUES_PER_BLOCK = 2**20
"""Entries of the residuals that a thread holds at once, which are dense for sparse points too."""

LEAST_SHARED = 256
"""The fewest points worth sharing among threads: with fewer, waking the threads takes longer than
solving them."""

STRETCHES_PER_THREAD = 4
"""With more stretches, fewer points wait for another one that is long, but threads are woken more
often. From three to eight it hardly matters on the paper's data."""

KEPT_SIZE = 12
"""Problems with up to this many active coordinates are kept from one sweep to the next. In the
paper's data nearly all are that small, and 91 numbers hold such a problem."""


@contextmanager
def sweeping_threads(points: Points, engine: Engine) -> Iterator[tuple[ThreadPoolExecutor, int]]:
    """Threads of this process, each with serial linear algebra, and how many there are."""
    # On a cluster the engine counts the workers' threads, but the sweeps run here, in the client.
    n_threads = cpu_count() if points.in_shards else engine.n_workers
    with ThreadPoolExecutor(n_threads) as threads, serial_linear_algebra():
        yield threads, n_threads


class Sweeps:
    """Sweeps in progress: everything that one sweep hands on to the next.

    Parameters
    ----------
    points, targets, init_codes, graph, settings
        What is coded, over which points, and how. The points are in this process.
    threads : ThreadPoolExecutor
        Threads of this process, which solve the small problems.
    waves : list of lists of ndarray
        The rows in the order in which they are solved. The parts of a wave are solved at the same
        time.
    fitted : csr_array, optional
        Codes of the points, if the targets are new.
    """

    def __init__(
        self,
        points: Points,
        targets: Queries,
        init_codes: sparse.csr_array,
        graph: sparse.csr_array,
        settings: Settings,
        threads: ThreadPoolExecutor,
        waves: list[list[IntArray]],
        fitted: sparse.csr_array | None = None,
    ) -> None:
        n_rows = graph.shape[0]
        self.settings, self.threads, self.waves = settings, threads, waves
        # Some spare room, so that codes can grow before all rows have to be copied.
        self.codes = Codes.from_csr(init_codes, spare=16)
        self.fitted = None if fitted is None else Codes.from_csr(fitted)
        self.outcome = new_outcome(n_rows)
        # New points are solved once: nothing is worth keeping.
        self.kept = KeptProblems.empty(n_rows, KEPT_SIZE if fitted is None else 0)
        self.x = points.x if targets.new is None else targets.new
        rows = points.for_kernels
        coded = rows if targets.new is None else kernel_rows(targets.new)
        self.coded = SweepData(rows, coded, targets.own, neighbor_lists(graph))

    def fits(self) -> FloatArray:
        """``||x_i - X z_i||^2`` for every code, before the first sweep."""

        def fits_of_rows(rows: IntArray) -> FloatArray:
            some, codes = kernel_rows(self.x[rows]), self.codes.take(rows)
            return fits_of(self.coded.points, some, codes, self.x.shape[1])

        n_points, n_features = self.x.shape
        size = max(1, min(POINTS_PER_CALL, VALUES_PER_BLOCK // n_features))
        blocks = blocks_of_rows(n_points, size)
        return np.concatenate(list(self.threads.map(fits_of_rows, blocks)))

    def sweep(self, stage: Stage) -> None:
        """Solve all points once; codes get more room when one of them outgrows its row."""
        # A copy: every point starts from its code before the sweep, and earlier points count its
        # vote with that code.
        before = Codes._make(map(np.copy, self.codes))

        def solve(part: IntArray) -> int:
            voters = (before, self.codes) if self.fitted is None else (self.fitted, self.fitted)
            inputs = (self.coded, part, voters, before)
            return sweep_points(*inputs, self.codes, self.settings, self.kept, self.outcome)

        # Wave after wave: the parts of a wave never need each other's new codes, so it does not
        # matter which thread comes first.
        for wave in self.waves:
            parts: Sequence[IntArray] = wave
            while True:
                # A single part runs in this thread: waking another would only take longer.
                counts = list((map if len(parts) == 1 else self.threads.map)(solve, parts))
                stage.advance(sum(counts))
                if counts == list(map(len, parts)):
                    break
                # The kernel stops at a code that has no room. Arrays cannot grow while threads
                # write to them, so the rest of the wave is solved in another round.
                left = zip(parts, counts, strict=True)
                parts = [part[count:] for part, count in left if count < len(part)]
                self.codes = self.codes.resized(2 * self.codes.width + 1)


def neighbor_lists(graph: sparse.csr_array) -> Neighbors:
    """The neighbours of every point, given the graph S."""
    return Neighbors(graph.indptr.astype(np.int64), graph.indices.astype(np.int64))


def make_waves(neighbors: Neighbors, n_threads: int) -> list[list[IntArray]]:
    """The points in the order of a sweep: the parts of a wave can be solved at the same time."""
    # One thread follows the order 0..n-1 itself.
    waves = [[np.arange(len(neighbors.starts) - 1)]]
    if n_threads > 1:
        waves = independent_stretches(*neighbors, STRETCHES_PER_THREAD * n_threads)
        waves = _worth_sharing(waves)
    # In parts that are short enough for one call of the kernel.
    return [
        [part[first : first + POINTS_PER_CALL] for part in wave if len(part) > first]
        for wave in waves
        for first in range(0, max(map(len, wave)), POINTS_PER_CALL)
    ]


def _worth_sharing(waves: list[list[IntArray]]) -> list[list[IntArray]]:
    """The same waves, except that small ones that follow each other become one part.

    One thread solves it in their order: a point still comes after the neighbours it waits for.
    """
    merged: list[list[IntArray]] = []
    few: list[IntArray] = []
    for wave in waves:
        if sum(map(len, wave)) < LEAST_SHARED:
            few += wave
            continue
        if few:
            merged.append([np.concatenate(few)])
            few = []
        merged.append(wave)
    return [*merged, [np.concatenate(few)]] if few else merged
