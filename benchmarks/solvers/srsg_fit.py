"""``SRSG.fit`` with a profile of its stages, on all cores and on one."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from functools import partial, wraps
from importlib import import_module
from typing import Any
from unittest.mock import patch

from benchmarks.case import Case
from benchmarks.solvers import Solver
from srsg import SRSG

STAGES = {
    "srsg.coding.coder.unit_points": "scaling",
    "srsg.estimators.srsg.certified_l1_codes": "codes",
    "srsg.estimators.srsg.srsg_codes": "sweeps",
    "srsg.graph.symmetrized": "affinity",
    "srsg.estimators.srsg.symmetrized": "affinity",
    "srsg.cutting.cut.agreement": "affinity",
    "srsg.cutting.cut.embedded_graph": "eigenvectors",
    "srsg.cutting.cut.label_embedding": "K-means",
}
"""The functions of a fit whose time is taken; what is left is the rest."""


@contextmanager
def profiled() -> Iterator[dict[str, float]]:
    """The seconds of every stage of the fits inside."""
    spent = dict.fromkeys([*STAGES.values(), "rest"], 0.0)
    start = time.perf_counter()
    with ExitStack() as stack:
        for target, stage in STAGES.items():
            stack.enter_context(patch(target, _timed(_named(target), stage, spent)))
        yield spent
    spent["rest"] = time.perf_counter() - start - sum(spent.values())


def _named(target: str) -> Callable[..., Any]:
    module, _, name = target.rpartition(".")
    return getattr(import_module(module), name)


def _timed(function: Callable[..., Any], stage: str, spent: dict[str, float]) -> Callable[..., Any]:
    @wraps(function)
    def run(*arguments: Any, **options: Any) -> Any:
        start = time.perf_counter()
        try:
            return function(*arguments, **options)
        finally:
            spent[stage] += time.perf_counter() - start

    return run


def solve(case: Case, n_jobs: int | None = None) -> tuple[SRSG, dict[str, float]]:
    with profiled() as stages:
        model = SRSG(case.n_clusters, n_jobs=n_jobs, random_state=0).fit(case.X)
    return model, stages


SOLVERS = [
    Solver("clusters", "SRSG.fit", solve),
    Solver(
        "clusters",
        "SRSG.fit, one thread",
        partial(solve, n_jobs=1),
        on=("digits", "COIL-20", "COIL-100", "PIE", "Yale-B"),
    ),
]
