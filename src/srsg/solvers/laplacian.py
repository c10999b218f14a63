"""Codes of the Laplacian-regularised l1-graph (Yang et al., 2014)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from scipy import sparse

from srsg.affinity import symmetrized
from srsg.codes import csr_from_rows
from srsg.engine import Engine, ThreadEngine
from srsg.kernels.levels import dependency_levels
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
    codes = init_codes
    similarity = neighbor_graph(neighbors)
    if laplacian == "codes":
        similarity = symmetrized(codes)
    objective = [_objective(points, codes, similarity, lam, gamma)]
    violation, gap = np.zeros(points.n), np.zeros(points.n)
    converged = False
    while not converged and len(objective) <= max_sweeps:
        # Both S_ij and S_ji join points i and j.
        weights = sparse.csr_array(similarity + similarity.T)
        for rows in _independent_sets(weights):
            pull = sparse.csr_array(gamma * (weights[rows] @ codes))
            pull[np.arange(len(rows)), rows] = 0.0  # no point codes itself
            ridge = gamma * np.asarray(weights[rows].sum(axis=1)).ravel()
            half_lam = np.full(len(rows), lam / 2)
            start = WorkingSets.pulled(rows, codes[rows], pull, half_lam, ridge)
            solved = solve_exactly(points, start, 0, 1e-10, block_size, engine)
            codes = _with_rows(codes, rows, csr_from_rows(solved.sets.codes, points.n))
            violation[rows], gap[rows] = solved.violation, solved.gap
        objective.append(_objective(points, codes, similarity, lam, gamma))
        converged = abs(objective[-1] - objective[-2]) < tol
        if laplacian == "codes":
            similarity = symmetrized(codes)
    return LaplacianCodes(codes, np.array(objective), violation, gap, converged)


def _independent_sets(weights: sparse.csr_array) -> list[IntArray]:
    """The points in sets without edges; one after the other they do as the order 1..n does."""
    level = np.empty(weights.shape[0], np.int64)
    dependency_levels(weights.indptr, weights.indices, level)
    order = np.argsort(level, kind="stable")
    return np.split(order, np.cumsum(np.bincount(level))[:-1])


def _with_rows(codes: sparse.csr_array, rows: IntArray, new: sparse.csr_array) -> sparse.csr_array:
    """The codes with some rows replaced."""
    stay = np.ones(codes.shape[0])
    stay[rows] = 0.0
    place = sparse.csr_array(
        (np.ones(len(rows)), (rows, np.arange(len(rows)))), shape=(codes.shape[0], len(rows))
    )
    merged = sparse.csr_array(sparse.diags_array(stay) @ codes + place @ new)
    merged.eliminate_zeros()
    merged.sort_indices()
    return merged


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
