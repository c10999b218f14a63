"""Measuring side by side: alternating runs, medians, ratios with their spread."""

from __future__ import annotations

import time
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Self, TypeVar

import numpy as np

Label = TypeVar("Label", bound=Hashable)


def seconds(task: Callable[[], object]) -> float:
    start = time.perf_counter()
    task()
    return time.perf_counter() - start


def alternating(
    tasks: Mapping[Label, Callable[[], object]], runs: int, *, warm: bool = True
) -> dict[Label, list[float]]:
    """Times of each task over runs that alternate between them, after one to warm up.

    Alternating spreads whatever else the machine does over all of them.
    """
    for task in tasks.values() if warm else ():
        task()
    times: dict[Label, list[float]] = {label: [] for label in tasks}
    for _ in range(runs):
        for label, task in tasks.items():
            times[label].append(seconds(task))
    return times


def medians(tasks: Mapping[str, Callable[[], object]], runs: int) -> dict[str, float]:
    """Median time of each task over alternating runs."""
    return {label: float(np.median(t)) for label, t in alternating(tasks, runs).items()}


@dataclass(frozen=True)
class Spread:
    """The median of some figures, the least and the most."""

    median: float
    least: float
    most: float

    @classmethod
    def of(cls, values: Sequence[float]) -> Self:
        return cls(float(np.median(values)), float(min(values)), float(max(values)))

    @classmethod
    def of_ratios(cls, above: Sequence[float], below: Sequence[float]) -> Self:
        """Ratios of times of the same round."""
        return cls.of([a / b for a, b in zip(above, below, strict=True)])

    def __str__(self) -> str:
        spread = f" ({_short(self.least)} to {_short(self.most)})"
        return _short(self.median) + (spread if self.least < self.most else "")


def _short(value: float) -> str:
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"
