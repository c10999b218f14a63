"""Algorithm 2 of the paper: coordinate descent over the points, each step by FPGD-SP."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Self

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.sparse.linalg import svds

from srsg.coding.levels import independent_stretches
from srsg.graph import neighbor_graph
from srsg.kernels.arrays import Codes, KeptProblems, Neighbors, SweepOutcome
from srsg.kernels.codes import residuals, support_distances
from srsg.kernels.fpgd_sp import Settings
from srsg.kernels.sweep import SweepData, sweep_points
from srsg.points import Points, Queries, blocks_of_rows, kernel_rows
from srsg.running import Engine, ThreadEngine, serial_linear_algebra
from srsg.running.checking import Rule, checked_csr, csr_arrays, require, rules_of_csr
from srsg.running.engine import Threads
from srsg.running.progress import Stage
from srsg.types import FloatArray, IntArray, Stop


@dataclass(frozen=True)
class SRSGCodes:
    """What the sweeps ended with.

    Attributes
    ----------
    codes : csr_array of shape (n, n)
        Row i is the code of point i.
    objective : ndarray of shape (n_sweeps + 1,)
        ``L(Z)`` of eq. (3) at the start and after every sweep.
    n_iter : int
        The most FPGD-SP iterations that any point took in one sweep.
    n_steps_cut : int
        Points whose own problem needed a smaller step in some sweep.
    n_let_in : int
        Coordinates that the check of the active sets let in, over all points and sweeps.
    converged : bool
        Whether the sweeps ended before their limit, or the last one changed no support.
    """

    codes: sparse.csr_array
    objective: FloatArray
    n_iter: int
    n_steps_cut: int
    n_let_in: int
    converged: bool


@dataclass
class SweepState:
    """The state between two sweeps: what the result is made of, and what a store keeps."""

    codes: sparse.csr_array
    ever_cut: NDArray[np.bool_]
    objective: list[float] = field(default_factory=list)
    n_iter: int = 0
    n_let_in: int = 0
    settled: bool = False
    ended: bool = False

    @property
    def n_sweeps(self) -> int:
        """How many sweeps are done; -1 before the objective of the start is known."""
        return len(self.objective) - 1

    def note(self, value: float, outcome: SweepOutcome, tol: float, stop: Stop) -> None:
        """Record what a sweep ended with, except the codes."""
        # If no support changed, no votes will: another sweep would solve the same problems again,
        # each from its own solution.
        self.settled = not outcome.changed.any()
        enough = stop == "supports" and self.settled
        # The rule of Algorithm 2, or the one above, which ends earlier.
        self.ended = abs(value - self.objective[-1]) < tol or enough
        self.objective.append(value)
        self.ever_cut |= outcome.cut
        self.n_iter = max(self.n_iter, int(outcome.iterations.max()))
        self.n_let_in += int(outcome.let_in.sum())

    def arrays(self) -> dict[str, NDArray]:
        """What a store keeps of it."""
        counts = np.array([self.n_iter, self.n_let_in, self.settled, self.ended], np.int64)
        objective = np.array(self.objective)
        parts = csr_arrays("codes", self.codes)
        return {**parts, "cut": self.ever_cut, "objective": objective, "counts": counts}

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, NDArray]) -> Self:
        """The same, made of its arrays.

        Raises
        ------
        InvalidArrayError
            If no sweep leaves such arrays.
        """
        require(len(arrays["objective"]) > 1, "objective", "has no sweep")
        codes = checked_csr("codes", arrays, 2 * arrays["cut"].shape)
        require(not codes.diagonal().any(), "codes", "has a point that codes itself")
        n_iter, n_let_in, *flags = arrays["counts"].tolist()
        known = arrays["cut"], arrays["objective"].tolist(), n_iter, n_let_in
        return cls(codes, *known, *map(bool, flags))


KEPT_SWEEP: dict[str, Rule] = {
    **rules_of_csr("codes", "points"),
    "cut": Rule("bool", ("points",)),
    "objective": Rule("float", (None,), least=-1e-6),  # rounding may leave zero below zero
    "counts": Rule("int", (4,), least=0),
}
"""Rules for the arrays of a :class:`SweepState` that are read from a store."""


def srsg_codes(
    points: Points,
    init_codes: sparse.csr_array,
    neighbors: IntArray | sparse.csr_array,
    *,
    gamma: float,
    step: float,
    max_sweeps: int = 100,
    max_iter: int = 100,
    tol: float = 1e-5,
    stop: Stop = "supports",
    engine: Engine | None = None,
) -> SRSGCodes:
    """Regularise codes by the supports of the neighbours' codes.

    Every sweep solves problem (7) for the points 1 to n in turn, each from its present code and
    with the present codes of its neighbours. The sweeps end when the objective ``L(Z)`` changes by
    less than ``tol`` in one of them or, unless ``stop`` forbids it, when no support has changed.
    Points that do not wait for each other are solved at the same time, which changes no bit of the
    result.

    Each problem (7) counts only the neighbours of its own point, so ``L(Z)`` can rise if a point is
    not a neighbour of its neighbours. If all neighbours are mutual, the sweeps lower the fit plus
    gamma times the number of indices that one of two neighbours uses and the other does not, each
    pair counted once.

    Parameters
    ----------
    points : Points
        Unit-norm points.
    init_codes : csr_array of shape (n, n)
        Where to start; the paper takes the l1 codes.
    neighbors : ndarray of shape (n, K) or csr_array of shape (n, n)
        Nearest neighbours of every point, or the graph S itself, see
        :func:`srsg.coding.neighbors.undirected`. A point without neighbours keeps its code.
    gamma, step, max_sweeps, max_iter, tol
        The paper's ``gamma``, ``s``, ``M_c``, ``M_p`` and ``epsilon``.
    stop : {"supports", "objective"}
        "objective" is the rule of Algorithm 2; "supports" ends earlier, see above.
    engine : Engine, optional
        Decides how many threads to use (all cores by default) and shows the progress of each sweep.

    Returns
    -------
    SRSGCodes

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from srsg.points import unit_points
    >>> from srsg.coding import l1_codes, srsg_codes
    >>> points = unit_points(load_digits().data[:100])
    >>> l1 = l1_codes(points, 0.1, n_neighbors=5)
    >>> result = srsg_codes(points, l1.codes, l1.neighbors, gamma=0.1, step=0.01)
    >>> bool(result.objective[-1] < result.objective[0])
    True
    """
    engine = engine or ThreadEngine()
    settings = Settings(float(gamma), float(step), int(max_iter), float(tol))
    graph = neighbors if sparse.issparse(neighbors) else neighbor_graph(neighbors)
    lists = neighbor_lists(graph)
    # The key in the store names everything that a sweep depends on, but not ``max_sweeps``: a
    # longer run can go on from a shorter one.
    keep = engine.store.of(
        "sweeps",
        lambda: engine.fingerprint(points),
        *(init_codes.indptr, init_codes.indices, init_codes.data, *lists),
        settings,
        stop,
    )
    n_points = points.n
    kept = keep.load("sweep", KEPT_SWEEP, {"points": n_points}, SweepState.from_arrays)
    unswept = SweepState(init_codes, np.zeros(n_points, bool))
    # Each sweep leaves a state; the latest one has all that the others had. Another run may have
    # swept more often than this one shall.
    kept = [state for state in kept if state.n_sweeps <= max_sweeps]
    state = max(kept, key=lambda each: each.n_sweeps, default=unswept)
    here = engine.gathered(points)
    with serial_linear_algebra():
        # Threads of this process: on a cluster too the sweeps run here, in the client.
        waves = make_waves(lists, engine.threads.count)
        run = Sweeps(here, Queries.of(here), state.codes, graph, settings, engine.threads, waves)
        # Points without neighbours are never solved, so their fit stays that of the start.
        run.outcome.fit[:] = run.fits()
        if state.n_sweeps < 0:
            state.objective.append(_objective(run.outcome.fit, run.codes, lists, gamma))
        while not state.ended and state.n_sweeps < max_sweeps:
            with engine.progress.stage(f"sweep {state.n_sweeps + 1}", n_points) as stage:
                run.sweep(stage)
            value = _objective(run.outcome.fit, run.codes, lists, gamma)
            state.note(value, run.outcome, tol, stop)
            # Only a store needs the codes as a matrix after every sweep.
            if keep.keeps:
                state.codes = run.codes.to_csr(n_points)
                keep.save("sweep", state.arrays())
        state.codes = run.codes.to_csr(points.n)
    return SRSGCodes(
        codes=state.codes,
        objective=np.array(state.objective),
        n_iter=state.n_iter,
        n_steps_cut=int(state.ever_cut.sum()),
        n_let_in=state.n_let_in,
        converged=state.ended or state.settled,
    )


def new_srsg_codes(
    points: Points,
    codes: sparse.csr_array,
    queries: Points,
    init_codes: sparse.csr_array,
    neighbors: IntArray,
    *,
    gamma: float,
    step: float,
    max_iter: int = 100,
    tol: float = 1e-5,
    engine: Engine | None = None,
) -> sparse.csr_array:
    """Regularise codes of new points by the supports of their neighbours' codes, which are fixed.

    This solves one problem (7) for each new point, starting from its l1 code.

    Parameters
    ----------
    points : Points
        The fitted points.
    codes : csr_array of shape (n, n)
        Their codes.
    queries : Points
        The new points.
    init_codes : csr_array of shape (n_queries, n)
        Where to start: their l1 codes over the fitted points.
    neighbors : ndarray of shape (n_queries, K)
        Their nearest fitted points.
    gamma, step, max_iter, tol
        As in :func:`srsg_codes`.
    engine : Engine, optional
        Where blocks run; threads on all cores by default.

    Returns
    -------
    csr_array of shape (n_queries, n)

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from srsg.points import unit_points
    >>> from srsg.coding import l1_codes, new_srsg_codes, srsg_codes
    >>> X = load_digits().data
    >>> points, new = unit_points(X[:100]), unit_points(X[100:110])
    >>> l1 = l1_codes(points, 0.1, n_neighbors=5)
    >>> fitted = srsg_codes(points, l1.codes, l1.neighbors, gamma=0.1, step=0.01)
    >>> start = l1_codes(points, 0.1, queries=new, n_neighbors=5)
    >>> new_srsg_codes(
    ...     points, fitted.codes, new, start.codes, start.neighbors, gamma=0.1, step=0.01
    ... ).shape
    (10, 100)
    """
    engine = engine or ThreadEngine()
    settings = Settings(float(gamma), float(step), int(max_iter), float(tol))
    here = engine.gathered(points)
    targets, graph = Queries.of(here, queries), neighbor_graph(neighbors, points.n)
    waves = [blocks_of_rows(queries.n, engine.block_size)]  # no block waits for another
    with (
        serial_linear_algebra(),
        engine.progress.stage("support regularisation", queries.n) as stage,
    ):
        run = Sweeps(
            here, targets, init_codes, graph, settings, engine.threads, waves, fitted=codes
        )
        run.sweep(stage)
    return run.codes.to_csr(points.n)


def _objective(fits: FloatArray, codes: Codes, neighbors: Neighbors, gamma: float) -> float:
    """``L(Z)`` of eq. (3)."""
    # Summed over the rows in their order, not block by block as they were solved, so that its bits
    # do not depend on the threads.
    return float(fits.sum() + gamma * support_distances(codes, neighbors))


def theorem_step(points: Points, gamma: float, n_neighbors: int | IntArray) -> float:
    """The largest step s of Theorem 3.2, ``s < min(2 tau / G^2, 1 / L_f)``.

    Here ``L_f = 2 sigma_max(X)^2``. The gradient ``2 X' r`` is at most ``G = 2 sigma_max(X)`` as
    long as residuals are no longer than the unit points themselves. And tau is gamma times the
    smallest positive ``c``, which is 1 for an odd number of neighbours and 2 for an even one. The
    number of neighbours may differ between points.

    Examples
    --------
    >>> from srsg.points import unit_points
    >>> from srsg.coding import theorem_step
    >>> points = unit_points([[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]])
    >>> round(theorem_step(points, gamma=0.1, n_neighbors=5), 6)
    0.05
    """
    # ``c`` is the number of neighbours minus twice a count, so it is odd if that number is.
    smallest_c = 1 if np.any(np.asarray(n_neighbors) % 2) else 2
    lipschitz = 2 * _largest_singular_value(points) ** 2
    # G^2 = 2 L_f, so 2 tau / G^2 = tau / L_f. The bound is strict.
    return min(gamma * smallest_c, 1.0) / lipschitz * (1 - 1e-9)


def _largest_singular_value(points: Points) -> float:
    if min(points.shape) <= 100:
        if not sparse.issparse(points.x):
            return float(np.linalg.norm(points.x.astype(np.float64), 2))
        # Of ``X X'`` and ``X' X``, the smaller one has at most 100 rows, so it can be dense.
        x = points.x if points.n <= points.n_features else sparse.csr_array(points.x.T)
        return float(np.sqrt(np.linalg.eigvalsh((x @ x.T).toarray())[-1]))
    # A fixed start: a random one would give different bits each time.
    start = np.ones(min(points.x.shape))
    value = svds(points.x, 1, v0=start, return_singular_vectors=False, tol=1e-10)[0]
    return float(value) * (1 + 1e-8)  # an iterative value may fall short


def auto_step(codes: sparse.csr_array, lam: float) -> float:
    """``max(m^2 / 2, lam^2)`` with m the mean magnitude of the non-zeros of the l1 codes.

    The thresholds ``sqrt(2 s gamma c)`` are then in proportion to the coefficients they cut. Where
    the non-zeros are few and large, their mean magnitude decides: at ``gamma = 0.1``, a coefficient
    that none of five neighbours shares is dropped if it is below 0.7 m. Where they are many and
    small, most are below lam, and no larger than the error that the l1 norm makes: it shrinks every
    coefficient by about lam / 2. There, a coefficient that no neighbour shares is dropped if it is
    below lam.

    Examples
    --------
    >>> from scipy import sparse
    >>> from srsg.coding import auto_step
    >>> auto_step(sparse.csr_array([[0.0, 0.5], [-0.5, 0.0]]), lam=0.1)
    0.125
    """
    sizes = np.abs(codes.data[codes.data != 0])
    mean = float(sizes.mean()) if sizes.size else 0.0
    # At lam = 2 the codes of unit vectors are empty, so a larger lam makes no difference.
    return max(mean**2 / 2, min(lam, 2.0) ** 2)


POINTS_PER_CALL = 512
"""Points solved per call of the kernel: between calls, Ctrl-C is noticed and progress is shown."""

VALUES_PER_BLOCK = 2**20
"""Entries of the residuals that a thread holds at once, which are dense for sparse points too."""

LEAST_SHARED = 256
"""The fewest points worth sharing among threads: with fewer, waking the threads takes longer than
solving them."""

STRETCHES_PER_THREAD = 4
"""With more stretches, fewer points wait for another one that is long, but threads are woken more
often. From three to eight it hardly matters on the paper's data."""

KEPT_SIZE = 12
"""Problems with up to this many active coordinates are kept from one sweep to the next. In the
paper's data nearly all are that small, and 91 numbers hold such a problem."""


class Sweeps:
    """Sweeps in progress: everything that one sweep hands on to the next.

    Parameters
    ----------
    points, targets, init_codes, graph, settings
        What is coded, over which points, and how. The points are in this process.
    threads : Threads
        Threads of this process, which solve the small problems.
    waves : list of lists of ndarray
        The rows in the order in which they are solved. The parts of a wave are solved at the same
        time.
    fitted : csr_array, optional
        Codes of the points, if the targets are new.
    """

    def __init__(
        self,
        points: Points,
        targets: Queries,
        init_codes: sparse.csr_array,
        graph: sparse.csr_array,
        settings: Settings,
        threads: Threads,
        waves: list[list[IntArray]],
        fitted: sparse.csr_array | None = None,
    ) -> None:
        n_rows = graph.shape[0]
        self.settings, self.threads, self.waves = settings, threads, waves
        # Some spare room, so that codes can grow before all rows have to be copied.
        self.codes = Codes.from_csr(init_codes, spare=16)
        self.fitted = None if fitted is None else Codes.from_csr(fitted)
        self.outcome = SweepOutcome.empty(n_rows)
        # New points are solved once: nothing is worth keeping.
        self.kept = KeptProblems.empty(n_rows, KEPT_SIZE if fitted is None else 0)
        self.x = points.x if targets.new is None else targets.new
        rows = points.for_kernels
        coded = rows if targets.new is None else kernel_rows(targets.new)
        self.coded = SweepData(rows, coded, targets.own, neighbor_lists(graph))

    def fits(self) -> FloatArray:
        """``||x_i - X z_i||^2`` for every code, before the first sweep."""

        def fits_of_rows(rows: IntArray) -> FloatArray:
            targets, codes = kernel_rows(self.x[rows]), self.codes.take(rows)
            resid = residuals(self.coded.points, targets, codes)
            return np.einsum("ij,ij->i", resid, resid)

        n_points, n_features = self.x.shape
        size = max(1, min(POINTS_PER_CALL, VALUES_PER_BLOCK // n_features))
        blocks = blocks_of_rows(n_points, size)
        return np.concatenate(list(self.threads.map(fits_of_rows, blocks)))

    def sweep(self, stage: Stage) -> None:
        """Solve all points once; codes get more room when one of them outgrows its row."""
        # A copy: every point starts from its code before the sweep, and earlier points count its
        # vote with that code.
        before = Codes._make(map(np.copy, self.codes))

        def solve(part: IntArray) -> int:
            voters = (before, self.codes) if self.fitted is None else (self.fitted, self.fitted)
            inputs = (self.coded, part, voters, before)
            return sweep_points(*inputs, self.codes, self.settings, self.kept, self.outcome)

        # Wave after wave: the parts of a wave never need each other's new codes, so it does not
        # matter which thread comes first.
        for wave in self.waves:
            parts: Sequence[IntArray] = wave
            while True:
                # A single part runs in this thread: waking another would only take longer.
                counts = list((map if len(parts) == 1 else self.threads.map)(solve, parts))
                if len(self.waves) > 1:  # a single wave is the whole stage
                    stage.advance(sum(counts))
                if counts == list(map(len, parts)):
                    break
                # The kernel stops at a code that has no room. Arrays cannot grow while threads
                # write to them, so the rest of the wave is solved in another round.
                left = zip(parts, counts, strict=True)
                parts = [part[count:] for part, count in left if count < len(part)]
                self.codes = self.codes.resized(2 * self.codes.width + 1)


def neighbor_lists(graph: sparse.csr_array) -> Neighbors:
    """The neighbours of every point, given the graph S."""
    return Neighbors(graph.indptr.astype(np.int64), graph.indices.astype(np.int64))


def make_waves(neighbors: Neighbors, n_threads: int) -> list[list[IntArray]]:
    """The points in the order of a sweep: the parts of a wave can be solved at the same time."""
    # One thread follows the order 0..n-1 itself.
    waves = [[np.arange(len(neighbors.starts) - 1)]]
    if n_threads > 1:
        waves = independent_stretches(*neighbors, STRETCHES_PER_THREAD * n_threads)
        waves = _worth_sharing(waves)
    # In parts that are short enough for one call of the kernel.
    return [
        [part[first : first + POINTS_PER_CALL] for part in wave if len(part) > first]
        for wave in waves
        for first in range(0, max(map(len, wave)), POINTS_PER_CALL)
    ]


def _worth_sharing(waves: list[list[IntArray]]) -> list[list[IntArray]]:
    """The same waves, except that small ones that follow each other become one part.

    One thread solves it in their order: a point still comes after the neighbours it waits for.
    """
    merged: list[list[IntArray]] = []
    few: list[IntArray] = []
    for wave in waves:
        if sum(map(len, wave)) < LEAST_SHARED:
            few += wave
            continue
        if few:
            merged.append([np.concatenate(few)])
            few = []
        merged.append(wave)
    return [*merged, [np.concatenate(few)]] if few else merged
