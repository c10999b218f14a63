"""The connection to a Dask cluster, and work on workers that may be lost.

The client is in control: a few pieces of work are in progress at a time, and pieces lost with a
worker are submitted again. So every piece must be a pure function of inputs that the client can
name.
"""

import queue
import time
from collections.abc import Awaitable, Callable, Iterable, Sequence
from concurrent.futures import CancelledError
from contextlib import suppress
from functools import cache
from typing import Any
from weakref import WeakKeyDictionary

from srsg.files.errors import needed
from srsg.running.progress import Progress

Lost = Callable[[dict[str, int], list[int]], list[int]]

CONNECT_WITHIN = 10
"""Seconds to wait for a scheduler to answer."""

WORKERS_WITHIN = 60.0
"""Seconds to wait for a worker when all are lost."""

IMPORT_WITHIN = 120.0
"""Seconds for workers to import the package and answer."""

TRIES = 5
"""How often a piece is submitted again after the loss of its worker."""

CHECK_INTERVAL = 1.0
"""Seconds between two checks of the workers."""

_connections: dict[str, Any] = {}
"""Clients by the addresses of their schedulers, kept for the next fit."""

_checked: WeakKeyDictionary[Any, set[str]] = WeakKeyDictionary()
"""The workers of every client that have the same code."""


class ClusterError(ConnectionError):
    """The Dask cluster cannot go on with the work; the message says what to do."""


def needed_dask() -> Any:
    """The library ``distributed``, or a one-line error that says how to get it."""
    return needed("distributed", "A Dask cluster needs dask and distributed", "dask")


def client_of(choice: Any) -> Any:
    """The client for ``engine=``: a given client, the current one, or one by address."""
    distributed = needed_dask()
    if choice == "dask":
        try:
            return distributed.get_client()
        except ValueError as error:
            raise ClusterError(
                'engine="dask" finds no Dask client. Create one first with distributed.Client(), '
                "or set engine to a client or to the address of its scheduler."
            ) from error
    if not isinstance(choice, str):
        if isinstance(choice, distributed.Client) and not choice.asynchronous:
            return choice
        raise TypeError(
            f"engine must be a distributed.Client that is not asynchronous, got {choice!r}."
        )
    if "://" not in choice:
        raise ValueError(
            f'engine={choice!r} is neither "threads" nor "dask" nor the address of a Dask '
            "scheduler such as tcp://127.0.0.1:8786."
        )
    client = _connections.get(choice)
    if client is None or client.status != "running":
        try:
            client = distributed.Client(choice, set_as_default=False, timeout=CONNECT_WITHIN)
        except (OSError, ValueError) as error:
            raise ClusterError(f"No Dask scheduler answers at {choice}.") from error
        _connections[choice] = client
    return client


def answer_within(client: Any, seconds: float, ask: Callable[[], Awaitable[Any]]) -> Any:
    """The answer of a method of the client, which ``ask`` calls in its event loop.

    The connection to a stopped scheduler does not break as long as its machine runs: without a
    time limit the client would wait forever.
    """
    try:
        return client.sync(ask, callback_timeout=seconds)
    except TimeoutError as error:
        raise ClusterError(
            f"The Dask scheduler at {client.scheduler.address} has not answered for "
            f"{seconds:.0f} s. Check whether it still runs; with store= the work done so far "
            "is kept."
        ) from error


def scheduler_lost(label: str) -> ClusterError:
    return ClusterError(
        f"The connection to the Dask scheduler was lost during {label!r}. Fit again when it is "
        "back; with store= the work done so far is kept."
    )


def living_workers(client: Any) -> dict[str, int]:
    """Number of threads of every worker, all with the same code as this process.

    Waits a while if there is no worker.
    """
    deadline = time.monotonic() + WORKERS_WITHIN
    while client.status == "running":
        try:
            workers = answer_within(client, WORKERS_WITHIN, client.nthreads)
            _check_versions(client, workers)
        except ClusterError:
            raise
        except OSError:
            break
        if workers:
            return workers
        if time.monotonic() > deadline:
            raise ClusterError(
                f"The Dask cluster at {client.scheduler.address} has no workers, and none came "
                f"within {WORKERS_WITHIN:.0f} s. Their logs say why they ended or did not start: "
                "often they lack memory or a package, or have another version of dask than this "
                "process."
            )
        time.sleep(0.1)
    raise scheduler_lost("a check of the workers")


def pieces_under_way(workers: dict[str, int]) -> int:
    """Pieces in progress at a time: one for every thread, and a few to follow."""
    return sum(workers.values()) + 2


def memory_limit(client: Any) -> float:
    """Memory limit of the smallest worker, in bytes; infinite if none is set."""
    workers = client.scheduler_info()["workers"].values()
    return min((worker["memory_limit"] or float("inf") for worker in workers), default=float("inf"))


def _check_versions(client: Any, workers: Iterable[str]) -> None:
    """Refuse workers without the package, or with another version of it.

    Without this check such a worker ends as soon as it gets work, and the cluster just seems to
    have none. Or it works, with other results than this process. Every worker is asked once.
    """
    same = _checked.setdefault(client, set())
    new = sorted(set(workers) - same)
    if not new:
        return
    facts = code_facts()

    async def answer() -> tuple[str, str]:
        # In a thread, because an import would block the worker's event loop. A worker that has just
        # started has to tell its nanny: Dask does not restart a worker that is lost before that.
        import asyncio

        return await asyncio.to_thread(facts)

    answers = answer_within(
        client, IMPORT_WITHIN, lambda: client.run(answer, workers=new, on_error="return")
    )
    version, digest = _own_facts()
    for worker, theirs in answers.items():
        if isinstance(theirs, ImportError):
            problem = f"cannot import srsg ({theirs})"
        elif isinstance(theirs, Exception):
            continue  # lost before it could answer: asked again if it comes back
        elif theirs[0] != version:
            problem = f"has version {theirs[0]} of srsg, and this process has version {version}"
        elif theirs[1] != digest:
            problem = f"has other source code of srsg {version} than this process"
        else:
            same.add(worker)
            continue
        raise ClusterError(
            f"The Dask worker at {worker} {problem}. Install the same version of srsg on all "
            "workers and here, and start the workers again."
        )


def code_facts() -> Callable[[], tuple[str, str]]:
    """A function that returns the version of the package and a digest of its source code.

    A function made inside another one is sent with its code. A function of a module is sent by
    name, and a worker without the module could not even say what is wrong.

    Examples
    --------
    >>> from srsg.running.dask.cluster import code_facts
    >>> version, digest = code_facts()()
    >>> len(digest)
    32
    """

    def facts() -> tuple[str, str]:
        import hashlib
        from pathlib import Path

        import srsg

        folder = Path(srsg.__file__).parent
        digest = hashlib.blake2b(digest_size=16)
        for path in sorted(folder.rglob("*.py")):
            # Names too: a module that moves to another place cannot be found by its old name.
            digest.update(path.relative_to(folder).as_posix().encode())
            digest.update(path.read_bytes())
        return srsg.__version__, digest.hexdigest()

    return facts


_own_facts = cache(code_facts())


class TaskPool:
    """Pieces of work in progress on a cluster.

    Parameters
    ----------
    client : distributed.Client
    submit : callable
        Submits what a piece needs and returns the futures; the last one is that of its result.
    lost : callable
        Given the living workers and the pieces in progress, restores what the pieces need and
        returns the pieces to submit again.
    label : str
        The name of the work in progress bars and error messages.
    """

    def __init__(
        self, client: Any, submit: Callable[[Any], list[Any]], lost: Lost, label: str
    ) -> None:
        self.client, self.submit, self.lost, self.label = client, submit, lost, label
        self.under_way: dict[int, list[Any]] = {}
        self.events: queue.SimpleQueue[tuple[int, Any]] = queue.SimpleQueue()
        self.arrived: dict[int, Any] = {}

    def results(
        self, pieces: Sequence[Any], progress: Progress, done: Callable[[Any], None] | None = None
    ) -> list[Any]:
        """The results of all pieces, in order; ``done`` is called with each as it arrives."""
        # In reverse, since pieces are taken from the end; lost ones go back there and come first.
        waiting = list(range(len(pieces)))[::-1]
        tries = [0] * len(pieces)
        workers = living_workers(self.client)
        checked = time.monotonic()
        try:
            with progress.stage(self.label, len(pieces)) as stage:
                while len(self.arrived) < len(pieces):
                    again: list[int] = []
                    while waiting and len(self.under_way) < pieces_under_way(workers):
                        place = waiting.pop()
                        if not self._submit(place, pieces[place]):
                            again.append(place)
                            break
                    # Woken by a result, or after a while to see which workers are still alive.
                    place, future = self._next_event()
                    if future is not None and not self._take(place, future):
                        again.append(place)
                    elif future is not None:
                        stage.advance()
                        if done is not None:
                            done(self.arrived[place])
                    if again or time.monotonic() - checked > CHECK_INTERVAL:
                        workers = living_workers(self.client)
                        again += self.lost(workers, [p for p in self.under_way if p not in again])
                        checked = time.monotonic()
                    for lost in sorted(again, reverse=True):
                        tries[lost] += 1
                        if tries[lost] > TRIES:
                            raise self._lost_too_often()
                        self._cancel(self.under_way.pop(lost, []))
                        waiting.append(lost)
        except BaseException as error:
            # Also after Ctrl-C: the cluster must not go on for nothing.
            for futures in self.under_way.values():
                self._cancel(futures)
            if isinstance(error, Exception) and self.client.status != "running":
                raise scheduler_lost(self.label) from error
            raise
        return [self.arrived[place] for place in range(len(pieces))]

    def _submit(self, place: int, piece: Any) -> bool:
        """Submit a piece, again if its worker has just died; False if what it needs was lost."""
        for _ in range(TRIES):
            try:
                futures = self.submit(piece)
            except ClusterError:
                raise
            except CancelledError:  # the scheduler has forgotten a shard
                return False
            except OSError:  # CommClosedError is one, and so is the end of a connection
                if self.client.status != "running":
                    raise
                # The scheduler learns of the loss later than whoever sends something there.
                time.sleep(CHECK_INTERVAL)
            else:
                self.under_way[place] = futures
                futures[-1].add_done_callback(lambda future: self.events.put((place, future)))
                return True
        raise self._lost_too_often()

    def _next_event(self) -> tuple[int, Any]:
        """A piece that is done or lost, and its future; no future if there is none for a while."""
        with suppress(queue.Empty):
            place, future = self.events.get(timeout=CHECK_INTERVAL)
            # An attempt that was given up may end, too.
            if place in self.under_way and self.under_way[place][-1] is future:
                return place, future
        return -1, None

    def _take(self, place: int, future: Any) -> bool:
        """Take a result; False if it was lost."""
        if future.status == "error":
            error = future.exception()
            if isinstance(error, needed_dask().KilledWorker):
                raise self._lost_too_often() from error
            raise error
        if future.status != "finished":
            return False
        try:
            self.arrived[place] = future.result(timeout=10 * CHECK_INTERVAL)
        except (TimeoutError, CancelledError):
            return False
        self.under_way.pop(place)
        return True

    def _cancel(self, futures: list[Any]) -> None:
        if self.client.status == "running":
            with suppress(Exception):  # a worker that cannot be reached has nothing to cancel
                self.client.cancel(futures, force=True)

    def _lost_too_often(self) -> ClusterError:
        return ClusterError(
            f"Workers were lost again and again during {self.label!r}. Their memory limit may be "
            "too small for their shards: use smaller chunks, or more workers or memory."
        )
