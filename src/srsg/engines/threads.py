"""Blocks of work on threads of this process."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed, wait
from copy import copy
from functools import partial
from typing import Any

import numpy as np
from joblib import cpu_count, effective_n_jobs

from srsg.engines.checkpoint import NO_CHECKPOINT, Checkpoint, points_fingerprint
from srsg.engines.linear_algebra import serial_linear_algebra
from srsg.engines.progress import SILENT, Progress
from srsg.engines.protocol import Block, Result, RowTask, ShardScan, Started
from srsg.points import BLOCK_SIZE, Points, Rows


class ThreadEngine:
    """Runs blocks on threads of this process, each with serial linear algebra.

    Parameters
    ----------
    n_jobs : int or None
        Number of threads as in joblib, negative numbers counting from the number of cores.
        None takes all cores: results do not depend on it.
    progress : Progress
        Told about every block that is done.
    checkpoint : Checkpoint
        Where algorithms keep the work done so far.
    block_size : int
        Points that a thread compares with all points at once.

    Examples
    --------
    >>> from srsg.engines import ThreadEngine
    >>> ThreadEngine(2).map(lambda data, block: data * block, 10, [1, 2, 3], label="times")
    [10, 20, 30]
    """

    def __init__(
        self,
        n_jobs: int | None = None,
        progress: Progress = SILENT,
        checkpoint: Checkpoint = NO_CHECKPOINT,
        block_size: int = BLOCK_SIZE,
    ) -> None:
        self._n_threads = cpu_count() if n_jobs is None else effective_n_jobs(n_jobs)
        self.progress, self.checkpoint, self.block_size = progress, checkpoint, block_size
        self._pool = ThreadPoolExecutor(self._n_threads)

    @property
    def n_workers(self) -> int:
        return self._n_threads

    def map(
        self,
        task: Callable[[Any, Block], Result],
        data: Any,
        blocks: Sequence[Block],
        *,
        label: str,
        done: Callable[[Result], None] | None = None,
    ) -> list[Result]:
        with self.progress.stage(label, len(blocks)) as stage, serial_linear_algebra():
            # A single block runs in this thread: there is nothing to gain from another.
            if len(blocks) == 1 and done is None:
                return [task(data, blocks[0])]
            futures = [self._pool.submit(task, data, block) for block in blocks]
            try:
                # Saved and shown as they finish; the results are returned in order below.
                for future in as_completed(futures):
                    result = future.result()
                    if done is not None:
                        done(result)
                    stage.advance()
            except BaseException:
                # After an error or Ctrl-C, blocks that are running finish and the others never
                # start.
                for future in futures:
                    future.cancel()
                wait(futures)
                raise
        return [future.result() for future in futures]

    def scan(
        self,
        task: ShardScan[Block, Any, Any, Result],
        points: Points,
        blocks: Sequence[Block],
        *,
        label: str,
        done: Callable[[Result], None] | None = None,
    ) -> list[Result]:
        return self.map(partial(_scan, task), points, blocks, label=label, done=done)

    def map_rows(
        self,
        task: RowTask[Block, Result],
        points: Points,
        blocks: Sequence[Block],
        *,
        label: str,
    ) -> list[Result]:
        return self.map(partial(_start, task), points, blocks, label=label)

    def rows_per_block(self, points: Points, n_rows: int, rows_each: float = 1.0) -> int:
        return max(
            1, min(self.block_size, -(-n_rows // self.n_workers))
        )  # few rows too keep all busy

    def points(self, x: Any) -> Points:
        if not isinstance(x, np.ndarray):
            raise TypeError(
                "The fitted points are a dask array, which threads of this process do not have: "
                'set engine="dask" or a Client, as for the fit.'
            )
        return Points(x)

    def fingerprint(self, points: Points) -> str:
        return points_fingerprint([points])

    def quiet(self) -> ThreadEngine:
        same = copy(self)
        same.progress = SILENT
        return same


def _scan(task: ShardScan[Block, Any, Any, Result], points: Points, block: Block) -> Result:
    started = _start(task, points, block)
    return task.finish(started, [task.scan_shard(points, started)])


def _start(task: RowTask[Block, Started], points: Points, block: Block) -> Started:
    return task.start(Rows(points.x), block)
