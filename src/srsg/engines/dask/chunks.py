"""Where the values of shards come from: the client, or a dask array."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from numpy.typing import NDArray

from srsg.engines.dask.shards import Shard


@dataclass(frozen=True)
class ArrayChunk:
    """Values that the client has, and sends to a worker."""

    values: NDArray
    prepared: bool = False

    def submit(self, client: Any, worker: str, again: bool) -> list[Any]:
        values = client.scatter(self.values, workers=[worker], hash=False)
        options = {"prepared": self.prepared, "workers": [worker], "pure": False}
        return [client.submit(Shard, values, **options)]


@dataclass(frozen=True)
class GraphChunk:
    """A chunk of a dask array: computed on the worker that then owns it."""

    values: Any
    """What ``dask.array.Array.to_delayed`` returns for the chunk."""
    placed: bool
    """Whether workers have it already; the shard is then made where it is."""
    prepared: bool = False

    def submit(self, client: Any, worker: str, again: bool) -> list[Any]:
        from dask.delayed import delayed
        from dask.graph_manipulation import clone

        # The scheduler may still know the chunk by its name, bound to a worker that is gone, and
        # then waits for that one even where others would do.
        values = clone(self.values) if again and not self.placed else self.values
        shard = delayed(Shard, pure=False)(values, prepared=self.prepared)
        if self.placed:
            return [client.compute(shard)]
        return [client.compute(shard, workers=[worker], allow_other_workers=True)]


def array_chunks(X: Any, client: Any, *, prepared: bool) -> list[GraphChunk]:
    """The chunks of a dask array, one for each block of its rows."""
    placed = {str(key) for key in client.futures}
    delayed = X.to_delayed(optimize_graph=False).ravel()
    return [GraphChunk(each, str(each.key) in placed, prepared) for each in delayed]
