"""How a fit runs: on which engine, reported to which callbacks, from which cache."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, TypeVar

from numpy.typing import NDArray
from scipy import sparse
from sklearn.utils._param_validation import HasMethods
from sklearn.utils.validation import validate_data

from srsg.engines import Engine, ThreadEngine
from srsg.engines.budget import block_size_within
from srsg.engines.checkpoint import FolderCheckpoint
from srsg.engines.progress import NO_CHECKPOINT, Checkpoint, Progress, Stage, progress_for

if TYPE_CHECKING:
    from srsg.engines.dask import ShardedPoints

try:  # scikit-learn has callbacks from version 1.9 on
    from sklearn import callback
except ImportError:
    callback = None

Method = TypeVar("Method", bound=Callable[..., Any])

ENGINE_CONSTRAINTS: dict[str, list[Any]] = {
    "engine": [str, HasMethods(["submit", "scatter", "who_has"])],
    "checkpoint": [str, os.PathLike, None],
}
"""Of the parameters that estimators have which can work on a cluster."""

_Support: Any = object if callback is None else callback.CallbackSupportMixin


class CallbackMixin(_Support):
    """Gives an estimator ``set_callbacks``, where scikit-learn has it.

    With ``model.set_callbacks(sklearn.callback.ProgressBar())`` every stage of a fit, such as a
    scan over the points or a sweep, is reported as a task of its own.
    """


def with_callbacks(method: Method) -> Method:
    """Tear the callbacks down after the method, whatever happens in it."""
    return method if callback is None else callback.with_callbacks(method)


class CallbackProgress(Progress):
    """Reports every stage to the callbacks of an estimator, and to another progress too."""

    def __init__(self, estimator: Any, other: Progress) -> None:
        self.estimator, self.other = estimator, other

    @contextmanager
    def stage(self, label: str, total: int) -> Iterator[Stage]:
        task = self.estimator._callback_fit_ctx.subcontext(task_name=label)
        task.call_on_fit_task_begin(estimator=self.estimator)
        with self.other.stage(label, total) as stage:
            yield stage
        task.call_on_fit_task_end(estimator=self.estimator)

    def note(self, message: str) -> None:
        self.other.note(message)


@contextmanager
def fit_task(estimator: Any, X: Any) -> Iterator[None]:
    """Report to the callbacks of an estimator, if it has any, that a fit begins and ends."""
    if not hasattr(estimator, "_skl_callbacks"):
        yield
        return
    task = estimator._init_callback_context(max_subtasks=None)
    task.call_on_fit_task_begin(estimator=estimator, X=X)
    yield
    task.call_on_fit_task_end(estimator=estimator, X=X)


def progress_of(estimator: Any) -> Progress:
    """The progress that an estimator asks for; it reports to its callbacks too, if it has any."""
    progress = progress_for(estimator.verbose)
    under_way = hasattr(estimator, "_callback_fit_ctx")
    return CallbackProgress(estimator, progress) if under_way else progress


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
            n_nonzero = getattr(x, "nnz", None)  # of sparse points
            engine.block_size = block_size_within(allowed, x.shape, x.dtype, n_threads, n_nonzero)
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
