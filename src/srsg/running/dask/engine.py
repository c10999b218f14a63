"""Blocks on the workers of a Dask cluster, which hold the points in shards.

A shard has consecutive points and never leaves the worker that owns it: the tasks that read it are
bound to that worker. Only the rows that a block needs, the block itself and the results of its
shards travel between workers. A shard is made from a chunk that a worker reads, computes or
receives. The client knows how, so a shard that is lost with its worker can be made again.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from itertools import chain, pairwise
from operator import attrgetter
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.utils import assert_all_finite

from srsg.points import (
    Points,
    Rows,
    float_type,
    of_any_length,
    row_digests,
    row_slices,
    stored,
    unique_indices,
    unit_points,
    unit_rows,
)
from srsg.running.dask import cluster
from srsg.running.engine import Sized, ThreadEngine, in_blocks, serial_linear_algebra
from srsg.running.progress import NO_STORE, SILENT, Progress, Store
from srsg.types import IntArray

PRODUCTS_PER_TASK = 5e9
"""Multiplications in one worker's scan of its points: a fraction of a second."""

BYTES_PER_BLOCK = 2**26
"""The most bytes of rows at the start of a block."""

BLOCKS_PER_PIECE = 4
"""Blocks that go from step to step together."""

SHARE_UNDER_WAY = 1 / 12
"""The share of a worker's memory for the rows of all unfinished blocks: every worker gets every
block."""

BYTES_PER_SHARD = 2**27
"""The most bytes in a shard of an array that the client sends."""

SEND_WITHIN = 600.0
"""Seconds to send a shard, or to hear where shards are: long enough for a slow network."""

MakeShard = Callable[[Any, str, bool], Any]
"""Has a worker make a shard from a chunk, and returns its future. It takes the client, the worker
(another one if that has the chunk), and whether the shard was made before and is lost."""


class Report(NamedTuple):
    """What the client has to know about a shard."""

    shape: tuple[int, ...]
    dtype: np.dtype
    not_finite: float | None
    """A value that is not finite, if there is one."""
    largest: float
    """The largest absolute value."""


class Shard(Sized):
    """The points of one chunk and a report.

    They are scaled to unit length, unless they are ``prepared`` or no ``unit`` vectors.
    """

    def __init__(self, chunk: Any, *, prepared: bool = False, unit: bool = True) -> None:
        values = np.asarray(chunk)
        finite = np.isfinite(values)
        wrong = None if finite.all() else float(values[~finite][0])
        dtype = np.dtype(float_type(values) if unit else np.float64)
        self.points: Any = None
        if wrong is None and values.size and unit:
            # Rows of zeros are left out later.
            rows = values if prepared else unit_points(values, keep_zero_rows=True).x
            x = np.require(rows, dtype, ["C", "W"])
            # Made once, and counted as memory of the shard.
            self.points = replace(Points(x), single=Points(x).x32)
        elif wrong is None and values.size:
            self.points = Points(of_any_length(values))
        largest = 0.0 if self.points is None else self.points.largest
        self.report = Report(values.shape, dtype, wrong, largest)


class Placement:
    """The shards on the workers, and how to make lost ones again.

    Parameters
    ----------
    client : distributed.Client
    chunks : sequence of MakeShard
        How each shard is made.
    """

    def __init__(self, client: Any, chunks: Sequence[MakeShard]) -> None:
        self.client, self.chunks = client, chunks
        self.futures: list[Any] = [None] * len(chunks)
        self.owners: list[str] = [""] * len(chunks)
        self.reports: list[Any] = [None] * len(chunks)

    def on_owner(self, place: int, task: Callable[..., Any], *arguments: Any) -> Any:
        """Submit a task that reads a shard, and return its future."""
        shard, owner = self.futures[place], self.owners[place]
        return self.client.submit(task, shard, *arguments, workers=[owner], pure=False)

    def make(self, places: Sequence[int], label: str, progress: Progress) -> None:
        """Have workers make the shards at some places."""
        for place in places:
            self.owners[place] = ""

        def lost(workers: dict[str, int], under_way: list[int]) -> list[int]:
            return [piece for piece in under_way if self.owners[places[piece]] not in workers]

        reports = cluster.TaskPool(self.client, self._submit, lost, label).results(places, progress)
        for place, report in zip(places, reports, strict=True):
            self.reports[place] = report
        self.settle()

    def _submit(self, place: int) -> list[Any]:
        """Have the worker with the fewest shards make one: the futures of it and of its report."""
        workers = cluster.living_workers(self.client)
        load = dict.fromkeys(workers, 0.0)
        for owner in self.owners:
            if owner in load:
                load[owner] += 1 / max(1, workers[owner])
        # Ties by address, so that the same cluster gets the same shards again.
        worker = min(load, key=lambda address: (load[address], address))
        self.owners[place] = worker
        again = self.futures[place] is not None
        shard = self.futures[place] = self.chunks[place](self.client, worker, again)
        return [shard, self.client.submit(attrgetter("report"), shard, pure=False)]

    def settle(self) -> None:
        """Note where every shard is now."""
        # By name: the client has no answer if a single future was lost in the meantime.
        names = [future.key for future in self.futures]
        scheduler = self.client.scheduler
        try:
            where = cluster.answer_within(
                self.client, SEND_WITHIN, lambda: scheduler.who_has(keys=names)
            )
        except cluster.ClusterError:
            raise
        except OSError as error:
            raise cluster.scheduler_lost("a search for the points") from error
        self.owners[:] = [next(iter(where.get(name, ())), "") for name in names]

    def restore(self, workers: dict[str, int], under_way: list[int]) -> list[int]:
        """Make shards again that have no living owner, or that the scheduler has forgotten.

        Returns the pieces under way if there were any, because every piece needs every shard.
        """
        missing = [
            place
            for place, owner in enumerate(self.owners)
            if owner not in workers or self.futures[place].cancelled()
        ]
        if not missing:
            return []
        self.make(missing, "lost points again", SILENT)
        return under_way


@dataclass(frozen=True, eq=False, kw_only=True)
class ShardedPoints(Points):
    """Points that lie on the workers of a cluster; the client knows how many there are.

    Attributes
    ----------
    shards : Placement
        The shards and their owners.
    """

    x: NDArray[np.floating] = field(init=False, repr=False)
    shards: Placement
    lazy: Any = field(default=None, repr=False)
    """The unit vectors as a dask array, where there is one."""
    here: Points | None = field(default=None, repr=False)
    """The same points in this process, if they are here too."""

    in_shards = True

    @cached_property
    def starts(self) -> IntArray:
        """The index of the first point of every shard, and the number of points."""
        return np.cumsum([0, *(report.shape[0] for report in self.shards.reports)])

    @cached_property
    def n(self) -> int:
        return int(self.starts[-1])

    @cached_property
    def n_features(self) -> int:
        return self.shards.reports[0].shape[1]

    @property
    def dtype(self) -> np.dtype:
        return self.shards.reports[0].dtype

    @cached_property
    def largest(self) -> float:
        return max(report.largest for report in self.shards.reports)

    def lazy_rows(self) -> Any:
        return self.lazy

    def places_of_owners(self) -> dict[str, list[int]]:
        """The places of the shards of every worker that has any."""
        places: dict[str, list[int]] = {}
        for place, owner in enumerate(self.shards.owners):
            places.setdefault(owner, []).append(place)
        return places

    def __getattr__(self, name: str) -> Any:
        if name == "x":
            raise TypeError(
                "The points are on the workers of a Dask cluster, and this needs them in one "
                'process: use engine="threads" and X.compute().'
            )
        raise AttributeError(name)


class _Sent:
    """A value that all workers have. It is sent again if it was lost with the last of them."""

    def __init__(self, client: Any, value: Any) -> None:
        self.client, self.value, self._future = client, value, None

    def future(self) -> Any:
        if self._future is None or self._future.status != "finished":
            self._future = cluster.answer_within(
                self.client,
                SEND_WITHIN,
                lambda: self.client.scatter(self.value, broadcast=True, hash=False),
            )
        return self._future


class DaskEngine(ThreadEngine):
    """Runs scans on the workers of a Dask cluster.

    Other work is on points in this process, and runs on its threads.

    Parameters
    ----------
    client : distributed.Client
        The connection to the cluster.
    progress : Progress
        Shows every finished block.
    store : Store
        Keeps finished work.
    """

    on_cluster = True

    def __init__(self, client: Any, progress: Progress = SILENT, store: Store = NO_STORE) -> None:
        super().__init__(progress=progress, store=store, spare_memory=0.0)
        self.client = client

    @property
    def n_workers(self) -> int:
        return sum(cluster.living_workers(self.client).values())

    def scan(
        self,
        task: Any,
        points: Points,
        wanted: Any,
        n_rows: int,
        *,
        label: str,
        done: Any = None,
        multiple: int = 1,
    ) -> list[Any]:
        if not isinstance(points, ShardedPoints):  # gathered in this process
            options = {"label": label, "done": done, "multiple": multiple}
            return super().scan(task, points, wanted, n_rows, **options)
        # How many points a row needs to start, judged by one block.
        n_some = max(1, min(n_rows, self.block_size))
        needed = max(1.0, len(task.rows(wanted[:n_some])) / n_some)
        size = self._rows_per_block(points, n_rows, needed)
        blocks = in_blocks(wanted, n_rows, -(-size // multiple) * multiple)
        there = _Sent(self.client, task)

        def submit(block: Any) -> list[Any]:
            started = self._submit_start(task, there, points, block)
            return [self._submit_finish(there.future(), points, started)]

        pool = cluster.TaskPool(self.client, submit, points.shards.restore, label)
        return pool.results(blocks, self.progress, done)

    def relay(self, task: Any, points: Points, blocks: Sequence[Any], *, label: str) -> list[Any]:
        if not isinstance(points, ShardedPoints):
            return super().relay(task, points, blocks, label=label)
        # Several blocks in a piece, which share the points they need; enough pieces for all.
        size = max(1, min(BLOCKS_PER_PIECE, len(blocks) // (4 * self.n_workers)))
        there = _Sent(self.client, task)

        def submit(piece: Any) -> list[Any]:
            for _ in range(task.n_steps):
                rows = self._submit_to_owners(_needed_rows, points, there.future(), piece)[0]
                piece = self.client.submit(_step, there.future(), piece, *rows, pure=False)
            return [piece]

        pool = cluster.TaskPool(self.client, submit, points.shards.restore, label)
        pieces = in_blocks(list(blocks), len(blocks), size)
        return list(chain.from_iterable(pool.results(pieces, self.progress)))

    def map_rows(
        self, task: Any, points: Points, blocks: Sequence[IntArray], *, label: str
    ) -> list[Any]:
        if not isinstance(points, ShardedPoints):
            return super().map_rows(task, points, blocks, label=label)

        def submit(block: IntArray) -> list[Any]:
            rows = self._submit_rows(points, block)
            return [self.client.submit(_of_rows, task, *rows, pure=False)]

        pool = cluster.TaskPool(self.client, submit, points.shards.restore, label)
        return pool.results(blocks, self.progress)

    def _submit_rows(self, points: ShardedPoints, index: IntArray) -> list[Any]:
        """Take some points from their shards: arrays to put one below the other.

        Here and below, the futures of intermediate results are not kept, so that workers forget
        these results after use.
        """
        bounds = pairwise(np.searchsorted(index, points.starts))
        rows = [
            points.shards.on_owner(place, _take, index[start:end] - points.starts[place])
            for place, (start, end) in enumerate(bounds)
            if end > start
        ]
        return [np.empty((0, points.n_features), points.dtype), *rows]

    def _submit_start(self, task: Any, there: _Sent, points: ShardedPoints, block: Any) -> Any:
        """Fetch the rows that a block needs and start it."""
        index = task.rows(block)
        facts = there.future(), block, index, *self._submit_rows(points, index)
        return self.client.submit(_start, *facts, pure=False)

    def _submit_finish(self, task: Any, points: ShardedPoints, started: Any) -> Any:
        """Scan every shard and finish a block."""
        scanned, order = self._submit_to_owners(_scan_shards, points, task, started)
        return self.client.submit(_finish, task, started, order, *scanned, pure=False)

    def _submit_to_owners(
        self, work: Callable[..., list[Any]], points: ShardedPoints, *arguments: Any
    ) -> tuple[list[Any], IntArray]:
        """``work(*arguments, starts, *shards)``, in one task for each owner of shards.

        Also returns the place of every shard among the results of all owners.
        """
        places = points.places_of_owners()
        done = []
        for owner, mine in places.items():
            shards = [points.shards.futures[place] for place in mine]
            facts = *arguments, points.starts[mine], *shards
            done.append(self.client.submit(work, *facts, workers=[owner], pure=False))
        return done, np.argsort(np.concatenate(list(places.values())))

    def _rows_per_block(self, points: ShardedPoints, n_rows: int, needed: float) -> int:
        # Large enough that a scan outweighs the cost of a task, small enough for the workers'
        # memory, and enough blocks to keep all workers busy.
        sizes = np.diff(points.starts)
        largest_part = max(int(sizes[mine].sum()) for mine in points.places_of_owners().values())
        by_work = PRODUCTS_PER_TASK / (largest_part * points.n_features)
        under_way = cluster.pieces_under_way(cluster.living_workers(self.client))
        most = min(BYTES_PER_BLOCK, SHARE_UNDER_WAY * cluster.memory_limit(self.client) / under_way)
        by_memory = most / (8 * points.n_features * needed)
        fair_share = max(self.block_size // 4, -(-n_rows // (2 * self.n_workers)))
        return max(1, int(min(fair_share, max(self.block_size, by_work), by_memory)))

    def points(self, x: Any, *, unit: bool = True) -> Points:
        if isinstance(x, ShardedPoints):
            return x
        if sparse.issparse(x):
            raise TypeError(
                "The points are sparse, but workers of a cluster hold dense points only: set "
                'engine="threads", or make X dense.'
            )
        form = {"prepared": True, "unit": unit}
        if not isinstance(x, np.ndarray):
            return self.place(_chunks_of_array(x, self.client, form))
        fair_share = -(-len(x) // self.n_workers)
        rows = max(1, min(fair_share, BYTES_PER_SHARD // (8 * x.shape[1])))
        placed = self.place(
            [partial(_sent_shard, x[part], form) for part in row_slices(len(x), rows)]
        )
        return replace(placed, here=Points(x))

    def points_of_array(self, X: Any, name: str, *, unit: bool = True) -> ShardedPoints:
        """The rows of a dask array as points, each chunk a shard on a worker.

        Parameters
        ----------
        X : dask.array.Array
            Chunks along the rows; chunks along the columns are merged.
        name : str
            The estimator, for error messages.
        unit : bool
            Whether they are scaled to unit length.
        """
        check_array(X, name)
        X = X.rechunk({1: -1})
        points = self.place(_chunks_of_array(X, self.client, {"unit": unit}), name=name)
        X = X.copy()
        # The numbers of rows are known now, if they were not.
        X._chunks = (tuple(np.diff(points.starts).tolist()), X.chunks[1])
        return replace(
            points, lazy=X.map_blocks(unit_rows if unit else of_any_length, dtype=points.dtype)
        )

    def place(self, chunks: Sequence[MakeShard], *, name: str = "X") -> ShardedPoints:
        """Have the workers turn chunks into shards: points.

        Raises
        ------
        ValueError
            If values are not finite; ``name`` goes into the message.
        """
        shards = Placement(self.client, chunks)
        shards.make(range(len(chunks)), "points to the workers", self.progress)
        for report in shards.reports:
            if report.not_finite is not None:  # the same message as in one process
                wrong = np.array([[report.not_finite]])
                assert_all_finite(wrong, estimator_name=name, input_name="X")
        return ShardedPoints(shards=shards)

    def gathered(self, points: Points) -> Points:
        """The points in this process, in a temporary file.

        They arrive in parts, so they may exceed the memory of this process.
        """
        assert isinstance(points, ShardedPoints)
        if points.here is not None:
            return points.here
        return Points(stored(self._parts(points), points.shape, points.dtype.type))

    def _parts(self, points: ShardedPoints) -> Iterator[Any]:
        """The points, a part of a shard at a time."""
        most = max(1, BYTES_PER_BLOCK // (points.dtype.itemsize * points.n_features))
        sizes = np.diff(points.starts).tolist()
        parts = [(place, rows) for place, n in enumerate(sizes) for rows in row_slices(n, most)]
        label = "points from the workers"
        with self.progress.stage(label, len(parts)) as stage:
            for place, rows in parts:
                yield from self._of_shards(points, label, [place], _take, rows)
                stage.advance()

    def row_digests(self, points: Points) -> bytes:
        if not isinstance(points, ShardedPoints):  # an array of the client, not sent yet
            return row_digests(points)
        every = range(len(points.starts) - 1)
        return b"".join(self._of_shards(points, "fingerprint", every, _row_digests))

    def _of_shards(
        self,
        points: ShardedPoints,
        label: str,
        places: Sequence[int],
        task: Callable[..., Any],
        *arguments: Any,
    ) -> list[Any]:
        """``task(shard, *arguments)`` for the shards at some places."""

        def submit(place: int) -> list[Any]:
            return [points.shards.on_owner(place, task, *arguments)]

        return cluster.TaskPool(self.client, submit, points.shards.restore, label).results(
            places, SILENT
        )


def check_array(X: Any, name: str) -> None:
    """Raise an error if X is no dask array of points."""
    if not hasattr(X, "to_delayed") or not hasattr(X, "rechunk"):
        raise TypeError(
            f"X is a {type(X).__name__} of dask; pass an array: X.to_dask_array(lengths=True)."
        )
    if X.ndim != 2:
        raise ValueError(f"Expected 2D array, got {X.ndim}D array instead.")
    if X.dtype.kind not in "fiub":
        raise ValueError(f"X must have numbers, got dtype {X.dtype}.")
    for side, what in zip(X.shape, ("sample(s)", "feature(s)"), strict=True):
        if side < 2:  # a number that is not known yet is NaN, and passes
            raise ValueError(
                f"Found array with {side} {what} (shape={X.shape}) while a minimum of 2 is "
                f"required by {name}."
            )


def _sent_shard(
    values: NDArray, form: dict[str, bool], client: Any, worker: str, again: bool
) -> Any:
    """A shard of points that the client has, and sends to a worker."""
    chunk = cluster.answer_within(
        client, SEND_WITHIN, lambda: client.scatter(values, hash=False, workers=[worker])
    )
    return client.submit(Shard, chunk, **form, workers=[worker], pure=False)


def _chunks_of_array(X: Any, client: Any, form: dict[str, bool]) -> list[MakeShard]:
    """The chunks of a dask array, as shards of this form."""
    delayed = X.to_delayed(optimize_graph=False).ravel()
    ready = {str(key) for key in client.futures}
    return [partial(_computed_shard, one, str(one.key) in ready, form) for one in delayed]


def _computed_shard(
    chunk: Any, on_worker: bool, form: dict[str, bool], client: Any, worker: str, again: bool
) -> Any:
    """A shard computed by its owner; a chunk that is ``on_worker`` decides which one that is."""
    from dask.delayed import delayed
    from dask.graph_manipulation import clone

    # The scheduler may still know a lost chunk by its name, bound to a worker that is gone, and
    # would wait for that worker though others could compute it.
    values = clone(chunk) if again and not on_worker else chunk
    shard = delayed(Shard, pure=False)(values, **form)
    where = {} if on_worker else {"workers": [worker], "allow_other_workers": True}
    return client.compute(shard, **where)


def _row_digests(shard: Shard) -> bytes:
    return row_digests(shard.points)


def _take(shard: Shard, rows: IntArray | slice) -> Any:
    return shard.points.x[rows]


def _needed_rows(
    task: Any, blocks: Sequence[Any], starts: IntArray, *shards: Shard
) -> list[tuple[IntArray, Any]]:
    """The points of some shards that the next step of blocks needs, with their indices."""
    index = unique_indices(*(task.needed(block) for block in blocks))
    found = []
    for shard, first in zip(shards, starts, strict=True):
        mine = index[slice(*np.searchsorted(index, [first, first + shard.points.n]))]
        found.append((mine, shard.points.x[mine - first]))
    return found


def _step(task: Any, blocks: Sequence[Any], *found: list[tuple[IntArray, Any]]) -> list[Any]:
    parts = sorted(chain.from_iterable(found), key=lambda part: part[0][:1].tolist())
    index, x = (np.concatenate(each) for each in zip(*parts, strict=True))
    with serial_linear_algebra():
        return [task.step(Rows(x, index), block) for block in blocks]


def _of_rows(task: Any, *rows: Any) -> Any:
    with serial_linear_algebra():
        return task(np.concatenate(rows))


def _start(task: Any, block: Any, index: IntArray, *rows: Any) -> Any:
    with serial_linear_algebra():
        return task.start(Rows(np.concatenate(rows), index), block)


def _scan_shards(task: Any, started: Any, starts: IntArray, *shards: Shard) -> list[Any]:
    with serial_linear_algebra():
        return [
            task.scan_shard(replace(shard.points, first=int(first)), started)
            for shard, first in zip(shards, starts, strict=True)
        ]


def _finish(task: Any, started: Any, order: IntArray, *scanned: list[Any]) -> Any:
    """``order`` has the place of every shard among the results of all owners."""
    seen = list(chain.from_iterable(scanned))
    with serial_linear_algebra():
        return task.finish(started, [seen[place] for place in order])
