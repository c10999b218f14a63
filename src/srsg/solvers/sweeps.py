"""Algorithm 2 of the paper: coordinate descent over the points, each step by FPGD-SP."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import Self

import numpy as np
from scipy import sparse

from srsg.engines import Engine, ThreadEngine, serial_linear_algebra
from srsg.engines.progress import Stage
from srsg.kernels.codes import Codes
from srsg.kernels.fpgd_sp import Settings
from srsg.kernels.sweep import Kept, Outcome, new_outcome, solve_targets, sweep_points
from srsg.kernels.votes import support_distances
from srsg.points import Points, Queries, Rows, blocks_of_rows
from srsg.solvers.levels import independent_sets
from srsg.solvers.new_parts import NewParts
from srsg.solvers.part_tasks import fits_of
from srsg.solvers.parts import PartSweeps
from srsg.solvers.sweep_state import SweepState
from srsg.types import FloatArray, IntArray

POINTS_A_CALL = 512
"""Points solved between two looks at the keyboard and the progress."""

LEAST_SHARED = 256
"""Points that are worth sharing among threads: for fewer, waking them takes longer."""

KEPT_SIZE = 12
"""Problems with up to so many active coordinates are kept from one sweep to the next."""


@dataclass(frozen=True)
class SRSGCodes:
    """What the sweeps ended with.

    Attributes
    ----------
    codes : csr_array of shape (n, n)
        Row i is the code of point i.
    objective : ndarray of shape (n_sweeps + 1,)
        ``L(Z)`` of eq. (3) at the start and after every sweep.
    n_iter : int
        The most FPGD-SP iterations that one point took in one sweep.
    n_steps_cut : int
        Points whose own problem needed a smaller step in some sweep.
    n_let_in : int
        Coordinates that the check of the active sets let in, over all points and sweeps.
    converged : bool
        Whether the sweeps ended before their bound.
    """

    codes: sparse.csr_array
    objective: FloatArray
    n_iter: int
    n_steps_cut: int
    n_let_in: int
    converged: bool


def srsg_codes(
    points: Points,
    init_codes: sparse.csr_array,
    neighbors: IntArray,
    *,
    gamma: float,
    step: float,
    max_sweeps: int = 100,
    max_iter: int = 100,
    tol: float = 1e-5,
    engine: Engine | None = None,
) -> SRSGCodes:
    """Regularise codes by the supports of the neighbours' codes.

    Every sweep solves problem (7) for the points 1 to n in turn, each from its present code
    and with the present codes of its neighbours. It ends when the objective ``L(Z)`` changes by
    less than ``tol`` in a sweep, or when no support has changed. Points that do not wait for
    each other are solved at once, which changes no bit of the result.

    Parameters
    ----------
    points : Points
        Unit-norm points.
    init_codes : csr_array of shape (n, n)
        Where to start; the paper takes the l1 codes.
    neighbors : ndarray of shape (n, K)
        Nearest neighbours of every point.
    gamma, step, max_sweeps, max_iter, tol
        The paper's ``gamma``, ``s``, ``M_c``, ``M_p`` and ``epsilon``.
    engine : Engine, optional
        Tells how many threads to use, and is told of every sweep; all cores by default.

    Returns
    -------
    SRSGCodes

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from srsg.points import unit_points
    >>> from srsg.solvers import l1_codes, srsg_codes
    >>> points = unit_points(load_digits().data[:100])
    >>> l1 = l1_codes(points, 0.1, n_neighbors=5)
    >>> result = srsg_codes(points, l1.codes, l1.neighbors, gamma=0.1, step=0.01)
    >>> bool(result.objective[-1] < result.objective[0])
    True
    """
    engine = engine or ThreadEngine()
    settings = Settings(float(gamma), float(step), int(max_iter), float(tol))
    keep = engine.checkpoint.of(
        "sweeps",
        lambda: engine.fingerprint(points),
        *(init_codes.indptr, init_codes.indices, init_codes.data, neighbors),
        settings,
    )
    state, save = SweepState.kept_last(keep, init_codes), keep.saver("sweep", SweepState.arrays)
    with _sweeps_over(points, state.codes, neighbors, settings, engine) as run:
        if state.n_sweeps < 0:
            state.objective.append(_objective(run.fits(), run.codes, neighbors, gamma))
        while not state.converged and state.n_sweeps < max_sweeps:
            with engine.progress.stage(f"sweep {state.n_sweeps + 1}", points.n) as stage:
                run.sweep(stage)
            value = _objective(run.outcome.fit, run.codes, neighbors, gamma)
            state.note(value, run.outcome, tol)
            if save is not None:
                state.codes = run.codes.to_csr(points.n)
                save(state)
        state.codes = run.codes.to_csr(points.n)
    return SRSGCodes(
        codes=state.codes,
        objective=np.array(state.objective),
        n_iter=state.n_iter,
        n_steps_cut=int(state.ever_cut.sum()),
        n_let_in=state.n_let_in,
        converged=state.converged,
    )


@contextmanager
def _sweeps_over(
    points: Points,
    codes: sparse.csr_array,
    neighbors: IntArray,
    settings: Settings,
    engine: Engine,
) -> Iterator[_Sweeps | PartSweeps]:
    """Sweeps where the points are."""
    if points.in_shards:
        yield PartSweeps.start(points, codes, neighbors, settings, engine)
        return
    with ThreadPoolExecutor(engine.n_workers) as threads, serial_linear_algebra():
        yield _Sweeps.start(points, codes, neighbors, settings, engine, threads)


def new_srsg_codes(
    points: Points,
    codes: sparse.csr_array,
    queries: Points,
    init_codes: sparse.csr_array,
    neighbors: IntArray,
    *,
    gamma: float,
    step: float,
    max_iter: int = 100,
    tol: float = 1e-5,
    engine: Engine | None = None,
) -> sparse.csr_array:
    """Regularise codes of new points by the supports of their neighbours' codes, which stay.

    One problem (7) a new point, from its l1 code.

    Parameters
    ----------
    points : Points
        The fitted points.
    codes : csr_array of shape (n, n)
        Their codes.
    queries : Points
        The new points.
    init_codes : csr_array of shape (n_queries, n)
        Where to start: their l1 codes over the fitted points.
    neighbors : ndarray of shape (n_queries, K)
        Their nearest fitted points.
    gamma, step, max_iter, tol
        As in :func:`srsg_codes`.
    engine : Engine, optional
        Where blocks run; threads on all cores by default.

    Returns
    -------
    csr_array of shape (n_queries, n)

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from srsg.points import unit_points
    >>> from srsg.solvers import l1_codes, new_srsg_codes, srsg_codes
    >>> X = load_digits().data
    >>> points, new = unit_points(X[:100]), unit_points(X[100:110])
    >>> l1 = l1_codes(points, 0.1, n_neighbors=5)
    >>> fitted = srsg_codes(points, l1.codes, l1.neighbors, gamma=0.1, step=0.01)
    >>> start = l1_codes(points, 0.1, queries=new, n_neighbors=5)
    >>> new_srsg_codes(
    ...     points, fitted.codes, new, start.codes, start.neighbors, gamma=0.1, step=0.01
    ... ).shape
    (10, 100)
    """
    engine = engine or ThreadEngine()
    settings = Settings(float(gamma), float(step), int(max_iter), float(tol))
    if points.in_shards:
        parts = NewParts.of(points, codes, queries, init_codes, neighbors, settings, engine)
        with engine.progress.stage("support regularisation", queries.n) as stage:
            return parts.solve(stage)
    wanted = Queries.of(points, queries)
    data = _Regularised(points, wanted, Codes.from_csr(codes), init_codes, neighbors)
    task = partial(_solve_new, settings=settings)
    blocks = blocks_of_rows(queries.n, engine.block_size)
    found = engine.map(task, data, blocks, label="support regularisation")
    return sparse.csr_array(sparse.vstack(found))


@dataclass(frozen=True)
class _Regularised:
    """New points with the codes they start from and their neighbours; codes of fitted points."""

    points: Points
    queries: Queries
    fitted: Codes
    init_codes: sparse.csr_array
    neighbors: IntArray


def _solve_new(data: _Regularised, rows: IntArray, *, settings: Settings) -> sparse.csr_array:
    points, neighbors = data.points, data.neighbors[rows]
    targets = data.queries[rows].vectors(Rows(points.x))
    codes = Codes.from_csr(data.init_codes[rows], spare=16)
    done = 0
    while True:
        part = slice(done, None)
        rest = codes.take(part)
        done += solve_targets(points.x, data.fitted, targets[part], neighbors[part], rest, settings)
        if done == len(rows):
            return codes.to_csr(points.n)
        codes = codes.resized(2 * codes.index.shape[1] + 1)


@dataclass
class _Sweeps:
    """The sweeps under way: all that one of them hands on to the next."""

    points: Points
    neighbors: IntArray
    settings: Settings
    engine: Engine
    threads: ThreadPoolExecutor
    codes: Codes
    kept: Kept
    outcome: Outcome
    waves: list[list[IntArray]]
    """The points in the order they are solved in; the parts of a wave at once."""

    @classmethod
    def start(
        cls,
        points: Points,
        init_codes: sparse.csr_array,
        neighbors: IntArray,
        settings: Settings,
        engine: Engine,
        threads: ThreadPoolExecutor,
    ) -> Self:
        return cls(
            points,
            neighbors,
            settings,
            engine,
            threads,
            Codes.from_csr(init_codes, spare=16),
            _no_problems(points.n),
            new_outcome(points.n),
            _waves(neighbors, engine.n_workers),
        )

    def fits(self) -> FloatArray:
        """``||x_i - X z_i||^2`` of every code."""
        data = (self.points, self.codes)
        blocks = blocks_of_rows(self.points.n, POINTS_A_CALL)
        found = self.engine.map(_fits_of_rows, data, blocks, label="fit of the codes")
        return np.concatenate(found)

    def sweep(self, stage: Stage) -> None:
        """Solve all points once; gives the codes more room where one outgrows it."""
        before = self.codes._replace(index=self.codes.index.copy(), size=self.codes.size.copy())
        for wave in self.waves:
            parts: Sequence[IntArray] = wave
            while parts:
                solve = partial(self._solve, before)
                counts = list((map if len(parts) == 1 else self.threads.map)(solve, parts))
                stage.advance(sum(counts))
                left = zip(parts, counts, strict=True)
                parts = [part[count:] for part, count in left if count < len(part)]
                if parts:
                    self.codes = self.codes.resized(2 * self.codes.index.shape[1] + 1)

    def _solve(self, before: Codes, part: IntArray) -> int:
        return sweep_points(
            self.points.x,
            self.neighbors,
            part,
            before,
            self.codes,
            self.settings,
            self.kept,
            self.outcome,
        )


def _waves(neighbors: IntArray, n_threads: int) -> list[list[IntArray]]:
    """Points that can be solved at once in parts for the threads; where these are few, one part
    of as many as there are in a row."""
    n_points, n_neighbors = neighbors.shape
    if n_threads == 1:
        return [[part] for part in blocks_of_rows(n_points, POINTS_A_CALL)]
    starts = np.arange(n_points + 1) * n_neighbors
    waves: list[list[IntArray]] = []
    few: list[IntArray] = []
    for points in independent_sets(starts, neighbors.ravel()):
        if len(points) < LEAST_SHARED:
            few.append(points)
            continue
        if few:
            waves.append([np.concatenate(few)])
            few = []
        n_parts = max(n_threads, -(-len(points) // POINTS_A_CALL))
        waves.append(np.array_split(points, n_parts))
    return [*waves, [np.concatenate(few)]] if few else waves


def _no_problems(n_points: int) -> Kept:
    numbers = 1 + KEPT_SIZE + KEPT_SIZE * (KEPT_SIZE + 1) // 2
    return Kept(
        np.full(n_points, -1),
        np.empty((n_points, KEPT_SIZE), np.int64),
        np.empty((n_points, numbers)),
    )


def _fits_of_rows(data: tuple[Points, Codes], rows: IntArray) -> FloatArray:
    points, codes = data
    return fits_of(points.x, points.x[rows], codes.take(rows))


def _objective(fits: FloatArray, codes: Codes, neighbors: IntArray, gamma: float) -> float:
    """``L(Z)`` of eq. (3)."""
    return float(fits.sum() + gamma * support_distances(codes, neighbors))
