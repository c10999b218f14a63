"""How many bytes objects hold: a cluster uses it to place and to count what it sends."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np


def bytes_in(thing: Any) -> int:
    """Bytes of all arrays in an object, each counted once.

    Examples
    --------
    >>> import numpy as np
    >>> from srsg.running.sizes import bytes_in
    >>> twice = np.zeros(1)
    >>> bytes_in({"a": np.zeros(3), "b": [twice, twice, None]})
    32
    """
    return _bytes_in(thing, set())


def _bytes_in(thing: Any, seen: set[int]) -> int:
    if isinstance(thing, (str, bytes)):
        return len(thing)
    if isinstance(thing, np.ndarray):
        if id(thing) in seen:
            return 0
        seen.add(id(thing))
        return thing.nbytes
    if isinstance(thing, Mapping):
        thing = list(thing.values())
    if isinstance(thing, Iterable):
        return sum(_bytes_in(each, seen) for each in thing)
    return _bytes_in(vars(thing), seen) if hasattr(thing, "__dict__") else 0


class Sized:
    """Base class of what travels between workers: it reports its size."""

    def __sizeof__(self) -> int:
        return object.__sizeof__(self) + bytes_in(vars(self))
