"""Workers and schedulers that are lost, work that is stopped: nothing changes the result."""

from __future__ import annotations

import time

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_digits

from srsg import SRSG, L1Graph, config_context
from srsg.running.progress import send_progress_to

pytest.importorskip("distributed", reason="needs srsg[dask]")
da = pytest.importorskip("dask.array", reason="needs srsg[dask]")

from support.clusters import (  # noqa: E402
    Disturbed,
    assert_same,
    kill_workers,
    local_cluster,
    scheduler_process,
)

X = load_digits().data[:200]


@pytest.fixture(scope="module")
def client():
    with local_cluster(2) as client:
        yield client


@pytest.mark.parametrize(("chunked", "killed"), [(False, 1), (True, 2)])
def test_workers_killed_while_coding_and_another_before_the_sweeps(client, chunked, killed):
    """Of two; when both are gone at once, none is left that knows of the chunks."""
    expected = SRSG(5, random_state=0).fit(X)
    actions = {"codes, scan 2": lambda: kill_workers(client, killed)}
    if chunked:  # an array of this process need not come back from the workers
        actions["points from the workers"] = lambda: kill_workers(client, 1)
    disturbed = Disturbed(advances=actions)
    with send_progress_to(disturbed), config_context(engine=client):
        points = da.from_array(X, chunks=(60, -1)) if chunked else X
        model = SRSG(5, random_state=0).fit(points)
    assert not disturbed.advances
    assert_same(model, expected)


def test_a_worker_killed_while_codes_over_candidates_are_made(client):
    """The index that all workers have goes to the new one too."""
    points = np.vstack([X, X + 1, X + 2])
    model = L1Graph(5, n_candidates=20, random_state=0)
    disturbed = Disturbed(advances={"codes over candidates": lambda: kill_workers(client, 1)})
    with send_progress_to(disturbed), config_context(engine=client):
        found = clone(model).fit_graph(da.from_array(points, chunks=(200, -1)))
    assert not disturbed.advances
    assert_same(found, model.fit_graph(points))


def test_ctrl_c_leaves_the_cluster_usable(client):
    def stop():
        raise KeyboardInterrupt

    chunks = da.from_array(X, chunks=(60, -1))
    with (
        send_progress_to(Disturbed(advances={"codes, scan 1": stop})),
        config_context(engine=client),
        pytest.raises(KeyboardInterrupt),
    ):
        L1Graph(5).fit(chunks)
    until = time.monotonic() + 20
    while any(client.processing().values()) and time.monotonic() < until:
        time.sleep(0.1)
    assert not any(client.processing().values())
    with config_context(engine=client):
        model = L1Graph(5, random_state=0).fit(chunks)
    assert_same(model, L1Graph(5, random_state=0).fit(X))


def test_a_lost_scheduler_is_one_clear_error_and_the_work_done_is_kept(tmp_path):
    kept = {"store": tmp_path / "kept", "random_state": 0}
    chunks = da.from_array(X, chunks=(60, -1))
    with scheduler_process(tmp_path) as (address, scheduler), config_context(engine=address):
        lost = send_progress_to(Disturbed(advances={"points from the workers": scheduler.kill}))
        with lost, pytest.raises(ConnectionError, match=r"scheduler was lost.*store="):
            SRSG(5, **kept).fit(chunks)
    with scheduler_process(tmp_path) as (address, scheduler), config_context(engine=address):
        # The sweeps need neither workers nor a scheduler.
        resumed = Disturbed(begins={"sweep 2": scheduler.kill})
        with send_progress_to(resumed):
            model = SRSG(5, **kept).fit(chunks)
    scans = [total for label, total in resumed.totals.items() if label.startswith("codes, scan")]
    assert scans
    assert not any(scans)  # no block had to be scanned again
    assert not resumed.begins
    assert_same(model, SRSG(5, random_state=0).fit(X))
