"""Pictures with matplotlib: every function takes and returns an Axes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse

from srsg.types import Matrix

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def affinity(matrix: Matrix, labels: ArrayLike | None = None, ax: Axes | None = None) -> Axes:
    """The edges of a graph as dots, as in the paper's figure of its adjacency matrices.

    Parameters
    ----------
    matrix : array or sparse matrix of shape (n, n)
        ``affinity_matrix_`` of any estimator.
    labels : array-like of shape (n,), optional
        Orders the points by label, and colours the edges that join different ones.
    ax : Axes, optional
        Where to draw; a new figure by default.

    Returns
    -------
    Axes

    Examples
    --------
    >>> import numpy as np
    >>> from srsg.plot import affinity
    >>> ax = affinity(np.kron(np.eye(2), np.ones((3, 3))), labels=[0, 0, 0, 1, 1, 1])
    >>> ax.get_title()
    '12 edges, 0.0 % between different labels'
    """
    ax = ax or _new_axes()
    graph = sparse.coo_array(matrix)
    n_points = graph.shape[0]
    place = np.arange(n_points)
    size = np.clip(1e5 / n_points**2, 0.1, 9)
    style = {"s": size, "linewidths": 0, "rasterized": True}
    if labels is None:
        ax.scatter(graph.col, graph.row, color="C0", **style)
    else:
        labels = np.asarray(labels)
        place[np.argsort(labels, kind="stable")] = np.arange(n_points)
        wrong = labels[graph.row] != labels[graph.col]
        for chosen, color in ((~wrong, "C0"), (wrong, "C3")):
            ax.scatter(place[graph.col[chosen]], place[graph.row[chosen]], color=color, **style)
        share = wrong.mean() if graph.nnz else 0.0
        edges = sparse.triu(graph).nnz
        ax.set_title(f"{edges} edges, {share:.1%} between different labels".replace("%", " %"))
    ax.set(xlim=(-0.5, n_points - 0.5), ylim=(n_points - 0.5, -0.5), aspect="equal")
    return ax


def _new_axes() -> Axes:
    try:
        import matplotlib.pyplot as plt
    except ModuleNotFoundError as error:
        raise ModuleNotFoundError(
            "srsg.plot needs matplotlib: pip install 'srsg[plot]'."
        ) from error
    return plt.subplots()[1]
