"""Members of the clusters as pictures."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from srsg.explaining.confidence import confidence
from srsg.plot.axes import clusters_of, new_axes
from srsg.running.warnings import made_dense
from srsg.types import Matrix

if TYPE_CHECKING:
    from matplotlib.axes import Axes


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
    ax = ax or new_axes()
    points = made_dense(X, "pictures are dense")
    pictures = points.reshape(len(points), *image_shape)
    height, width, *channels = pictures.shape[1:]
    sure = confidence(model, points)
    names, cluster = clusters_of(model)
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
