"""BLAS kept to one thread while our own threads work."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import lru_cache
from threading import Lock
from typing import Any

from threadpoolctl import ThreadpoolController


@lru_cache(maxsize=1)
def _blas_libraries(n_modules: int) -> list[Any]:
    """The BLAS libraries of this process. Finding them takes a while, so it is done again only if
    modules have been imported since, which may have brought their own."""
    return ThreadpoolController().select(user_api="blas").lib_controllers


def _set_threads(library: Any, number: int) -> None:
    # Since version 3.8 threadpoolctl lets only one thread change OpenBLAS until that thread is
    # done, and silently ignores the others. But our threads share a limit: the first one in sets
    # it, and the last one out, which may be another, takes it back.
    getattr(library, "_real_set_num_threads", library.set_num_threads)(number)


class _SharedLimit:
    """One thread for libraries whose number of threads holds for the whole process.

    If every thread saved and restored that number by itself, the second of two that overlap would
    save the limit set by the first, and restore that for good. So the first one in saves the
    number, and the last one out restores it.
    """

    def __init__(self) -> None:
        self._lock = Lock()
        self._n_inside = 0
        self._before: list[tuple[Any, int]] = []

    def enter(self, libraries: Sequence[Any]) -> None:
        with self._lock:
            self._n_inside += 1
            limited = {library.filepath for library, _ in self._before}
            for library in libraries:
                if library.filepath not in limited:  # it may have been loaded in the meantime
                    self._before.append((library, library.num_threads))
                    _set_threads(library, 1)

    def leave(self) -> None:
        with self._lock:
            self._n_inside -= 1
            if not self._n_inside:
                for library, number in self._before:
                    _set_threads(library, number)
                self._before = []


_PROCESS_WIDE = _SharedLimit()


@contextmanager
def serial_linear_algebra() -> Iterator[None]:
    """Keep BLAS to one thread.

    Its threads inside ours would oversubscribe the machine, and the bits of a product may depend on
    how many there are. May be nested, and entered by several threads at once: BLAS gets its threads
    back when the last one leaves.

    Examples
    --------
    >>> from srsg.engines import serial_linear_algebra
    >>> with serial_linear_algebra():
    ...     pass
    """
    libraries = _blas_libraries(len(sys.modules))
    by_openmp = [each for each in libraries if getattr(each, "threading_layer", "") == "openmp"]
    _PROCESS_WIDE.enter([each for each in libraries if each not in by_openmp])
    # OpenMP keeps one number per thread, so each thread restores its own.
    numbers = [library.num_threads for library in by_openmp]
    try:
        for library in by_openmp:
            _set_threads(library, 1)
        yield
    finally:
        for library, number in zip(by_openmp, numbers, strict=True):
            _set_threads(library, number)
        _PROCESS_WIDE.leave()
