"""Many tasks on a cluster whose workers may be lost.

The client is in control: a few pieces of work are in progress at a time, and pieces lost with a
worker are submitted again. So every piece must be a pure function of inputs that the client can
name.
"""

from __future__ import annotations

import queue
import time
from collections.abc import Callable, Sequence
from concurrent.futures import CancelledError
from contextlib import suppress
from typing import Any

from srsg.running.dask.clients import ClusterError, answer_within, needed_dask
from srsg.running.dask.versions import check_versions
from srsg.running.progress import Progress

Lost = Callable[[dict[str, int], list[int]], list[int]]

PATIENCE = 60.0
"""Seconds to wait for a worker when all are lost."""

TRIES = 5
"""How often a piece is submitted again after the loss of its worker."""

CHECK_INTERVAL = 1.0
"""Seconds between two checks of the workers."""


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

    def results(
        self,
        pieces: Sequence[Any],
        progress: Progress,
        done: Callable[[Any], None] | None = None,
    ) -> list[Any]:
        """The results of all pieces, in order; ``done`` is called with each as it arrives."""
        found: dict[int, Any] = {}
        # In reverse, since pieces are taken from the end; lost ones go back there and come first.
        waiting = list(range(len(pieces)))[::-1]
        tries = [0] * len(pieces)
        workers = living_workers(self.client)
        checked = time.monotonic()
        try:
            with progress.stage(self.label, len(pieces)) as stage:
                while len(found) < len(pieces):
                    again: list[int] = []
                    while waiting and len(self.under_way) < pieces_under_way(workers):
                        place = waiting.pop()
                        if not self._submit(place, pieces[place]):
                            again.append(place)
                            break
                    # Woken by a result, or after a while to see which workers are still alive.
                    place, future = self._next_event()
                    if future is not None and not self._take(place, future, found):
                        again.append(place)
                    elif future is not None:
                        stage.advance()
                        if done is not None:
                            done(found[place])
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
                raise scheduler_lost(self.client, self.label) from error
            raise
        return [found[place] for place in range(len(pieces))]

    def _submit(self, place: int, piece: Any) -> bool:
        """Submit a piece, again if its worker has just died; False if what it needs was lost."""
        for _ in range(TRIES):
            try:
                futures = self.submit(piece)
                break
            except ClusterError:
                raise
            except CancelledError:  # the scheduler has forgotten a shard
                return False
            except OSError:  # CommClosedError is one, and so is the end of a connection
                if self.client.status != "running":
                    raise
            # The scheduler learns of the loss a moment later than whoever sends something there.
            time.sleep(CHECK_INTERVAL)
        else:
            raise self._lost_too_often()
        self.under_way[place] = futures
        futures[-1].add_done_callback(lambda future: self.events.put((place, future)))
        return True

    def _next_event(self) -> tuple[int, Any]:
        """A piece that is done or lost, and its future; no future if there is none for a while."""
        with suppress(queue.Empty):
            place, future = self.events.get(timeout=CHECK_INTERVAL)
            # An attempt that was given up may end, too.
            if place in self.under_way and self.under_way[place][-1] is future:
                return place, future
        return -1, None

    def _take(self, place: int, future: Any, found: dict[int, Any]) -> bool:
        """Take a result; False if it was lost."""
        if future.status == "error":
            error = future.exception()
            if isinstance(error, needed_dask().KilledWorker):
                raise self._lost_too_often() from error
            raise error
        if future.status != "finished":
            return False
        try:
            found[place] = future.result(timeout=10 * CHECK_INTERVAL)
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


def living_workers(client: Any) -> dict[str, int]:
    """Number of threads of every worker, all with the same code as this process.

    Waits a while if there is no worker.
    """
    deadline = time.monotonic() + PATIENCE
    while client.status == "running":
        try:
            workers = answer_within(client, PATIENCE, client.nthreads)
            check_versions(client, workers)
        except ClusterError:
            raise
        except OSError:
            break
        if workers:
            return workers
        if time.monotonic() > deadline:
            raise ClusterError(
                f"The Dask cluster at {client.scheduler.address} has no workers, and none came "
                f"within {PATIENCE:.0f} s. Their logs say why they ended or did not start: often "
                "they lack memory or a package, or have another version of dask than this process."
            )
        time.sleep(0.1)
    raise scheduler_lost(client, "a check of the workers")


def pieces_under_way(workers: dict[str, int]) -> int:
    """Pieces in progress at a time: one for every thread, and a few to follow."""
    return sum(workers.values()) + 2


def memory_limit(client: Any) -> float:
    """Memory limit of the smallest worker, in bytes; infinite if none is set."""
    workers = client.scheduler_info()["workers"].values()
    return min((worker["memory_limit"] or float("inf") for worker in workers), default=float("inf"))


def scheduler_lost(client: Any, label: str) -> ClusterError:
    return ClusterError(
        f"The connection to the Dask scheduler was lost during {label!r}. Fit again when it is "
        "back; with store= the work done so far is kept."
    )
