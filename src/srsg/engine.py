"""Where blocks of work run. Algorithms hand over blocks and do not know where they go."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed, wait
from contextlib import AbstractContextManager
from copy import copy
from functools import cache, partial
from typing import Any, Protocol, TypeVar

from joblib import cpu_count, effective_n_jobs
from threadpoolctl import ThreadpoolController

from srsg.points import Points, Rows
from srsg.progress import SILENT, Progress
from srsg.types import IntArray

Block = TypeVar("Block")
Result = TypeVar("Result")
Block_in = TypeVar("Block_in", contravariant=True)
Begun = TypeVar("Begun")
Seen = TypeVar("Seen")
Result_out = TypeVar("Result_out", covariant=True)


@cache
def _thread_pools() -> ThreadpoolController:
    return ThreadpoolController()  # looking for the libraries takes a while


def serial_linear_algebra() -> AbstractContextManager[object]:
    """Keep BLAS to one thread.

    Its threads inside ours would oversubscribe the machine, and the bits of a product may
    depend on how many there are.
    """
    return _thread_pools().limit(limits=1, user_api="blas")


class Round(Protocol[Block_in, Begun, Seen, Result_out]):
    """Work on a block that needs some points first, and then a look at every point.

    No worker has to hold all points: each has a shard, some of them in a row. What is seen in
    one shard must not depend on the others, and the end not on how many there are.
    """

    def rows(self, block: Block_in) -> IntArray:
        """The points that the beginning needs, in rising order."""

    def begin(self, rows: Rows, block: Block_in) -> Begun:
        """Work on the block alone."""

    def look(self, shard: Points, begun: Begun) -> Seen:
        """What the points of one shard have to say."""

    def end(self, begun: Begun, seen: Sequence[Seen]) -> Result_out:
        """Put it together; ``seen`` is in the order of the shards."""


class Engine(Protocol):
    """What an algorithm needs: share the data once, then map blocks over it."""

    progress: Progress
    n_workers: int

    def share(self, data: Any) -> Any:
        """Make ``data`` available to every worker; what it returns goes into :meth:`map`."""

    def map(
        self,
        task: Callable[[Any, Block], Result],
        data: Any,
        blocks: Sequence[Block],
        *,
        label: str,
    ) -> list[Result]:
        """``[task(data, block) for block in blocks]``, in that order, wherever it runs.

        ``task`` is a module-level function or a partial of one, so that it can travel.
        """

    def go_round(
        self,
        task: Round[Block, Any, Any, Result],
        points: Points,
        blocks: Sequence[Block],
        *,
        label: str,
    ) -> list[Result]:
        """What ``task`` makes of every block on its way round all points, in that order."""

    def rows_a_block(self, points: Points, n_rows: int, block_size: int) -> int:
        """How many of ``n_rows`` rows a block should have that goes round the points."""

    def points(self, x: Any) -> Points:
        """Unit-norm points, where the workers have them."""

    def quiet(self) -> Engine:
        """The same workers, without progress: for pieces of a larger stage."""


class ThreadEngine:
    """Blocks on threads of this process, each with serial linear algebra.

    Parameters
    ----------
    n_jobs : int or None
        Number of threads as in joblib, negative numbers counting from the number of cores.
        None takes all cores: results do not depend on it.
    progress : Progress
        Told of every block that is done.

    Examples
    --------
    >>> from srsg.engine import ThreadEngine
    >>> ThreadEngine(2).map(lambda data, block: data * block, 10, [1, 2, 3], label="times")
    [10, 20, 30]
    """

    def __init__(self, n_jobs: int | None = None, progress: Progress = SILENT) -> None:
        self.n_workers = cpu_count() if n_jobs is None else effective_n_jobs(n_jobs)
        self.progress = progress
        self._pool = ThreadPoolExecutor(self.n_workers)

    def share(self, data: Any) -> Any:
        return data

    def map(
        self,
        task: Callable[[Any, Block], Result],
        data: Any,
        blocks: Sequence[Block],
        *,
        label: str,
    ) -> list[Result]:
        with self.progress.stage(label, len(blocks)) as stage, serial_linear_algebra():
            if len(blocks) == 1:
                return [task(data, blocks[0])]
            futures = [self._pool.submit(task, data, block) for block in blocks]
            try:
                for future in as_completed(futures):
                    future.result()
                    stage.advance()
            except BaseException:
                # After an error or Ctrl-C the blocks under way end, the others never start.
                for future in futures:
                    future.cancel()
                wait(futures)
                raise
        return [future.result() for future in futures]

    def go_round(
        self,
        task: Round[Block, Any, Any, Result],
        points: Points,
        blocks: Sequence[Block],
        *,
        label: str,
    ) -> list[Result]:
        return self.map(partial(_go_round, task), points, blocks, label=label)

    def rows_a_block(self, points: Points, n_rows: int, block_size: int) -> int:
        return min(block_size, -(-n_rows // self.n_workers))  # few rows too keep all busy

    def points(self, x: Any) -> Points:
        return Points(x)

    def quiet(self) -> ThreadEngine:
        same = copy(self)
        same.progress = SILENT
        return same


def _go_round(task: Round[Block, Any, Any, Result], points: Points, block: Block) -> Result:
    begun = task.begin(Rows(points.x), block)
    return task.end(begun, [task.look(points, begun)])
