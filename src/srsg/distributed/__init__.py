"""The same results on a Dask cluster: points stay in shards on its workers."""

from srsg.distributed.engine import DaskEngine
from srsg.distributed.errors import ClusterError, needed_dask
from srsg.distributed.shards import ShardedPoints

__all__ = ["ClusterError", "DaskEngine", "ShardedPoints", "needed_dask"]
