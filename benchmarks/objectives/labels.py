"""From the graph to labels: spectral clustering of the same graph."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from benchmarks.case import Case
from benchmarks.objectives import Objective, Solved
from srsg import SRSG
from srsg.cutting.embedding import AUTO_BRIDGE, bridged
from srsg.graph import neighbor_graph


@dataclass(frozen=True)
class GraphToCut:
    graph: sparse.csr_array
    n_clusters: int


def prepare(case: Case) -> GraphToCut:
    """SRSG's graph with bridges, without which scikit-learn's eigenvectors would be wrong."""
    model = SRSG(case.n_clusters).fit_graph(case.X)
    graph = bridged(model.affinity_matrix_, neighbor_graph(model.neighbors_), AUTO_BRIDGE)
    return GraphToCut(graph, case.n_clusters)


def figures(problem: GraphToCut, solved: Solved) -> dict[str, Any]:
    """The normalised cut: the mean share of a cluster's weight that leaves it."""
    labels = np.asarray(solved.result)
    member = np.eye(problem.n_clusters)[labels]
    within = np.sum(member * (problem.graph @ member), axis=0)
    total = problem.graph.sum(axis=1) @ member
    return {"normalized_cut": float(np.mean(1 - within / np.maximum(total, 1e-300)))}


OBJECTIVES = [Objective("labels", prepare, figures)]
