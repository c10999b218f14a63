"""Where work runs and how much memory it may take: said once for all estimators.

:func:`start_engine` makes the engine that these settings ask for.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, fields, replace
from typing import Any

from scipy import sparse

from srsg.running.memory import blocks_within, in_bytes
from srsg.running.progress import SILENT, Progress
from srsg.running.protocol import Engine
from srsg.running.store import NO_STORE, FolderStore, Store
from srsg.running.threads import ThreadEngine, thread_count


@dataclass(frozen=True)
class Config:
    """The settings; see :func:`config_context`."""

    engine: Any = "threads"
    max_memory: int | str | None = None


_process = [Config()]
"""The settings of the process, which threads without settings of their own share."""

_context: ContextVar[Config | None] = ContextVar("srsg_config", default=None)


def current() -> Config:
    """The settings that hold here."""
    return _context.get() or _process[0]


def get_config() -> dict[str, Any]:
    """The settings that hold here, by name.

    Returns
    -------
    dict

    Examples
    --------
    >>> import srsg
    >>> srsg.get_config()
    {'engine': 'threads', 'max_memory': None}
    """
    return {field.name: getattr(current(), field.name) for field in fields(Config)}


def set_config(**settings: Any) -> None:
    """Change settings for the whole process.

    Parameters
    ----------
    **settings
        Those of :func:`config_context`.

    Examples
    --------
    >>> import srsg
    >>> srsg.set_config(max_memory="4GB")
    >>> srsg.set_config(max_memory=None)
    """
    _process[0] = _changed(_process[0], settings)


@contextmanager
def config_context(**settings: Any) -> Iterator[None]:
    """Change settings for the fits and predictions in a ``with`` block.

    Parameters
    ----------
    engine : {"threads", "dask"}, address or distributed.Client
        Where points are coded: on threads of this process, or on the workers of the current Dask
        client ("dask"), of the scheduler at an address such as ``tcp://127.0.0.1:8786``, or of
        the given client. The result does not depend on it. On a cluster X may be a ``dask.array``.
    max_memory : int, str or None
        The most memory that coding may take besides its input, in bytes or as text such as "2GB";
        None allows half of what is free.

    Examples
    --------
    >>> import srsg
    >>> with srsg.config_context(max_memory="2GB"):
    ...     srsg.get_config()["max_memory"]
    '2GB'
    """
    token = _context.set(_changed(current(), settings))
    try:
        yield
    finally:
        _context.reset(token)


def _changed(config: Config, settings: dict[str, Any]) -> Config:
    names = [field.name for field in fields(Config)]
    for name in settings:
        if name not in names:
            raise TypeError(f"{name!r} is not a setting: these are {', '.join(names)}.")
    changed = replace(config, **settings)
    if changed.max_memory is not None:
        in_bytes(changed.max_memory)
    if not isinstance(changed.engine, str) and not hasattr(changed.engine, "scatter"):
        raise TypeError(
            f"engine={changed.engine!r} must be 'threads', 'dask', the address of a Dask scheduler "
            "or a distributed.Client."
        )
    return changed


def start_engine(
    n_jobs: int | None,
    progress: Progress = SILENT,
    folder: Any = None,
    x: Any = None,
    *,
    on_cluster: bool = True,
) -> Engine:
    """The engine that :func:`srsg.config_context` asks for.

    Parameters
    ----------
    n_jobs : int or None
        Threads of this process; None takes all cores.
    progress : Progress
        Told about every block that is done.
    folder : str, path or None
        Folder that keeps results.
    x : ndarray or csr_array, optional
        The points to be coded, if they are in this process: blocks of them must fit into memory.
    on_cluster : bool
        Whether the work can run on a cluster; otherwise it runs on threads of this process.

    Returns
    -------
    Engine
    """
    store: Store = NO_STORE if folder is None else FolderStore(folder)
    config = current()
    if on_cluster and not (isinstance(config.engine, str) and config.engine == "threads"):
        from srsg.running.dask.clients import client_of
        from srsg.running.dask.engine import DaskEngine

        return DaskEngine(client_of(config.engine), progress, store)
    if x is None:
        return ThreadEngine(n_jobs, progress, store)
    n_nonzero = x.nnz if sparse.issparse(x) else None
    blocks = blocks_within(config.max_memory, x.shape, x.dtype, thread_count(n_jobs), n_nonzero)
    return ThreadEngine(n_jobs, progress, store, *blocks)
