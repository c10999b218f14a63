"""The l1-graph's codes, eq. (1) of the paper: exact, certified, at the cost of few scans.

Each point is coded over a small working set. A *scan*, one matrix product of the residuals of
a block of points with all points, shows which points violate the optimality conditions; the
worst join the working set, until there are none. The first scan sees the points themselves,
so the nearest neighbours fall out of it.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import numpy as np
from scipy import sparse

from srsg.codes import csr_from_rows
from srsg.engine import Engine, ThreadEngine
from srsg.kernels.codes import residuals
from srsg.kernels.correlations import Scan, add_violators
from srsg.kernels.lasso import Certificate, close_codes, solve_working_sets
from srsg.neighbors import neighbors_from_correlations
from srsg.points import BLOCK_SIZE, Points, Queries
from srsg.solvers.working_sets import WorkingSets
from srsg.types import FloatArray, IntArray

LEAST_TAKEN = 16
"""Violators that join a working set after a scan, or half as many as it has if that is more:
a larger number would make the Gram matrices dearer than the scans it saves."""


@dataclass(frozen=True)
class L1Codes:
    """Codes of all points or of all queries, their certificates and the nearest neighbours.

    Attributes
    ----------
    codes : csr_array of shape (n, n) or (n_queries, n)
        Row i is the code of point i, zero at i, or that of query i.
    kkt_violation, dual_gap : ndarray of shape (n,)
        Largest violation of the optimality conditions, and the duality gap.
    neighbors : ndarray of shape (n, n_neighbors)
        Nearest first, ties by index.
    n_scans : int
        How many scans it took; most points are done after the first few.
    """

    codes: sparse.csr_array
    kkt_violation: FloatArray
    dual_gap: FloatArray
    neighbors: IntArray
    n_scans: int


def l1_codes(
    points: Points,
    lam: float | FloatArray,
    *,
    ridge: float | FloatArray = 0.0,
    queries: Points | None = None,
    n_neighbors: int = 0,
    tol: float = 1e-10,
    block_size: int = BLOCK_SIZE,
    engine: Engine | None = None,
) -> L1Codes:
    """Code every point over the others: ``min ||x_i - X z||^2 + lam |z|_1``, ``z_i = 0``.

    New points, the queries, are coded over all points instead.

    Parameters
    ----------
    points : Points
        Unit-norm points.
    lam : float or ndarray of shape (n,)
        The paper's ``lambda_l1``, for all that is coded or each its own.
    ridge : float or ndarray of shape (n,)
        Adds ``ridge |z|^2`` to the objective: the elastic net.
    queries : Points, optional
        What is coded over the points; by default the points themselves, each over all others.
    n_neighbors : int
        How many nearest neighbours to report along the way.
    tol : float
        Points that violate the optimality conditions by more join the working set.
    block_size : int
        Points scanned at once: memory is ``4 * block_size * n`` bytes a thread.
    engine : Engine, optional
        Where blocks run; threads on all cores by default.

    Returns
    -------
    L1Codes

    Examples
    --------
    >>> from srsg.points import unit_points
    >>> from srsg.solvers.l1 import l1_codes
    >>> result = l1_codes(unit_points([[1.0, 0.0], [1.0, 0.1], [0.0, 1.0]]), 0.1)
    >>> result.codes.nnz
    5
    >>> bool(result.kkt_violation.max() < 1e-9)
    True
    """
    coded = Queries.of(points, queries)
    half_lam = np.broadcast_to(np.asarray(lam, dtype=np.float64) / 2, len(coded)).copy()
    ridges = np.broadcast_to(np.asarray(ridge, dtype=np.float64), len(coded)).copy()
    start = WorkingSets.empty(half_lam, ridges)
    solved = solve_exactly(coded, start, n_neighbors, tol, block_size, engine or ThreadEngine())
    return L1Codes(
        codes=csr_from_rows(solved.sets.codes, points.n),
        kkt_violation=solved.violation,
        dual_gap=solved.gap,
        neighbors=solved.neighbors,
        n_scans=solved.n_scans,
    )


@dataclass(frozen=True)
class Solved:
    """Working sets whose codes are optimal over all points, in order of their rows."""

    sets: WorkingSets
    violation: FloatArray
    gap: FloatArray
    neighbors: IntArray
    n_scans: int


def solve_exactly(
    queries: Queries,
    active: WorkingSets,
    n_neighbors: int,
    tol: float,
    block_size: int,
    engine: Engine,
) -> Solved:
    """Let violators into the working sets until there are none."""
    data = engine.share(queries)
    done: list[WorkingSets] = []
    certificates: list[Certificate] = []
    n_scans = 0
    while len(active):
        task = partial(_scan, tol=tol, n_neighbors=0 if n_scans else n_neighbors)
        label = f"codes, scan {n_scans + 1} of {len(active)} points"
        fair_share = -(-len(active) // engine.n_workers)  # few points too keep all workers busy
        parts = active.blocks(min(block_size, fair_share))
        blocks = engine.map(task, data, parts, label=label)
        active = WorkingSets.concatenate([block.going_on for block in blocks])
        done += [block.done for block in blocks]
        certificates += [block.certificate for block in blocks]
        n_scans += 1
        if n_scans == 1:
            neighbors = np.concatenate([block.neighbors for block in blocks])
    sets = WorkingSets.concatenate(done)
    order = np.argsort(sets.rows)
    return Solved(
        sets=sets[order],
        violation=np.concatenate([certificate.violation for certificate in certificates])[order],
        gap=np.concatenate([certificate.gap for certificate in certificates])[order],
        neighbors=neighbors,
        n_scans=n_scans,
    )


@dataclass(frozen=True)
class _Scanned:
    """A block after a scan: the points that go on, and those that are done, certified."""

    going_on: WorkingSets
    done: WorkingSets
    certificate: Certificate
    neighbors: IntArray


def _scan(queries: Queries, block: WorkingSets, *, tol: float, n_neighbors: int) -> _Scanned:
    """Solve on the working sets and look for violators; codes without any are closed."""
    coded, points = queries[block.rows], queries.points
    x = points.x
    most_taken = max(LEAST_TAKEN, block.width // 2)
    grown = block.with_room(most_taken)
    solve_working_sets(x, coded.x, grown.codes, grown.penalty)
    resid = np.empty((len(block), x.shape[1]))
    residuals(x, coded.x, grown.codes, resid)
    correlations = points.correlations(resid)
    # Working sets are empty at first, and the residuals the points themselves.
    neighbors = neighbors_from_correlations(coded, correlations, n_neighbors)

    outside = np.empty(len(block))
    scan = Scan(tol / 2, points.correlation_error, most_taken)
    half_lam = grown.penalty.half_lam
    add_violators(x, coded.own, resid, correlations, grown.codes, half_lam, scan, outside)
    ended = grown.codes.size == block.codes.size
    done = grown[ended]
    certificate = Certificate(np.empty(len(done)), np.empty(len(done)))
    close_codes(x, coded.x[ended], done.codes, done.penalty, outside[ended], certificate)
    return _Scanned(grown[~ended], done, certificate, neighbors)
