"""Work of many pieces on a cluster whose workers may be lost.

The client drives: a few pieces are under way at a time, and whatever a lost worker had of them
is asked for again. So pieces are pure functions of what the client can still name.
"""

from __future__ import annotations

import queue
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any

from srsg.engines.dask.errors import ClusterError, needed_dask
from srsg.engines.progress import Progress

Lost = Callable[[dict[str, int], list[int]], list[int]]

PATIENCE = 60.0
"""Seconds to wait for a worker when all are lost."""

TRIES = 5
"""How often a piece is asked for again when workers are lost under it."""

BETWEEN_LOOKS = 1.0
"""Seconds between two looks at who is alive."""


class Work:
    """Pieces under way on a cluster.

    Parameters
    ----------
    client : distributed.Client
    submit : callable
        Submits what a piece needs and returns the futures; the last is that of its result.
    lost : callable
        Given the living workers and the pieces under way, says which of these cannot be done any
        more, and repairs what they need.
    label : str
        What the user knows the work by.
    """

    def __init__(
        self,
        client: Any,
        submit: Callable[[Any], list[Any]],
        lost: Lost,
        label: str,
    ) -> None:
        self.client, self.submit, self.lost, self.label = client, submit, lost, label
        self.under_way: dict[int, list[Any]] = {}
        self.events: queue.SimpleQueue[tuple[int, Any]] = queue.SimpleQueue()

    def results(
        self,
        pieces: Sequence[Any],
        progress: Progress,
        done: Callable[[Any], None] | None = None,
    ) -> list[Any]:
        """The results of all pieces, in their order; ``done`` is told of each at once."""
        found: dict[int, Any] = {}
        waiting = list(range(len(pieces)))[::-1]
        tries = [0] * len(pieces)
        workers = living_workers(self.client)
        looked = time.monotonic()
        try:
            with progress.stage(self.label, len(pieces)) as stage:
                while len(found) < len(pieces):
                    while waiting and len(self.under_way) < pieces_under_way(workers):
                        self._begin(waiting.pop(), pieces)
                    place, future = self._next_event()
                    again: list[int] = []
                    if future is not None and self._is_present(place, future):
                        if self._take(place, future, found):
                            stage.advance()
                            if done is not None:
                                done(found[place])
                        else:
                            again = [place]
                    if again or time.monotonic() - looked > BETWEEN_LOOKS:
                        workers = living_workers(self.client)
                        again += self.lost(workers, [p for p in self.under_way if p not in again])
                        looked = time.monotonic()
                    for lost in sorted(again, reverse=True):
                        tries[lost] += 1
                        if tries[lost] > TRIES:
                            raise self._gone_too_often()
                        self._cancel(self.under_way.pop(lost))
                        waiting.append(lost)
        except BaseException as error:
            for futures in self.under_way.values():
                self._cancel(futures)
            if isinstance(error, Exception) and self.client.status != "running":
                raise scheduler_lost(self.client, self.label) from error
            raise
        return [found[place] for place in range(len(pieces))]

    def _begin(self, place: int, pieces: Sequence[Any]) -> None:
        futures = self.under_way[place] = self.submit(pieces[place])
        futures[-1].add_done_callback(lambda future: self.events.put((place, future)))

    def _next_event(self) -> tuple[int, Any]:
        try:
            return self.events.get(timeout=BETWEEN_LOOKS)
        except queue.Empty:
            return -1, None

    def _is_present(self, place: int, future: Any) -> bool:
        """Whether this is no news of an attempt that was given up."""
        return place in self.under_way and self.under_way[place][-1] is future

    def _take(self, place: int, future: Any, found: dict[int, Any]) -> bool:
        """Take a result; False if it was lost."""
        distributed = needed_dask()
        if future.status == "error":
            error = future.exception()
            if isinstance(error, distributed.KilledWorker):
                raise self._gone_too_often() from error
            raise error
        if future.status != "finished":
            return False
        try:
            found[place] = future.result(timeout=10 * BETWEEN_LOOKS)
        except (TimeoutError, distributed.client.FutureCancelledError):
            return False
        self.under_way.pop(place)
        return True

    def _cancel(self, futures: list[Any]) -> None:
        if self.client.status == "running":
            with suppress(Exception):  # what cannot be reached need not be cancelled
                self.client.cancel(futures, force=True)

    def _gone_too_often(self) -> ClusterError:
        return ClusterError(
            f"Workers were lost again and again during {self.label!r}. Their memory limit may be "
            "too small for their shards: use smaller chunks, or more workers or memory."
        )


def living_workers(client: Any) -> dict[str, int]:
    """Threads of every worker; waits a while for one where there is none."""
    deadline = time.monotonic() + PATIENCE
    while client.status == "running":
        try:
            workers = client.nthreads()
        except OSError:
            break
        if workers:
            return workers
        if time.monotonic() > deadline:
            raise ClusterError(f"The Dask cluster at {client.scheduler.address} has no workers.")
        time.sleep(0.1)
    raise scheduler_lost(client, "a look at the workers")


def pieces_under_way(workers: dict[str, int]) -> int:
    """How many pieces are under way at a time: all workers have work, and some to follow."""
    return sum(workers.values()) + 2


def memory_limit(client: Any) -> float:
    """Memory of the smallest worker, in bytes; without a bound where none is set."""
    workers = client.scheduler_info()["workers"].values()
    return min((worker["memory_limit"] or float("inf") for worker in workers), default=float("inf"))


def scheduler_lost(client: Any, label: str) -> ClusterError:
    return ClusterError(
        f"The connection to the Dask scheduler was lost during {label!r}. Fit again when it is "
        "back; with checkpoint= the work done so far is kept."
    )
