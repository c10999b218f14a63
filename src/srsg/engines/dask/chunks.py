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
