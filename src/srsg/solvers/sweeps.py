"""Algorithm 2 of the paper: coordinate descent over the points, each step by FPGD-SP."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import sparse

from srsg.codes import csr_from_rows, resized, rows_from_csr
from srsg.engine import serial_linear_algebra
from srsg.kernels.codes import Codes, residuals
from srsg.kernels.fpgd_sp import Settings
from srsg.kernels.sweep import Outcome, sweep_points
from srsg.kernels.votes import support_distances
from srsg.points import Points
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
