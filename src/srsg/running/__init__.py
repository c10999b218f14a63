"""Where blocks of work run: threads of this process, or the workers of a Dask cluster.

Names are imported when first used: the command line needs :mod:`srsg.running.progress` only, and
``srsg --help`` is instant.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from srsg.running.engine import Engine, ThreadEngine, serial_linear_algebra, thread_pools

__all__ = ["Engine", "ThreadEngine", "serial_linear_algebra", "thread_pools"]


def __getattr__(name: str) -> Any:
    if name in __all__:
        return getattr(import_module("srsg.running.engine"), name)
    raise AttributeError(f"module 'srsg.running' has no attribute {name!r}")
