"""The l1-graph's codes over candidates, for more points than can all be compared.

The first candidates of a point are points that correlate with it. The next correlate with the
residual of its code over the first: they would join next if the code could use all points. They are
found again for the residual of that code, where they brought much. The code is exact over its own
entries and the last candidates. For a random sample, a certificate against *all* points shows how
far such codes are from the exact ones.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from srsg.coding.candidates import CandidateIndex
from srsg.coding.neighbors import in_rows
from srsg.kernels.arrays import Certificate, Codes, InsideTerms, Penalty, SortedLists
from srsg.kernels.candidates import code_over_candidates, nearest_candidates
from srsg.kernels.correlations import strongest
from srsg.kernels.lasso import certify, solve_working_sets
from srsg.points import Points, blocks_of_rows, kernel_rows
from srsg.running import Engine, ThreadEngine
from srsg.types import FloatArray, IntArray

N_CANDIDATES = 100
"""Candidates of a point at a time, by default."""

N_CERTIFIED = 1000
"""Codes that are certified against all points by default."""

MOST_SEARCHES, ENOUGH = 2, 0.05
"""Searches by the residual of a code, at most, and the share of the code's weight at the points of
the last one that asks for another."""

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
        How many points a code may choose from at a time. With all other points as candidates, the
        codes are those of :func:`~srsg.coding.l1_codes`.
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
    blocks = blocks_of_rows(points.n, SEARCHED_AT_ONCE)
    coded = engine.map(task, (points, index), blocks, label="codes over candidates")
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
    data: tuple[Points, CandidateIndex],
    rows: IntArray,
    *,
    lam: float,
    n_candidates: int,
    n_neighbors: int,
) -> tuple[sparse.csr_array, IntArray]:
    """Codes of some points, and their neighbours."""
    points, index = data
    search, targets, half = index.search, points.x[rows], -(-n_candidates // 2)  # rounded up

    # First points that correlate with the target: half of those in which neighbours are looked for,
    # since the index ranks them roughly.
    near = search(targets, rows, n_candidates, least=n_neighbors)
    neighbors = np.empty((len(rows), n_neighbors), np.int64)
    if n_neighbors:
        nearest_candidates(points.for_kernels, kernel_rows(targets), near.ids, neighbors)
    start = Codes.empty(len(rows)), near.ids[:, :half].copy()
    codes, resid, _ = code_over_candidates(
        points.for_kernels, kernel_rows(targets), *start, lam / 2
    )

    # Then points that correlate with the residual of the code, with either sign, as long as they
    # bring much into the code. Residuals have both signs even where points have not.
    active = np.arange(len(rows))
    for _ in range(MOST_SEARCHES):
        candidates = [search(sign * resid, rows[active], half).ids for sign in (1, -1)]
        start = codes.take(active), np.hstack(candidates)
        found, resid, joined = code_over_candidates(
            points.for_kernels, kernel_rows(targets[active]), *start, lam / 2
        )
        codes = codes.resized(max(codes.width, found.longest))
        for part, new in zip(codes, found.resized(codes.width), strict=True):
            part[active] = new
        active, resid = active[joined > ENOUGH], resid[joined > ENOUGH]
        if not active.size:
            break
    return codes.to_csr(points.n), neighbors


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
