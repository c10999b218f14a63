"""BLAS kept to one thread while our own threads work."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache
from threading import RLock
from typing import Any

from threadpoolctl import ThreadpoolController


@lru_cache(maxsize=1)
def _thread_pools(n_modules: int) -> ThreadpoolController:
    """The libraries with threads. Looking for them takes a while, so it is done again only when
    modules were imported since, which may have brought their own."""
    return ThreadpoolController()


class _SharedLimit:
    """A limit on the threads of BLAS that everybody inside shares.

    The limit is one of the process, not of a thread. If each user saved and restored it alone,
    the second of two that overlap would save the limit of the first, and restore that for good.
    So the first one in saves, and the last one out restores.
    """

    def __init__(self) -> None:
        self._lock = RLock()
        self._n_inside = 0
        self._limits: list[Any] = []
        self._n_modules = 0

    def enter(self) -> None:
        with self._lock:
            # A library that was loaded in the meantime has to be limited too.
            if not self._n_inside or self._n_modules != len(sys.modules):
                self._n_modules = len(sys.modules)
                pools = _thread_pools(self._n_modules)
                self._limits.append(pools.limit(limits=1, user_api="blas"))
            self._n_inside += 1

    def leave(self) -> None:
        with self._lock:
            self._n_inside -= 1
            if not self._n_inside:
                while self._limits:  # the first limit was set with the numbers to go back to
                    self._limits.pop().restore_original_limits()


_BLAS = _SharedLimit()


@contextmanager
def serial_linear_algebra() -> Iterator[None]:
    """Keep BLAS to one thread.

    Its threads inside ours would oversubscribe the machine, and the bits of a product may
    depend on how many there are. May be nested, and entered by several threads at once: BLAS
    has its threads back when the last one leaves.

    Examples
    --------
    >>> from srsg.engines import serial_linear_algebra
    >>> with serial_linear_algebra():
    ...     pass
    """
    _BLAS.enter()
    try:
        yield
    finally:
        _BLAS.leave()
