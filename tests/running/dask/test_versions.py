"""Workers with other code are refused before they get any work; no wait is without a bound."""

from __future__ import annotations

import asyncio
import signal
from types import SimpleNamespace

import pytest
from distributed.comm import CommClosedError
from sklearn.datasets import load_digits

from srsg import SRSG, L1Graph, config_context
from srsg.running.dask import ClusterError, cluster
from srsg.running.dask.cluster import living_workers
from srsg.running.dask.engine import Placement
from srsg.running.progress import send_progress_to
from support.clusters import Disturbed, local_cluster, scheduler_process

X = load_digits().data[:200]
WORKER = "tcp://127.0.0.1:1"


def told(facts):
    """A worker that answers with these facts, whatever it is asked."""

    async def answer(function):
        return facts

    return answer


class Client:
    """One with a single worker, which answers as it is told."""

    status = "running"
    scheduler = SimpleNamespace(address="tcp://127.0.0.1:8786")

    def __init__(self, answer, delay=0.0):
        self.answer, self.delay, self.asked = answer, delay, 0

    async def nthreads(self):
        await asyncio.sleep(self.delay)
        return {WORKER: 1}

    async def run(self, function, workers, on_error):
        self.asked += 1
        return {worker: await self.answer(function) for worker in workers}

    def sync(self, function, callback_timeout):
        return asyncio.run(asyncio.wait_for(function(), callback_timeout))


def test_a_worker_with_the_same_code_is_asked_once():
    client = Client(lambda function: function())
    for _ in range(3):
        assert living_workers(client) == {WORKER: 1}
    assert client.asked == 1


def test_a_worker_lost_before_it_answers_is_asked_again():
    client = Client(told(CommClosedError("lost")))
    for _ in range(3):
        living_workers(client)
    assert client.asked == 3


@pytest.mark.parametrize(
    ("facts", "said"),
    [
        (ModuleNotFoundError("No module named 'srsg'"), r"cannot import srsg \(No module named"),
        (("0.0.1", "0" * 32), r"has version 0\.0\.1 of srsg, and this process has version"),
        ((cluster.code_facts()()[0], "0" * 32), "has other source code of srsg"),
    ],
)
def test_other_code_is_named_with_the_worker(facts, said):
    with pytest.raises(ClusterError, match=f"worker at {WORKER} {said}.*Install the same version"):
        living_workers(Client(told(facts)))


def test_a_scheduler_without_an_answer_is_given_up(monkeypatch):
    monkeypatch.setattr(cluster, "WORKERS_WITHIN", 0.05)
    with pytest.raises(ClusterError, match=r"has not answered.*Check whether it still runs"):
        living_workers(Client(lambda function: function(), delay=60))


def test_workers_with_other_code_on_a_cluster(monkeypatch):
    with local_cluster(1) as client, config_context(engine=client):
        monkeypatch.setattr(cluster, "_own_facts", lambda: (cluster.code_facts()()[0], "other"))
        with pytest.raises(ClusterError, match="other source code"):
            L1Graph(5).fit(X)
        monkeypatch.undo()
        L1Graph(5).fit(X)


def test_a_scheduler_that_stops_within_a_fit_is_given_up(tmp_path, monkeypatch):
    """Its machine still answers, so the connection does not break."""
    with scheduler_process(tmp_path) as (address, scheduler), config_context(engine=address):
        SRSG(5).fit(X)  # the worker starts and loads its kernels
        monkeypatch.setattr(cluster, "WORKERS_WITHIN", 5.0)
        monkeypatch.setattr("srsg.running.dask.engine.SEND_WITHIN", 5.0)
        stop = Disturbed(begins={"codes, scan 2": lambda: scheduler.send_signal(signal.SIGSTOP)})
        with send_progress_to(stop), pytest.raises(ClusterError, match="has not answered"):
            SRSG(5).fit(X)


def test_a_scheduler_lost_as_it_is_asked_for_points_is_one_error():
    class Lost(Client):
        async def who_has(self, keys):
            raise CommClosedError("in <TCP (closed)>: Stream is closed")

    client = Lost(None)
    client.scheduler = client
    with pytest.raises(ClusterError, match=r"the Dask scheduler was lost.*store="):
        Placement(client, []).settle()
