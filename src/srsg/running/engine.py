"""Blocks of work on threads of this process, with BLAS kept to one thread each."""

import hashlib
import pickle
import sys
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed, wait
from contextlib import contextmanager
from copy import copy
from functools import lru_cache, partial
from threading import Barrier, Lock
from typing import Any, ClassVar, Protocol, Self, TypeVar

import numpy as np
from joblib import cpu_count, effective_n_jobs
from scipy import sparse
from scipy.linalg.blas import dgemm
from threadpoolctl import ThreadpoolController

from srsg.memory import address_space_left, in_words
from srsg.points import BLOCK_SIZE, DIGEST_SIZE, Points, Rows, row_digests
from srsg.running.progress import NO_STORE, SILENT, Progress, Store
from srsg.types import IntArray

Block = TypeVar("Block")
Result = TypeVar("Result")
Block_in = TypeVar("Block_in", contravariant=True)
Result_out = TypeVar("Result_out", covariant=True)


class ShardScan(Protocol[Block_in, Result_out]):
    """Work on a block that needs some points first, and then a scan of all points.

    No worker has to hold all points: each holds shards of consecutive points. The result of one
    shard must not depend on the others, nor the result of a block on the number of shards.
    """

    def rows(self, block: Block_in) -> IntArray:
        """The points needed first, in rising order."""

    def start(self, rows: Rows, block: Block_in) -> Any:
        """Work on these points."""

    def scan_shard(self, shard: Points, started: Any) -> Any:
        """Compare the block with the points of one shard."""

    def finish(self, started: Any, scanned: Sequence[Any]) -> Result_out:
        """Combine the results of all shards, which are in order."""


class Relay(Protocol[Block_in]):
    """Work on a block in several steps, each of which says which points the next one needs.

    No step compares the block with all points, so that a worker needs only rows of them.
    """

    n_steps: ClassVar[int]

    def needed(self, block: Block_in) -> IntArray:
        """The points that the next step needs, in rising order."""

    def step(self, rows: Rows, block: Block_in) -> Any:
        """The block after the next step."""


class Sized:
    """Base class of objects that travel between workers: they report their size.

    A cluster uses it to place and to count what it sends.

    Examples
    --------
    >>> import sys
    >>> import numpy as np
    >>> from srsg.running.engine import Sized
    >>> block = Sized()
    >>> block.values = block.same_values = np.zeros(1000)
    >>> 8000 < sys.getsizeof(block) < 8500
    True
    """

    def __sizeof__(self) -> int:
        # All arrays as they travel, each counted once, and a little more.
        arrays: list[pickle.PickleBuffer] = []
        text = pickle.dumps(vars(self), protocol=5, buffer_callback=arrays.append)
        return object.__sizeof__(self) + len(text) + sum(array.raw().nbytes for array in arrays)


THREAD_BYTES = 160 * 10**6
"""Address space that a thread may take: its stack, its heap, and buffers of two BLAS libraries."""


class Threads(ThreadPoolExecutor):
    """Threads of this process: as many of the wanted ones as its limit of memory has room for.

    Under a limit (``ulimit -v``) libraries end the process where they get no memory: OpenBLAS for
    its buffers, the C library for data of a thread. So all threads get theirs before any work.

    Parameters
    ----------
    wanted : int
        How many there are if nothing limits them.

    Examples
    --------
    >>> from srsg.running.engine import Threads
    >>> with Threads(2) as threads:
    ...     list(threads.map(abs, [-1, -2]))
    [1, 2]
    """

    _n_ready = 0
    """Threads whose heaps and buffers are in place: later threads take them over."""

    def __init__(self, wanted: int) -> None:
        left = address_space_left()
        self.count = int(min(wanted, Threads._n_ready + left // THREAD_BYTES))
        if self.count < 1:
            raise MemoryError(
                f"This process may take only {in_words(left)} more (ulimit -v), and a thread needs "
                f"{in_words(THREAD_BYTES)}: raise the limit, or free memory."
            )
        super().__init__(self.count)
        if left < float("inf") and self.count > Threads._n_ready:
            self._make_ready()

    def _make_ready(self) -> None:
        meeting = Barrier(self.count)
        try:
            for future in [self.submit(_touch_libraries, meeting) for _ in range(self.count)]:
                future.result()
        except BaseException:
            meeting.abort()
            raise
        Threads._n_ready = self.count

    def submit(self, *work: Any, **named: Any) -> Any:
        try:
            return super().submit(*work, **named)
        except RuntimeError as error:
            if "start new thread" not in str(error):
                raise
            raise MemoryError(
                "The system lets no more threads start: take fewer with n_jobs, or raise the "
                "limits of threads (ulimit -u) or memory (ulimit -v)."
            ) from error


def _touch_libraries(meeting: Barrier) -> None:
    """Have the BLAS of NumPy and that of SciPy take their buffers, in all threads at once."""
    some = np.ones((256, 256))
    meeting.wait()
    np.matmul(some, some)
    dgemm(1.0, some, some)


class ThreadEngine:
    """Runs the blocks of an algorithm on threads of this process, with serial linear algebra.

    Parameters
    ----------
    n_jobs : int or None
        Number of threads as in joblib, negative numbers counting from the number of cores.
        None takes all cores: results do not depend on it.
    progress : Progress
        Told about every block that is done.
    store : Store
        Where algorithms keep the work done so far.
    block_size : int
        Points that a thread compares with all points at once.
    spare_memory : float
        Bytes that algorithms may take to be faster, in addition to what blocks take.

    Examples
    --------
    >>> from srsg.running import ThreadEngine
    >>> ThreadEngine(2).map(lambda data, block: data * block, 10, [1, 2, 3], label="times")
    [10, 20, 30]
    """

    on_cluster = False
    """Whether the points are on workers of a cluster, and not in this process."""

    def __init__(
        self,
        n_jobs: int | None = None,
        progress: Progress = SILENT,
        store: Store = NO_STORE,
        block_size: int = BLOCK_SIZE,
        spare_memory: float = float("inf"),
    ) -> None:
        self.threads = Threads(cpu_count() if n_jobs is None else effective_n_jobs(n_jobs))
        self.progress, self.store = progress, store
        self.block_size, self.spare_memory = block_size, spare_memory

    @property
    def n_workers(self) -> int:
        """How many blocks run at the same time."""
        return self.threads.count

    def map(
        self,
        task: Callable[[Any, Block], Result],
        data: Any,
        blocks: Sequence[Block],
        *,
        label: str,
        done: Callable[[Result], None] | None = None,
    ) -> list[Result]:
        """``[task(data, block) for block in blocks]``, in that order."""
        with serial_linear_algebra(), self.progress.stage(label, len(blocks)) as stage:
            # A single block runs in this thread: there is nothing to gain from another.
            if len(blocks) == 1 and done is None:
                return [task(data, blocks[0])]
            futures = [self.threads.submit(task, data, block) for block in blocks]
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
        task: ShardScan[Block, Result],
        points: Points,
        wanted: Any,
        n_rows: int,
        *,
        label: str,
        done: Callable[[Result], None] | None = None,
        multiple: int = 1,
    ) -> list[Result]:
        """Run the task on all points, for blocks of ``wanted``, which has so many rows.

        A block is started, scans every shard, and is finished. The results are in the order of the
        blocks, whose sizes are multiples of ``multiple``, but for the last. ``done`` is called with
        every result as it arrives.
        """
        # Few rows too keep all threads busy.
        size = max(1, min(self.block_size, -(-n_rows // self.n_workers)))
        blocks = in_blocks(wanted, n_rows, -(-size // multiple) * multiple)
        return self.map(partial(_scan, task), points, blocks, label=label, done=done)

    def relay(
        self, task: Relay[Any], points: Points, blocks: Sequence[Any], *, label: str
    ) -> list[Any]:
        """All steps of a task for each block."""
        return self.map(partial(_relay, task), points, blocks, label=label)

    def map_rows(
        self,
        task: Callable[[Any], Result],
        points: Points,
        blocks: Sequence[IntArray],
        *,
        label: str,
    ) -> list[Result]:
        """``task`` of the points in each block; a block has indices in rising order."""
        return self.map(partial(_of_rows, task), points, blocks, label=label)

    def points(self, x: Any, *, unit: bool = True) -> Points:
        """Rows, of unit length or of any, as points, placed where the workers can use them."""
        if not isinstance(x, np.ndarray) and not sparse.issparse(x):
            raise TypeError(
                "The fitted points are a dask array, which threads of this process cannot read: "
                "set engine with srsg.config_context, as for the fit."
            )
        return Points(x)

    def gathered(self, points: Points) -> Points:
        """The points in this process."""
        return points

    def row_digests(self, points: Points) -> bytes:
        """A digest of every point, one after the other: the same for equal points only."""
        return row_digests(points, self.threads.map)

    def fingerprint(self, points: Points) -> str:
        """A text that differs for different points."""
        digests = self.row_digests(points)
        weights = b"" if points.weights is None else points.weights.tobytes()
        return hashlib.blake2b(digests + weights, digest_size=DIGEST_SIZE).hexdigest()

    def quiet(self) -> Self:
        """The same workers, without progress messages or store, for parts of a larger stage."""
        same = copy(self)
        same.progress, same.store = SILENT, NO_STORE
        return same


Engine = ThreadEngine
"""What algorithms take: threads of this process, or a subclass for the workers of a cluster."""


def in_blocks(whole: Any, n_rows: int, size: int) -> list[Any]:
    """Slices of at most this size; nothing is copied if one is enough."""
    if 0 < n_rows <= size:
        return [whole]
    return [whole[start : start + size] for start in range(0, n_rows, size)]


def _scan(task: ShardScan[Block, Result], points: Points, block: Block) -> Result:
    started = task.start(Rows(points.x), block)
    return task.finish(started, [task.scan_shard(points, started)])


def _relay(task: Relay[Any], points: Points, block: Any) -> Any:
    for _ in range(task.n_steps):
        block = task.step(Rows(points.x), block)
    return block


def _of_rows(task: Callable[[Any], Result], points: Points, rows: IntArray) -> Result:
    return task(points.x[rows])


def thread_pools(user_api: str) -> ThreadpoolController:
    """The libraries of this process that have threads of their own: "blas" or "openmp".

    Finding them takes a while, so it is done again only if modules have been imported since, which
    may have brought their own.

    Examples
    --------
    >>> from srsg.running import thread_pools
    >>> with thread_pools("openmp").limit(limits=1):
    ...     pass
    """
    return _thread_pools(user_api, len(sys.modules))


@lru_cache(maxsize=2)
def _thread_pools(user_api: str, n_modules: int) -> ThreadpoolController:
    return ThreadpoolController().select(user_api=user_api)


def _set_threads(library: Any, number: int) -> None:
    # Since version 3.8 threadpoolctl lets only one thread change OpenBLAS until that thread is
    # done, and silently ignores the others. But our threads share a limit: the first one in sets
    # it, and the last one out, which may be another, takes it back.
    getattr(library, "_real_set_num_threads", library.set_num_threads)(number)


class _SharedLimit:
    """One thread for libraries whose number of threads holds for the whole process.

    If every thread saved and restored that number by itself, the second of two that overlap would
    save the limit set by the first, and restore that for good. So the first one in saves the
    number, and the last one out restores it.
    """

    def __init__(self) -> None:
        self._lock = Lock()
        self._n_inside = 0
        self._before: list[tuple[Any, int]] = []

    def enter(self, libraries: Sequence[Any]) -> None:
        with self._lock:
            self._n_inside += 1
            limited = {library.filepath for library, _ in self._before}
            for library in libraries:
                if library.filepath not in limited:  # it may have been loaded in the meantime
                    self._before.append((library, library.num_threads))
                    _set_threads(library, 1)

    def leave(self) -> None:
        with self._lock:
            self._n_inside -= 1
            if not self._n_inside:
                for library, number in self._before:
                    _set_threads(library, number)
                self._before = []


_PROCESS_WIDE = _SharedLimit()


@contextmanager
def serial_linear_algebra() -> Iterator[None]:
    """Keep BLAS to one thread.

    Its threads inside ours would oversubscribe the machine, and the bits of a product may depend on
    how many there are. May be nested, and entered by several threads at once: BLAS gets its threads
    back when the last one leaves.

    Examples
    --------
    >>> from srsg.running import serial_linear_algebra
    >>> with serial_linear_algebra():
    ...     pass
    """
    libraries = thread_pools("blas").lib_controllers
    by_openmp = [lib for lib in libraries if getattr(lib, "threading_layer", "") == "openmp"]
    _PROCESS_WIDE.enter([lib for lib in libraries if lib not in by_openmp])
    # OpenMP keeps one number per thread, so each thread restores its own.
    numbers = [library.num_threads for library in by_openmp]
    try:
        for library in by_openmp:
            _set_threads(library, 1)
        yield
    finally:
        for library, number in zip(by_openmp, numbers, strict=True):
            _set_threads(library, number)
        _PROCESS_WIDE.leave()
