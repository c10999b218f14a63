"""Sweeps that were interrupted go on where they stopped, with the same bits."""

from __future__ import annotations

from contextlib import contextmanager

import numpy as np
import pytest
from sklearn.datasets import load_digits

from srsg.coding import l1_codes, srsg_codes
from srsg.coding.kept import arrays_of_coded
from srsg.graph import Coded
from srsg.points import unit_points
from srsg.running import ThreadEngine
from srsg.running.progress import NO_STORE, SILENT, Progress
from srsg.running.store import FolderStore


class Interrupted(Progress):
    """Ends when a stage of this name begins."""

    def __init__(self, label):
        self.label = label
        self.seen = []

    @contextmanager
    def stage(self, label, total):
        self.seen.append(label)
        if label == self.label:
            raise KeyboardInterrupt
        with SILENT.stage(label, total) as stage:
            yield stage


@pytest.mark.parametrize("label", ["sweep 2", "sweep 3"])
def test_sweeps_go_on(tmp_path, label):
    points = unit_points(load_digits().data[:60])
    start = l1_codes(points, 0.1, n_neighbors=5)

    def sweeps(progress, store=NO_STORE):
        return srsg_codes(
            points,
            start.codes,
            start.neighbors,
            gamma=0.1,
            step=0.05,
            max_sweeps=6,
            engine=ThreadEngine(1, progress, store),
        )

    with pytest.raises(KeyboardInterrupt):
        sweeps(Interrupted(label), FolderStore(tmp_path))
    watched = Interrupted("none")
    found, expected = sweeps(watched, FolderStore(tmp_path)), sweeps(SILENT)
    assert "sweep 1" not in watched.seen
    assert label in watched.seen
    np.testing.assert_array_equal(found.codes.toarray(), expected.codes.toarray())
    np.testing.assert_array_equal(found.objective, expected.objective)


def test_a_dense_kernel_is_kept():
    kernel = np.eye(3)
    arrays = arrays_of_coded(Coded(None, affinity=kernel, learnt={"scale": np.arange(3)}))
    assert arrays.keys() == {"kernel", "scale"}
    assert arrays["kernel"] is kernel
