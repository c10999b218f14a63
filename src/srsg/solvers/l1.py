"""The l1-graph's codes, eq. (1) of the paper: exact, certified, at the cost of few scans.

Each point is coded over a small working set. A *scan*, one matrix product of the residuals of
a block of points with all points, shows which points violate the optimality conditions; the worst
join the working set, until there are none. In the first scan the residuals are the points
themselves, so the nearest neighbours are a by-product. Float64 decides which points join, so every
working set grows in the same way, whatever the blocks are and wherever the points lie.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from srsg.engines import Engine, ThreadEngine
from srsg.engines.checkpoint import NO_CHECKPOINT, Checkpoint
from srsg.points import Points, Queries
from srsg.solvers.convergence import ROUNDING, warn_of_violations
from srsg.solvers.locality import locality_order
from srsg.solvers.scans import L1Scan, ScanBlock, Scanned
from srsg.solvers.working_sets import WorkingSets
from srsg.types import FloatArray, IntArray

MAX_SCANS = 100
"""A bound on the scans. Codes usually take 3 to 10; a tiny lam may take more than anyone can wait
for, and rounding may make the same points join and leave forever."""


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
    engine: Engine | None = None,
) -> L1Codes:
    """Code every point over the others: ``min ||x_i - X z||^2 + lam |z|_1``, ``z_i = 0``.

    New points, the queries, are coded over all points instead.

    Parameters
    ----------
    points : Points
        Unit-norm points.
    lam : float or ndarray of shape (n,)
        The paper's ``lambda_l1``: one for all points, or one for each.
    ridge : float or ndarray of shape (n,)
        Adds ``ridge |z|^2`` to the objective: the elastic net.
    queries : Points, optional
        What is coded over the points; by default the points themselves, each over all others.
    n_neighbors : int
        How many nearest neighbours to report along the way.
    tol : float
        Points that violate the optimality conditions by more than this join the working set. If
        some still do after 100 scans, a ConvergenceWarning says how many codes are affected and
        how far they are from optimal.
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
    engine = engine or ThreadEngine()
    wanted = Queries.of(points, queries)
    # Copies, because kernels take contiguous arrays, which broadcast views are not.
    half_lam = np.broadcast_to(np.asarray(lam, dtype=np.float64) / 2, len(wanted)).copy()
    ridges = np.broadcast_to(np.asarray(ridge, dtype=np.float64), len(wanted)).copy()
    start = WorkingSets.empty(half_lam, ridges)
    keep = engine.checkpoint.of(
        "l1 codes",
        lambda: engine.fingerprint(points),
        wanted.new,
        half_lam,
        ridges,
        n_neighbors,
        tol,
    )
    solved = solve_exactly(points, wanted, start, n_neighbors, tol, engine, keep)
    warn_of_violations(solved.violation, tol, f"{solved.n_scans} scans")
    return L1Codes(
        codes=solved.sets.codes.to_csr(points.n),
        kkt_violation=solved.violation,
        dual_gap=solved.gap,
        neighbors=solved.neighbors,
        n_scans=solved.n_scans,
    )


@dataclass(frozen=True)
class SolvedSets:
    """Working sets whose codes are optimal over all points, in order of their rows."""

    sets: WorkingSets
    violation: FloatArray
    gap: FloatArray
    neighbors: IntArray
    n_scans: int


def solve_exactly(
    points: Points,
    queries: Queries,
    active: WorkingSets,
    n_neighbors: int,
    tol: float,
    engine: Engine,
    keep: Checkpoint = NO_CHECKPOINT,
) -> SolvedSets:
    """Let violators into the working sets until there are none, or after ``MAX_SCANS``."""
    scanned: list[Scanned] = []
    n_scans = 0
    while len(active):
        n_scans += 1
        # Half of the tolerance, because the scans check the conditions of half the objective. It
        # is never below rounding, or the scans might not end.
        task = L1Scan(
            max(tol, ROUNDING) / 2,
            n_neighbors if n_scans == 1 else 0,
            engine.block_size,
            last=n_scans == MAX_SCANS,
        )
        blocks = _scan(task, n_scans, points, queries, active, engine, keep)
        active = WorkingSets.concatenate([block.going_on for block in blocks])
        scanned += blocks
        if n_scans == 1:
            neighbors = _in_order(blocks, lambda block: block.rows, lambda block: block.neighbors)
            # Working sets are known now, so points that share members can go into the same block.
            own = queries.own[active.rows]
            active = active[locality_order(own, active.codes, points.n, engine.block_size)]
    sets = WorkingSets.concatenate([block.done for block in scanned])

    def of_codes(part: Callable[[Scanned], NDArray]) -> NDArray:
        return _in_order(scanned, lambda block: block.done.rows, part)

    return SolvedSets(
        sets=sets[np.argsort(sets.rows)],
        violation=of_codes(lambda block: block.certificate.violation),
        gap=of_codes(lambda block: block.certificate.gap),
        neighbors=neighbors,
        n_scans=n_scans,
    )


def _scan(
    task: L1Scan,
    number: int,
    points: Points,
    queries: Queries,
    active: WorkingSets,
    engine: Engine,
    keep: Checkpoint,
) -> list[Scanned]:
    """One scan of the active queries, except those whose outcome is in the checkpoint."""
    name = f"scan-{number}"
    # An earlier run may have had blocks of other sizes: what counts is which rows it has done.
    kept = [Scanned.from_arrays(arrays) for arrays in keep.load(name)]
    rest = active.without([block.rows for block in kept])
    # How many points one block needs to start tells how many rows of that kind fit into a block.
    some = rest[: engine.block_size]
    needed = len(task.rows(ScanBlock(queries[some.rows], some)))
    rows_per_block = engine.rows_per_block(points, len(rest), needed / max(1, len(some)))
    return kept + engine.scan(
        task,
        points,
        [ScanBlock(queries[sets.rows], sets) for sets in rest.blocks(rows_per_block)],
        label=f"codes, scan {number} of {len(active)} points",
        done=keep.saver(name, Scanned.arrays),
    )


def _in_order(
    blocks: Sequence[Scanned],
    rows: Callable[[Scanned], IntArray],
    part: Callable[[Scanned], NDArray],
) -> NDArray:
    """A part of all blocks, in the order of its rows."""
    order = np.argsort(np.concatenate([rows(block) for block in blocks]))
    return np.concatenate([part(block) for block in blocks])[order]
