"""Codes by orthogonal matching pursuit (You, Robinson and Vidal, CVPR 2016)."""

from functools import partial

import numpy as np
from scipy import sparse

from srsg.graph import Coded
from srsg.kernels.arrays import Codes, LeftOut, ScanBounds
from srsg.kernels.codes import residuals
from srsg.kernels.correlations import nearest, strongest
from srsg.kernels.omp import add_and_refit
from srsg.points import Points, Queries, Rows, kernel_rows
from srsg.running import Engine, ThreadEngine
from srsg.types import IntArray

ROUNDING = 1e-28
"""A residual whose squared norm is at most this is rounding: fitting it would add random points."""


def omp_codes(
    points: Points,
    n_nonzero: int,
    *,
    tol: float = 1e-6,
    queries: Points | None = None,
    n_neighbors: int = 0,
    engine: Engine | None = None,
) -> Coded:
    """Code every point over the others, greedily.

    In each step the point most correlated with the residual joins the code, and the code is
    fitted again by least squares.

    Parameters
    ----------
    points : Points
        Unit-norm points.
    n_nonzero : int
        Maximum number of points in a code.
    tol : float
        A code is complete when the squared norm of its residual is at most this.
    queries : Points, optional
        Points to code over ``points``; by default ``points`` themselves, each over all others.
    n_neighbors : int
        How many nearest neighbours to report along the way.
    engine : Engine, optional
        Where blocks run; threads on all cores by default.

    Returns
    -------
    Coded
        Codes, one per row, and the nearest neighbours.

    Examples
    --------
    >>> from srsg.points import unit_points
    >>> from srsg.coding import omp_codes
    >>> points = unit_points([[1.0, 0.0], [0.0, 1.0], [3.0, 4.0]])
    >>> omp_codes(points, 2).codes.toarray()[2].round(6)
    array([0.6, 0.8, 0. ])
    """
    engine = engine or ThreadEngine()
    task = partial(_pursue, n_nonzero=n_nonzero, tol=tol, n_neighbors=n_neighbors)
    blocks = Queries.of(points, queries).blocks(engine.block_size)
    found = engine.map(task, points, blocks, label="orthogonal matching pursuit")
    codes, neighbors = zip(*found, strict=True)
    stacked = sparse.csr_array(sparse.vstack(codes))
    stacked.sort_indices()  # so far, entries are in the order of joining
    return Coded(stacked, np.concatenate(neighbors))


def _pursue(
    points: Points, block: Queries, *, n_nonzero: int, tol: float, n_neighbors: int
) -> tuple[sparse.csr_array, IntArray]:
    own, vectors, n_rows = block.own, block.vectors(Rows(points.x)), len(block)
    all_points, targets = points.for_kernels, kernel_rows(vectors)
    codes = Codes.empty(n_rows, n_nonzero)
    ended = np.zeros(n_rows, dtype=bool)
    error = points.correlation_error
    neighbors = np.empty((n_rows, 0), np.int64)
    for step in range(n_nonzero):
        # Residuals are computed afresh from the codes, so that rounding does not add up.
        resid = residuals(all_points, targets, codes)
        correlations = points.correlations(resid)
        # In the first step the residuals are the points themselves, so the correlations also tell
        # which points are nearest. This comes first: `strongest` overwrites the correlations.
        if step == 0 and n_neighbors:
            bounds = ScanBounds(0, 0.0, error, LeftOut.nothing(*correlations.shape))
            neighbors = nearest(all_points, resid, own, correlations, bounds, n_neighbors).index
        chosen, strength = strongest(all_points, own, resid, correlations, codes, error)
        left_over = np.einsum("ij,ij->i", resid, resid)
        # A code is complete if its residual is negligible, or if no point correlates with it.
        ended |= (left_over <= max(tol, ROUNDING)) | (strength <= 0)
        if ended.all():
            break
        add_and_refit(all_points, targets, codes, chosen, ended)
        del resid, correlations  # before the next ones take as much memory again
    return codes.to_csr(points.n), neighbors
