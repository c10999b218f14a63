"""Points in shards: each shard has consecutive points and lies on the worker that owns it.

A shard is made from a chunk that a worker reads, computes or receives. The client knows how, so a
shard that is lost with its worker can be made again.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from operator import attrgetter
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from srsg.points import Points, float_type, unit_points
from srsg.running.dask.clients import ClusterError, answer_within
from srsg.running.dask.task_pool import scheduler_lost
from srsg.running.sizes import Sized
from srsg.types import IntArray

PATIENCE = 600.0
"""Seconds to send a shard, or to hear where shards are: long enough for a slow network."""


class Report(NamedTuple):
    """What the client has to know about a shard."""

    shape: tuple[int, ...]
    dtype: np.dtype
    not_finite: float | None
    """A value that is not finite, if there is one."""


class Shard(Sized):
    """The points of one chunk, scaled to unit length, and a report."""

    def __init__(self, chunk: Any, *, prepared: bool = False) -> None:
        values = np.asarray(chunk)
        wrong = None if values.dtype.kind in "iub" else _not_finite(values)
        dtype = np.dtype(float_type(values))
        self.report = Report(values.shape, dtype, wrong)
        self.points: Points | None = None
        if wrong is None and values.size:
            # Rows of zeros are left out later.
            unit = values if prepared else unit_points(values, keep_zero_rows=True).x
            x = np.require(unit, dtype, ["C", "W"])
            # Made once, and counted as memory of the shard.
            self.points = Points(x).with_single_precision()

    def starting_at(self, first: int) -> Points:
        """The points, given the index of the first among all points."""
        assert self.points is not None
        return replace(self.points, first=first)


def _not_finite(values: NDArray[np.floating]) -> float | None:
    wrong = values[~np.isfinite(values)]
    return float(wrong[0]) if wrong.size else None


MakeShard = Callable[[Any, str, bool], Any]
"""Has a worker make a shard from a chunk, and returns its future. It takes the client, the worker
(another one if that has the chunk), and whether the shard was made before and is lost."""


def send(client: Any, data: Any, **where: Any) -> Any:
    """Send data to workers, and return the future."""
    return answer_within(client, PATIENCE, lambda: client.scatter(data, hash=False, **where))


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
    lazy: Any = field(default=None, repr=False)
    """The unit vectors as a dask array, where there is one."""
    here: Points | None = field(default=None, repr=False)
    """The same points in this process, if they are here too."""

    in_shards = True

    @cached_property
    def starts(self) -> IntArray:
        """The index of the first point of every shard, and the number of points."""
        sizes = [report.shape[0] for report in self.shards.reports]
        return np.concatenate(([0], np.cumsum(sizes)))

    @cached_property
    def n(self) -> int:
        return int(self.starts[-1])

    @cached_property
    def n_features(self) -> int:
        return self.shards.reports[0].shape[1]

    @property
    def dtype(self) -> np.dtype:
        return self.shards.reports[0].dtype

    def lazy_rows(self) -> Any:
        return self.lazy

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
    chunks : sequence of MakeShard
        How each shard is made.
    """

    def __init__(self, client: Any, chunks: Sequence[MakeShard]) -> None:
        self.client, self.chunks = client, chunks
        self.futures: list[Any] = [None] * len(chunks)
        self.owners: list[str] = [""] * len(chunks)
        self.reports: list[Any] = [None] * len(chunks)

    def missing(self, workers: dict[str, int]) -> list[int]:
        """Places of shards without a living owner, or forgotten by the scheduler."""
        return [
            place
            for place, owner in enumerate(self.owners)
            if owner not in workers or self.futures[place].cancelled()
        ]

    def submit(self, place: int, workers: dict[str, int]) -> list[Any]:
        """Have the worker with the fewest shards make one: the futures of it and of its report."""
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
            where = answer_within(self.client, PATIENCE, lambda: scheduler.who_has(keys=names))
        except ClusterError:
            raise
        except OSError as error:
            raise scheduler_lost(self.client, "a search for the points") from error
        for place, future in enumerate(self.futures):
            self.owners[place] = next(iter(where.get(future.key, ())), "")


def sent_shard(values: NDArray, client: Any, worker: str, again: bool) -> Any:
    """A shard of unit vectors that the client has, and sends to a worker."""
    chunk = send(client, values, workers=[worker])
    return client.submit(Shard, chunk, prepared=True, workers=[worker], pure=False)


def chunks_of_array(X: Any, client: Any, *, prepared: bool) -> list[MakeShard]:
    """The chunks of a dask array, of unit vectors if they are ``prepared``."""
    delayed = X.to_delayed(optimize_graph=False).ravel()
    ready = {str(key) for key in client.futures}
    return [partial(_computed_shard, one, str(one.key) in ready, prepared) for one in delayed]


def _computed_shard(
    chunk: Any, on_worker: bool, prepared: bool, client: Any, worker: str, again: bool
) -> Any:
    """A shard computed by its owner; a chunk that is ``on_worker`` decides which one that is."""
    from dask.delayed import delayed
    from dask.graph_manipulation import clone

    if on_worker:
        return client.compute(delayed(Shard, pure=False)(chunk, prepared=prepared))
    # The scheduler may still know the chunk by its name, bound to a worker that is gone, and would
    # wait for that worker though others could compute it.
    values = clone(chunk) if again else chunk
    shard = delayed(Shard, pure=False)(values, prepared=prepared)
    return client.compute(shard, workers=[worker], allow_other_workers=True)
