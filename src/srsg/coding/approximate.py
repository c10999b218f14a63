"""The l1-graph's codes over candidates, for more points than can all be compared.

The first candidates of a point are points that correlate with it. The next correlate with the
residual of its code over the first: they would join next if the code could use all points. They are
found again for the residual of that code, where they brought much. The code is exact over its own
entries and the last candidates. For a random sample, a certificate against *all* points shows how
far such codes are from the exact ones.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from srsg.coding.candidates import NONE, CandidateIndex
from srsg.coding.neighbors import in_rows
from srsg.kernels.arrays import Certificate, Codes, InsideTerms, Penalty, SortedLists
from srsg.kernels.candidates import code_over_candidates, nearest_candidates
from srsg.kernels.correlations import strongest
from srsg.kernels.lasso import certify, solve_working_sets
from srsg.points import Points, Rows, blocks_of_rows, kernel_rows, row_slices, unique_indices
from srsg.running import Engine, ThreadEngine
from srsg.running.engine import Sized
from srsg.types import FloatArray, IntArray

N_CANDIDATES = 100
"""Candidates of a point at a time, by default."""

N_CERTIFIED = 1000
"""Codes that are certified against all points by default."""

MOST_SEARCHES, ENOUGH = 3, 0.05
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
        index = CandidateIndex.of(points, n_candidates, engine)
    task = Coding(index, n_candidates, n_neighbors, lam)
    blocks = [Block.of(rows) for rows in blocks_of_rows(points.n, SEARCHED_AT_ONCE)]
    coded = engine.relay(task, points, blocks, label="codes over candidates")
    codes = sparse.csr_array(sparse.vstack([block.codes.to_csr(points.n) for block in coded]))

    sample = np.arange(points.n)
    if points.n > n_certified:
        rng = random_state or np.random.RandomState()
        sample = np.sort(rng.choice(points.n, n_certified, replace=False))
    wanted = _Sample(sample, Codes.from_csr(codes[sample]))
    label, scan = f"certificates of {len(sample)} points", _Certificates(lam, engine.block_size)
    parts = engine.scan(scan, points, wanted, len(sample), label=label)
    certificate = Certificate(*(np.concatenate(part) for part in zip(*parts, strict=True)))
    return ApproximateCodes(
        codes=codes,
        neighbors=np.concatenate([block.neighbors.index for block in coded]),
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
        index = CandidateIndex.of(points, n_candidates, engine)
    # Twice as many are looked at, since the index ranks them roughly.
    task = _Nearest(index, min(2 * n_candidates, points.n - 1), n_neighbors)
    blocks = [Block.of(rows) for rows in blocks_of_rows(points.n, SEARCHED_AT_ONCE)]
    label = "nearest neighbours among candidates"
    found = engine.relay(task, points, blocks, label=label)
    return in_rows([block.neighbors for block in found])


@dataclass(frozen=True)
class Block(Sized):
    """Some points on their way to their neighbours and codes.

    Attributes
    ----------
    rows : ndarray of shape (n_rows,)
        The points.
    near : ndarray of shape (n_rows, width)
        What a search with the points found; -1 is nothing.
    active : ndarray of shape (n_active,)
        The places in the block of those that are coded next.
    candidates : ndarray of shape (n_active, width)
        What these may be coded over, besides the points of their codes.
    codes : Codes
        Codes so far.
    neighbors : SortedLists
        Nearest neighbours.
    n_coded : int
        How often the block was coded.
    """

    rows: IntArray
    near: IntArray
    active: IntArray
    candidates: IntArray
    codes: Codes
    neighbors: SortedLists
    n_coded: int = 0

    @classmethod
    def of(cls, rows: IntArray) -> Self:
        """Points that nothing was found for yet."""
        none = np.empty((len(rows), 0), np.int64)
        lists = SortedLists(none, none.astype(np.float64), np.zeros(len(rows), np.int64))
        return cls(rows, none, np.arange(len(rows)), none, Codes.empty(len(rows)), lists)


@dataclass(frozen=True)
class _Nearest:
    """Steps to the nearest neighbours: a search for candidates, and their distances."""

    index: CandidateIndex
    n_candidates: int
    n_neighbors: int

    n_steps: ClassVar[int] = 2

    def needed(self, block: Block) -> IntArray:
        codes = block.codes.take(block.active)
        found = [each[each != NONE] for each in (block.near, block.candidates)]
        return unique_indices(block.rows[block.active], *found, codes.index[codes.used])

    def step(self, rows: Rows, block: Block) -> Block:
        if block.near.shape[1]:
            return self.with_neighbors(rows, block)
        targets = rows.x[rows.places(block.rows)]
        near = self.index.search(targets, block.rows, self.n_candidates, least=self.n_neighbors)
        return replace(block, near=near.ids)

    def with_neighbors(self, rows: Rows, block: Block) -> Block:
        """The block with its nearest neighbours among those that were found."""
        near, shape = _places(rows, block.near), (len(block.rows), self.n_neighbors)
        block = replace(block, near=block.near[:, :0])
        if not self.n_neighbors:
            return block
        targets, found = rows.x[rows.places(block.rows)], np.empty(shape, np.int64)
        nearest_candidates(rows.for_kernels, kernel_rows(targets), near, found)
        apart = targets[:, None].astype(np.float64) - rows.x[found]
        squares = np.einsum("ijk,ijk->ij", apart, apart)
        sizes = np.full(len(targets), self.n_neighbors)
        return replace(block, neighbors=SortedLists(_indices(rows, found), squares, sizes))


@dataclass(frozen=True)
class Coding(_Nearest):
    """Steps to codes: a search with the points, then codes and searches with their residuals."""

    lam: float

    n_steps: ClassVar[int] = 2 + MOST_SEARCHES

    def step(self, rows: Rows, block: Block) -> Block:
        half = -(-self.n_candidates // 2)  # rounded up
        if not block.n_coded and not block.near.shape[1]:
            # First points that correlate with the target: half of those in which neighbours are
            # looked for, since the index ranks them roughly.
            block = super().step(rows, block)
            return replace(block, candidates=block.near[:, :half].copy())
        active = block.active
        if not active.size:
            return block
        own, first = block.rows[active], not block.n_coded
        start = block.codes.take(active)
        known = start._replace(index=rows.places(start.index)), _places(rows, block.candidates)
        targets = kernel_rows(rows.x[rows.places(own)])
        found, resid, joined = code_over_candidates(rows.for_kernels, targets, *known, self.lam / 2)
        found = found._replace(index=_indices(rows, found.index))
        codes = block.codes.resized(max(block.codes.width, found.longest))
        for part, new in zip(codes, found.resized(codes.width), strict=True):
            part[active] = new
        if first:
            block = self.with_neighbors(rows, block)
        # Then points that correlate with the residual of the code, with either sign, as long as
        # they bring much into the code. Residuals have both signs even where points have not.
        more = np.full(len(own), True) if first else joined > ENOUGH
        more &= block.n_coded < MOST_SEARCHES
        active, own, resid = active[more], own[more], resid[more]
        candidates = np.empty((0, 0), np.int64)
        if active.size:
            both = [self.index.search(sign * resid, own, half).ids for sign in (1, -1)]
            candidates = np.hstack(both)
        coded = block.n_coded + 1
        return replace(block, codes=codes, active=active, candidates=candidates, n_coded=coded)


def _places(rows: Rows, index: IntArray) -> IntArray:
    """Places of points among the rows; nothing stays nothing."""
    return np.where(index == NONE, NONE, rows.places(index))


def _indices(rows: Rows, places: IntArray) -> IntArray:
    """Indices of the points in some places; whatever is beyond the rows is padding."""
    return places if rows.index is None else rows.index[np.minimum(places, len(rows.index) - 1)]


def solved_sets(
    points: Points | Rows, targets: NDArray[np.floating], codes: Codes, lam: float
) -> tuple[Codes, FloatArray, InsideTerms]:
    """Codes over their working sets, the residuals, and the terms of the certificates."""
    n_rows = len(targets)
    penalty = Penalty(np.full(n_rows, lam / 2), np.zeros(n_rows))
    return solve_working_sets(points.for_kernels, kernel_rows(targets), codes, penalty, True)


@dataclass(frozen=True)
class _Sample(Sized):
    """Some points and their codes."""

    own: IntArray
    codes: Codes

    def __getitem__(self, chosen: slice) -> Self:
        return type(self)(self.own[chosen], self.codes.take(chosen))


@dataclass(frozen=True)
class _Certificates:
    """A scan for the certificates of codes, as codes over all points.

    It takes one matrix product of their residuals with all points.
    """

    lam: float
    block_size: int

    def rows(self, block: _Sample) -> IntArray:
        return unique_indices(block.own, block.codes.index[block.codes.used])

    def start(self, rows: Rows, block: _Sample) -> tuple[_Sample, FloatArray, InsideTerms]:
        targets = rows.x[rows.places(block.own)]
        codes = block.codes._replace(index=rows.places(block.codes.index))
        codes, resid, inside = solved_sets(rows, targets, codes, self.lam)
        return (
            replace(block, codes=codes._replace(index=_indices(rows, codes.index))),
            resid,
            inside,
        )

    def scan_shard(self, shard: Points, started: tuple[_Sample, FloatArray, Any]) -> FloatArray:
        block, resid, _ = started
        outside, error = np.empty(len(resid)), shard.correlation_error
        for part in row_slices(len(resid), self.block_size):
            own, codes = block.own[part] - shard.first, block.codes.take(part)
            codes = codes._replace(index=codes.index - shard.first)
            about = own, resid[part], shard.correlations(resid[part]), codes, error
            # The strongest point outside the code decides how far the code is from optimal over
            # all points.
            outside[part] = strongest(shard.for_kernels, *about)[1]
        return outside

    def finish(
        self, started: tuple[Any, Any, InsideTerms], found: Sequence[FloatArray]
    ) -> Certificate:
        outside = np.max(found, axis=0)
        return certify(started[2], np.full(len(outside), self.lam / 2), outside)
