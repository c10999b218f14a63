"""scikit-learn estimators: parameters, validation, learnt attributes."""

from srsg.estimators.base import GraphClusterer, accept_renamed
from srsg.estimators.elastic_net_graph import ElasticNetGraph
from srsg.estimators.graph_clustering import GraphClustering
from srsg.estimators.l1_graph import L1Graph
from srsg.estimators.laplacian_l1_graph import LaplacianL1Graph
from srsg.estimators.local_scaling import LocalScalingSpectralClustering
from srsg.estimators.neighbor_graph import NeighborGraph
from srsg.estimators.omp_graph import OMPGraph
from srsg.estimators.prepared import PreparedClusterer
from srsg.estimators.ridge_graph import RidgeGraph
from srsg.estimators.smce import SMCE
from srsg.estimators.srsg import SRSG
from srsg.estimators.tsc_graph import TSCGraph

__all__ = [
    "SMCE",
    "SRSG",
    "ElasticNetGraph",
    "GraphClusterer",
    "GraphClustering",
    "L1Graph",
    "LaplacianL1Graph",
    "LocalScalingSpectralClustering",
    "NeighborGraph",
    "OMPGraph",
    "PreparedClusterer",
    "RidgeGraph",
    "TSCGraph",
]

for _kind in (LaplacianL1Graph, LocalScalingSpectralClustering, RidgeGraph):
    accept_renamed(_kind, memory="store")
for _kind in (L1Graph, SRSG):
    accept_renamed(_kind, memory="store", checkpoint="store")
accept_renamed(ElasticNetGraph, memory="store", gamma="lam_divisor", keep_largest="n_nonzero")
accept_renamed(OMPGraph, memory="store", tol="max_residual")
accept_renamed(SMCE, memory="store", keep="weight_share")
