"""Points in shards: each shard has consecutive points and lies on the worker that owns it.

A shard is made from a chunk, which a worker reads, computes or receives. The client knows how, so
a shard that is lost with its worker can be made again.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from srsg.points import Points, float_type, unit_points
from srsg.running.dask.clients import ClusterError, answer_within
from srsg.running.dask.task_pool import scheduler_lost
from srsg.running.sizes import Sized
from srsg.types import IntArray

PATIENCE = 600.0
"""Seconds to send a shard, or to hear where shards are: long enough for a slow network."""


@dataclass(frozen=True)
class Report:
    """What the client has to know about a chunk."""

    shape: tuple[int, ...]
    dtype: np.dtype
    not_finite: float | None
    """A value that is not finite, if there is one."""


class Shard(Sized):
    """The points of one chunk, scaled to unit length, and the report on it."""

    def __init__(self, chunk: Any, *, prepared: bool = False) -> None:
        values = np.asarray(chunk)
        wrong = None if values.dtype.kind in "iub" else _not_finite(values)
        dtype = np.dtype(float_type(values))
        self.report = Report(values.shape, dtype, wrong)
        self.points: Points | None = None
        if wrong is None and values.size:
            # Whoever clusters them leaves rows of zeros out.
            unit = values if prepared else unit_points(values, keep_zero_rows=True).x
            x = np.require(unit, dtype, ["C", "W"])
            # Made once, and counted as memory of the shard.
            self.points = Points(x).with_single_precision()

    def starting_at(self, first: int) -> Points:
        """The points, the first of which has this index among all points."""
        assert self.points is not None
        return replace(self.points, first=first)


def _not_finite(values: NDArray[np.floating]) -> float | None:
    wrong = values[~np.isfinite(values)]
    return float(wrong[0]) if wrong.size else None


class Chunk(Protocol):
    """Where the values of a shard come from."""

    def submit(self, client: Any, worker: str, again: bool) -> list[Any]:
        """Have a worker make the shard, this one if possible; its future is the last.

        ``again`` tells that the shard was made before and is lost."""


def send(client: Any, data: Any, **where: Any) -> Any:
    """The future of data that are sent to workers."""
    return answer_within(client, PATIENCE, lambda: client.scatter(data, hash=False, **where))


def report_of(shard: Shard) -> Report:
    return shard.report


def check_reports(reports: Sequence[Report], name: str) -> None:
    """Refuse points that cannot be clustered, with the same messages as in one process."""
    from sklearn.utils import assert_all_finite

    for report in reports:
        if report.not_finite is not None:
            wrong = np.array([[report.not_finite]])
            assert_all_finite(wrong, estimator_name=name, input_name="X")


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
    starts: IntArray
    width: int
    kind: np.dtype
    lazy: Any = field(default=None, repr=False)
    """The unit vectors as a dask array, where there is one."""
    here: Points | None = field(default=None, repr=False)
    """The same points in this process, if they are here too."""

    in_shards = True

    @cached_property
    def n(self) -> int:
        return int(self.starts[-1])

    @cached_property
    def n_features(self) -> int:
        return self.width

    @property
    def dtype(self) -> np.dtype:
        return self.kind

    def lazy_rows(self) -> Any:
        return self.lazy

    def owned(self) -> list[tuple[Any, str, int]]:
        """For every shard its future, its owner and the index of its first point."""
        shards = self.shards
        return list(zip(shards.futures, shards.owners, self.starts.tolist(), strict=False))

    def places_of_owners(self) -> dict[str, list[int]]:
        """The places of the shards of every worker that has any."""
        places: dict[str, list[int]] = {}
        for place, owner in enumerate(self.shards.owners):
            places.setdefault(owner, []).append(place)
        return places

    @property
    def largest_part(self) -> int:
        """Number of points on the worker that has the most."""
        sizes = np.diff(self.starts)
        return max(int(sizes[mine].sum()) for mine in self.places_of_owners().values())

    def __getattr__(self, name: str) -> Any:
        if name == "x":
            raise TypeError(
                "The points are on the workers of a Dask cluster, and this needs them in one "
                'process: use engine="threads" and X.compute().'
            )
        raise AttributeError(name)


class Placement:
    """The shards on the workers, and how to make lost ones again.

    Parameters
    ----------
    client : distributed.Client
    chunks : sequence of Chunk
        Where the values of each shard come from.
    """

    def __init__(self, client: Any, chunks: Sequence[Chunk]) -> None:
        self.client, self.chunks = client, list(chunks)
        self.futures: list[Any] = [None] * len(self.chunks)
        self.owners: list[str] = [""] * len(self.chunks)
        self.reports: list[Any] = [None] * len(self.chunks)

    def missing(self, workers: dict[str, int]) -> list[int]:
        """The places of shards that no living worker owns, or that the scheduler has forgotten."""
        return [
            place
            for place, owner in enumerate(self.owners)
            if owner not in workers or self.futures[place].cancelled()
        ]

    def submit(self, place: int, workers: dict[str, int]) -> list[Any]:
        """Have the worker with the fewest shards make one; the last future is its report."""
        load = dict.fromkeys(workers, 0.0)
        for owner in self.owners:
            if owner in load:
                load[owner] += 1 / max(1, workers[owner])
        # Ties by address, so that the same cluster gets the same shards again.
        worker = min(load, key=lambda address: (load[address], address))
        self.owners[place] = worker
        again = self.futures[place] is not None
        futures = self.chunks[place].submit(self.client, worker, again)
        self.futures[place] = futures[-1]
        return [*futures, self.client.submit(report_of, futures[-1], pure=False)]

    def settle(self) -> None:
        """Note where every shard is now."""
        # By their names: the client has no answer if only one of the futures was lost meanwhile.
        names = [future.key for future in self.futures]
        scheduler = self.client.scheduler
        try:
            where = answer_within(self.client, PATIENCE, lambda: scheduler.who_has(keys=names))
        except ClusterError:
            raise
        except OSError as error:
            raise scheduler_lost(self.client, "a search for the points") from error
        for place, future in enumerate(self.futures):
            self.owners[place] = next(iter(where.get(future.key, ())), "")


@dataclass(frozen=True)
class ArrayChunk:
    """Values that the client has, and sends to a worker."""

    values: NDArray
    prepared: bool = False

    def submit(self, client: Any, worker: str, again: bool) -> list[Any]:
        values = send(client, self.values, workers=[worker])
        options = {"prepared": self.prepared, "workers": [worker], "pure": False}
        return [client.submit(Shard, values, **options)]


@dataclass(frozen=True)
class GraphChunk:
    """A chunk of a dask array, computed on the worker that will own the shard."""

    values: Any
    """What ``dask.array.Array.to_delayed`` returns for the chunk."""
    on_worker: bool
    """Whether a worker has it already; the shard is then made there."""
    prepared: bool = False

    def submit(self, client: Any, worker: str, again: bool) -> list[Any]:
        from dask.delayed import delayed
        from dask.graph_manipulation import clone

        # The scheduler may still know the chunk by its name, bound to a worker that is gone, and
        # would wait for that worker though others could compute it.
        values = clone(self.values) if again and not self.on_worker else self.values
        shard = delayed(Shard, pure=False)(values, prepared=self.prepared)
        if self.on_worker:
            return [client.compute(shard)]
        return [client.compute(shard, workers=[worker], allow_other_workers=True)]


def array_chunks(X: Any, client: Any, *, prepared: bool) -> list[GraphChunk]:
    """The chunks of a dask array, of unit vectors if they are ``prepared``."""
    on_worker = {str(key) for key in client.futures}
    delayed = X.to_delayed(optimize_graph=False).ravel()
    return [GraphChunk(each, str(each.key) in on_worker, prepared) for each in delayed]
