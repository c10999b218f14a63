"""The l1-graph's codes, eq. (1) of the paper: exact, certified, at the cost of few scans.

Each point is coded over a small working set. A *scan*, one matrix product of the residuals of
a block of points with all points, shows which points violate the optimality conditions. The worst
of these join the working set, until there are none. In the first scan the residuals are the points
themselves, so the nearest neighbours are a by-product. Float64 decides which points join, so every
working set grows in the same way, whatever the blocks are and wherever the points lie.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.sparse.csgraph import connected_components
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state

from srsg.coding.approximate import approximate_l1_codes
from srsg.coding.neighbors import best_of, in_rows
from srsg.graph import Coded
from srsg.kernels.arrays import (
    NO_PULL,
    Certificate,
    Codes,
    InsideTerms,
    Penalty,
    Pull,
    ScanBounds,
    SortedLists,
)
from srsg.kernels.codes import renew
from srsg.kernels.correlations import nearest, violators
from srsg.kernels.lasso import certify, solve_working_sets
from srsg.points import Points, Queries, Rows, kernel_rows, row_slices
from srsg.principal import (
    POINTS_PER_FEATURE,
    PrincipalAxes,
    along,
    bytes_of_axes,
    principal_axes,
)
from srsg.running import Engine, ThreadEngine
from srsg.running.checking import Rule, require
from srsg.running.engine import Sized
from srsg.running.progress import NO_STORE, Store
from srsg.running.warnings import warn_user
from srsg.types import FloatArray, IntArray, RandomState

MAX_SCANS = 100
"""A limit on the scans. Codes usually take 3 to 10. A tiny lam may take more than anyone can wait
for, and rounding may make the same points join and leave forever."""

MOST_ROUNDS = 12
"""Rounds in which rows that are close become groups. Groups of points at least halve in number. New
vectors are in no working set, so a group of theirs may take in one point after the other instead of
another group."""

SAME = 1e-12
"""Coefficients that differ by no more than this are taken for the same."""

ROUNDING = 1e-14
"""Rounding of the inner products of unit vectors: no smaller violation means anything."""


@dataclass(frozen=True)
class L1Codes:
    """Codes of all points or of all queries, their certificates and the nearest neighbours.

    Attributes
    ----------
    codes : csr_array of shape (n, n) or (n_queries, n)
        Row i is the code of point i, zero at i, or that of query i.
    kkt_violation, dual_gap : ndarray of shape (n,)
        Largest violation of the optimality conditions, and the duality gap.
    neighbors : ndarray of shape (n, n_neighbors)
        Nearest first, ties by index.
    n_scans : int
        How many scans it took; most points are done after the first few.
    """

    codes: sparse.csr_array
    kkt_violation: FloatArray
    dual_gap: FloatArray
    neighbors: IntArray
    n_scans: int


def l1_codes(
    points: Points,
    lam: float | FloatArray,
    *,
    ridge: float | FloatArray = 0.0,
    queries: Points | None = None,
    n_neighbors: int = 0,
    tol: float = 1e-10,
    engine: Engine | None = None,
) -> L1Codes:
    """Code every point over the others: ``min ||x_i - X z||^2 + lam |z|_1``, ``z_i = 0``.

    New points, the queries, are coded over all points instead.

    Parameters
    ----------
    points : Points
        Unit-norm points.
    lam : float or ndarray of shape (n,)
        The paper's ``lambda_l1``: one for all points, or one for each.
    ridge : float or ndarray of shape (n,)
        Adds ``ridge |z|^2`` to the objective: the elastic net.
    queries : Points, optional
        What is coded over the points; by default the points themselves, each over all others.
    n_neighbors : int
        How many nearest neighbours to report along the way; all, if there are fewer.
    tol : float
        Points that violate the optimality conditions by more than this join the working set. If
        some still do after 100 scans, a ConvergenceWarning says how many codes are affected and
        how far they are from optimal.
    engine : Engine, optional
        Where blocks run; threads on all cores by default.

    Returns
    -------
    L1Codes

    Examples
    --------
    >>> from srsg.points import unit_points
    >>> from srsg.coding.l1 import l1_codes
    >>> result = l1_codes(unit_points([[1.0, 0.0], [1.0, 0.1], [0.0, 1.0]]), 0.1)
    >>> result.codes.nnz
    5
    >>> bool(result.kkt_violation.max() < 1e-9)
    True
    """
    engine = engine or ThreadEngine()
    wanted = Queries.of(points, queries)
    n_neighbors = min(n_neighbors, points.n - (queries is None))
    # Copies, because kernels take contiguous arrays, which broadcast views are not.
    half_lam = np.broadcast_to(np.asarray(lam, dtype=np.float64) / 2, len(wanted)).copy()
    ridges = np.broadcast_to(np.asarray(ridge, dtype=np.float64), len(wanted)).copy()
    start = WorkingSets.empty(half_lam, ridges)
    # The key in the store names everything that the codes depend on. Blocks and workers are not
    # part of it: they change no bit.
    keep = engine.store.of(
        "l1 codes",
        lambda: engine.fingerprint(points),
        wanted.new,
        half_lam,
        ridges,
        n_neighbors,
        tol,
    )
    solved = solve_exactly(points, wanted, start, n_neighbors, tol, engine, keep)
    warn_of_violations(solved.violation, tol, f"{solved.n_scans} scans")
    return L1Codes(
        codes=solved.sets.codes.to_csr(points.n),
        kkt_violation=solved.violation,
        dual_gap=solved.gap,
        neighbors=solved.neighbors,
        n_scans=solved.n_scans,
    )


def certified_l1_codes(
    points: Points,
    lam: float,
    *,
    n_neighbors: int,
    n_candidates: int | None,
    random_state: RandomState,
    run: Engine,
) -> Coded:
    """The l1 codes of all points, their neighbours and their certificates.

    Parameters
    ----------
    points : Points
        Unit-norm points.
    lam : float
        The paper's ``lambda_l1``.
    n_neighbors : int
        How many nearest neighbours to report; fewer if there are fewer points.
    n_candidates : int or None
        Code every point over this many candidates, found by an index; None takes all points.
    random_state : int, RandomState or None
        Draws the sample that is certified, for codes over candidates.
    run : Engine
        Where the work runs.

    Returns
    -------
    Coded
    """
    if n_candidates is None:
        found: Any = l1_codes(points, lam, n_neighbors=n_neighbors, engine=run)
        certified, n_scans = np.arange(points.n), found.n_scans
    else:
        found = approximate_l1_codes(
            points,
            lam,
            n_candidates=n_candidates,
            random_state=check_random_state(random_state),
            n_neighbors=min(n_neighbors, points.n - 1),
            engine=run,
        )
        certified, n_scans = found.certified, 0
    learnt = {
        "certified": certified,
        "kkt_violation": found.kkt_violation,
        "dual_gap": found.dual_gap,
        "n_scans": n_scans,
    }
    return Coded(found.codes, found.neighbors, learnt=learnt)


@dataclass(frozen=True)
class SolvedSets:
    """Working sets whose codes are optimal over all points, in order of their rows."""

    sets: WorkingSets
    violation: FloatArray
    gap: FloatArray
    neighbors: IntArray
    n_scans: int


def solve_exactly(
    points: Points,
    queries: Queries,
    active: WorkingSets,
    n_neighbors: int,
    tol: float,
    engine: Engine,
    keep: Store = NO_STORE,
    scan: Callable[..., L1Scan] | None = None,
) -> SolvedSets:
    """Let violators into the working sets until there are none, or after ``MAX_SCANS``.

    ``scan`` makes a scan of another kind than :class:`L1Scan`.
    """
    points = with_principal_axes(points, active, engine)
    scanned: list[Scanned] = []
    n_scans = n_kept = 0
    penalty = active.penalty
    while len(active.rows):
        n_scans += 1
        # Half of the tolerance, because the scans check the conditions of half the objective. It
        # is never below rounding, or the scans might not end. Only the first scan can find
        # neighbours, because later residuals are not the points themselves.
        task = (scan or L1Scan)(
            max(tol, ROUNDING) / 2,
            n_neighbors if n_scans == 1 else 0,
            engine.block_size,
            points.n,
            last=n_scans >= MAX_SCANS,
        )
        sizes = {"queries": len(queries.own), "points": points.n, "neighbors": task.n_neighbors}
        make = partial(Scanned.from_arrays, penalty=penalty, own=queries.own, active=active.rows)
        kept = keep.load(f"scan-{n_scans}", KEPT_SCAN, sizes, make) if keep.keeps else []
        n_kept += len(kept)
        # An earlier run may have used other block sizes: what counts is which rows it has done.
        rest = active.without([block.rows for block in kept]) if kept else active
        label = f"codes, scan {n_scans} of {len(active)} points"
        save = partial(_save, keep, n_scans) if keep.keeps else None
        blocks = kept + _scan(task, points, queries, rest, engine, label, save)
        if n_scans == 1:
            neighbors = np.empty((len(queries.own), n_neighbors), np.int64)
            for block in blocks:
                neighbors[block.rows] = block.neighbors
        # Each scan has fewer rows than the one before: those without violators are done. Nothing
        # else of the blocks is kept: working sets of all scans would take several times the memory.
        del active, rest
        active = WorkingSets.concatenate([block.going_on for block in blocks])
        scanned += [block.without_unfinished() for block in blocks]
        del kept, blocks
        if n_scans == 1 and (points.in_shards or len(active) > engine.block_size):
            # Working sets are known now, so points that share members can go into the same block.
            own = queries.own[active.rows]
            active = active[locality_order(own, active.codes, points.n, engine.block_size)]
    sets, violation, gap = _certified(scanned)
    if n_kept:
        # Codes from a store are not taken on trust: one more scan certifies them. Those that are
        # not optimal, or not what was claimed, are solved for again. The others must not change in
        # their last bits, which solving would do where the penalty is below rounding.
        check = L1Scan(max(tol, ROUNDING) / 2, 0, engine.block_size, points.n, last=True)
        for solves in (False, True):
            label = f"certificates of {len(sets.rows)} points"
            task = replace(check, solves=solves)
            again = _certified(_scan(task, points, queries, sets, engine, label))
            changes = (
                abs(again[0].codes.to_csr(points.n) - sets.codes.to_csr(points.n)),
                abs(again[1] - violation),
                abs(again[2] - gap),
            )
            is_same = max(change.max() for change in changes) <= SAME
            if is_same and (solves or again[1].max() <= max(tol, ROUNDING)):
                break
        else:
            sets, violation, gap = again
    # Blocks finished in the order of the scans, so everything is put back in the order of the rows.
    order = np.argsort(sets.rows)
    return SolvedSets(sets[order], violation[order], gap[order], neighbors, n_scans)


def _certified(blocks: Sequence[Scanned]) -> tuple[WorkingSets, FloatArray, FloatArray]:
    """The codes of several blocks that are done, their violations and gaps."""
    certificates = zip(*(block.certificate for block in blocks), strict=True)
    violation, gap = map(np.concatenate, certificates)
    return WorkingSets.concatenate([block.done for block in blocks]), violation, gap


def with_principal_axes(points: Points, sets: WorkingSets, engine: Engine) -> Points:
    """The points, with principal axes if these make the scans cheaper."""
    # Points on a cluster or with few non-zeros are scanned as they are.
    if points.in_shards or sparse.issparse(points.x):
        return points
    n, n_features = points.x.shape
    few = min(n, len(sets)) < POINTS_PER_FEATURE * n_features
    if few or bytes_of_axes(n, n_features) > engine.spare_memory:
        return points
    strength, label = float(sets.penalty.half_lam.min()), "principal axes"
    [axes] = engine.quiet().map(principal_axes, points.x, [strength], label=label)
    if axes is None:
        return points
    scores = np.empty((axes.shape[1], points.n), np.float32)
    rest = np.empty(points.n, np.float32)

    def project(x: NDArray, rows: slice) -> None:
        some, rest[rows] = along(axes, x[rows])
        scores[:, rows] = some.T

    engine.map(project, points.x, row_slices(points.n), label=label)
    return replace(points, principal=PrincipalAxes.of(axes, scores, rest, strength))


def _scan(
    task: L1Scan,
    points: Points,
    queries: Queries,
    sets: WorkingSets,
    engine: Engine,
    label: str,
    done: Callable[[Scanned], None] | None = None,
) -> list[Scanned]:
    """One scan of some queries, in blocks that suit the engine."""
    wanted = ScanBlock(queries[sets.rows], sets)
    return engine.scan(task, points, wanted, len(sets.rows), label=label, done=done)


def _save(keep: Store, number: int, block: Scanned) -> None:
    keep.save(f"scan-{number}", block.arrays())


def locality_order(own: IntArray, codes: Codes, n_points: int, group_size: int) -> IntArray:
    """An order in which rows that are coded over each other, or over the same points, are close.

    Every row joins the group of the first point in its working set. Then every group joins the
    group that comes first in the working set of one of its rows, and so on until groups are large.
    Blocks of points can be coded in any order. In this one, fewer rows have to be fetched from
    other workers, and those that are fetched stay in the processor's cache.

    Parameters
    ----------
    own : ndarray of shape (n_rows,)
        The point that each row codes, or -1 for a new vector.
    codes : Codes
        Working sets, the closest point first.
    n_points : int
        Number of points.
    group_size : int
        Mean size of the groups at the end.

    Returns
    -------
    ndarray of shape (n_rows,)

    Examples
    --------
    >>> import numpy as np
    >>> from srsg.kernels.arrays import Codes
    >>> from srsg.coding.l1 import locality_order
    >>> index = np.array([[2], [3], [0], [1]])
    >>> codes = Codes(index, np.zeros((4, 1)), np.ones(4, int))
    >>> locality_order(np.arange(4), codes, 4, 2)
    array([0, 2, 1, 3])
    """
    n_rows = len(own)
    # New vectors get numbers after those of the points, because no working set contains them.
    vertex = np.where(own < 0, n_points + np.arange(n_rows), own)
    group = np.arange(n_points + n_rows)
    nested = [vertex]
    for _ in range(MOST_ROUNDS):
        if len(np.unique(nested[-1])) * group_size <= n_rows:
            break
        mine, theirs = group[vertex], group[codes.index]
        outside = codes.used & (theirs != mine[:, None])
        linked = np.flatnonzero(outside.any(axis=1))
        if not linked.size:
            break
        # The first member of each row's working set that is in another group, and for each group
        # the row with the lowest such rank. Sorting by both keys makes ties go by row.
        rank = outside[linked].argmax(axis=1)
        closest = np.lexsort((rank, mine[linked]))
        groups, first = np.unique(mine[linked][closest], return_index=True)
        row = linked[closest[first]]
        other = theirs[row, rank[closest[first]]]
        links = sparse.coo_array((np.ones(len(row)), (groups, other)), shape=2 * group.shape)
        _, component = connected_components(links, directed=False)
        # Groups that follow each other in a chain or a circle all become one.
        group = component[group]
        nested.append(group[vertex])
    # ``lexsort`` sorts by its last key first: by the largest groups, then by the smaller ones
    # within each.
    return np.lexsort(nested)


def warn_of_violations(violation: FloatArray, tol: float, after: str) -> None:
    """Warn if some codes violate the optimality conditions by more than ``tol``.

    Parameters
    ----------
    violation : ndarray
        Largest violation of each code.
    tol : float
        What was asked for.
    after : str
        The work that was done, such as "100 scans".

    Examples
    --------
    >>> import warnings
    >>> import numpy as np
    >>> from srsg.coding.l1 import warn_of_violations
    >>> with warnings.catch_warnings(record=True) as caught:
    ...     warnings.simplefilter("always")
    ...     warn_of_violations(np.array([0.0, 3e-9]), 1e-10, "100 scans")
    >>> print(caught[0].message)
    1 of 2 codes not optimal to tol=1e-10 after 100 scans: the largest violation is 3e-09.
    """
    # Not "greater than": a violation that overflowed to NaN is not within the tolerance either.
    beyond = violation[~(violation <= tol + ROUNDING)]
    if len(beyond):
        warn_user(
            f"{len(beyond)} of {len(violation)} codes not optimal to tol={tol:.3g} after "
            f"{after}: the largest violation is {beyond.max():.3g}.",
            ConvergenceWarning,
        )


FEWEST_JOINING, MOST_JOINING, POINTS_PER_JOINING = 16, 48, 600
"""How many violators may join a working set after a scan; half its size, if that is more. If more
could join, the larger Gram matrices would cost more than the scans they save. The more points
there are, the more a scan costs, while a Gram matrix costs the same: so one may join for every 600
points, within the two limits. Measured on MNIST with 10,000 and with 70,000 points."""


UNIT_ERROR = 0.01
"""The squared length of a point differs from 1 by less than this."""


@dataclass(frozen=True)
class WorkingSets(Sized):
    """Unfinished codes: every query with the few points it is coded over.

    Query ``rows[p]`` is coded over the points in row p of ``codes``, in order of joining.
    """

    rows: IntArray
    codes: Codes
    penalty: Penalty

    @classmethod
    def empty(cls, half_lam: FloatArray, ridge: FloatArray) -> Self:
        """Empty working sets for all queries."""
        n_rows = len(half_lam)
        return cls(np.arange(n_rows), Codes.empty(n_rows), Penalty(half_lam, ridge))

    @classmethod
    def concatenate(cls, parts: Sequence[Self]) -> Self:
        """The working sets of several blocks, one below the other."""
        # One part is the usual case for small data: nothing is copied.
        if len(parts) == 1:
            return parts[0]
        rows = np.concatenate([part.rows for part in parts])
        penalties = zip(*(part.penalty for part in parts), strict=True)
        codes = Codes.concatenate([part.codes for part in parts])
        return cls(rows, codes, Penalty(*map(np.concatenate, penalties)))

    def __len__(self) -> int:
        return len(self.rows)

    def __getitem__(self, chosen: slice | NDArray) -> Self:
        codes = Codes._make(part[chosen] for part in self.codes)
        penalty = Penalty(*(part[chosen] for part in self.penalty))
        return replace(self, rows=self.rows[chosen], codes=codes, penalty=penalty)

    def without(self, rows: Sequence[IntArray]) -> Self:
        """The working sets of all rows but these."""
        return self[~np.isin(self.rows, np.concatenate(rows))]

    def arrays(self, prefix: str) -> dict[str, NDArray]:
        """What a store keeps of them, by names that start with ``prefix``."""
        arrays = {"rows": self.rows, **self.codes._asdict()}
        return {prefix + name: array for name, array in arrays.items()}

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, NDArray], prefix: str, penalty: Penalty) -> Self:
        """The same, made of these arrays and the penalties of all queries."""
        codes = Codes(*(arrays[prefix + name] for name in Codes._fields))
        rows = arrays[prefix + "rows"]
        return cls(rows, codes, Penalty(penalty.half_lam[rows], penalty.ridge[rows]))


@dataclass(frozen=True)
class ScanBlock(Sized):
    """Some of the queries, with their working sets."""

    queries: Queries
    sets: WorkingSets

    def __getitem__(self, chosen: slice) -> Self:
        return type(self)(self.queries[chosen], self.sets[chosen])


@dataclass(frozen=True)
class _SolvedBlock(Sized):
    """A block whose codes are optimal over their working sets, but perhaps not over all points."""

    own: IntArray
    sets: WorkingSets
    resid: FloatArray
    inside: InsideTerms


@dataclass(frozen=True)
class _ShardView(Sized):
    """What a scan of one shard tells a block.

    The nearest neighbours of its queries in the shard, the violators of its codes, and the largest
    correlation of each residual with a point outside the working set.
    """

    neighbors: SortedLists
    violators: SortedLists
    outside: FloatArray

    @classmethod
    def in_rows(cls, parts: Sequence[Self]) -> Self:
        """What several parts of a block were told, one below the other."""
        near, worst = [part.neighbors for part in parts], [part.violators for part in parts]
        return cls(in_rows(near), in_rows(worst), np.concatenate([part.outside for part in parts]))

    @classmethod
    def of_all(cls, views: Sequence[Self]) -> Self:
        """What all shards tell together: the worst of all are among the worst of each."""
        near, worst = [view.neighbors for view in views], [view.violators for view in views]
        return cls(best_of(near), best_of(worst), np.max([view.outside for view in views], axis=0))


@dataclass(frozen=True)
class Scanned(Sized):
    """A block after a scan: queries that need another scan, and those that are done, certified."""

    rows: IntArray
    neighbors: IntArray
    going_on: WorkingSets
    done: WorkingSets
    certificate: Certificate

    def without_unfinished(self) -> Self:
        """Only what is done."""
        return replace(self, going_on=self.done, neighbors=self.neighbors[:0].copy())

    def arrays(self) -> dict[str, NDArray]:
        """What a store keeps of it."""
        return {
            "rows": self.rows,
            "neighbors": self.neighbors,
            **self.going_on.arrays("going_on_"),
            **self.done.arrays("done_"),
            **self.certificate._asdict(),
        }

    @classmethod
    def from_arrays(
        cls, arrays: Mapping[str, NDArray], penalty: Penalty, own: IntArray, active: IntArray
    ) -> Self:
        """The same, made of these arrays and of the penalties and indices of all queries.

        Raises
        ------
        InvalidArrayError
            If its rows are not among the active ones, or no scan leaves such a working set.
        """
        going_on = WorkingSets.from_arrays(arrays, "going_on_", penalty)
        done = WorkingSets.from_arrays(arrays, "done_", penalty)
        rows = np.sort(np.concatenate([going_on.rows, done.rows]))
        good = np.isin(rows, active).all() and np.diff(rows).all()
        require(good, "rows", "are done already, or come twice")
        same = np.array_equal(rows, np.sort(arrays["rows"]))
        require(same, "rows", "are not those of the codes")
        nearest = np.sort(arrays["neighbors"])
        itself = (nearest == own[arrays["rows"]][:, None]).any()
        require(not itself and np.diff(nearest).all(), "neighbors", "has a point twice or itself")
        for sets in (going_on, done):
            used, index = sets.codes.used, sets.codes.index
            itself = used & (index == own[sets.rows][:, None])
            require(not itself.any(), "index", "has a point that codes itself")
            keys = np.arange(len(sets))[:, None] * (index.max(initial=0) + 1) + index
            require(len(np.unique(keys[used])) == used.sum(), "index", "has a point twice")
            # The objective is at most that of an empty code, 1, so lam |z| is at most 1.
            weights = 2 * sets.penalty.half_lam[:, None] * np.abs(sets.codes.value)
            require(weights.max(initial=0) < 1 + UNIT_ERROR, "value", "is too large for a code")
        certificate = Certificate(arrays["violation"], arrays["gap"])
        return cls(arrays["rows"], arrays["neighbors"], going_on, done, certificate)


def _rules_of_sets(prefix: str, rows: str, width: str) -> dict[str, Rule]:
    return {
        f"{prefix}rows": Rule("int", (rows,), least=0, below="queries"),
        f"{prefix}index": Rule("int", (rows, width), least=0, below="points"),
        f"{prefix}value": Rule("float", (rows, width)),
        f"{prefix}size": Rule("int", (rows,), least=0, most=width),
    }


KEPT_SCAN: dict[str, Rule] = {
    "rows": Rule("int", ("rows",), least=0, below="queries"),
    "neighbors": Rule("int", ("rows", "neighbors"), least=0, below="points"),
    **_rules_of_sets("going_on_", "going on", "their width"),
    **_rules_of_sets("done_", "done", "width"),
    "violation": Rule("float", ("done",), least=0),
    "gap": Rule("float", ("done",), least=0),
}
"""Rules for the arrays of a :class:`Scanned` that are read from a store."""


@dataclass(frozen=True)
class L1Scan:
    """Code a block over its working sets, scan all points for violators, and let these in.

    Parameters
    ----------
    tol : float
        A point violates the conditions if its correlation exceeds ``lam / 2`` by more than this.
    n_neighbors : int
        How many nearest neighbours to find; only the first scan can do that, when working sets
        are empty.
    block_size : int
        Queries that are compared with a shard at once.
    n_points : int
        Number of points in all shards.
    last : bool
        Whether all queries are done after this scan, even those with violators.
    solves : bool
        Whether codes are solved for, or only certified as they are.
    pull : Pull
        What adds to the correlations of each query with the points.
    """

    tol: float
    n_neighbors: int
    block_size: int
    n_points: int
    last: bool = False
    solves: bool = True
    pull: Pull = NO_PULL

    def rows(self, block: ScanBlock) -> IntArray:
        """The points that :meth:`start` needs: the queries themselves and their working sets."""
        codes = block.sets.codes
        return block.queries.needed(codes.index[codes.used])

    def start(self, rows: Rows, block: ScanBlock) -> _SolvedBlock:
        """Code the block over its working sets: small problems, without a look at other points."""
        # Only some rows of the points are here, so the kernel gets their places instead of the
        # points' indices.
        targets = kernel_rows(block.queries.vectors(rows))
        start = block.sets.codes._replace(index=rows.places(block.sets.codes.index))
        solved = self.solve(block, rows.for_kernels, targets, start, block.sets.penalty)
        codes, resid, inside = solved
        if rows.index is not None:
            codes = codes._replace(index=rows.index[codes.index])
        return _SolvedBlock(block.queries.own, replace(block.sets, codes=codes), resid, inside)

    def solve(self, block: ScanBlock, *problems: Any) -> Any:
        """Solve the problems of a block, given as :func:`solve_working_sets` takes them."""
        return solve_working_sets(*problems, self.solves)

    def scan_shard(self, shard: Points, started: _SolvedBlock) -> _ShardView:
        """Compare the residuals with all points of a shard."""
        sets, most = started.sets, self.joining_limits(started.sets)
        views = []
        # A part at a time: the correlations of all queries with all points might not fit in memory.
        # One array serves all parts: allocating it again may cost as much as the product itself.
        room = np.empty((min(self.block_size, len(most)), shard.n), np.float32)
        for first in range(0, len(most), self.block_size):
            rows = slice(first, first + self.block_size)
            own, resid, part = started.own[rows], started.resid[rows], sets[rows]
            correlations, left_out = shard.bounded_correlations(resid, room)
            bounds = ScanBounds(shard.first, self.tol, shard.correlation_error, left_out)
            # In the first scan working sets are empty: the residuals are the points themselves.
            # Neighbours come first, because `violators` overwrites the correlations.
            near = nearest(shard.for_kernels, resid, own, correlations, bounds, self.n_neighbors)
            worst, outside = violators(
                shard.for_kernels,
                own,
                resid,
                correlations,
                part.codes,
                part.penalty.half_lam,
                self.pull,
                part.rows,
                bounds,
                most[rows],
                int(most.max()),
            )
            views.append(_ShardView(near, worst, outside))
        return views[0] if len(views) == 1 else _ShardView.in_rows(views)

    def finish(self, started: _SolvedBlock, views: Sequence[_ShardView]) -> Scanned:
        """Put together what the shards show, and let the worst violators join."""
        sets, most = started.sets, self.joining_limits(started.sets)
        view = views[0] if len(views) == 1 else _ShardView.of_all(views)
        certificate = certify(started.inside, sets.penalty.half_lam, view.outside)
        joining = np.minimum(view.violators.size, 0 if self.last else most)
        # Points that a code does not use would only make its next problem larger, so they leave.
        # They may come back, but the objective falls from scan to scan, so this ends.
        sets = replace(sets, codes=renew(sets.codes, view.violators.index, joining))
        # No violator in any shard means that the code is optimal over all points, not only over its
        # working set.
        ended = joining == 0
        final = Certificate(*(part[ended] for part in certificate))
        return Scanned(sets.rows, view.neighbors.index, sets[~ended], sets[ended], final)

    def joining_limits(self, sets: WorkingSets) -> IntArray:
        """How many points may join each working set."""
        by_points = min(int(self.n_points / POINTS_PER_JOINING), MOST_JOINING)
        # A set may also grow by half, so large ones need few scans.
        return np.maximum(max(FEWEST_JOINING, by_points), sets.codes.size // 2)
