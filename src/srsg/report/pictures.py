"""Pictures inside the page: the graph, and small pictures of the points, all in one sheet."""

import base64
import struct
import zlib
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from srsg.points import blocks_of_rows
from srsg.types import FloatArray, IntArray

GRAPH_SIDE = 320
"""Most bins along a side of the picture of a graph."""

WITHIN, BETWEEN = (24, 132, 208), (222, 76, 36)

LARGEST_SIDE = 32
MOST_PIXELS = 4_000_000
"""The most pixels of the sheet: about 4,000 pictures of 32 x 32."""

_COLOUR_TYPE = {1: 0, 3: 2, 4: 6}  # by channels: gray, RGB, RGBA


class GraphPicture(NamedTuple):
    """A graph's matrix, points in order of their clusters.

    Attributes
    ----------
    uri : str
        The picture as a data URI.
    n_edges : int
    between_clusters : float
        Share of the edges that join different clusters.
    between_classes : float or None
        Share of the edges that join different true classes, if they are known.
    """

    uri: str
    n_edges: int
    between_clusters: float
    between_classes: float | None


def graph_picture(graph: Any, cluster: IntArray, classes: IntArray | None = None) -> GraphPicture:
    """Draw a graph: edges within clusters in blue, between clusters in red.

    The picture has a few hundred bins along a side, however many points there are.

    Examples
    --------
    >>> import numpy as np
    >>> from srsg.report.pictures import graph_picture
    >>> picture = graph_picture(np.ones((3, 3)), np.array([0, 0, 1]))
    >>> picture.n_edges, round(picture.between_clusters, 2)
    (3, 0.67)
    """
    n_points = len(cluster)
    side = min(n_points, GRAPH_SIDE)
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
    shares = counts / max(int(counts[0]), 1)
    return GraphPicture(
        data_uri(_drawn(weights.reshape(2, side, side))),
        int(counts[0]) // 2,
        float(shares[1]),
        None if classes is None else float(shares[2]),
    )


def _drawn(weights: FloatArray) -> NDArray[np.uint8]:
    """Pixels, transparent if there is no edge."""
    pixels = np.zeros((*weights.shape[1:], 4), np.uint8)
    red = weights[1] > weights[0]
    pixels[..., :3] = np.where(red[..., None], BETWEEN, WITHIN)
    weight = weights.sum(axis=0)
    positive = weight[weight > 0]
    if positive.size:
        # On a logarithmic scale, or a few heavy edges would leave all others invisible. Light
        # edges are fainter in a crowded picture.
        faintest = 160 - 130 * positive.size / weight.size
        low, high = np.log(np.percentile(positive, [5, 95]))
        strength = (np.log(np.where(weight > 0, weight, 1.0)) - low) / max(high - low, 1e-12)
        alpha = faintest + (255 - faintest) * np.clip(strength, 0, 1)
        pixels[..., 3] = np.where(weight > 0, alpha, 0)
    return pixels


class Thumbnails(NamedTuple):
    """Pictures of some of the points.

    Attributes
    ----------
    points : ndarray of shape (m,)
        The points in increasing order, as in the sheet, row by row.
    columns, rows : int
        Pictures beside each other in the sheet, and below each other.
    height, width : int
        Of one picture.
    sheet : str
        All pictures as one, as a data URI.
    """

    points: NDArray[np.intp]
    columns: int
    rows: int
    height: int
    width: int
    sheet: str

    def drawn(self, point: int) -> str:
        """The picture of a point, as a part of the sheet."""
        row, column = divmod(int(np.searchsorted(self.points, point)), self.columns)
        return f'<span class="thumb" style="--x:{column};--y:{row}"></span>'


def thumbnails(X: FloatArray, image_shape: tuple[int, ...], wanted: NDArray[np.intp]) -> Thumbnails:
    """Pictures of the wanted points first, then of as many others as the sheet has room for.

    Examples
    --------
    >>> import numpy as np
    >>> from srsg.report.pictures import thumbnails
    >>> sheet = thumbnails(np.random.default_rng(0).random((9, 64)), (8, 8), np.array([4]))
    >>> sheet.columns, sheet.rows, sorted(sheet.points) == list(range(9))
    (3, 3, True)
    """
    height, width = (min(side, LARGEST_SIDE) for side in image_shape[:2])
    room = max(MOST_PIXELS // (height * width * (image_shape[2] if image_shape[2:] else 1)), 1)
    others = np.setdiff1d(np.arange(len(X)), wanted)
    left = max(room - len(wanted), 0)
    # The seed is fixed, so that the same model gives the same page.
    if left < len(others):
        others = np.random.default_rng(0).choice(others, left, replace=False)
    points = np.sort(np.concatenate([wanted, others]))
    # Outliers of one picture must not turn all others gray.
    low, high = np.percentile(X[points], [0.1, 99.9])
    scaled = np.clip((X[points] - low) * (255.0 / max(high - low, 1e-300)), 0, 255)
    pictures = scaled.reshape(len(points), *image_shape[:2], -1)
    pictures = shrunk(shrunk(pictures, 1, height), 2, width).astype(np.uint8)
    columns = int(np.ceil(np.sqrt(len(points))))
    rows = -(-len(points) // columns)
    tiles = np.zeros((rows * columns, *pictures.shape[1:]), np.uint8)
    tiles[: len(points)] = pictures
    sheet = tiles.reshape(rows, columns, height, width, -1).swapaxes(1, 2)
    sheet = sheet.reshape(rows * height, columns * width, -1)
    return Thumbnails(points, columns, rows, height, width, data_uri(sheet))


def shrunk(values: FloatArray, axis: int, size: int) -> FloatArray:
    """Means of neighbouring values along an axis, as many as ``size``.

    Examples
    --------
    >>> import numpy as np
    >>> from srsg.report.pictures import shrunk
    >>> shrunk(np.array([[1.0, 3.0, 6.0, 8.0]]), 1, 2)
    array([[2., 7.]])
    """
    starts = np.arange(size) * values.shape[axis] // size
    counts = np.diff(np.append(starts, values.shape[axis]))
    shape = np.ones(values.ndim, int)
    shape[axis] = size
    return np.add.reduceat(values, starts, axis=axis) / counts.reshape(shape)


def data_uri(pixels: NDArray[np.uint8]) -> str:
    """A picture as an address that holds it."""
    return "data:image/png;base64," + base64.b64encode(png(pixels)).decode()


def png(pixels: NDArray[np.uint8]) -> bytes:
    """A picture of shape (height, width, channels) with 1, 3 or 4 channels as a PNG file.

    Examples
    --------
    >>> import numpy as np
    >>> from srsg.report.pictures import png
    >>> png(np.zeros((2, 3, 1), np.uint8))[:8]
    b'\\x89PNG\\r\\n\\x1a\\n'
    """
    height, width, channels = pixels.shape
    header = struct.pack(">IIBBBBB", width, height, 8, _COLOUR_TYPE[channels], 0, 0, 0)
    rows = np.zeros((height, 1 + width * channels), np.uint8)  # a 0 before a row: no filter
    rows[:, 1:] = pixels.reshape(height, -1)
    chunks = ((b"IHDR", header), (b"IDAT", zlib.compress(rows.tobytes(), 9)), (b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
        for kind, data in chunks
    )
