"""scikit-learn estimators: parameters, validation, learnt attributes."""

from srsg.estimators.base import CodeClusterer, GraphClusterer
from srsg.estimators.l1_graph import L1Graph
from srsg.estimators.srsg import SRSG

__all__ = ["SRSG", "CodeClusterer", "GraphClusterer", "L1Graph"]
