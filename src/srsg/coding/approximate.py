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

from srsg.coding.candidates import CandidateIndex, strongest_of
from srsg.kernels.arrays import Certificate, Codes, InsideTerms, Penalty
from srsg.kernels.candidates import add_candidates, nearest_candidates, solve_over_candidates
from srsg.kernels.codes import keep_supports, residuals
from srsg.kernels.correlations import strongest
from srsg.kernels.lasso import certify, solve_working_sets
from srsg.points import Points, blocks_of_rows, kernel_rows
from srsg.running import Engine, ThreadEngine
from srsg.types import FloatArray, IntArray

N_CANDIDATES = 100
"""Candidates of a point by default."""

N_CERTIFIED = 1000
"""Codes that are certified against all points by default."""

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
    # As the kernels take them: one type for both precisions.
    x, coded = points.for_kernels, kernel_rows(targets)
    codes = Codes.empty(len(rows), n_candidates)

    # First half: points that correlate with the target. They give a first code.
    half = -(-n_candidates // 2)  # rounded up
    near = search(targets, rows, max(half, n_neighbors), least=n_neighbors)
    neighbors = np.empty((len(rows), n_neighbors), np.int64)
    if n_neighbors:
        nearest_candidates(x, coded, near.ids, neighbors)
    # Coefficients may be negative, but the index finds only positive correlations. Negative ones
    # are found with the negated points. Points without negative entries have none.
    opposite = [search(-targets, rows, half)] if signed else []
    add_candidates(codes, strongest_of([near, *opposite], half), half)
    solve_over_candidates(x, coded, codes, lam / 2)

    # Second half: points that correlate with the residual of the first code, with either sign.
    # Residuals have both signs even where points have not.
    resid = residuals(x, coded, codes)
    left_over = [search(sign * resid, rows, n_candidates) for sign in (1, -1)]
    add_candidates(codes, strongest_of(left_over, n_candidates), n_candidates)
    solve_over_candidates(x, coded, codes, lam / 2)
    return _polish(points, targets, codes, lam)[0].to_csr(points.n), neighbors


def _certify(data: tuple[Points, sparse.csr_array], rows: IntArray, *, lam: float) -> Certificate:
    """Certificates of the codes of some points, as codes over all points.

    It takes one matrix product of their residuals with all points.
    """
    points, all_codes = data
    codes = Codes.from_csr(all_codes[rows])
    codes, resid, inside = _polish(points, points.x[rows], codes, lam)
    correlations, error = points.correlations(resid), points.correlation_error
    # The strongest point outside the code decides how far the code is from optimal over all points.
    _, outside = strongest(points.for_kernels, rows, resid, correlations, codes, error)
    return certify(inside, np.full(len(rows), lam / 2), outside)


def _polish(
    points: Points, targets: NDArray[np.floating], codes: Codes, lam: float
) -> tuple[Codes, FloatArray, InsideTerms]:
    """Solve once more on the sorted supports, so that the codes depend on nothing else.

    Returns the codes, the residuals, and the terms of the certificates.
    """
    n_rows = len(targets)
    penalty = Penalty(np.full(n_rows, lam / 2), np.zeros(n_rows))
    keep_supports(codes)
    return solve_working_sets(points.for_kernels, kernel_rows(targets), codes, penalty)
