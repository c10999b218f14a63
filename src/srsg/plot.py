"""Pictures with matplotlib: every function takes and returns an Axes."""

from __future__ import annotations

import colorsys
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse

from srsg.explaining.confidence import confidence
from srsg.explaining.layout import plane
from srsg.explaining.unwrapping import clusterer_of
from srsg.files.errors import needed
from srsg.running.warnings import made_dense
from srsg.types import Matrix

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MARKERS = "osD^vPX*"

# Paul Tol's vibrant scheme: colour-blind readers can tell its colours apart, on light and dark
# backgrounds.
_FIRST = ("#0077bb", "#ee7733", "#009988", "#cc3311", "#33bbee", "#ee3377", "#999999")
_GOLDEN_ANGLE = 0.381966
_LIGHTNESS = (0.62, 0.45, 0.74)


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
    ax = ax or _new_axes()
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
    ax = ax or _new_axes()
    coordinates, _ = plane(model, X if sparse.issparse(X) else np.asarray(X))
    shown = clusterer_of(model).labels_ if labels is None else labels
    names, group = np.unique(shown, return_inverse=True)
    colors = np.array(palette(len(names)))
    # The more points there are, the smaller they must be to stay apart.
    size = np.clip(2e4 / len(group), 1, 25)
    x, y = coordinates.T
    ax.scatter(x, y, c=colors[group], s=size, linewidths=0, rasterized=True)
    for place, name in enumerate(names):  # named too, for readers who cannot tell the colours apart
        own = group == place
        box = {"facecolor": "white", "alpha": 0.75, "linewidth": 0, "pad": 1.5}
        middle = float(np.median(x[own])), float(np.median(y[own]))
        ax.text(*middle, str(name), ha="center", va="center", weight="bold", bbox=box)
    ax.set(xticks=[], yticks=[], aspect="equal")
    return ax


def tree(model: Any, ax: Axes | None = None) -> Axes:
    """The tree of the points: one box for each cluster of it, as wide as it has points.

    A box reaches from the height at which its parts are merged to that at which it is merged
    itself. Boxes within one cluster of the model have its colour. At heights above 0.5, the edges
    between two clusters weigh less than by chance.

    Parameters
    ----------
    model : estimator
        Fitted: any estimator of this package, a pipeline that ends in one, or a search.
    ax : Axes, optional
        Where to draw; a new figure by default.

    Returns
    -------
    Axes

    See Also
    --------
    srsg.cutting.tree.Tree.linkage : The tree for SciPy's dendrograms.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from srsg import NeighborGraph
    >>> from srsg.plot import tree
    >>> model = NeighborGraph(4, random_state=0).fit(load_digits(n_class=4).data[:200])
    >>> tree(model).get_ylabel()
    'height'
    """
    clusterer = clusterer_of(model)
    if not hasattr(clusterer, "tree_"):
        raise TypeError(f"A {type(clusterer).__name__} builds no graph, and so it has no tree.")
    ax = ax or _new_axes()
    names, cluster = np.unique(clusterer.labels_, return_inverse=True)
    owner = clusterer.tree_.owners(cluster)
    colors = [*palette(len(names)), "lightgrey"]
    left, right, low, high = clusterer.tree_.spans().T
    ax.bar(
        left,
        high - low,
        right - left,
        low,
        align="edge",
        color=[colors[c] for c in owner],
        edgecolor="white",
        linewidth=0.8,
    )
    for c, name in enumerate(names):
        own = np.flatnonzero(owner == c)
        middle = (left[own].min() + right[own].max()) / 2
        ax.text(middle, -0.02, str(name), ha="center", va="top", size="small")
    ax.axhline(0.5, color="black", linestyle="--", linewidth=0.8)
    ax.set(xticks=[], xlabel="cluster", ylabel="height", xlim=(0, right.max()), ylim=(0, 1))
    ax.xaxis.labelpad = 14
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
    ax = _curve(1, values, ax, "eigenvalue", "size")
    heights = np.asarray(values, float)
    if n_clusters is not None and 0 < n_clusters < len(heights):
        ax.axvline(n_clusters + 0.5, color="C3", linestyle="--", linewidth=1)
        gap = heights[n_clusters - 1] - heights[n_clusters]
        ax.set_title(f"gap of {gap:.3g} after {n_clusters}")
    return ax


def _curve(first: int, values: ArrayLike, ax: Axes | None, x_label: str, y_label: str) -> Axes:
    """Values over whole numbers, as dots on a line; the first one is at ``first``."""
    ax = ax or _new_axes()
    heights = np.asarray(values, float)
    numbers = np.arange(first, first + len(heights))
    ax.plot(numbers, heights, "o-", color="C0", markersize=4, linewidth=1)
    ax.locator_params(axis="x", integer=True)
    ax.set(xlabel=x_label, ylabel=y_label)
    return ax


def objective(history: ArrayLike, ax: Axes | None = None) -> Axes:
    """The objective at the start and after every sweep.

    Parameters
    ----------
    history : array-like of shape (n_sweeps + 1,)
        ``objective_history_`` of an estimator that sweeps.
    ax : Axes, optional
        Where to draw; a new figure by default.

    Returns
    -------
    Axes

    Examples
    --------
    >>> from srsg.plot import objective
    >>> objective([30.0, 21.0, 20.5]).get_xlabel()
    'sweep'
    """
    return _curve(0, history, ax, "sweep", "objective")


def sensitivity(
    values: ArrayLike,
    scores: Mapping[str, ArrayLike],
    *,
    parameter: str,
    score: str = "accuracy",
    ax: Axes | None = None,
) -> Axes:
    """How scores depend on a parameter, one line per method.

    Parameters
    ----------
    values : array-like of shape (m,)
        Values of the parameter, in increasing order. The axis is logarithmic if they span more
        than a factor of fifty.
    scores : mapping of str to array-like of shape (m,) or (m, n_runs)
        Scores of each method at these values. Several runs are drawn as their mean, over a band
        from the smallest to the largest. A single number is drawn as a horizontal line.
    parameter, score : str
        Names for the axes.
    ax : Axes, optional
        Where to draw; a new figure by default.

    Returns
    -------
    Axes

    Examples
    --------
    >>> from srsg.plot import sensitivity
    >>> scores = {"SRSG": [0.7, 0.8, 0.78], "K-means": 0.6}
    >>> ax = sensitivity([0.01, 0.1, 1.0], scores, parameter="gamma")
    >>> ax.get_xscale(), [text.get_text() for text in ax.get_legend().get_texts()]
    ('log', ['SRSG', 'K-means'])
    """
    ax = ax or _new_axes()
    x = np.asarray(values, float)
    for place, (name, score_values) in enumerate(scores.items()):
        heights = np.asarray(score_values, float)
        if heights.ndim == 0:
            heights = np.full(len(x), heights)
        if len(heights) != len(x):
            raise ValueError(f"scores[{name!r}] has {len(heights)} entries for {len(x)} values.")
        runs = heights.reshape(len(x), -1)
        color = palette(place + 1)[-1]
        marker = MARKERS[place % len(MARKERS)]
        ax.plot(x, runs.mean(axis=1), f"{marker}-", color=color, markersize=5, label=name)
        if runs.shape[1] > 1:
            band = runs.min(axis=1), runs.max(axis=1)
            ax.fill_between(x, *band, color=color, alpha=0.15, linewidth=0)
    if x.min() > 0 and x.max() > 50 * x.min():
        ax.set_xscale("log")
    ax.set(xlabel=parameter, ylabel=score)
    ax.legend(frameon=False)
    return ax


def gallery(
    model: Any,
    X: Matrix,
    image_shape: Sequence[int],
    *,
    members: Literal["central", "least_confident"] = "central",
    count: int = 10,
    ax: Axes | None = None,
) -> Axes:
    """Pictures of the members of each cluster, one row per cluster.

    Parameters
    ----------
    model : estimator
        Fitted: any estimator of this package, another with ``labels_``, a pipeline that ends in
        one of these, or a :class:`srsg.StabilitySearch`.
    X : array or sparse matrix of shape (n, d)
        The pictures it was fitted on, one per row.
    image_shape : (height, width) or (height, width, 3)
        ``X[i].reshape(image_shape)`` is a picture.
    members : {"central", "least_confident"}
        The most central members, or those with the lowest confidence.
    count : int
        Members per cluster.
    ax : Axes, optional
        Where to draw; a new figure by default.

    Returns
    -------
    Axes

    Examples
    --------
    >>> from sklearn.cluster import KMeans
    >>> from sklearn.datasets import load_digits
    >>> from srsg.plot import gallery
    >>> X = load_digits(n_class=3).data
    >>> ax = gallery(KMeans(3, n_init=1, random_state=0).fit(X), X, (8, 8), count=5)
    >>> [text.get_text() for text in ax.get_yticklabels()]
    ['0', '1', '2']
    """
    if members not in ("central", "least_confident"):
        raise ValueError(f"members must be 'central' or 'least_confident', got {members!r}.")
    ax = ax or _new_axes()
    points = made_dense(X, "pictures are dense")
    pictures = points.reshape(len(points), *image_shape)
    height, width, *channels = pictures.shape[1:]
    sure = confidence(model, points)
    names, cluster = np.unique(clusterer_of(model).labels_, return_inverse=True)
    # One scale for all pictures, so that their brightness can be compared.
    low, high = points.min(), points.max()
    # Between the pictures is a line of pixels that the last channel makes transparent.
    sheet = np.zeros((len(names), height + 1, count, width + 1, 4))
    for row in range(len(names)):
        own = np.flatnonzero(cluster == row)
        chosen = (sure.most_central if members == "central" else sure.least_confident)(own, count)
        scaled = (pictures[chosen] - low) / max(high - low, 1e-300)
        if not channels:
            scaled = scaled[..., None]
        sheet[row, :height, : len(chosen), :width, :3] = scaled.swapaxes(0, 1)
        sheet[row, :height, : len(chosen), :width, 3] = 1.0
    ax.imshow(sheet.reshape(len(names) * (height + 1), count * (width + 1), 4))
    ax.set_yticks((height + 1) * np.arange(len(names)) + (height - 1) / 2, names)
    ax.set(xticks=[], ylabel="cluster")
    ax.tick_params(length=0)
    ax.set_frame_on(False)
    return ax


def palette(count: int) -> list[str]:
    """A number of different colours; the first seven are safe for colour-blind readers.

    A longer palette cannot be safe, so pictures also name the clusters.

    Examples
    --------
    >>> from srsg.plot import palette
    >>> palette(2)
    ['#0077bb', '#ee7733']
    >>> len(set(palette(100)))
    100
    """
    return [*_FIRST[:count], *(_further(place) for place in range(count - len(_FIRST)))]


def _further(place: int) -> str:
    hue = (0.78 + place * _GOLDEN_ANGLE) % 1.0
    channels = colorsys.hls_to_rgb(hue, _LIGHTNESS[place % len(_LIGHTNESS)], 0.55)
    return "#" + "".join(f"{round(255 * channel):02x}" for channel in channels)


def _new_axes() -> Axes:
    """The Axes of a new figure, or a one-line error if matplotlib is missing."""
    return needed("matplotlib.pyplot", "srsg.plot needs matplotlib", "plot").subplots()[1]
