"""Where blocks of work run: threads of this process, or the workers of a Dask cluster."""

from srsg.engines.linear_algebra import serial_linear_algebra
from srsg.engines.protocol import Block, Engine, Result, RowTask, ShardScan
from srsg.engines.threads import ThreadEngine

__all__ = [
    "Block",
    "Engine",
    "Result",
    "RowTask",
    "ShardScan",
    "ThreadEngine",
    "serial_linear_algebra",
]
