"""BLAS kept to one thread while our own threads work."""

from __future__ import annotations

import sys
from contextlib import AbstractContextManager
from functools import lru_cache

from threadpoolctl import ThreadpoolController


@lru_cache(maxsize=1)
def _thread_pools(n_modules: int) -> ThreadpoolController:
    """The libraries with threads. Looking for them takes a while, so it is done again only when
    modules were imported since, which may have brought their own."""
    return ThreadpoolController()


def serial_linear_algebra() -> AbstractContextManager[object]:
    """Keep BLAS to one thread.

    Its threads inside ours would oversubscribe the machine, and the bits of a product may
    depend on how many there are.
    """
    return _thread_pools(len(sys.modules)).limit(limits=1, user_api="blas")
