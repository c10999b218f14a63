"""Codes of the Laplacian-regularised l1-graph (Yang et al., 2014)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Literal, Self

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from srsg.coding.l1 import warn_of_violations
from srsg.coding.levels import independent_sets
from srsg.graph import neighbor_graph, symmetrized
from srsg.kernels.arrays import Certificate, Codes, padded
from srsg.kernels.codes import keep_supports
from srsg.kernels.laplacian import norm_and_distances, pulled_sets, renew_working_sets
from srsg.kernels.pulled import (
    ROUNDING,
    PulledPenalty,
    certify_pulled,
    renew_residuals,
    solve_pulled,
)
from srsg.kernels.pulled_gram import solve_pulled_by_gram
from srsg.points import BLOCK_SIZE, Points, row_slices
from srsg.points.principal import leading_scores
from srsg.running import Engine, ThreadEngine
from srsg.types import FloatArray, IntArray

Laplacian = Literal["neighbors", "codes"]

TOL = 5e-11
"""Largest violation of the optimality conditions that may be left, in the gradient of half the
objective."""

ROUNDING_ALLOWANCE = 10
"""Violations up to this many times the tolerance cause no warning if rounding explains them."""

FIRST_TOL = 1e-3
"""The tolerance before the first scan: what this scan lets into the working sets does not depend on
more digits."""

FIRST_AXES = 64
"""Nor does it depend on all of the points: before the first scan they are compared along so many of
their leading principal axes."""

MOST_LEFT_OUT = 0.1
"""Unless these axes leave out more than this fraction of the points' squared length."""

JOINING_LIMIT = 64
"""How many points may join a working set after a scan; as many as it has, if that is more."""

MAX_SCANS = 100
"""A limit on the scans of a point in one sweep. Usually there are two or three."""

GRAM_BYTES = 2**30
"""Most memory for the inner products of all pairs of points."""

GRAM_FEATURES = 128
"""With fewer features, products with the points themselves cost less than products with their Gram
matrix, since codes have a hundred entries and more."""

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
        The most sweeps over the points.
    tol : float
        The sweeps end when the objective changes by less than this.
    laplacian : {"neighbors", "codes"}
        S is the graph of the nearest neighbours or, made anew before every sweep, the graph of the
        codes, ``(|Z| + |Z|^T) / 2``; each sweep then has an objective of its own.
    gram_bytes : int
        Most memory for the inner products of all pairs of points. If these need more, the problems
        are solved without them, which takes longer; the codes differ by less than the tolerance.
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
    state = _State.before_the_first_sweep(points, init_codes)
    objective = [state.objective(similarity, lam, gamma)]
    # A copy if the points are in float32: the kernels would be compiled again for these.
    x = points.x.astype(np.float64, copy=False)
    data = _Data(points, x, _gram_matrix(points, gram_bytes, engine), _rough_points(x, engine))
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
                # Every worker gets each n-th point, because neighbouring ones take equally long.
                share = -(-len(rows) // engine.n_workers)
                n_blocks = min(engine.n_workers * -(-share // engine.block_size), len(rows))
                parts = [rows[first::n_blocks] for first in range(n_blocks)]
                blocks = [partial(state.problems, part, weights, lam) for part in parts]
                state.update(engine.quiet().map(_solve, data, blocks, label="codes"))
                stage.advance(len(rows))
        result = state.result(points.n)
        objective.append(state.objective(similarity, lam, gamma))
        converged = abs(objective[-1] - objective[-2]) < tol
        if laplacian == "codes":
            similarity = symmetrized(result)
    # A strong pull costs digits of the gradient. Within limits, what rounding leaves is not worth a
    # warning.
    reached = 2 * min(max(TOL, ROUNDING * ridge), ROUNDING_ALLOWANCE * TOL)
    after = f"at most {MAX_SCANS} scans per sweep"
    warn_of_violations(state.certificate.violation, reached, after)
    return LaplacianCodes(result, np.array(objective), *state.certificate, converged)


@dataclass(frozen=True)
class _Data:
    """All points, for scans and in float64, their inner products, and a rough version of them.

    The last two are None where they would take too much memory or save no time.
    """

    points: Points
    x: FloatArray
    gram: FloatArray | None
    rough: FloatArray | None


@dataclass(frozen=True)
class _Problems:
    """Problems of some points: working sets, and points outside them that neighbours pull on."""

    rows: IntArray
    codes: Codes
    penalty: PulledPenalty

    def with_room(self, more: int) -> _Problems:
        """The same, where every row can list ``more`` points; a copy if there is no room yet."""
        width = int(self.penalty.listed.max(initial=0)) + more
        if width <= self.codes.width:
            return self
        penalty = self.penalty._replace(pull=padded(self.penalty.pull, width))
        return replace(self, codes=self.codes.resized(width), penalty=penalty)


@dataclass(frozen=True)
class _Solved:
    """The new codes of some points, their certificates and the squares of their residuals."""

    rows: IntArray
    codes: Codes
    certificate: Certificate
    squared_residual: FloatArray


@dataclass
class _State:
    """What is known about all points between two sweeps."""

    codes: Codes
    certificate: Certificate
    squared_residual: FloatArray

    @classmethod
    def before_the_first_sweep(cls, points: Points, init_codes: sparse.csr_array) -> Self:
        """The given codes, without certificates."""
        squared_residual = np.empty(points.n)
        # Block by block, because the fitted points together take as much memory as the points.
        for rows in row_slices(points.n, BLOCK_SIZE):
            resid = points.x[rows] - init_codes[rows] @ points.x
            squared_residual[rows] = np.einsum("ij,ij->i", resid, resid)
        return cls(Codes.from_csr(init_codes), Certificate.empty(points.n), squared_residual)

    def problems(self, rows: IntArray, weights: sparse.csr_array, lam: float) -> _Problems:
        """The problems of some points, given the codes of their neighbours."""
        edges = weights[rows]
        # The sum of ``w_j |z - z_j|^2`` over the neighbours is ``ridge |z|^2 - 2 q' z`` plus a
        # constant, with the sum of the weights as ridge and ``q = sum w_j z_j`` as pull.
        ridge = edges.sum(axis=1)
        # The width is at most what a point and its neighbours hold together.
        edges.data[:] = 1.0
        width = int((self.codes.size[rows] + edges @ self.codes.size).max())
        codes, pull = Codes.empty(len(rows), width), np.zeros((len(rows), width))
        pulled_sets(self.codes, rows, weights.indptr, weights.indices, weights.data, codes, pull)
        # Most of that width is not used, since neighbours use the same points. A first scan may
        # double the working sets.
        width = codes.longest + max(JOINING_LIMIT, codes.longest)
        half_lam = np.full(len(rows), lam / 2)
        penalty = PulledPenalty(half_lam, ridge, padded(pull, width), codes.size.copy())
        return _Problems(rows, codes.resized(width), penalty)

    def update(self, solved: list[_Solved]) -> None:
        """Store the new codes of some points, and what is now known about them."""
        for part in solved:
            rows, codes, width = part.rows, part.codes, part.codes.width
            # Half as much again, so that the codes of all points are rarely copied.
            if width > self.codes.width:
                self.codes = self.codes.resized(width + width // 2)
            self.codes.index[rows, :width] = codes.index
            self.codes.value[rows, :width] = codes.value
            self.codes.size[rows] = codes.size
            self.certificate.violation[rows] = part.certificate.violation
            self.certificate.gap[rows] = part.certificate.gap
            self.squared_residual[rows] = part.squared_residual

    def objective(self, similarity: sparse.csr_array, lam: float, gamma: float) -> float:
        graph = similarity.indptr, similarity.indices, similarity.data
        l1_norm, distances = norm_and_distances(self.codes, *graph)
        return float(self.squared_residual.sum() + lam * l1_norm + gamma * distances)

    def result(self, n_points: int) -> sparse.csr_array:
        codes = self.codes.to_csr(n_points)
        codes.sort_indices()
        return codes


def _gram_matrix(points: Points, most_bytes: int, engine: Engine) -> FloatArray | None:
    """Inner products of all pairs of points; None if they are too many or would not save time."""
    n = points.n
    if 8 * n * n > most_bytes or points.n_features < GRAM_FEATURES:
        return None
    gram = np.empty((n, n))

    def fill(x: NDArray[np.floating], rows: slice) -> None:
        # The matrix is symmetric: what is computed below the diagonal is copied above it.
        products = np.matmul(x[rows].astype(float), x[: rows.stop].T.astype(float, copy=False))
        gram[rows, : rows.stop] = products
        gram[: rows.start, rows] = products[:, : rows.start].T

    # In blocks of a fixed size: another order of the sums would give other bits.
    engine.quiet().map(fill, points.x, list(row_slices(n, BLOCK_SIZE)), label="inner products")
    return gram


def _rough_points(x: FloatArray, engine: Engine) -> FloatArray | None:
    """The points along their leading principal axes; None if these would not save time."""
    n, n_features = x.shape
    if n_features < GRAM_FEATURES or n < FIRST_AXES:
        return None
    [rough] = engine.quiet().map(leading_scores, x, [FIRST_AXES], label="principal axes")
    left_out = 1 - np.einsum("ij,ij->", rough, rough) / n
    return rough if left_out <= MOST_LEFT_OUT else None


def _solve(data: _Data, prepared: Callable[[], _Problems]) -> _Solved:
    """Solve some problems, exactly over all points."""
    problems = prepared()
    rows, ridge = problems.rows, problems.penalty.ridge
    reached = np.maximum(TOL, ROUNDING * ridge)
    resid = np.empty((len(rows), data.x.shape[1]))
    outside = np.zeros(len(rows))
    active = np.arange(len(rows))
    _solve_roughly(data, problems, resid)
    problems, _ = _scan(data, active, problems, resid, reached, outside)
    # All points are now solved to the full tolerance; from then on only those go on that still have
    # violators outside their working sets.
    for _ in range(MAX_SCANS - 1):
        what = active, rows, problems.codes, problems.penalty, TOL, resid
        if data.gram is None:
            solve_pulled(data.x, *what)
        else:
            solve_pulled_by_gram(data.gram, data.x, *what)
        problems, active = _scan(data, active, problems, resid, reached, outside)
        if not len(active):
            break
    codes, certificate = problems.codes, Certificate.empty(len(rows))
    certify_pulled(data.x, rows, codes, problems.penalty, resid, outside, certificate)
    keep_supports(codes)
    return _Solved(rows, codes.trimmed(), certificate, np.einsum("ij,ij->i", resid, resid))


def _solve_roughly(data: _Data, problems: _Problems, resid: FloatArray) -> None:
    """Solve over the points that a code or its neighbours use, and set the residuals."""
    rows, codes, penalty = problems.rows, problems.codes, problems.penalty
    every = np.arange(len(rows))
    if data.rough is None:
        solve_pulled(data.x, every, rows, codes, penalty, FIRST_TOL, resid)
        return
    unused = np.empty((len(rows), data.rough.shape[1]))
    solve_pulled(data.rough, every, rows, codes, penalty, FIRST_TOL, unused)
    renew_residuals(data.x, every, rows, codes, resid)


def _scan(
    data: _Data,
    active: IntArray,
    problems: _Problems,
    resid: FloatArray,
    reached: FloatArray,
    outside: FloatArray,
) -> tuple[_Problems, IntArray]:
    """Scan all points for violators, and let these in.

    Returns the problems with their new working sets, and which of them have violators.
    """
    points = data.points
    most = np.maximum(JOINING_LIMIT, problems.codes.size)
    problems = problems.with_room(int(most[active].max()))
    grown = renew_working_sets(
        data.x,
        active,
        problems.rows,
        resid,
        points.correlations(resid[active]),
        problems.codes,
        problems.penalty,
        reached,
        points.correlation_error,
        most,
        outside,
    )
    return problems, grown
