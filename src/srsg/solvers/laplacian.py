"""Codes of the Laplacian-regularised l1-graph (Yang et al., 2014)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from srsg.affinity import symmetrized
from srsg.codes import csr_from_rows, resized, rows_from_csr
from srsg.engine import Engine, ThreadEngine
from srsg.kernels.codes import Codes
from srsg.kernels.laplacian import dependency_levels, pulled_set
from srsg.kernels.lasso import Penalty
from srsg.neighbors import neighbor_graph
from srsg.points import BLOCK_SIZE, Points, blocks_of_rows
from srsg.solvers.l1 import solve_exactly
from srsg.solvers.working_sets import WorkingSets
from srsg.types import FloatArray, IntArray

Laplacian = Literal["neighbors", "codes"]


@dataclass(frozen=True)
class LaplacianCodes:
    """What the sweeps ended with.

    Attributes
    ----------
    codes : csr_array of shape (n, n)
        Row i is the code of point i.
    objective : ndarray of shape (n_sweeps + 1,)
        The objective at the start and after every sweep.
    kkt_violation, dual_gap : ndarray of shape (n,)
        Certificates of each point's own problem, when it was last solved.
    converged : bool
        Whether the sweeps ended before their bound.
    """

    codes: sparse.csr_array
    objective: FloatArray
    kkt_violation: FloatArray
    dual_gap: FloatArray
    converged: bool


def laplacian_codes(
    points: Points,
    init_codes: sparse.csr_array,
    neighbors: IntArray,
    *,
    lam: float,
    gamma: float,
    max_sweeps: int = 5,
    tol: float = 1e-5,
    laplacian: Laplacian = "neighbors",
    block_size: int = BLOCK_SIZE,
    engine: Engine | None = None,
) -> LaplacianCodes:
    """Pull the codes of neighbouring points towards each other.

    Minimises ``sum_i ||x_i - X Z^i||^2 + lam |Z^i|_1 + gamma sum_ij S_ij ||Z^i - Z^j||^2`` point
    by point in the order 1..n, each an l1 problem solved exactly over all points, so that the
    objective falls with every one. Points with no edge between them are solved at once, which
    changes nothing.

    Parameters
    ----------
    points : Points
        Unit-norm points.
    init_codes : csr_array of shape (n, n)
        Where to start; the l1 codes.
    neighbors : ndarray of shape (n, K)
        Nearest neighbours of every point: S.
    lam, gamma : float
        Weights of the l1 norm and of the Laplacian.
    max_sweeps : int
        Most sweeps over the points.
    tol : float
        The sweeps end when the objective changes by less.
    laplacian : {"neighbors", "codes"}
        S is the graph of the nearest neighbours, or before every sweep that of the codes,
        ``(|Z| + |Z|^T) / 2``; the objective is then another one in every sweep.
    block_size : int
        Points scanned at once.
    engine : Engine, optional
        Where blocks run; threads on all cores by default.

    Returns
    -------
    LaplacianCodes

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from srsg.points import unit_points
    >>> from srsg.solvers import l1_codes, laplacian_codes
    >>> points = unit_points(load_digits().data[:100])
    >>> l1 = l1_codes(points, 0.1, n_neighbors=5)
    >>> result = laplacian_codes(points, l1.codes, l1.neighbors, lam=0.1, gamma=0.2)
    >>> bool((result.objective[1:] <= result.objective[:-1]).all())
    True
    """
    engine = engine or ThreadEngine()
    codes = rows_from_csr(init_codes)
    similarity = symmetrized(init_codes) if laplacian == "codes" else neighbor_graph(neighbors)
    objective = [_objective(points, init_codes, similarity, lam, gamma)]
    violation, gap = np.zeros(points.n), np.zeros(points.n)
    converged = False
    while not converged and len(objective) <= max_sweeps:
        # Both S_ij and S_ji join points i and j.
        weights = sparse.csr_array(gamma * (similarity + similarity.T))
        with engine.progress.stage(f"sweep {len(objective)}", points.n) as stage:
            for rows in _independent_sets(weights):
                start = _pulled_sets(codes, rows, weights, lam)
                solved = solve_exactly(points, start, 0, 1e-10, block_size, engine.quiet())
                codes = _with_rows(codes, rows, solved.sets.codes)
                violation[rows], gap[rows] = solved.violation, solved.gap
                stage.advance(len(rows))
        result = csr_from_rows(codes, points.n)
        objective.append(_objective(points, result, similarity, lam, gamma))
        converged = abs(objective[-1] - objective[-2]) < tol
        if laplacian == "codes":
            similarity = symmetrized(result)
    return LaplacianCodes(result, np.array(objective), violation, gap, converged)


def _independent_sets(weights: sparse.csr_array) -> list[IntArray]:
    """The points in sets without edges; one after the other they do as the order 1..n does."""
    level = np.empty(weights.shape[0], np.int64)
    dependency_levels(weights.indptr, weights.indices, level)
    order = np.argsort(level, kind="stable")
    return np.split(order, np.cumsum(np.bincount(level))[:-1])


def _pulled_sets(
    codes: Codes, rows: IntArray, weights: sparse.csr_array, lam: float
) -> WorkingSets:
    """The problems of some points, given the codes of their neighbours."""
    n_points = len(codes.size)
    room = np.empty(n_points, np.int64), np.empty(n_points), np.empty(n_points)
    columns: tuple[list[NDArray], ...] = ([], [], [])
    ridge = np.empty(len(rows))
    for p, i in enumerate(rows):
        edges = slice(weights.indptr[i], weights.indptr[i + 1])
        size = pulled_set(codes, i, weights.indices[edges], weights.data[edges], *room)
        for column, part in zip(columns, room, strict=True):
            column.append(part[:size].copy())
        ridge[p] = weights.data[edges].sum()
    sizes = np.array([len(part) for part in columns[0]])
    held = np.arange(sizes.max()) < sizes[:, None]
    index, value, pull = np.zeros(held.shape, np.int64), np.zeros(held.shape), np.zeros(held.shape)
    for padded, column in zip((index, value, pull), columns, strict=True):
        padded[held] = np.concatenate(column)
    penalty = Penalty(np.full(len(rows), lam / 2), ridge, pull)
    return WorkingSets(rows, Codes(index, value, sizes), penalty)


def _with_rows(codes: Codes, rows: IntArray, new: Codes) -> Codes:
    """The codes with some rows replaced, in place unless they need more room."""
    width = new.index.shape[1]
    if width > codes.index.shape[1]:
        codes = resized(codes, width + width // 2)
    codes.index[rows, :width], codes.value[rows, :width] = new.index, new.value
    codes.size[rows] = new.size
    return codes


def _objective(
    points: Points,
    codes: sparse.csr_array,
    similarity: sparse.csr_array,
    lam: float,
    gamma: float,
) -> float:
    fit = 0.0
    for rows in blocks_of_rows(points.n, BLOCK_SIZE):
        fit += np.sum((points.x[rows] - codes[rows] @ points.x) ** 2)
    edges = sparse.coo_array(similarity)
    squared = np.asarray(codes.multiply(codes).sum(axis=1)).ravel()
    products = np.asarray(codes[edges.row].multiply(codes[edges.col]).sum(axis=1)).ravel()
    distances = squared[edges.row] + squared[edges.col] - 2 * products
    return float(fit + lam * abs(codes).sum() + gamma * (edges.data @ distances))
