"""Workers and schedulers that are lost, work that is stopped: nothing changes the result."""

from __future__ import annotations

import time

import pytest
from sklearn.datasets import load_digits

from srsg import SRSG, L1Graph
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
    with send_progress_to(disturbed):
        points = da.from_array(X, chunks=(60, -1)) if chunked else X
        model = SRSG(5, random_state=0, engine=client).fit(points)
    assert not disturbed.advances
    assert_same(model, expected)


def test_ctrl_c_leaves_the_cluster_usable(client):
    def stop():
        raise KeyboardInterrupt

    chunks = da.from_array(X, chunks=(60, -1))
    with (
        send_progress_to(Disturbed(advances={"codes, scan 1": stop})),
        pytest.raises(KeyboardInterrupt),
    ):
        L1Graph(5, engine=client).fit(chunks)
    until = time.monotonic() + 20
    while any(client.processing().values()) and time.monotonic() < until:
        time.sleep(0.1)
    assert not any(client.processing().values())
    model = L1Graph(5, random_state=0, engine=client).fit(chunks)
    assert_same(model, L1Graph(5, random_state=0).fit(X))


def test_a_lost_scheduler_is_one_clear_error_and_the_work_done_is_kept(tmp_path):
    kept = {"checkpoint": tmp_path / "kept", "random_state": 0}
    chunks = da.from_array(X, chunks=(60, -1))
    with scheduler_process(tmp_path) as (address, scheduler):
        lost = send_progress_to(Disturbed(advances={"points from the workers": scheduler.kill}))
        with lost, pytest.raises(ConnectionError, match=r"scheduler was lost.*checkpoint="):
            SRSG(5, engine=address, **kept).fit(chunks)
    with scheduler_process(tmp_path) as (address, scheduler):
        # The sweeps need neither workers nor a scheduler.
        resumed = Disturbed(begins={"sweep 2": scheduler.kill})
        with send_progress_to(resumed):
            model = SRSG(5, engine=address, **kept).fit(chunks)
    scans = [total for label, total in resumed.totals.items() if label.startswith("codes, scan")]
    assert scans
    assert not any(scans)  # no block had to be scanned again
    assert not resumed.begins
    assert_same(model, SRSG(5, random_state=0).fit(X))


@pytest.mark.parametrize("stage", ["codes, scan 2", "sweep 3"])
def test_threads_go_on_where_they_were_too(tmp_path, block_size, stage):
    block_size(32)

    def stop():
        raise KeyboardInterrupt

    kept = {"checkpoint": str(tmp_path), "random_state": 0}
    with send_progress_to(Disturbed(advances={stage: stop})), pytest.raises(KeyboardInterrupt):
        SRSG(5, **kept).fit(X)
    resumed = Disturbed()
    with send_progress_to(resumed):
        model = SRSG(5, **kept).fit(X)
    assert resumed.totals["codes, scan 1 of 200 points"] == 0
    assert_same(model, SRSG(5, random_state=0).fit(X))


def test_other_points_or_parameters_start_anew(tmp_path):
    SRSG(5, checkpoint=tmp_path).fit_graph(X)
    for points, settings in [(X[::-1], {}), (X, {"lam": 0.2}), (X[:-1], {})]:
        seen = Disturbed()
        with send_progress_to(seen):
            SRSG(5, checkpoint=tmp_path, **settings).fit_graph(points)
        assert any(total for label, total in seen.totals.items() if label.startswith("codes"))


def test_a_checkpoint_that_cannot_be(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(ValueError, match="checkpoint="):
        L1Graph(5, checkpoint=tmp_path / "file").fit(X)
