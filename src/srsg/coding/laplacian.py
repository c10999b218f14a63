"""Codes of the Laplacian-regularised l1-graph (Yang et al., 2014)."""

from dataclasses import dataclass, field
from functools import partial
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from srsg.coding.l1 import (
    MAX_SCANS,
    L1Scan,
    ScanBlock,
    SolvedSets,
    WorkingSets,
    solve_exactly,
    warn_of_violations,
)
from srsg.coding.levels import independent_sets
from srsg.graph import neighbor_graph, symmetrized
from srsg.kernels.arrays import Certificate, Codes, Penalty, Pull
from srsg.kernels.pulled import ROUNDING, solve_pulled_sets
from srsg.points import BLOCK_SIZE, Points, Queries, row_slices
from srsg.running import Engine, ThreadEngine
from srsg.types import FloatArray, IntArray

Laplacian = Literal["neighbors", "codes"]

TOL = 1e-10
"""Largest violation of the optimality conditions that may be left."""

ROUNDING_ALLOWANCE = 10
"""Violations up to this many times the tolerance cause no warning if rounding explains them."""

JOINING_LIMIT = 64
"""How many points may join a working set after a scan; as many as it has, if that is more."""

STRONG_PULL = 0.1
"""Points that the neighbours pull on by more than this share of half of lam are in the first
working set, which saves scans. The others join if they violate the conditions."""

GRAM_BYTES = 2**30
"""Memory limit for the inner products of all pairs of points."""

LARGEST_WEIGHT = 1e150
"""The squares of larger weights overflow."""


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
        Whether the sweeps ended before their limit.
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
    gram_bytes: int = GRAM_BYTES,
    engine: Engine | None = None,
) -> LaplacianCodes:
    """Pull the codes of neighbouring points towards each other.

    Minimises ``sum_i ||x_i - X Z^i||^2 + lam |Z^i|_1 + gamma sum_ij S_ij ||Z^i - Z^j||^2`` point
    by point in the order 1..n. Each is an l1 problem, solved exactly over all points, so each one
    lowers the objective. Points with no edge between them are solved at the same time, which does
    not change the result.

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
        Maximum number of sweeps over the points.
    tol : float
        The sweeps end when the objective changes by less than this.
    laplacian : {"neighbors", "codes"}
        S is the graph of the nearest neighbours or, made anew before every sweep, the graph of the
        codes, ``(|Z| + |Z|^T) / 2``; each sweep then has an objective of its own.
    gram_bytes : int
        Memory limit for the inner products of all pairs of points. Above it the problems are
        solved without them, which takes longer; the codes differ by less than the tolerance.
    engine : Engine, optional
        Where blocks run; threads on all cores by default.

    Returns
    -------
    LaplacianCodes

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from srsg.points import unit_points
    >>> from srsg.coding import l1_codes, laplacian_codes
    >>> points = unit_points(load_digits().data[:100])
    >>> l1 = l1_codes(points, 0.1, n_neighbors=5)
    >>> result = laplacian_codes(points, l1.codes, l1.neighbors, lam=0.1, gamma=0.2)
    >>> bool((result.objective[1:] <= result.objective[:-1]).all())
    True
    """
    engine = engine or ThreadEngine()
    similarity = symmetrized(init_codes) if laplacian == "codes" else neighbor_graph(neighbors)
    codes = _RowsOfCodes(init_codes)
    certificate = Certificate.empty(points.n)
    products = _inner_products(points, gram_bytes, engine)
    result = init_codes
    objective = [_objective(points, result, similarity, lam, gamma)]
    converged = False
    while not converged and len(objective) <= max_sweeps:
        # Both S_ij and S_ji tie the codes of points i and j together.
        weights = sparse.csr_array(gamma * (similarity + similarity.T))
        ridge = float(weights.sum(axis=1).max())
        if ridge > LARGEST_WEIGHT:
            raise ValueError(f"gamma={gamma} is too large: the objective overflows.")
        with engine.progress.stage(f"sweep {len(objective)}", points.n) as stage:
            # No two points of a set are neighbours, so none of them pulls on another, and all can
            # be solved at once with the result of the order 1..n.
            for rows in independent_sets(weights.indptr, weights.indices):
                solved = _solve(points, rows, weights[rows], codes, lam, products, engine.quiet())
                codes.replace(rows, solved.sets.codes)
                certificate.violation[rows] = solved.violation
                certificate.gap[rows] = solved.gap
                stage.advance(len(rows))
        result = codes.matrix(np.arange(points.n))
        objective.append(_objective(points, result, similarity, lam, gamma))
        converged = abs(objective[-1] - objective[-2]) < tol
        if laplacian == "codes":
            similarity = symmetrized(result)
    # A strong pull costs digits of the gradient. Within limits, what rounding leaves is not worth a
    # warning.
    reached = min(max(TOL, 2 * ROUNDING * ridge), ROUNDING_ALLOWANCE * TOL)
    after = f"at most {MAX_SCANS} scans per sweep"
    warn_of_violations(certificate.violation, reached, after)
    return LaplacianCodes(result, np.array(objective), *certificate, converged)


class _RowsOfCodes:
    """The codes of all points, of which some change at a time."""

    def __init__(self, codes: sparse.csr_array) -> None:
        self._index = np.split(codes.indices, codes.indptr[1:-1])
        self._value = np.split(codes.data, codes.indptr[1:-1])

    def matrix(self, rows: IntArray) -> sparse.csr_array:
        """The codes of these points, in rising order, in a matrix whose other rows are empty."""
        n_points = len(self._index)
        starts = np.zeros(n_points + 1, np.int64)
        starts[rows + 1] = [len(self._index[i]) for i in rows]
        index = np.concatenate([self._index[i] for i in rows])
        value = np.concatenate([self._value[i] for i in rows])
        return sparse.csr_array((value, index, np.cumsum(starts)), shape=(n_points, n_points))

    def replace(self, rows: IntArray, codes: Codes) -> None:
        """Set the codes of these points."""
        for i, index, value, size in zip(rows, *codes, strict=True):
            self._index[i], self._value[i] = index[:size].copy(), value[:size].copy()


@dataclass(frozen=True)
class _PulledScan(L1Scan):
    """A scan for codes that are pulled towards those of neighbours."""

    products: FloatArray = field(kw_only=True)

    def solve(self, block: ScanBlock, *problems: Any) -> Any:
        """Solve the problems of a block by conjugate gradients."""
        own, rows = block.queries.own, block.sets.rows
        return solve_pulled_sets(own, rows, self.pull, self.products, self.tol, *problems)

    def joining_limits(self, sets: WorkingSets) -> IntArray:
        """How many points may join each working set: their inner products are at hand."""
        return np.maximum(JOINING_LIMIT, sets.codes.size)


def _solve(
    points: Points,
    rows: IntArray,
    edges: sparse.csr_array,
    codes: _RowsOfCodes,
    lam: float,
    products: FloatArray,
    engine: Engine,
) -> SolvedSets:
    """Solve the problems of some points, exactly over all points; ``edges`` are their weights."""
    around = codes.matrix(np.union1d(rows, edges.indices))
    # The sum of ``w_j |z - z_j|^2`` over the neighbours is ``ridge |z|^2 - 2 q' z`` plus a
    # constant, with the sum of the weights as ridge and ``q = sum w_j z_j`` as pull.
    ridge = edges.sum(axis=1)
    pull = edges @ around
    pull.data[pull.indices == np.repeat(rows, np.diff(pull.indptr))] = 0.0  # no point codes itself
    pull.eliminate_zeros()
    pull.sort_indices()
    # Every start leads to the minimiser. Points with a strong pull are likely to be used.
    strong = pull.multiply(abs(pull) > STRONG_PULL * lam / 2) / (1 + ridge.max())
    start = Codes.from_csr(sparse.csr_array(around[rows] + strong))
    penalty = Penalty(np.full(len(rows), lam / 2), ridge)
    parts = pull.indptr.astype(np.int64), pull.indices.astype(np.int64), pull.data
    queries, sets = Queries.of(points)[rows], WorkingSets(np.arange(len(rows)), start, penalty)
    make = partial(_PulledScan, pull=Pull(*parts), products=products)
    return solve_exactly(
        points,
        queries,
        sets,
        0,
        # No tolerance below rounding: the scans would not end before their limit.
        max(TOL, 2 * ROUNDING * float(ridge.max())),
        engine,
        scan=make,
    )


def _objective(
    points: Points,
    codes: sparse.csr_array,
    similarity: sparse.csr_array,
    lam: float,
    gamma: float,
) -> float:
    """The objective of all points together."""
    fit = 0.0
    # Block by block, because the fitted points together take as much memory as the points.
    for rows in row_slices(points.n, BLOCK_SIZE):
        resid = points.x[rows] - codes[rows] @ points.x
        fit += float(np.einsum("ij,ij->", resid, resid))
    # ``S_ij |z_i - z_j|^2``, summed by its three terms.
    edges = similarity.sum(axis=0) + similarity.sum(axis=1)
    distances = edges @ codes.power(2).sum(axis=1) - 2 * (similarity @ codes).multiply(codes).sum()
    return fit + lam * float(abs(codes).sum()) + gamma * float(distances)


def _inner_products(points: Points, most_bytes: int, engine: Engine) -> FloatArray:
    """Inner products of all pairs of points; an empty matrix if they are too many."""
    n = points.n
    if 8 * n * n > most_bytes:
        return np.empty((0, 0))
    products = np.empty((n, n))

    def set_rows(x: NDArray[np.floating], rows: slice) -> None:
        # The matrix is symmetric: what is computed below the diagonal is copied above it.
        some = np.matmul(x[rows].astype(float), x[: rows.stop].T.astype(float, copy=False))
        products[rows, : rows.stop] = some
        products[: rows.start, rows] = some[:, : rows.start].T

    # In blocks of a fixed size: another order of the sums would give other bits.
    engine.quiet().map(set_rows, points.x, row_slices(n, BLOCK_SIZE), label="inner products")
    return products
