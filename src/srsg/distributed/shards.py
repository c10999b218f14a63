"""Points in shards: some points in a row, each shard on the worker that owns it.

A shard is made from a *chunk*, which a worker reads, computes or is given. What a chunk is
made of is known to the client, so a shard that is lost with its worker is made again.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from srsg.points import Points, unit_rows
from srsg.types import IntArray


@dataclass(frozen=True)
class Report:
    """What the client has to know of a chunk."""

    shape: tuple[int, ...]
    dtype: np.dtype
    not_finite: float | None
    """A value that is not finite, if there is one."""
    zero_rows: IntArray


class Shard:
    """Points of one chunk, in unit length, and the report on it."""

    def __init__(self, chunk: Any, *, prepared: bool) -> None:
        values = np.asarray(chunk)
        if values.dtype != np.float32:
            values = values.astype(np.float64, copy=False)
        wrong = values[~np.isfinite(values)]
        zero = np.flatnonzero(~values.any(axis=-1)) if values.size else np.empty(0, np.int64)
        self.report = Report(
            values.shape, values.dtype, float(wrong[0]) if wrong.size else None, zero
        )
        self.points: Points | None = None
        if values.ndim == 2 and values.size and not wrong.size and not zero.size:
            x = np.ascontiguousarray(values) if prepared else unit_rows(values)
            self.points = Points(x if x.flags.writeable else x.copy())  # kernels know one kind
            _ = self.points.x32  # once, and counted

    def starting_at(self, first: int) -> Points:
        """The points, where the first of them has this index among all."""
        assert self.points is not None
        same = replace(self.points, first=first)
        same.__dict__["x32"] = self.points.x32  # what was computed once
        return same

    def __sizeof__(self) -> int:
        points = self.points
        return 1000 if points is None else points.x.nbytes + points.x32.nbytes


class Chunk(Protocol):
    """Where the values of a shard come from."""

    def submit(self, client: Any, worker: str, *, prepared: bool) -> Any:
        """Have a worker, this one if it can be, make the shard; returns the future."""


@dataclass(frozen=True)
class ArrayChunk:
    """Values that the client has, and sends to a worker."""

    values: NDArray

    def submit(self, client: Any, worker: str, *, prepared: bool) -> Any:
        values = client.scatter(self.values, workers=[worker], hash=False)
        return client.submit(Shard, values, prepared=prepared, workers=[worker], pure=False)


@dataclass(frozen=True)
class GraphChunk:
    """A chunk of a dask array: computed on the worker that then owns it."""

    values: Any
    """What ``dask.array.Array.to_delayed`` returns for the chunk."""
    placed: bool
    """Whether workers have it already; the shard is then made where it is."""

    def submit(self, client: Any, worker: str, *, prepared: bool) -> Any:
        from dask import delayed

        shard = delayed(Shard, pure=False)(self.values, prepared=prepared)
        if self.placed:
            return client.compute(shard)
        return client.compute(shard, workers=[worker], allow_other_workers=True)


@dataclass(frozen=True)
class FileChunk:
    """Rows of a file that the workers see."""

    read: Any
    """Called on the worker without arguments."""

    def submit(self, client: Any, worker: str, *, prepared: bool) -> Any:
        return client.submit(_read_shard, self.read, prepared, workers=[worker], pure=False)


def _read_shard(read: Any, prepared: bool) -> Shard:
    return Shard(read(), prepared=prepared)


def report_of(shard: Shard) -> Report:
    return shard.report


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

    @property
    def n(self) -> int:
        return int(self.starts[-1])

    @property
    def n_features(self) -> int:
        return self.width

    @property
    def dtype(self) -> np.dtype:
        return self.kind

    def __getattr__(self, name: str) -> Any:
        if name == "x":
            raise TypeError(
                "The points are on the workers of a Dask cluster, and this needs them in one "
                'process: use engine="threads" and X.compute().'
            )
        raise AttributeError(name)


class Placement:
    """The shards of some points, on the workers that own them.

    Parameters
    ----------
    client : distributed.Client
    chunks : sequence of Chunk
        What the shards are made of.
    prepared : bool
        Whether the values are unit vectors already.
    """

    def __init__(self, client: Any, chunks: Sequence[Chunk], *, prepared: bool) -> None:
        self.client, self.chunks, self.prepared = client, list(chunks), prepared
        self.futures: list[Any] = [None] * len(self.chunks)
        self.owners: list[str] = [""] * len(self.chunks)

    def missing(self, workers: dict[str, int]) -> list[int]:
        """The shards that no living worker owns."""
        return [place for place, owner in enumerate(self.owners) if owner not in workers]

    def submit(self, place: int, workers: dict[str, int]) -> Any:
        """Have the least burdened worker make a shard; returns the future of its report."""
        load = {worker: 0.0 for worker in workers}
        for owner in self.owners:
            if owner in load:
                load[owner] += 1 / max(1, workers[owner])
        worker = min(load, key=lambda address: (load[address], address))
        self.owners[place] = worker
        shard = self.chunks[place].submit(self.client, worker, prepared=self.prepared)
        self.futures[place] = shard
        return self.client.submit(report_of, shard, pure=False)

    def settle(self) -> None:
        """Note where the shards are now."""
        where = self.client.who_has(self.futures)
        for place, future in enumerate(self.futures):
            self.owners[place] = next(iter(where.get(future.key, ())), "")
