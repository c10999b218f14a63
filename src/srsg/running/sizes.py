"""How many bytes objects hold: a cluster uses it to place and to count what it sends."""

from __future__ import annotations

import pickle
from typing import Any


def bytes_in(thing: Any) -> int:
    """Bytes of an object as it travels: of all its arrays, each counted once, and a little more.

    Examples
    --------
    >>> import numpy as np
    >>> from srsg.running.sizes import bytes_in
    >>> twice = np.zeros(1000)
    >>> 8000 < bytes_in({"a": twice, "b": [twice, None]}) < 8500
    True
    """
    arrays: list[pickle.PickleBuffer] = []
    text = pickle.dumps(thing, protocol=5, buffer_callback=arrays.append)
    return len(text) + sum(array.raw().nbytes for array in arrays)


class Sized:
    """Base class of objects that travel between workers: they report their size."""

    def __sizeof__(self) -> int:
        return object.__sizeof__(self) + bytes_in(vars(self))
