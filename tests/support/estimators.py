"""The estimators that tests go through one by one."""

from __future__ import annotations

from srsg import (
    SMCE,
    SRSG,
    ElasticNetGraph,
    L1Graph,
    LaplacianL1Graph,
    LocalScalingSpectralClustering,
    OMPGraph,
    RidgeGraph,
)

# Those with codes over unit points, which share most of their behaviour.
CODE_ESTIMATORS = [L1Graph, SRSG, LaplacianL1Graph, ElasticNetGraph, OMPGraph, RidgeGraph]

ALL_ESTIMATORS = [*CODE_ESTIMATORS, SMCE, LocalScalingSpectralClustering]
