"""The l1-graph's codes over candidates, for more points than can all be compared.

Half of the candidates of a point are the points that correlate most with it. The other half
correlate with the residual of its code over the first half: they would join next if the code could
use all points. The code is exact over its candidates. For a random sample, a certificate against
*all* points shows how far such codes are from the exact ones.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from srsg.coding.candidates import NONE, CandidateIndex, strongest_of
from srsg.coding.neighbors import in_rows
from srsg.kernels.arrays import Certificate, Codes, InsideTerms, Penalty, SortedLists
from srsg.kernels.candidates import nearest_candidates, worst_candidates
from srsg.kernels.codes import renew
from srsg.kernels.correlations import strongest
from srsg.kernels.lasso import certify, solve_working_sets
from srsg.points import Points, blocks_of_rows, kernel_rows
from srsg.running import Engine, ThreadEngine
from srsg.types import FloatArray, IntArray

N_CANDIDATES = 100
"""Candidates of a point by default."""

N_CERTIFIED = 1000
"""Codes that are certified against all points by default."""

MAX_ROUNDS = 100
"""A limit on the rounds; a few are enough, unless rounding makes the same points join and leave."""

SEARCHED_AT_ONCE = 256
"""Points per search. This does not follow the block size, because the number of points in a search
may change its bits."""


@dataclass(frozen=True)
class ApproximateCodes:
    """Codes of all points over their candidates, and the certificates of a sample.

    Attributes
    ----------
    codes : csr_array of shape (n, n)
        Row i is the code of point i, zero at i.
    neighbors : ndarray of shape (n, n_neighbors)
        The nearest points among the candidates, nearest first, ties by index.
    certified : ndarray of shape (n_certified,)
        The points of the sample, in rising order.
    kkt_violation, dual_gap : ndarray of shape (n_certified,)
        Largest violation of the optimality conditions, and the duality gap, of the codes of
        these points as codes over all points.
    """

    codes: sparse.csr_array
    neighbors: IntArray
    certified: IntArray
    kkt_violation: FloatArray
    dual_gap: FloatArray


def approximate_l1_codes(
    points: Points,
    lam: float,
    *,
    n_candidates: int = N_CANDIDATES,
    n_neighbors: int = 0,
    n_certified: int = N_CERTIFIED,
    random_state: np.random.RandomState | None = None,
    engine: Engine | None = None,
) -> ApproximateCodes:
    """Code every point over its candidates: ``min ||x_i - X z||^2 + lam |z|_1``.

    Parameters
    ----------
    points : Points
        Unit-norm points.
    lam : float
        The paper's ``lambda_l1``.
    n_candidates : int
        How many points a code may choose from. With all other points as candidates, the codes are
        those of :func:`~srsg.coding.l1_codes`.
    n_neighbors : int
        How many nearest neighbours to report along the way.
    n_certified : int
        Size of the random sample that is certified; all points, if they are not more.
    random_state : RandomState, optional
        Draws the sample; the codes do not depend on it.
    engine : Engine, optional
        Where blocks run; threads on all cores by default.

    Returns
    -------
    ApproximateCodes

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.datasets import load_digits
    >>> from srsg.points import unit_points
    >>> from srsg.coding import approximate_l1_codes
    >>> points = unit_points(load_digits().data)
    >>> result = approximate_l1_codes(points, 0.1, n_candidates=50)
    >>> result.certified.shape
    (1000,)
    >>> bool(np.median(result.kkt_violation) < 0.02)  # of a gradient of length 2
    True
    """
    engine = engine or ThreadEngine()
    # A point is never its own candidate.
    n_candidates = min(n_candidates, points.n - 1)
    with engine.progress.stage("index of the points", 1):
        index = CandidateIndex.of(points, n_candidates)
    task = partial(_code, lam=lam, n_candidates=n_candidates, n_neighbors=n_neighbors)
    data = points, index, bool(points.x.min() < 0)
    blocks = blocks_of_rows(points.n, SEARCHED_AT_ONCE)
    coded = engine.map(task, data, blocks, label="codes over candidates")
    codes = sparse.csr_array(sparse.vstack([block for block, _ in coded]))

    sample = np.arange(points.n)
    if points.n > n_certified:
        rng = random_state or np.random.RandomState()
        sample = np.sort(rng.choice(points.n, n_certified, replace=False))
    blocks = [sample[part] for part in blocks_of_rows(len(sample), engine.block_size)]
    label = f"certificates of {len(sample)} points"
    parts = engine.map(partial(_certify, lam=lam), (points, codes), blocks, label=label)
    certificate = Certificate(*(np.concatenate(part) for part in zip(*parts, strict=True)))
    return ApproximateCodes(
        codes=codes,
        neighbors=np.concatenate([neighbors for _, neighbors in coded]),
        certified=sample,
        kkt_violation=certificate.violation,
        dual_gap=certificate.gap,
    )


def approximate_lists(
    points: Points, n_neighbors: int, *, n_candidates: int, engine: Engine | None = None
) -> SortedLists:
    """The nearest neighbours of every point among its candidates, with their squared distances.

    As :func:`~srsg.coding.neighbors.nearest_lists`, but for the few that the index misses.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from srsg.coding.approximate import approximate_lists
    >>> from srsg.points import unit_points
    >>> approximate_lists(unit_points(load_digits().data), 5, n_candidates=30).index.shape
    (1797, 5)
    """
    engine = engine or ThreadEngine()
    n_candidates = min(n_candidates, points.n - 1)
    with engine.progress.stage("index of the points", 1):
        index = CandidateIndex.of(points, n_candidates)
    task = partial(_nearest, n_candidates=n_candidates, n_neighbors=n_neighbors)
    blocks = blocks_of_rows(points.n, SEARCHED_AT_ONCE)
    label = "nearest neighbours among candidates"
    return in_rows(engine.map(task, (points, index), blocks, label=label))


def _nearest(
    data: tuple[Points, CandidateIndex], rows: IntArray, *, n_candidates: int, n_neighbors: int
) -> SortedLists:
    points, index = data
    targets, found = points.x[rows], np.empty((len(rows), n_neighbors), np.int64)
    near = index.search(targets, rows, n_candidates, least=n_neighbors)
    nearest_candidates(points.for_kernels, kernel_rows(targets), near.ids, found)
    apart = targets[:, None].astype(np.float64) - points.x[found]
    squares = np.einsum("ijk,ijk->ij", apart, apart)
    return SortedLists(found, squares, np.full(len(rows), n_neighbors))


def _code(
    data: tuple[Points, CandidateIndex, bool],
    rows: IntArray,
    *,
    lam: float,
    n_candidates: int,
    n_neighbors: int,
) -> tuple[sparse.csr_array, IntArray]:
    """Codes of some points, and their neighbours."""
    points, index, signed = data
    search, targets = index.search, points.x[rows]
    n_rows, half = len(rows), -(-n_candidates // 2)  # rounded up

    # First half: points that correlate with the target. They give a first code.
    near = search(targets, rows, max(half, n_neighbors), least=n_neighbors)
    neighbors = np.empty((n_rows, n_neighbors), np.int64)
    if n_neighbors:
        nearest_candidates(points.for_kernels, kernel_rows(targets), near.ids, neighbors)
    # Coefficients may be negative, but the index finds only positive correlations. Negative ones
    # are found with the negated points. Points without negative entries have none.
    opposite = [search(-targets, rows, half)] if signed else []
    candidates = strongest_of([near, *opposite], half)
    codes, resid = solve_over_candidates(points, targets, Codes.empty(n_rows), candidates, lam)

    # Second half: points that correlate with the residual of the first code, with either sign.
    # Residuals have both signs even where points have not.
    left_over = [search(sign * resid, rows, n_candidates) for sign in (1, -1)]
    candidates = joined(candidates, strongest_of(left_over, n_candidates), n_candidates)
    codes, _ = solve_over_candidates(points, targets, codes, candidates, lam)
    return codes.to_csr(points.n), neighbors


def joined(candidates: IntArray, more: IntArray, most: int) -> IntArray:
    """The candidates of every row and those of ``more`` that it does not have, ``most`` in all.

    Examples
    --------
    >>> import numpy as np
    >>> from srsg.coding.approximate import joined
    >>> joined(np.array([[4, -1]]), np.array([[4, 2, 7, 8]]), 3)
    array([[ 4, -1, -1,  2,  7, -1]])
    """
    known = (more[:, :, None] == candidates[:, None]).any(axis=2)
    both = np.hstack([candidates, np.where(known, NONE, more)])
    both[(both != NONE).cumsum(axis=1) > most] = NONE
    return both


def solve_over_candidates(
    points: Points, targets: NDArray[np.floating], codes: Codes, candidates: IntArray, lam: float
) -> tuple[Codes, FloatArray]:
    """Code every target over its candidates, starting from the code it has; also its residual.

    Codes use few of their candidates, so a working set grows among these, just as the scans let one
    grow among all points.
    """
    codes, resid = codes.resized(candidates.shape[1]), np.empty(targets.shape)
    active = np.arange(len(targets))
    for number in range(1, MAX_ROUNDS + 1):
        solved, resid[active], _ = solved_sets(points, targets[active], codes.take(active), lam)
        some = resid[active], candidates[active]
        worst, count = worst_candidates(points.for_kernels, *some, solved, lam / 2)
        count *= number < MAX_ROUNDS  # after the last round nothing joins
        renewed = renew(solved, worst, count).resized(codes.width)
        for part, new in zip(codes, renewed, strict=True):
            part[active] = new
        active = active[count > 0]
        if not active.size:
            break
    return codes, resid


def solved_sets(
    points: Points, targets: NDArray[np.floating], codes: Codes, lam: float
) -> tuple[Codes, FloatArray, InsideTerms]:
    """Codes over their working sets, the residuals, and the terms of the certificates."""
    n_rows = len(targets)
    penalty = Penalty(np.full(n_rows, lam / 2), np.zeros(n_rows))
    return solve_working_sets(points.for_kernels, kernel_rows(targets), codes, penalty)


def _certify(data: tuple[Points, sparse.csr_array], rows: IntArray, *, lam: float) -> Certificate:
    """Certificates of the codes of some points, as codes over all points.

    It takes one matrix product of their residuals with all points.
    """
    points, all_codes = data
    codes = Codes.from_csr(all_codes[rows])
    codes, resid, inside = solved_sets(points, points.x[rows], codes, lam)
    correlations, error = points.correlations(resid), points.correlation_error
    # The strongest point outside the code decides how far the code is from optimal over all points.
    _, outside = strongest(points.for_kernels, rows, resid, correlations, codes, error)
    return certify(inside, np.full(len(rows), lam / 2), outside)
