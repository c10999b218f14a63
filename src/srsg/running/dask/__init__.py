"""The same results on a Dask cluster: points stay in shards on its workers."""

from srsg.running.dask.cluster import ClusterError

__all__ = ["ClusterError"]
