"""Where an estimator's work is done: threads of this process, or a Dask cluster."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from numpy.typing import NDArray
from scipy import sparse
from sklearn.utils._param_validation import HasMethods
from sklearn.utils.validation import validate_data

from srsg.engines import Engine, ThreadEngine
from srsg.engines.budget import block_size_within
from srsg.engines.checkpoint import NO_CHECKPOINT, Checkpoint, FolderCheckpoint
from srsg.engines.progress import Progress

if TYPE_CHECKING:
    from srsg.engines.dask import ShardedPoints

ENGINE_CONSTRAINTS: dict[str, list[Any]] = {
    "engine": [str, HasMethods(["submit", "scatter", "who_has"])],
    "checkpoint": [str, os.PathLike, None],
}
"""Of the parameters that estimators have which can work on a cluster."""


def engine_of(
    estimator: Any, progress: Progress, x: NDArray | sparse.csr_array | None = None
) -> Engine:
    """The engine that an estimator's parameters ask for, with blocks that fit into memory.

    ``x`` is the input, where it is in this process.
    """
    choice = getattr(estimator, "engine", "threads")
    folder = getattr(estimator, "checkpoint", None)
    checkpoint: Checkpoint = NO_CHECKPOINT if folder is None else FolderCheckpoint(folder)
    if isinstance(choice, str) and choice == "threads":
        engine = ThreadEngine(estimator.n_jobs, progress, checkpoint)
        if x is not None and hasattr(estimator, "max_memory"):
            allowed, n_threads = estimator.max_memory, engine.n_workers
            engine.block_size = block_size_within(allowed, x.shape, x.dtype, n_threads)
        return engine
    from srsg.engines.dask.clients import client_of
    from srsg.engines.dask.engine import DaskEngine

    return DaskEngine(client_of(choice), progress, checkpoint)


def is_dask(X: Any) -> bool:
    """Whether X is a collection of dask, which is not imported for this."""
    return type(X).__module__.partition(".")[0] == "dask"


def points_on_workers(estimator: Any, X: Any, engine: Engine) -> ShardedPoints:
    """The chunks of a dask array as points on the workers, checked for what can be wrong."""
    kind = type(estimator).__name__
    if isinstance(engine, ThreadEngine):
        advice = 'set engine="dask" or a Client, or ' if hasattr(estimator, "engine") else ""
        raise TypeError(
            f"X is a dask array, and {kind} works in one process: {advice}pass X.compute()."
        )
    from srsg.engines.dask.arrays import points_of_array
    from srsg.engines.dask.engine import DaskEngine

    assert isinstance(engine, DaskEngine)
    if getattr(estimator, "memory", None) is not None:
        raise ValueError("memory= needs X in this process; with a dask array use checkpoint=.")
    if getattr(estimator, "affine", False):
        raise ValueError(
            "affine= needs X in this process: append the constant column to the dask array, or "
            "pass X.compute()."
        )
    estimator.affine_ = 0.0
    points = points_of_array(X, engine, kind)
    validate_data(estimator, points, skip_check_array=True)
    return points
