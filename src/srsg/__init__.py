"""Sparse-graph clustering: exact codes, a sparse graph, clusters.

Names are imported when first used, so that ``import srsg`` is instant.
"""

from __future__ import annotations

from importlib import import_module
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from srsg.estimators import SRSG, L1Graph
    from srsg.labels import cluster_graph

__version__ = version("srsg")
__all__ = ["SRSG", "L1Graph", "cluster_graph"]

_HOME = {
    "L1Graph": "srsg.estimators",
    "SRSG": "srsg.estimators",
    "cluster_graph": "srsg.labels",
}


def __getattr__(name: str) -> Any:
    if name in _HOME:
        return getattr(import_module(_HOME[name]), name)
    raise AttributeError(f"module 'srsg' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
