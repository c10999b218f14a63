"""Sweeps in progress: which points are solved at once, and where their inputs come from."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any

import numpy as np
from joblib import cpu_count
from numpy.typing import NDArray
from scipy import sparse

from srsg.coding.levels import independent_stretches
from srsg.coding.small_problems import RemoteProblems, likely_coordinates
from srsg.kernels.active import PointsInReach
from srsg.kernels.codes import Codes, Neighbors, fits_of, padded
from srsg.kernels.fpgd_sp import Settings
from srsg.kernels.sweep import (
    KeptProblems,
    KnownInputs,
    SweepData,
    SweepPass,
    new_outcome,
    sweep_points,
)
from srsg.points import Points, Queries, blocks_of_rows, dense_rows, kernel_rows
from srsg.running import Engine, serial_linear_algebra
from srsg.running.progress import Stage
from srsg.types import FloatArray, IntArray

POINTS_PER_CALL = 512
"""Points solved per call of the kernel: between calls, Ctrl-C is noticed and progress is shown."""

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
    points, targets, init_codes, graph, settings, engine
        What is coded, over which points, and how.
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
        engine: Engine,
        threads: ThreadPoolExecutor,
        waves: list[list[IntArray]],
        fitted: sparse.csr_array | None = None,
    ) -> None:
        x: NDArray[np.floating]
        new: NDArray[np.floating]
        n_rows = graph.shape[0]
        self.engine, self.settings, self.threads, self.waves = engine, settings, threads, waves
        # Some spare room, so that codes can grow before all rows have to be copied.
        self.codes = Codes.from_csr(init_codes, spare=16)
        self.outcome = new_outcome(n_rows)
        self.remote: RemoteProblems | None = None
        self.fitted = None if fitted is None else Codes.from_csr(fitted)
        # The kernel treats sparse points like points on workers: it gets their inner products in
        # the same way, and need not be compiled a second time.
        if points.in_shards or sparse.issparse(points.x):
            x = new = np.empty((0, points.n_features))
            likely = likely_coordinates(init_codes, graph, fitted)
            self.remote = RemoteProblems(points, targets, graph, engine.quiet())
            self.first_fits = self.remote.make_first(*likely, self.codes)
        else:
            x = points.x
            new = x if targets.new is None else dense_rows(targets.new)
            nothing = np.empty(0, np.int64)
            self.at_hand = KnownInputs(
                # New points are solved once: nothing is worth keeping.
                KeptProblems.empty(n_rows, KEPT_SIZE if fitted is None else 0),
                PointsInReach(np.empty(0), nothing, nothing, np.empty(0)),
            )
        self.x = x
        self.coded = SweepData(kernel_rows(x), kernel_rows(new), targets.own, neighbor_lists(graph))

    def fits(self) -> FloatArray:
        """``||x_i - X z_i||^2`` for every code, before the first sweep."""
        if self.remote is not None:
            return self.first_fits
        blocks = blocks_of_rows(len(self.coded.own), POINTS_PER_CALL)
        data = (self.x, self.codes)
        return np.concatenate(
            self.engine.map(_fits_of_rows, data, blocks, label="fit of the codes")
        )

    def sweep(self, stage: Stage) -> None:
        """Solve all points once, in as many passes as it takes to learn what they need."""
        # A copy: every point starts from its code before the sweep, and earlier points count its
        # vote with that code.
        before = Codes._make(map(np.copy, self.codes))
        if self.remote is None:
            self._solve_all(before, self.at_hand, first_pass(len(before.size), 0), stage)
            return
        self.remote.start_sweep(before)
        this_pass = first_pass(*before.index.shape)
        while True:
            this_pass = self._solve_all(before, self.remote.known, this_pass, stage)
            if not self.remote.answer(this_pass, before):
                return
            this_pass = this_pass._replace(number=this_pass.number + 1)

    def _solve_all(
        self, before: Codes, known: KnownInputs, this_pass: SweepPass, stage: Stage
    ) -> SweepPass:
        """One pass over all points; codes get more room when one of them outgrows its row."""

        def solve(part: IntArray) -> int:
            return sweep_points(*self.arguments(part, before, known, this_pass))

        # Wave after wave: the parts of a wave never need each other's new codes, so it does not
        # matter which thread comes first.
        for wave in self.waves:
            parts: Sequence[IntArray] = wave
            while True:
                # A single part runs in this thread: waking another would only take longer.
                counts = list((map if len(parts) == 1 else self.threads.map)(solve, parts))
                if this_pass.number == 1:
                    stage.advance(sum(counts))
                if counts == list(map(len, parts)):
                    break
                # The kernel stops at a code that has no room. Arrays cannot grow while threads
                # write to them, so the rest of the wave is solved in another round.
                left = zip(parts, counts, strict=True)
                parts = [part[count:] for part, count in left if count < len(part)]
                width = 2 * self.codes.index.shape[1] + 1
                self.codes = self.codes.resized(width)
                this_pass = this_pass._replace(asked=padded(this_pass.asked, width))
        return this_pass

    def arguments(
        self, part: IntArray, before: Codes, known: KnownInputs, this_pass: SweepPass
    ) -> tuple[Any, ...]:
        """What the kernel gets to solve a part of the points."""
        voters = (before, self.codes) if self.fitted is None else (self.fitted, self.fitted)
        results = (this_pass, self.outcome)
        return (self.coded, part, voters, before, self.codes, self.settings, known, *results)


def first_pass(n_rows: int, width: int) -> SweepPass:
    """A pass before which nothing is solved, with room to ask for ``width`` coordinates."""

    def zeros() -> IntArray:
        return np.zeros(n_rows, np.int64)

    asked = np.empty((n_rows, width), np.int64)
    return SweepPass(1, zeros(), zeros(), zeros(), np.zeros(n_rows), asked, zeros())


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


def _fits_of_rows(data: tuple[FloatArray, Codes], rows: IntArray) -> FloatArray:
    x, codes = data
    return fits_of(kernel_rows(x), kernel_rows(x[rows]), codes.take(rows), x.shape[1])
