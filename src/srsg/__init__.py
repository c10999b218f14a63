"""Sparse-graph clustering: exact codes, a sparse graph, clusters.

Names are imported when first used, so that ``import srsg`` is instant.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from srsg.estimators import (
        SMCE,
        SRSG,
        ElasticNetGraph,
        GraphClustering,
        L1Graph,
        LaplacianL1Graph,
        LocalScalingSpectralClustering,
        NeighborGraph,
        OMPGraph,
        PreparedClusterer,
        RidgeGraph,
        TSCGraph,
    )
    from srsg.estimators.cluster_graph import cluster_graph
    from srsg.explaining.clusters import explain
    from srsg.registry import methods
    from srsg.running.config import config_context, get_config, set_config
    from srsg.search import StabilitySearch

    __version__: str

__all__ = [
    "SMCE",
    "SRSG",
    "ElasticNetGraph",
    "GraphClustering",
    "L1Graph",
    "LaplacianL1Graph",
    "LocalScalingSpectralClustering",
    "NeighborGraph",
    "OMPGraph",
    "PreparedClusterer",
    "RidgeGraph",
    "StabilitySearch",
    "TSCGraph",
    "cluster_graph",
    "config_context",
    "explain",
    "get_config",
    "methods",
    "set_config",
]

_HOME = {
    "cluster_graph": "srsg.estimators.cluster_graph",
    "explain": "srsg.explaining.clusters",
    "methods": "srsg.registry",
    "StabilitySearch": "srsg.search",
    **dict.fromkeys(("config_context", "get_config", "set_config"), "srsg.running.config"),
}  # all others: srsg.estimators


def __getattr__(name: str) -> Any:
    if name == "__version__":
        from importlib.metadata import version

        return version("srsg")
    if name in __all__:
        return getattr(import_module(_HOME.get(name, "srsg.estimators")), name)
    raise AttributeError(f"module 'srsg' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__, "__version__"])
