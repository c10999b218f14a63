"""Points that no process of a cluster holds all of, the client least."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from srsg import L1Graph, config_context

pytest.importorskip("distributed", reason="needs srsg[dask]")
da = pytest.importorskip("dask.array", reason="needs srsg[dask]")

from support.clusters import local_cluster  # noqa: E402

PEAK_RESET = Path("/proc/self/clear_refs")


@pytest.mark.skipif(not PEAK_RESET.exists(), reason="needs Linux to tell the peak of a process")
def test_no_worker_has_room_for_all_points_and_the_client_sees_none():
    """With a look at ``benchmarks/dask_cluster.py``, where the limits themselves are that small:
    here they cannot be, for what Python and its libraries take is more than the points."""
    points = views(32, 200_000, 8)
    with local_cluster(3, "800MB") as client, config_context(engine=client):
        L1Graph(n_neighbors=1).fit_graph(views(32, 50, 8))  # what all fits take
        before, mine = client.run(memory_now), memory_now()
        model = L1Graph(n_neighbors=1).fit_graph(points)
        peaks = client.run(memory_peak)
        growth = [peaks[worker] - before[worker] for worker in before]
    assert model.kkt_violation_.max() < 1e-9
    assert len(growth) == 3
    assert max(growth) < points.nbytes
    assert min(growth) > points.nbytes / 8  # or the measure is no good
    assert memory_peak() - mine < points.nbytes / 4


def views(n_rows, n_features, n_chunks):
    """Chunks of as many things each, seen in different ways; made by the workers."""
    return da.map_blocks(
        _view,
        n_rows,
        n_features,
        chunks=((n_rows,) * n_chunks, (n_features,)),
        dtype=np.float32,
        meta=np.empty((0, 0), np.float32),
    )


def _view(n_rows, n_features, block_info):
    noise = np.random.default_rng(block_info[None]["chunk-location"][0] + 1)
    view = np.random.default_rng(0).standard_normal((n_rows, n_features), np.float32)
    for row in view:
        row += 0.3 * noise.standard_normal(n_features, np.float32)
    return view


def memory_now():
    """What the process has, from where its peak is counted again."""
    PEAK_RESET.write_text("5")
    return _status("VmRSS")


def memory_peak():
    return _status("VmHWM")


def _status(name):
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) * 1024 for line in lines if line.startswith(name))
