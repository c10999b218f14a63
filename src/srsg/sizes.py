"""How many bytes things hold: a cluster places and counts what it sends by that."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np


def bytes_in(thing: Any) -> int:
    """Bytes of all arrays in a thing.

    Examples
    --------
    >>> import numpy as np
    >>> from srsg.sizes import bytes_in
    >>> bytes_in({"a": np.zeros(3), "b": [np.zeros(1), None]})
    32
    """
    if isinstance(thing, np.ndarray):
        return thing.nbytes
    if isinstance(thing, Mapping):
        return bytes_in(list(thing.values()))
    if isinstance(thing, (str, bytes)):
        return len(thing)
    if isinstance(thing, Iterable):
        return sum(bytes_in(each) for each in thing)
    return bytes_in(vars(thing)) if hasattr(thing, "__dict__") else 0


class Sized:
    """Base of what travels between workers: tells its size."""

    def __sizeof__(self) -> int:
        return object.__sizeof__(self) + bytes_in(vars(self))
