"""Codes by orthogonal matching pursuit (You, Robinson and Vidal, CVPR 2016)."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import numpy as np
from scipy import sparse

from srsg.engines import Engine, ThreadEngine
from srsg.kernels.codes import Codes, residuals
from srsg.kernels.correlations import strongest
from srsg.kernels.omp import add_and_refit
from srsg.neighbors import nearest_in
from srsg.points import Points, Queries, blocks_of_rows
from srsg.solvers.codes import csr_from_rows
from srsg.types import IntArray


@dataclass(frozen=True)
class OMPCodes:
    """Codes of all points, a row each, and the nearest neighbours."""

    codes: sparse.csr_array
    neighbors: IntArray


def omp_codes(
    points: Points,
    n_nonzero: int,
    *,
    tol: float = 1e-6,
    queries: Points | None = None,
    n_neighbors: int = 0,
    engine: Engine | None = None,
) -> OMPCodes:
    """Code every point by the others, greedily.

    Again and again the point most correlated with the residual joins the code, and the code is
    fitted anew by least squares.

    Parameters
    ----------
    points : Points
        Unit-norm points.
    n_nonzero : int
        Most points in a code.
    tol : float
        A code is done when the squared norm of its residual is at most this.
    queries : Points, optional
        What is coded over the points; by default the points themselves, each over all others.
    n_neighbors : int
        How many nearest neighbours to report along the way.
    engine : Engine, optional
        Where blocks run; threads on all cores by default.

    Returns
    -------
    OMPCodes

    Examples
    --------
    >>> from srsg.points import unit_points
    >>> from srsg.solvers import omp_codes
    >>> points = unit_points([[1.0, 0.0], [0.0, 1.0], [3.0, 4.0]])
    >>> omp_codes(points, 2).codes.toarray()[2].round(6)
    array([0.6, 0.8, 0. ])
    """
    engine = engine or ThreadEngine()
    task = partial(_pursue, n_nonzero=n_nonzero, tol=tol, n_neighbors=n_neighbors)
    coded = Queries.of(points, queries)
    blocks = blocks_of_rows(len(coded), engine.block_size)
    found = engine.map(task, coded, blocks, label="orthogonal matching pursuit")
    codes, neighbors = zip(*found, strict=True)
    stacked = sparse.csr_array(sparse.vstack(codes))
    stacked.sort_indices()
    return OMPCodes(stacked, np.concatenate(neighbors))


def _pursue(
    queries: Queries, rows: IntArray, *, n_nonzero: int, tol: float, n_neighbors: int
) -> tuple[sparse.csr_array, IntArray]:
    points, own, x = queries.points, queries.own[rows], queries[rows].x
    size = np.zeros(len(rows), np.int64)
    index = np.zeros((len(rows), n_nonzero), np.int64)
    codes = Codes(index, np.zeros(index.shape), size)
    resid = np.empty((len(rows), points.x.shape[1]))
    chosen, strength = np.empty(len(rows), np.int64), np.empty(len(rows))
    ended = np.zeros(len(rows), dtype=bool)
    for step in range(n_nonzero):
        residuals(points.x, x, codes, resid)
        correlations = points.correlations(resid)
        if step == 0:
            neighbors = nearest_in(points, x, own, correlations, n_neighbors).index
        error = points.correlation_error
        strongest(points.x, own, resid, correlations, codes, error, chosen, strength)
        ended |= (np.einsum("ij,ij->i", resid, resid) <= tol) | (strength <= 0)
        if ended.all():
            break
        add_and_refit(points.x, x, codes, chosen, ended)
    return csr_from_rows(codes, points.n), neighbors
