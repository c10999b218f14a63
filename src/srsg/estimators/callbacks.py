"""Fits that report to the callbacks of scikit-learn, where it has them."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

from srsg.running.progress import Progress, Stage

try:  # scikit-learn has callbacks from version 1.9 on
    from sklearn import callback
except ImportError:
    callback = None

Method = TypeVar("Method", bound=Callable[..., Any])

CallbackSupport: Any = object if callback is None else callback.CallbackSupportMixin
"""Gives an estimator ``set_callbacks``, where scikit-learn has it.

With ``model.set_callbacks(sklearn.callback.ProgressBar())`` every stage of a fit, such as a scan
over the points or a sweep, is reported as a task of its own.
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
def reported_to_callbacks(estimator: Any, X: Any, other: Progress) -> Iterator[Progress]:
    """Report to the callbacks of an estimator that a fit begins and ends, and its progress."""
    task = estimator._init_callback_context(max_subtasks=None)
    task.call_on_fit_task_begin(estimator=estimator, X=X)
    yield CallbackProgress(estimator, other)
    # Not reached after an error: then with_callbacks tears down what is left.
    task.call_on_fit_task_end(estimator=estimator, X=X)
