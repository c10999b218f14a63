"""Workers that die between the check that they are alive and the first message to them."""

from __future__ import annotations

import asyncio

import pytest
from distributed.client import FuturesCancelledError
from distributed.comm import CommClosedError

from srsg.running.dask import ClusterError, cluster
from srsg.running.dask.cluster import TRIES, TaskPool
from srsg.running.progress import SILENT


class Future:
    """One whose result is there at once."""

    status = "finished"

    def __init__(self, value):
        self.value = value

    def add_done_callback(self, callback):
        callback(self)

    def result(self, timeout):
        return self.value


class Client:
    status = "running"

    async def nthreads(self):
        return {"tcp://127.0.0.1:1": 1}

    async def run(self, function, workers, on_error):
        return {worker: await function() for worker in workers}

    def sync(self, function, callback_timeout):
        return asyncio.run(asyncio.wait_for(function(), callback_timeout))

    def cancel(self, futures, force):
        pass


@pytest.fixture(autouse=True)
def _soon(monkeypatch):
    monkeypatch.setattr(cluster, "CHECK_INTERVAL", 0.01)


def pool_that_fails(times):
    failures = iter(range(times))

    def submit(piece):
        if next(failures, None) is not None:
            raise CommClosedError("in <TCP (closed)>: Stream is closed")
        return [Future(piece * 2)]

    return TaskPool(Client(), submit, lambda workers, under_way: [], "codes")


def test_what_was_sent_to_a_dead_worker_is_sent_again():
    assert pool_that_fails(2).results([1, 2, 3], SILENT) == [2, 4, 6]


def test_when_all_that_is_sent_is_lost_one_clear_error_says_so():
    with pytest.raises(ClusterError, match="Workers were lost again and again during 'codes'"):
        pool_that_fails(TRIES + 1).results([1], SILENT)


def test_what_a_piece_needs_is_made_again_if_it_was_lost():
    """The scheduler has forgotten a shard: pieces in progress may wait for it forever."""
    submitted, made = [], []

    class Never(Future):
        def add_done_callback(self, callback):
            pass

    def submit(piece):
        submitted.append(piece)
        if piece == 2 and not made:
            raise FuturesCancelledError([])
        return [Future(piece * 2) if made else Never(None)]

    def lost(workers, under_way):
        if len(submitted) < 2:
            return []
        made.append(under_way)
        return under_way if len(made) == 1 else []

    pool = TaskPool(Client(), submit, lost, "codes")
    assert pool.results([1, 2, 3], SILENT) == [2, 4, 6]
    assert made[0] == [0]  # the piece that was in progress when the next could not be submitted


def test_pieces_whose_needs_are_lost_for_good_are_given_up():
    def submit(piece):
        raise FuturesCancelledError([])

    with pytest.raises(ClusterError, match="Workers were lost again and again"):
        TaskPool(Client(), submit, lambda workers, under_way: [], "codes").results([1], SILENT)
