"""Methods side by side: each in a process of its own, so that its memory can be measured."""

from __future__ import annotations

import multiprocessing
import re
import signal
import sys
import time
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from inspect import signature
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse
from sklearn.metrics import adjusted_rand_score

from srsg.cli.peers import PEERS, Peer
from srsg.metrics import scores
from srsg.registry import methods
from srsg.running.progress import SILENT, Progress, Stage, announce_compiling, send_progress_to
from srsg.types import FloatArray, Matrix

SAMPLED = 0.8
"""The share of the points in a sample."""

WARM_UP = 40
"""Points of the small fit that loads the compiled kernels before the clock starts."""


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
    seconds : float or None
        Duration of the fit; None if it failed.
    megabytes : float or None
        Peak memory of the fit beyond what the process held before; None if it failed or the system
        does not say.
    spread : float or None
        Standard deviation of the accuracy over several seeds.
    stability : float or None
        Mean agreement (ARI) of the labels with those of a random 80 % of the points, over several
        seeds.
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
    seconds: float | None = None
    megabytes: float | None = None
    spread: float | None = None
    stability: float | None = None
    error: str | None = None
    warnings: tuple[str, ...] = ()


def compare_methods(
    X: Matrix,
    n_clusters: int,
    *,
    y: ArrayLike | None = None,
    names: Sequence[str] = tuple(methods()),
    progress: Progress = SILENT,
    random_state: int = 0,
    n_seeds: int = 1,
    **others: Any,
) -> list[MethodResult]:
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
        Names of :func:`srsg.methods`, all of them by default, or of other packages' methods:
        hdbscan, leiden, umap+hdbscan and evoc.
    progress : Progress
        Shows the stages of every method.
    random_state : int
        Seed of the starts of K-means.
    n_seeds : int
        Fit with as many seeds, from this one on: scores are means. With two or more, samples of
        the points are fitted too, which shows how stable the clusters are.
    **others
        Further parameters of estimators, such as ``n_jobs``, for the methods that have them.

    Returns
    -------
    list of MethodResult
        One per method. If a method fails, ``error`` says why.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from srsg.cli.comparison import compare_methods
    >>> X, y = load_digits(n_class=2, return_X_y=True)
    >>> [result] = compare_methods(X, 2, y=y, names=["kmeans"])
    >>> result.scores["AC"] > 0.99
    True
    """
    # Sparse points stay sparse: each method says so if it makes them dense.
    points = X if sparse.issparse(X) else np.asarray(X)
    wanted = {"random_state": random_state, **others}
    results = []
    with progress.stage("all methods", len(names)) as stage:
        for name in names:
            kind = Peer if name in PEERS else methods()[name].estimator
            known = signature(kind).parameters  # K-means has no n_jobs
            given = {parameter: value for parameter, value in wanted.items() if parameter in known}
            task = points, n_clusters, y, given, n_seeds
            results.append(_in_own_process(name, task, progress))
            stage.advance()
    return results


def pairwise_ari(results: Sequence[MethodResult]) -> FloatArray:
    """Adjusted Rand index between the labels of every two methods, none of which has failed."""
    labels = [result.labels for result in results]
    return np.array([[adjusted_rand_score(one, other) for other in labels] for one in labels])


def _in_own_process(name: str, task: tuple[Any, ...], progress: Progress) -> MethodResult:
    here, there = multiprocessing.Pipe()
    process = _context().Process(target=_measure, args=(there, name), daemon=True)
    process.start()
    there.close()
    try:
        here.send(task)
        return _listen(here, progress)
    except (EOFError, OSError):  # it died: the system kills processes that take too much memory
        process.join()
        return MethodResult(name, error=f"its process ended with status {process.exitcode}")
    finally:
        process.kill()
        process.join()
        here.close()


def _context() -> Any:
    """How processes start: with the libraries loaded already, where the system allows that."""
    if "forkserver" not in multiprocessing.get_all_start_methods():
        return multiprocessing.get_context("spawn")
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["srsg.estimators", "sklearn.cluster", "srsg.cli.comparison"])
    from multiprocessing import forkserver

    # Ctrl-C goes to all processes. Those started here ignore it, and the main process ends them.
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        forkserver.ensure_running()
    finally:
        signal.signal(signal.SIGINT, before)
    return context


def _listen(connection: Connection, progress: Progress, stage: Stage | None = None) -> Any:
    """Show the progress of the other process, until its stage ends or its result arrives."""
    while True:
        match connection.recv():
            case "stage", label, total:
                with progress.stage(label, total) as inner:
                    _listen(connection, progress, inner)
            case "advance", steps if stage is not None:
                stage.advance(steps)
            case "note", message:
                progress.note(message)
            case result:  # None at the end of a stage
                return result


class _SentProgress(Progress):
    """Sends progress to the main process; it is also the stage, since stages are nested."""

    def __init__(self, connection: Connection, method: str) -> None:
        self._send, self._method = connection.send, method

    @contextmanager
    def stage(self, label: str, total: int) -> Iterator[Stage]:
        self._send(("stage", f"{self._method}: {label}", total))
        try:
            yield self
        finally:
            self._send(None)

    def advance(self, steps: int = 1) -> None:
        self._send(("advance", steps))

    def note(self, message: str) -> None:
        self._send(("note", message))


def _measure(connection: Connection, name: str) -> None:
    """Receive a task and send its result; runs in the other process."""
    with suppress(EOFError):  # the main process was stopped before it sent anything
        task = connection.recv()
        connection.send(_fitted(name, task, _SentProgress(connection, name)))


def _fitted(name: str, task: tuple[Any, ...], progress: Progress) -> MethodResult:
    """Fit a method, and measure its time and memory."""
    X, n_clusters, y, parameters, n_seeds = task

    def make(count: int, **given: Any) -> Any:
        return Peer(name, **given) if name in PEERS else methods()[name].default(count, **given)

    with warnings.catch_warnings(record=True) as caught:
        try:
            # Loads compiled kernels. If something is wrong, the real fit will say so.
            quiet = warnings.catch_warnings(action="ignore")
            with quiet, announce_compiling(progress), suppress(ValueError):
                make(2, **parameters).fit(X[:WARM_UP])
            model = make(n_clusters, **parameters)
            # The peak so far, of the imports and the first fit, must not hide that of the method.
            before, start = peak_megabytes(reset=True), time.perf_counter()
            with send_progress_to(progress):
                model.fit(X)
            seconds, after = round(time.perf_counter() - start, 3), peak_megabytes()
            labels = [model.labels_]
            for seed in range(1, n_seeds):
                again = {**parameters, "random_state": parameters["random_state"] + seed}
                labels.append(make(n_clusters, **again).fit(X).labels_)
            stability = _stability(make, task, labels[0]) if n_seeds > 1 else None
        except (ValueError, MemoryError, ArithmeticError, ImportError) as error:
            return MethodResult(name, error=" ".join(f"{error}".split()) or type(error).__name__)
    each = [] if y is None else [scores(y, found) for found in labels]
    agreement = {key: float(np.mean([found[key] for found in each])) for key in (*each, {})[0]}
    spread = float(np.std([found["AC"] for found in each])) if len(each) > 1 else None
    held = None if before is None or after is None else round(max(after - before, 0.0), 1)
    # Each warning once, in the order they came.
    messages = tuple(dict.fromkeys(" ".join(str(each.message).split()) for each in caught))
    return MethodResult(
        name, model.labels_, agreement, seconds, held, spread, stability, None, messages
    )


def _stability(make: Any, task: tuple[Any, ...], labels: NDArray[np.intp]) -> float:
    """Agreement of labels with those of random samples."""
    X, n_clusters, _, parameters, n_seeds = task
    rng = np.random.default_rng(parameters["random_state"])
    found = []
    for _ in range(n_seeds):
        rows = np.sort(rng.permutation(X.shape[0])[: round(SAMPLED * X.shape[0])])
        model = make(n_clusters, **parameters).fit(X[rows])
        found.append(adjusted_rand_score(labels[rows], model.labels_))
    return float(np.mean(found))


def peak_megabytes(*, reset: bool = False) -> float | None:
    """The most megabytes this process has held; counted from now on if ``reset`` is possible.

    On Linux the number comes from /proc: what getrusage reports there is inherited from the parent
    process.
    """
    status = Path("/proc/self/status")
    if status.exists():
        if reset:
            with suppress(OSError):
                Path("/proc/self/clear_refs").write_text("5")
        peak = re.search(r"VmHWM:\s+(\d+)", status.read_text())
        if peak:
            return int(peak[1]) / 1024
    try:
        import resource
    except ImportError:  # Windows
        return None
    unit = 2**20 if sys.platform == "darwin" else 2**10
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / unit
