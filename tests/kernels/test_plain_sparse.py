"""Sparse points and points in shards on tiny data, against plain NumPy.

Small enough to run without the compiler, like those of ``test_plain_results``.
"""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest
from scipy import sparse

from fuzz.invariants import l1_violation
from srsg.coding import l1_codes, new_srsg_codes, omp_codes, srsg_codes
from srsg.points import Points, Rows, unit_points
from srsg.running import ThreadEngine
from srsg.running.engine import in_blocks
from support import plain

ENGINE = ThreadEngine(1, block_size=5)


def dense_and_sparse(n=12, d=7, seed=0, clusters=False):
    """The same unit points twice; a third of their entries is zero, and they have signs."""
    rng = np.random.default_rng(seed)
    x = rng.standard_normal((n, d))
    if clusters:
        x = np.repeat(rng.standard_normal((4, d)), 3, axis=0)[:n] + 0.3 * x
    x[rng.random((n, d)) < 0.35] = 0
    x[:, -1] += 0.5  # no row is zero
    return unit_points(x), unit_points(sparse.csr_array(x))


class InTwoShards(ThreadEngine):
    """Scans the points in two parts, as workers of a cluster do."""

    def scan(self, task, points, wanted, n_rows, *, label, done=None):
        blocks = in_blocks(wanted, n_rows, self.block_size)
        return self.map(partial(self._scan, task), points, blocks, label=label, done=done)

    @staticmethod
    def _scan(task, points, block):
        cut = points.n // 3
        shards = [Points(points.x[:cut]), Points(points.x[cut:], first=cut)]
        index = task.rows(block)  # only these rows are sent to where a block is solved
        started = task.start(Rows(points.x[index], index), block)
        return task.finish(started, [task.scan_shard(shard, started) for shard in shards])


@pytest.mark.parametrize("lam", [0.05, 0.4])
@pytest.mark.parametrize("engine", [ENGINE, InTwoShards(1, block_size=5)])
def test_l1_codes_of_sparse_points_and_in_shards(lam, engine):
    dense, thin = dense_and_sparse()
    for points in (dense, thin):
        found = l1_codes(points, lam, n_neighbors=3, engine=engine)
        violation, _ = l1_violation(dense.x, found.codes.toarray(), lam, 0.0)
        np.testing.assert_allclose(found.kkt_violation, violation, atol=1e-12)
        assert violation.max() <= 1e-10
        np.testing.assert_array_equal(found.neighbors, plain.nearest_neighbors(dense.x, 3))


def test_matching_pursuit_of_sparse_points():
    dense, thin = dense_and_sparse()
    expected = omp_codes(dense, 3, tol=1e-6, engine=ENGINE).codes.toarray()
    found = omp_codes(thin, 3, tol=1e-6, engine=ENGINE).codes.toarray()
    np.testing.assert_allclose(found, expected, atol=1e-12)


@pytest.mark.parametrize("clusters", [False, True])
@pytest.mark.parametrize("settings", [(0.1, 0.05), (0.001, 0.3), (0.02, 2.0), (1e-5, 0.5)])
def test_sweeps_over_sparse_points(clusters, settings):
    gamma, step = settings
    dense, thin = dense_and_sparse(clusters=clusters)
    start = l1_codes(dense, 0.3, n_neighbors=4, engine=ENGINE)
    limits = {"max_sweeps": 4, "max_iter": 20, "tol": 1e-6, "stop": "supports"}
    found = srsg_codes(
        thin, start.codes, start.neighbors, gamma=gamma, step=step, engine=ENGINE, **limits
    )
    Z, objectives = plain.srsg(
        dense.x, start.codes.toarray(), start.neighbors, gamma, step, **limits
    )
    np.testing.assert_allclose(found.codes.toarray(), Z, atol=1e-9)
    np.testing.assert_allclose(found.objective, objectives, atol=1e-9)


def test_new_sparse_points():
    dense, thin = dense_and_sparse(clusters=True)
    new, new_thin = dense_and_sparse(15, seed=5)  # more than fitted ones
    start = l1_codes(dense, 0.2, n_neighbors=4, engine=ENGINE)
    first = l1_codes(dense, 0.2, queries=new, n_neighbors=4, engine=ENGINE)
    settings = {"gamma": 0.01, "step": 0.05, "tol": 0.0, "engine": ENGINE}
    lists = (first.codes, first.neighbors)
    expected = new_srsg_codes(dense, start.codes, new, *lists, **settings)
    found = new_srsg_codes(thin, start.codes, new_thin, *lists, **settings)
    np.testing.assert_allclose(found.toarray(), expected.toarray(), atol=1e-12)
