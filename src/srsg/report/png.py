"""Pictures as PNG inside the page."""

from __future__ import annotations

import base64
import struct
import zlib

import numpy as np
from numpy.typing import NDArray

_COLOUR_TYPE = {1: 0, 3: 2, 4: 6}  # channels: gray, RGB, RGBA


def png(pixels: NDArray[np.uint8]) -> bytes:
    """A picture of shape (height, width, channels) with 1, 3 or 4 channels as a PNG file.

    Examples
    --------
    >>> import numpy as np
    >>> from srsg.report.png import png
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


def data_uri(pixels: NDArray[np.uint8]) -> str:
    """The picture as an address that holds it."""
    return "data:image/png;base64," + base64.b64encode(png(pixels)).decode()
