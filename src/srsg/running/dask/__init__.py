"""The same results on a Dask cluster: points stay in shards on its workers."""

from srsg.running.dask.clients import ClusterError, needed_dask
from srsg.running.dask.engine import DaskEngine
from srsg.running.dask.shards import ShardedPoints

__all__ = ["ClusterError", "DaskEngine", "ShardedPoints", "needed_dask"]
