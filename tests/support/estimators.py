"""The estimators that tests go through one by one."""

from __future__ import annotations

import numpy as np
from sklearn.base import clone

from srsg import (
    SMCE,
    SRSG,
    ElasticNetGraph,
    L1Graph,
    LaplacianL1Graph,
    LocalScalingSpectralClustering,
    NeighborGraph,
    OMPGraph,
    RidgeGraph,
    TSCGraph,
)

# Those with codes over unit points, which share most of their behaviour.
CODE_ESTIMATORS = [
    *(L1Graph, SRSG, LaplacianL1Graph, ElasticNetGraph, OMPGraph, RidgeGraph, TSCGraph),
    NeighborGraph,
]

ALL_ESTIMATORS = [*CODE_ESTIMATORS, SMCE, LocalScalingSpectralClustering]


def counted(estimator, X, seed=0):
    """How many clusters a graph of these points has, and the evidence."""
    return clone(estimator).fit_graph(X).count_clusters(random_state=seed)


def learnt(model):
    """All that a fit learns, as arrays and plain values; the graph itself is made of these."""
    return {
        name: value.toarray() if hasattr(value, "toarray") else value
        for name, value in vars(model).items()
        if name.endswith("_") and name not in ("graph_", "fit_X_", "tree_")
    }


def assert_same(model, expected):
    """The same bits in all that was learnt."""
    found, expected = learnt(model), learnt(expected)
    assert found.keys() == expected.keys()
    for name, value in found.items():
        np.testing.assert_array_equal(value, expected[name], err_msg=name)


def same_bits(one, other):
    """Whether two fitted estimators of one kind agree in every bit of what they have learnt."""
    for name in ("codes_", "affinity_matrix_"):
        left, right = getattr(one, name), getattr(other, name)
        for part in ("indptr", "indices", "data"):
            np.testing.assert_array_equal(getattr(left, part), getattr(right, part))
    for name in ("labels_", "neighbors_", "kkt_violation_", "dual_gap_"):
        if hasattr(one, name):
            np.testing.assert_array_equal(getattr(one, name), getattr(other, name))
    return True
