"""Small pictures of the points, all in one sheet."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from srsg.report.png import data_uri
from srsg.types import FloatArray

LARGEST_SIDE = 32
MOST_PIXELS = 4_000_000
"""Of the sheet: some 4,000 pictures of 32 x 32."""


@dataclass(frozen=True)
class Thumbnails:
    """Pictures of some of the points.

    Attributes
    ----------
    points : ndarray of shape (m,)
        Whose pictures there are, in the order of the sheet, row by row.
    columns, rows : int
        Pictures beside each other in the sheet, and below each other.
    height, width : int
        Of one picture.
    sheet : str
        All pictures as one, as an address that holds it.
    """

    points: NDArray[np.intp]
    columns: int
    rows: int
    height: int
    width: int
    sheet: str

    def place(self) -> dict[int, int]:
        """Where in the sheet the picture of a point is."""
        return {int(point): place for place, point in enumerate(self.points)}


def thumbnails(X: FloatArray, image_shape: tuple[int, ...], wanted: NDArray[np.intp]) -> Thumbnails:
    """Pictures of the wanted points first, then of as many others as the sheet has room for.

    Examples
    --------
    >>> import numpy as np
    >>> from srsg.report.thumbnails import thumbnails
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
    >>> from srsg.report.thumbnails import shrunk
    >>> shrunk(np.array([[1.0, 3.0, 6.0, 8.0]]), 1, 2)
    array([[2., 7.]])
    """
    starts = np.arange(size) * values.shape[axis] // size
    counts = np.diff(np.append(starts, values.shape[axis]))
    shape = np.ones(values.ndim, int)
    shape[axis] = size
    return np.add.reduceat(values, starts, axis=axis) / counts.reshape(shape)
