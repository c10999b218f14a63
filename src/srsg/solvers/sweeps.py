"""Algorithm 2 of the paper: coordinate descent over the points, each step by FPGD-SP."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import numpy as np
from scipy import sparse

from srsg.codes import csr_from_rows, resized, rows_from_csr
from srsg.engine import Engine, ThreadEngine, serial_linear_algebra
from srsg.kernels.codes import Codes, residuals
from srsg.kernels.fpgd_sp import Settings
from srsg.kernels.sweep import Outcome, solve_targets, sweep_points
from srsg.kernels.votes import support_distances
from srsg.points import BLOCK_SIZE, Points, Queries, blocks_of_rows
from srsg.progress import SILENT, Progress
from srsg.types import FloatArray, IntArray

POINTS_A_CALL = 512
"""Points solved between two looks at the keyboard and the progress."""


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
    progress: Progress = SILENT,
) -> SRSGCodes:
    """Regularise codes by the supports of the neighbours' codes.

    Every sweep solves problem (7) for the points 1 to n in turn, each from its present code
    and with the present codes of its neighbours. It ends when the objective ``L(Z)`` changes by
    less than ``tol`` in a sweep, or when no support has changed.

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
    progress : Progress
        Told of every sweep.

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
    codes = rows_from_csr(init_codes, spare=16)
    settings = Settings(float(gamma), float(step), int(max_iter), float(tol))
    outcome = _new_outcome(points.n)
    objective = [_objective(_fits(points, codes), codes, neighbors, gamma)]
    ever_cut = np.zeros(points.n, dtype=bool)
    n_iter = n_let_in = 0
    converged = False
    while not converged and len(objective) <= max_sweeps:
        label = f"sweep {len(objective)}"
        codes = _sweep(points, neighbors, codes, settings, outcome, progress, label)
        objective.append(_objective(outcome.fit, codes, neighbors, gamma))
        ever_cut |= outcome.cut
        n_iter = max(n_iter, int(outcome.iterations.max()))
        n_let_in += int(outcome.let_in.sum())
        converged = abs(objective[-1] - objective[-2]) < tol or not outcome.changed.any()
    return SRSGCodes(
        codes=csr_from_rows(codes, points.n),
        objective=np.array(objective),
        n_iter=n_iter,
        n_steps_cut=int(ever_cut.sum()),
        n_let_in=n_let_in,
        converged=converged,
    )


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
    block_size: int = BLOCK_SIZE,
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
    block_size : int
        New points solved at once.
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
    data = _Regularised(Queries.of(points, queries), rows_from_csr(codes), init_codes, neighbors)
    task = partial(_solve_new, settings=settings)
    blocks = blocks_of_rows(queries.n, block_size)
    found = engine.map(task, engine.share(data), blocks, label="support regularisation")
    return sparse.csr_array(sparse.vstack(found))


@dataclass(frozen=True)
class _Regularised:
    """New points with the codes they start from and their neighbours; codes of fitted points."""

    queries: Queries
    fitted: Codes
    init_codes: sparse.csr_array
    neighbors: IntArray


def _solve_new(data: _Regularised, rows: IntArray, *, settings: Settings) -> sparse.csr_array:
    points, targets, neighbors = data.queries.points, data.queries.x[rows], data.neighbors[rows]
    codes = rows_from_csr(data.init_codes[rows], spare=16)
    done = 0
    while True:
        part = slice(done, None)
        rest = Codes(*(array[part] for array in codes))
        done += solve_targets(points.x, data.fitted, targets[part], neighbors[part], rest, settings)
        if done == len(rows):
            return csr_from_rows(codes, points.n)
        codes = resized(codes, 2 * codes.index.shape[1] + 1)


def _sweep(
    points: Points,
    neighbors: IntArray,
    codes: Codes,
    settings: Settings,
    outcome: Outcome,
    progress: Progress,
    label: str,
) -> Codes:
    """All points once, in order; gives the codes more room where one outgrows it."""
    order = np.arange(points.n)
    done = 0
    with progress.stage(label, points.n) as stage, serial_linear_algebra():
        while done < points.n:
            part = order[done : done + POINTS_A_CALL]
            count = sweep_points(points.x, neighbors, part, codes, settings, outcome)
            if count < len(part):
                codes = resized(codes, 2 * codes.index.shape[1] + 1)
            done += count
            stage.advance(count)
    return codes


def _new_outcome(n_points: int) -> Outcome:
    dtypes = {"fit": float, "iterations": np.int64, "changed": bool, "cut": bool}
    return Outcome(*(np.zeros(n_points, dtypes.get(name, np.int64)) for name in Outcome._fields))


def _fits(points: Points, codes: Codes) -> FloatArray:
    """``||x_i - X z_i||^2`` of every code, a block at a time."""
    fits = np.empty(points.n)
    for start in range(0, points.n, POINTS_A_CALL):
        rows = np.arange(start, min(start + POINTS_A_CALL, points.n))
        resid = np.empty((len(rows), points.x.shape[1]))
        residuals(points.x, points.x[rows], Codes(*(part[rows] for part in codes)), resid)
        fits[rows] = np.einsum("ij,ij->i", resid, resid)
    return fits


def _objective(fits: FloatArray, codes: Codes, neighbors: IntArray, gamma: float) -> float:
    """``L(Z)`` of eq. (3)."""
    return float(fits.sum() + gamma * support_distances(codes, neighbors))
