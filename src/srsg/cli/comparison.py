"""Methods side by side: each in a process of its own, so that its memory can be measured."""

from __future__ import annotations

import multiprocessing
import signal
import sys
import time
import warnings
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import dataclass, field
from inspect import signature
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse
from sklearn.metrics import adjusted_rand_score

from srsg.metrics import scores
from srsg.registry import methods
from srsg.running.progress import (
    SILENT,
    Progress,
    Stage,
    announce_compiling,
    send_progress_to,
)
from srsg.types import FloatArray, Matrix

WARM_UP = 40
"""Points of a small first fit that loads the compiled kernels: it does not count as the method's
time."""


@dataclass(frozen=True, eq=False)
class MethodResult:
    """The result of one method.

    Attributes
    ----------
    method : str
        Its short name.
    labels : ndarray of shape (n_samples,) or None
        None if it failed.
    scores : dict
        AC, NMI and ARI, if classes are known.
    seconds : float
        Duration of the fit.
    megabytes : float or None
        The most memory that the fit held beyond what the process held before; None where the system
        does not tell.
    error : str or None
        Why it failed.
    warnings : tuple of str
        The warnings it gave.

    Examples
    --------
    >>> from srsg.cli.comparison import MethodResult
    >>> MethodResult("srsg", scores={"AC": 0.93}, seconds=1.2).error is None
    True
    """

    method: str
    labels: NDArray[np.intp] | None = None
    scores: dict[str, float] = field(default_factory=dict)
    seconds: float = 0.0
    megabytes: float | None = None
    error: str | None = None
    warnings: tuple[str, ...] = ()


def compare_methods(
    X: Matrix,
    n_clusters: int,
    *,
    y: ArrayLike | None = None,
    names: Sequence[str] | None = None,
    random_state: int = 0,
    n_jobs: int | None = None,
    affine: bool = False,
    progress: Progress = SILENT,
) -> Iterator[MethodResult]:
    """Fit methods with their defaults, one after the other, each in a process of its own.

    Programs that are started from a file need the usual ``if __name__ == "__main__":`` guard.

    Parameters
    ----------
    X : array, sparse matrix or DataFrame of shape (n_samples, n_features)
        One point per row.
    n_clusters : int
        Number of clusters.
    y : array-like of shape (n_samples,), optional
        Known classes, for the scores.
    names : sequence of str, optional
        Names of :func:`srsg.methods`; all of them by default.
    random_state : int
        Starts of K-means.
    n_jobs : int or None
        Threads; None takes all cores.
    affine : bool
        Add a constant coordinate for the methods that have this parameter: for columns that were
        centred.
    progress : Progress
        Told about the methods, and about the stages of each.

    Yields
    ------
    MethodResult
        One per method, as soon as it is done. If a method fails, ``error`` says why.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from srsg.cli.comparison import compare_methods
    >>> X, y = load_digits(n_class=2, return_X_y=True)
    >>> [found] = compare_methods(X, 2, y=y, names=["kmeans"])
    >>> found.scores["AC"] > 0.99
    True
    """
    # Sparse points stay sparse: each method says so if it makes them dense.
    points = X if sparse.issparse(X) else np.asarray(X)
    # A generator: callers can show each result as soon as it is there.
    for name in methods() if names is None else names:
        given: dict[str, Any] = {"random_state": random_state}
        if methods()[name].path.startswith("srsg:"):  # scikit-learn's K-means has no n_jobs
            given["n_jobs"] = n_jobs
        if affine and "affine" in signature(methods()[name].estimator).parameters:
            given["affine"] = True
        yield _in_own_process(name, points, n_clusters, y, given, _Named(name, progress))


def pairwise_ari(outcomes: Sequence[MethodResult]) -> FloatArray:
    """Adjusted Rand index between the labels of every two methods; none of them may have failed."""
    labels = [found.labels for found in outcomes]
    return np.array([[adjusted_rand_score(one, other) for other in labels] for one in labels])


def _in_own_process(
    name: str,
    X: NDArray,
    n_clusters: int,
    y: ArrayLike | None,
    parameters: dict[str, Any],
    progress: Progress,
) -> MethodResult:
    here, there = multiprocessing.Pipe()
    process = _context().Process(target=_measure, args=(there, name), daemon=True)
    process.start()
    there.close()
    try:
        here.send((X, n_clusters, parameters))
        labels, *measured = _listen(here, progress)
    except (EOFError, OSError):  # it is gone: the system kills what takes too much memory
        process.join()
        return MethodResult(name, error=f"its process ended with status {process.exitcode}")
    except _MethodError as failure:
        return MethodResult(name, error=str(failure))
    finally:
        process.kill()
        process.join()
        here.close()
    agreed = {} if y is None else scores(y, labels)
    return MethodResult(name, labels, agreed, *measured)


def _context() -> Any:
    """Processes that start with the libraries already loaded, where the system has such."""
    if "forkserver" not in multiprocessing.get_all_start_methods():
        return multiprocessing.get_context("spawn")
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["srsg.estimators", "sklearn.cluster", "srsg.cli.comparison"])
    from multiprocessing import forkserver

    with _deaf_to_interrupts():
        forkserver.ensure_running()
    return context


@contextmanager
def _deaf_to_interrupts() -> Iterator[None]:
    """Processes started in the block ignore Ctrl-C, which goes to all processes: the main process
    ends them."""
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


class _MethodError(Exception):
    """What a method raised in the other process."""


def _listen(connection: Connection, progress: Progress, stage: Stage | None = None) -> Any:
    """Show the progress of the other process, until the end of the stage or the result."""
    while True:
        kind, *content = connection.recv()
        if kind == "stage":
            with progress.stage(*content) as inner:
                _listen(connection, progress, inner)
        elif kind == "advance" and stage is not None:
            stage.advance(*content)
        elif kind == "note":
            progress.note(*content)
        elif kind == "failure":
            raise _MethodError(*content)
        else:
            return content


class _Named(Progress):
    """Puts the name of a method in front of its stages."""

    def __init__(self, name: str, other: Progress) -> None:
        self._name, self._other = name, other

    def stage(self, label: str, total: int) -> AbstractContextManager[Stage]:
        return self._other.stage(f"{self._name}: {label}", total)

    def note(self, message: str) -> None:
        self._other.note(message)


class _SentProgress(Progress):
    """Sends progress to another process."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    @contextmanager
    def stage(self, label: str, total: int) -> Iterator[Stage]:
        self._connection.send(("stage", label, total))
        try:
            yield _SentStage(self._connection)
        finally:
            self._connection.send(("end",))

    def note(self, message: str) -> None:
        self._connection.send(("note", message))


class _SentStage:
    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def advance(self, steps: int = 1) -> None:
        self._connection.send(("advance", steps))


def _measure(connection: Connection, name: str) -> None:
    """What runs in the other process."""
    try:
        X, n_clusters, parameters = connection.recv()
    except EOFError:  # the main process was stopped before it sent anything
        return
    method = methods()[name]
    with warnings.catch_warnings(record=True) as caught:
        try:
            progress = _SentProgress(connection)
            with warnings.catch_warnings(), announce_compiling(progress):
                warnings.simplefilter("ignore")
                _warm_up(method.default(2, **parameters), X)
            model = method.default(n_clusters, **parameters)
            # The peak so far, of the imports and the first fit, must not hide that of the method.
            before, start = peak_megabytes(reset=True), time.perf_counter()
            with send_progress_to(progress):
                model.fit(X)
            seconds, after = time.perf_counter() - start, peak_megabytes()
        except (ValueError, MemoryError, ArithmeticError) as error:
            connection.send(("failure", " ".join(f"{error}".split()) or type(error).__name__))
            return
    held = None if before is None or after is None else max(after - before, 0.0)
    # Each warning once, in the order they came.
    messages = tuple(dict.fromkeys(" ".join(str(each.message).split()) for each in caught))
    connection.send(("result", model.labels_, seconds, held, None, messages))
    connection.recv()  # wait until the other side has read everything and ends this process


def _warm_up(model: Any, X: NDArray) -> None:
    """Load compiled kernels by a small fit; if something is wrong, the real fit will say so."""
    with suppress(ValueError):
        model.fit(X[:WARM_UP])


def peak_megabytes(*, reset: bool = False) -> float | None:
    """The most megabytes this process has held; counted from now on if ``reset`` is possible.

    On Linux the number comes from /proc: what getrusage reports there is inherited from the parent
    process.
    """
    status, refs = Path("/proc/self/status"), Path("/proc/self/clear_refs")
    if status.exists():
        if reset:
            with suppress(OSError):
                refs.write_text("5")
        for line in status.read_text().splitlines():
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) / 1024
    try:
        import resource
    except ImportError:  # Windows
        return None
    unit = 2**20 if sys.platform == "darwin" else 2**10
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / unit
