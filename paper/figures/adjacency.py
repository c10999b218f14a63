"""The graphs of the l1-graph and of SRSG: the paper's supplementary figure."""

from __future__ import annotations

from pathlib import Path

from numpy.typing import NDArray
from scipy import sparse

from paper.evaluation import Evaluation
from paper.figures.style import new_figure
from srsg import plot
from srsg.registry import methods

DATASET = "Yale-B"


def wrong_shares(affinity: sparse.csr_array, labels: NDArray) -> tuple[float, float]:
    """The share of the edges, and of their weight, that join points of different classes.

    Examples
    --------
    >>> import numpy as np
    >>> from scipy import sparse
    >>> from paper.figures.adjacency import wrong_shares
    >>> path = sparse.csr_array([[0.0, 3.0, 0.0], [3.0, 0.0, 1.0], [0.0, 1.0, 0.0]])
    >>> wrong_shares(path, np.array([0, 0, 1]))
    (0.5, 0.25)
    """
    graph = sparse.coo_array(affinity)
    wrong = labels[graph.row] != labels[graph.col]
    return float(wrong.mean()), float(graph.data[wrong].sum() / graph.data.sum())


def draw(evaluation: Evaluation, path: Path, quick: bool) -> None:
    """Both graphs at the paper's settings, edges between different people in another colour."""
    data = evaluation.load(DATASET, 10 if quick else None)
    with new_figure(path, 12.0, 6.6) as figure:
        for ax, name in zip(figure.subplots(1, 2), ("l1", "srsg"), strict=True):
            method = methods()[name]
            model = method.paper(data.n_clusters, n_jobs=evaluation.n_jobs)
            with evaluation.progress.part(f"{data.name}: the graph of {method.title}", 0.5):
                model.fit_graph(data.X)
            plot.affinity(model.affinity_matrix_, data.y, ax)
            edges, weight = wrong_shares(model.affinity_matrix_, data.y)
            n_edges = sparse.triu(model.affinity_matrix_).nnz
            ax.set_title(
                f"{method.title}: {n_edges} edges; between different people\n"
                f"{100 * edges:.1f} % of the edges, {100 * weight:.1f} % of the weight"
            )
            ax.set(xlabel="image, ordered by person", ylabel="image, ordered by person")
            ax.grid(False)
        figure.suptitle(
            f"{data.name}, {data.n_clusters} people. A dot is an edge: blue within a person, "
            "red between two"
        )
