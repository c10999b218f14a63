"""The graph, its embedding and its eigenvalues."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse

from srsg.explaining.layout import plane
from srsg.plot.axes import clusters_of, new_axes
from srsg.plot.colors import palette
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
        Sorts the points by label, and colours edges between different labels.
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
    ax = ax or new_axes()
    graph = sparse.coo_array(matrix)
    n_points = graph.shape[0]
    place = np.arange(n_points)
    # Dots as large as the cells of the matrix, but never too small to see.
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


def embedding(
    model: Any, X: Matrix, labels: ArrayLike | None = None, ax: Axes | None = None
) -> Axes:
    """The points in the plane, coloured by label; points joined in the graph lie near each other.

    Parameters
    ----------
    model : estimator
        Fitted: any estimator of this package, another with ``labels_``, a pipeline that ends in
        one of these, or a :class:`srsg.StabilitySearch`.
    X : array, sparse matrix or DataFrame of shape (n, d)
        The points it was fitted on.
    labels : array-like of shape (n,), optional
        Colours of the points; the model's clusters by default.
    ax : Axes, optional
        Where to draw; a new figure by default.

    Returns
    -------
    Axes

    See Also
    --------
    srsg.explaining.layout.plane : The coordinates.

    Examples
    --------
    >>> from srsg import SMCE
    >>> from srsg.datasets import make_trefoil_knots
    >>> from srsg.plot import embedding
    >>> X, y = make_trefoil_knots(random_state=0)
    >>> ax = embedding(SMCE(n_clusters=2, random_state=0).fit(X), X)
    >>> [text.get_text() for text in ax.texts]
    ['0', '1']
    """
    ax = ax or new_axes()
    coordinates, _ = plane(model, X if sparse.issparse(X) else np.asarray(X))
    given = None if labels is None else np.unique(labels, return_inverse=True)
    names, group = given or clusters_of(model)
    colors = np.array(palette(len(names)))
    # The more points there are, the smaller they must be to stay apart.
    size = np.clip(2e4 / len(group), 1, 25)
    x, y = coordinates.T
    ax.scatter(x, y, c=colors[group], s=size, linewidths=0, rasterized=True)
    for place, name in enumerate(names):  # named too, for readers who cannot tell the colours apart
        own = group == place
        box = {"facecolor": "white", "alpha": 0.75, "linewidth": 0, "pad": 1.5}
        at = float(np.median(x[own])), float(np.median(y[own]))
        ax.text(at[0], at[1], str(name), ha="center", va="center", weight="bold", bbox=box)
    ax.set(xticks=[], yticks=[], aspect="equal")
    return ax


def eigenvalues(values: ArrayLike, n_clusters: int | None = None, ax: Axes | None = None) -> Axes:
    """Leading eigenvalues of the normalised graph, and the gap after those that were used.

    Parameters
    ----------
    values : array-like of shape (m,)
        In decreasing order: ``eigenvalues_`` of any estimator, or of
        :func:`srsg.cutting.embedding.spectral_embedding` with more dimensions than clusters.
    n_clusters : int, optional
        Mark the gap after this many.
    ax : Axes, optional
        Where to draw; a new figure by default.

    Returns
    -------
    Axes

    Examples
    --------
    >>> from srsg.plot import eigenvalues
    >>> eigenvalues([1.0, 0.95, 0.6, 0.55], n_clusters=2).get_title()
    'gap of 0.35 after 2'
    """
    ax = ax or new_axes()
    heights = np.asarray(values, float)
    ax.plot(np.arange(1, len(heights) + 1), heights, "o-", color="C0", markersize=4, linewidth=1)
    if n_clusters is not None and 0 < n_clusters < len(heights):
        ax.axvline(n_clusters + 0.5, color="C3", linestyle="--", linewidth=1)
        gap = heights[n_clusters - 1] - heights[n_clusters]
        ax.set_title(f"gap of {gap:.3g} after {n_clusters}")
    ax.locator_params(axis="x", integer=True)
    ax.set(xlabel="eigenvalue", ylabel="size")
    return ax
