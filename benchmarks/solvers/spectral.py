"""Spectral clustering of a given graph, ours and scikit-learn's."""

from __future__ import annotations

import warnings

import numpy as np
from scipy import sparse
from sklearn.cluster import SpectralClustering

from benchmarks.objectives.labels import GraphToCut
from benchmarks.solvers import Solver
from srsg import cluster_graph


def ours(problem: GraphToCut) -> np.ndarray:
    return cluster_graph(problem.graph, problem.n_clusters, bridge=None, random_state=0)


def theirs(problem: GraphToCut) -> np.ndarray:
    model = SpectralClustering(problem.n_clusters, affinity="precomputed", random_state=0)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Graph is not fully connected")
        return model.fit_predict(sparse.csr_matrix(problem.graph))


SOLVERS = [
    Solver("labels", "srsg", ours),
    Solver("labels", "scikit-learn SpectralClustering", theirs, peer=True),
]
