"""How a fit runs: all or nothing, on which engine, and reported to which callbacks."""

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
from srsg.engines.progress import (
    NO_CHECKPOINT,
    Checkpoint,
    Progress,
    Stage,
    announce_compiling,
    progress_for,
)
from srsg.points import Points

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


@contextmanager
def fit_under_way(estimator: Any, X: Any) -> Iterator[tuple[Points, Engine]]:
    """A fit: the validated points, and the one engine that does all the work.

    A fit that fails or is interrupted leaves the estimator as it was before.
    """
    estimator._validate_params()
    _refuse_truth_values(estimator)
    before = _take_learnt(estimator)
    shown = progress_for(estimator.verbose)
    try:
        with announce_compiling(shown), fit_task(estimator, X):
            has_callbacks = hasattr(estimator, "_callback_fit_ctx")
            progress = CallbackProgress(estimator, shown) if has_callbacks else shown
            yield _points_and_engine(estimator, X, progress)
    except BaseException:
        _take_learnt(estimator)
        vars(estimator).update(before)
        raise


def _points_and_engine(estimator: Any, X: Any, progress: Progress) -> tuple[Points, Engine]:
    points: Points
    if is_dask(X):
        engine = engine_of(estimator, progress)
        points = points_on_workers(estimator, X, engine)
        estimator._check_size(points.n)
        estimator.fit_X_ = points.lazy[0]
    else:
        checked = estimator._checked(X, ensure_min_samples=2, ensure_min_features=2)
        estimator._check_size(checked.shape[0])
        # The engine notices too little memory before any is taken.
        engine = engine_of(estimator, progress, checked)
        estimator.fit_X_ = estimator._prepared(checked)
        points = Points(estimator.fit_X_)
    equal = estimator._find_equal(points, engine)
    estimator.first_equal_ = equal.first_equal
    return estimator._points_to_code(points, equal, engine), engine


def _take_learnt(estimator: Any) -> dict[str, Any]:
    """Make an estimator forget everything learnt, and return it."""
    attributes = vars(estimator)
    return {name: attributes.pop(name) for name in list(attributes) if name.endswith("_")}


def _refuse_truth_values(estimator: Any) -> None:
    """True and False are integers to Python, and so to scikit-learn; kernels disagree."""
    for name, value in estimator.get_params(deep=False).items():
        allowed = estimator._parameter_constraints.get(name, [])
        if isinstance(value, bool) and not {"boolean", "verbose"} & {*map(str, allowed)}:
            raise TypeError(f"{name} must not be {value}: it is a number or a name.")


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
