"""Measuring side by side: alternating runs, medians, ratios."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping

import numpy as np


def seconds(task: Callable[[], object]) -> float:
    start = time.perf_counter()
    task()
    return time.perf_counter() - start


def medians(tasks: Mapping[str, Callable[[], object]], runs: int) -> dict[str, float]:
    """Median time of each task over runs that alternate between them, after one to warm up.

    Alternating spreads whatever else the machine does over all of them.
    """
    for task in tasks.values():
        task()
    times: dict[str, list[float]] = {label: [] for label in tasks}
    for _ in range(runs):
        for label, task in tasks.items():
            times[label].append(seconds(task))
    return {label: float(np.median(values)) for label, values in times.items()}
