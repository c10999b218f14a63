"""What one version of the code does in a round of :mod:`benchmarks.before_after`.

Only public names of srsg are used, and imported late: the version is another one in each process.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from benchmarks.timing import seconds

BLOCK = 2048


def round_of(X: np.ndarray, n_clusters: int) -> Iterator[tuple[str, Any]]:
    """The times of one round by name, and what the fit found."""
    from srsg import SRSG

    x = X.astype(float)
    yield "product", mean_seconds(lambda: x @ x.copy().T)
    model = SRSG(n_clusters, random_state=0)
    graph = mean_seconds(lambda: model.fit_graph(X))
    fit = mean_seconds(lambda: model.fit(X))
    yield "graph", graph
    yield "fit", fit
    yield "labels", max(fit - graph, 0.0)
    yield "found", model.labels_.tolist()
    violation = model.kkt_violation_
    yield "violation", float("nan") if violation is None else float(violation.max())
    alone = SRSG(n_clusters, n_jobs=1, random_state=0)
    yield "one_thread", mean_seconds(lambda: alone.fit(X))


def laplacian_round(X: np.ndarray, n_clusters: int) -> Iterator[tuple[str, Any]]:
    """The times of the l1 codes, and of one sweep that starts from them."""
    from srsg import L1Graph, LaplacianL1Graph

    plain, pulled = L1Graph(n_clusters), LaplacianL1Graph(n_clusters)
    l1 = mean_seconds(lambda: plain.fit_graph(X))
    yield "l1", l1
    yield "sweep", mean_seconds(lambda: pulled.fit_graph(X)) - l1
    yield "violation", float(pulled.kkt_violation_.max())


def large_round(X: np.ndarray, n_clusters: int) -> Iterator[tuple[str, Any]]:
    """The times of a fit of many points, and of one float32 product in blocks."""
    from srsg import SRSG

    yield "product", blocked_product(X)
    yield "fit", seconds(lambda: SRSG(n_clusters, random_state=0).fit(X))


def odd_round(X: np.ndarray, n_clusters: int, lam: float) -> Iterator[tuple[str, Any]]:
    """Processor seconds of l1 codes on one thread, and of one float32 product in blocks."""
    from threadpoolctl import threadpool_limits

    from srsg import L1Graph

    with threadpool_limits(1):
        start = time.process_time()
        blocked_product(X)
        yield "product", time.process_time() - start
    graph = L1Graph(n_clusters, lam=lam, n_jobs=1)
    start = time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # what does not converge is seen in the violation
        graph.fit_graph(X)
    yield "codes", time.process_time() - start
    yield "violation", float(graph.kkt_violation_.max())


TASKS = {"srsg": round_of, "laplacian": laplacian_round, "large": large_round, "odd": odd_round}


def mean_seconds(task: Callable[[], object], at_least: float = 1.0) -> float:
    """Seconds of one run; a short one is repeated, because labels are a difference of two."""
    times = [seconds(task)]
    while sum(times) < at_least:
        times.append(seconds(task))
    return sum(times) / len(times)


def blocked_product(X: np.ndarray) -> float:
    """Seconds of the float32 product of all points with all points, in blocks."""
    x = X.astype(np.float32)
    block = np.empty((min(BLOCK, len(x)), len(x)), np.float32)

    def multiply() -> None:
        for start in range(0, len(x), BLOCK):
            rows = x[start : start + BLOCK]
            np.matmul(rows, x.T, out=block[: len(rows)])

    return seconds(multiply)
