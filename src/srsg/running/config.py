"""Where work runs and how much memory and time it may take, set once for all estimators.

:func:`start_engine` makes the engine that these settings ask for, with blocks of points that fit
into memory.
"""

import re
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from contextvars import ContextVar
from typing import Any

import numpy as np
from scipy import sparse

from srsg.memory import free_memory, in_bytes, in_words
from srsg.points import BLOCK_SIZE, TILE
from srsg.running.engine import Engine, ThreadEngine
from srsg.running.progress import NO_STORE, SILENT, Progress
from srsg.running.store import FolderStore

_process: dict[str, Any] = {"engine": "threads", "max_memory": None, "max_time": None}
"""The settings of the process, which threads without settings of their own share."""

_context: ContextVar[dict[str, Any] | None] = ContextVar("srsg_config", default=None)


def get_config() -> dict[str, Any]:
    """The settings that hold here, by name.

    Returns
    -------
    dict

    Examples
    --------
    >>> import srsg
    >>> srsg.get_config()
    {'engine': 'threads', 'max_memory': None, 'max_time': None}
    """
    return dict(_context.get() or _process)


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
    _process.update(_checked(settings))


def config_context(**settings: Any) -> AbstractContextManager[None]:
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
    max_time : float, str or None
        The time that a :class:`srsg.StabilitySearch` aims at, in seconds or as text such as "5min":
        where the graph of all points would take longer, it builds that of a sample. None sets no
        limit.

    Examples
    --------
    >>> import srsg
    >>> with srsg.config_context(max_memory="2GB"):
    ...     srsg.get_config()["max_memory"]
    '2GB'
    """
    return _changed(_checked(settings))


@contextmanager
def _changed(settings: dict[str, Any]) -> Iterator[None]:
    token = _context.set(get_config() | settings)
    try:
        yield
    finally:
        _context.reset(token)


def _checked(settings: dict[str, Any]) -> dict[str, Any]:
    for name in settings:
        if name not in _process:
            raise TypeError(f"{name!r} is not a setting: these are {', '.join(_process)}.")
    if settings.get("max_memory") is not None:
        in_bytes(settings["max_memory"])
    if settings.get("max_time") is not None:
        in_seconds(settings["max_time"])
    engine = settings.get("engine", "threads")
    if not isinstance(engine, str) and not hasattr(engine, "scatter"):
        raise TypeError(
            f"engine={engine!r} must be 'threads', 'dask', the address of a Dask scheduler or a "
            "distributed.Client."
        )
    return settings


_TIME = re.compile(r"\s*(\d+(?:\.\d*)?(?:e-?\d+)?)\s*(s|min|h|)\s*")


def in_seconds(max_time: float | str) -> float:
    """The number of seconds, given as a number or as text such as ``"5min"`` or ``"1.5 h"``.

    Examples
    --------
    >>> from srsg.running.config import in_seconds
    >>> in_seconds("5min"), in_seconds("1.5 h"), in_seconds(20)
    (300.0, 5400.0, 20.0)
    """
    time = _TIME.fullmatch(str(max_time))
    seconds = float(time[1]) * {"": 1, "s": 1, "min": 60, "h": 3600}[time[2]] if time else 0.0
    if not 0 < seconds < float("inf"):
        raise ValueError(
            f"max_time={max_time!r} is not a time: give seconds, or a number with its unit such as "
            "'90s', '5min' or '2h'."
        )
    return seconds


def time_in_words(seconds: float) -> str:
    """A time as text for a message.

    Examples
    --------
    >>> from srsg.running.config import time_in_words
    >>> time_in_words(44.7), time_in_words(700), time_in_words(9000)
    ('45 s', '12 min', '2.5 h')
    """
    if seconds < 100:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 6000 else f"{seconds / 3600:.1f} h"


def start_engine(
    n_jobs: int | None,
    progress: Progress = SILENT,
    folder: Any = None,
    x: Any = None,
    *,
    on_cluster: bool = True,
    result_bytes: float | None = None,
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
    result_bytes : float, optional
        What the result takes for each point, with all copies made on the way.

    Returns
    -------
    Engine
    """
    store = NO_STORE if folder is None else FolderStore(folder)
    config = get_config()
    if on_cluster and config["engine"] != "threads":
        from srsg.running.dask.cluster import client_of
        from srsg.running.dask.engine import DaskEngine

        return DaskEngine(client_of(config["engine"]), progress, store)
    engine = ThreadEngine(n_jobs, progress, store)
    if x is not None:
        n_nonzero = x.nnz if sparse.issparse(x) else None
        engine.block_size, engine.spare_memory = blocks_within(
            config["max_memory"], x.shape, x.dtype, engine.n_workers, n_nonzero, result_bytes
        )
    return engine


SHARE_OF_FREE = 0.5
"""The fraction of the free memory that coding may take by default."""

LEAST_BLOCK = 16
"""With fewer points per block, matrix products would lose their speed."""

CODE_BYTES = 8192
"""Memory for the unfinished code of one point, with all copies: about a hundred entries, and the
small problem that the sweeps keep."""

ENTRY_BYTES, NEIGHBOR_BYTES = 85, 24
"""Memory for an edge of a graph, and for a neighbour that is only listed, with all copies."""


def blocks_within(
    max_memory: int | str | None,
    shape: tuple[int, int],
    dtype: np.dtype,
    n_workers: int,
    n_nonzero: int | None = None,
    result_bytes: float | None = None,
) -> tuple[int, float]:
    """The blocks that fit into memory.

    Parameters
    ----------
    max_memory : int, str or None
        The most bytes that coding may take in addition to its input; None means half of what is
        free.
    shape, dtype
        Of the input.
    n_workers : int
        How many blocks are scanned at the same time.
    n_nonzero : int, optional
        The non-zeros of sparse points; None means that the points are dense.
    result_bytes : float, optional
        What the result takes for each point, with all copies; by default that of a short code.

    Returns
    -------
    size : int
        How many points each worker may scan at once.
    spare : float
        Bytes that blocks of this size leave unused.

    Raises
    ------
    ValueError
        If even small blocks need more than that.

    Examples
    --------
    >>> import numpy as np
    >>> from srsg.running.config import blocks_within
    >>> blocks_within("1GB", (50_000, 100), np.dtype("f4"), 4)[0]
    256
    >>> blocks_within("500MB", (50_000, 100), np.dtype("f4"), 4)[0]
    84
    """
    fixed, row = memory_for(shape, dtype, n_workers, n_nonzero, result_bytes)
    allowed = SHARE_OF_FREE * free_memory() if max_memory is None else in_bytes(max_memory)
    size = min(int((allowed - fixed) // row), BLOCK_SIZE)
    # Without a limit from the user, slow blocks are better than none.
    if size < LEAST_BLOCK and max_memory is not None:
        raise ValueError(
            f"max_memory={max_memory!r} is too little: {shape[0]} points of {shape[1]} features "
            f"take {in_words(fixed + LEAST_BLOCK * row)} on {n_workers} threads, with the "
            "result. Allow more, or take fewer neighbours, or fewer threads with n_jobs."
        )
    size = max(size, LEAST_BLOCK)
    return size, allowed - fixed - size * row


def memory_for(
    shape: tuple[int, int],
    dtype: np.dtype,
    n_workers: int,
    n_nonzero: int | None = None,
    result_bytes: float | None = None,
) -> tuple[float, float]:
    """Bytes that coding takes besides its input: in any case, and for each point of a block.

    Parameters as in :func:`blocks_within`.
    """
    n_points, n_features = shape
    result_bytes = CODE_BYTES if result_bytes is None else result_bytes
    if n_nonzero is None:
        entry = 4 if dtype == np.float32 else 8 + 4  # scans need all points in float32 too
        fixed = n_points * (n_features * entry + result_bytes)
    else:
        # Values in float64 and float32, columns; and the tiles of the products.
        tiles = 4 * TILE * n_workers * (n_points + n_features)
        fixed = n_nonzero * (8 + 4 + 4) + n_points * result_bytes + tiles
    # Correlations with all points in float32; residuals in float64 and float32.
    return fixed, n_workers * (4 * n_points + 12 * n_features + CODE_BYTES)
