"""The engine that the settings ask for."""

from __future__ import annotations

from typing import Any

from scipy import sparse

from srsg.running.config import current
from srsg.running.memory import blocks_within
from srsg.running.progress import SILENT, Progress
from srsg.running.protocol import Engine
from srsg.running.store import NO_STORE, FolderStore, Store
from srsg.running.threads import ThreadEngine, thread_count


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
