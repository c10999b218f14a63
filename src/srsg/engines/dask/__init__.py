"""The same results on a Dask cluster: points stay in shards on its workers."""

from srsg.engines.dask.clients import ClusterError, needed_dask
from srsg.engines.dask.engine import DaskEngine
from srsg.engines.dask.shards import ShardedPoints

__all__ = ["ClusterError", "DaskEngine", "ShardedPoints", "needed_dask"]
