"""Where blocks of work run: threads of this process, or the workers of a Dask cluster."""

from srsg.engines.linear_algebra import serial_linear_algebra
from srsg.engines.protocol import Beginning, Block, Engine, Result, Round
from srsg.engines.threads import ThreadEngine

__all__ = [
    "Beginning",
    "Block",
    "Engine",
    "Result",
    "Round",
    "ThreadEngine",
    "serial_linear_algebra",
]
