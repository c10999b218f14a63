"""The graph as a picture: never n by n, always a few hundred bins."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from srsg.points import blocks_of_rows
from srsg.report.png import data_uri
from srsg.types import FloatArray, IntArray

SIDE = 320
"""Most bins along a side."""

WITHIN, BETWEEN = (24, 132, 208), (222, 76, 36)


@dataclass(frozen=True)
class GraphPicture:
    """A graph's matrix, points in order of their clusters.

    Attributes
    ----------
    uri : str
        The picture as an address that holds it.
    n_edges : int
    between_clusters : float
        Share of the edges that join different clusters.
    between_classes : float or None
        Share of the edges that join different true classes, where they are known.
    """

    uri: str
    n_edges: int
    between_clusters: float
    between_classes: float | None


def graph_picture(graph: Any, cluster: IntArray, classes: IntArray | None = None) -> GraphPicture:
    """Draw a graph: edges within clusters in blue, between clusters in red.

    Examples
    --------
    >>> import numpy as np
    >>> from srsg.report.pictures import graph_picture
    >>> picture = graph_picture(np.ones((3, 3)), np.array([0, 0, 1]))
    >>> picture.n_edges, round(picture.between_clusters, 2)
    (3, 0.67)
    """
    n_points = len(cluster)
    side = min(n_points, SIDE)
    order = np.lexsort((cluster,) if classes is None else (classes, cluster))
    bin_of = np.empty(n_points, np.int64)
    bin_of[order] = np.arange(n_points) * side // n_points
    weights = np.zeros((2, side * side))  # within, between
    counts = np.zeros(3, np.int64)  # all, between clusters, between classes
    for rows in blocks_of_rows(n_points, max(1, 4_000_000 // n_points)):
        block = sparse.coo_array(graph[rows])
        row, column = rows[block.row], block.col
        kept = (row != column) & (block.data != 0)
        row, column, weight = row[kept], column[kept], np.abs(block.data[kept])
        differ = cluster[row] != cluster[column]
        place = bin_of[row] * side + bin_of[column]
        for kind, chosen in enumerate((~differ, differ)):
            weights[kind] += np.bincount(place[chosen], weight[chosen], side * side)
        mixed = 0 if classes is None else (classes[row] != classes[column]).sum()
        counts += (len(row), differ.sum(), mixed)
    total = max(int(counts[0]), 1)
    return GraphPicture(
        uri=data_uri(_drawn(weights.reshape(2, side, side))),
        n_edges=int(counts[0]) // 2,
        between_clusters=float(counts[1] / total),
        between_classes=None if classes is None else float(counts[2] / total),
    )


def _drawn(weights: FloatArray) -> np.ndarray:
    """Pixels, clear where there is no edge."""
    pixels = np.zeros((*weights.shape[1:], 4), np.uint8)
    red = weights[1] > weights[0]
    pixels[..., :3] = np.where(red[..., None], BETWEEN, WITHIN)
    weight = weights.sum(axis=0)
    found = weight[weight > 0]
    if found.size:
        # On a logarithmic scale, or a few heavy edges would leave all others invisible; light
        # ones stand back where the picture is crowded.
        faintest = 160 - 130 * found.size / weight.size
        low, high = np.log(np.percentile(found, [5, 95]))
        strength = (np.log(np.where(weight > 0, weight, 1.0)) - low) / max(high - low, 1e-12)
        alpha = faintest + (255 - faintest) * np.clip(strength, 0, 1)
        pixels[..., 3] = np.where(weight > 0, alpha, 0)
    return pixels
