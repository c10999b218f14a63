"""What is solved, and how good a solution is; a file lists its own in ``OBJECTIVES``."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from benchmarks.case import Case


@dataclass(frozen=True)
class Solved:
    """What a solver returned, and the points it is for: all, or a sample."""

    rows: list[int]
    result: Any


@dataclass(frozen=True)
class Objective:
    """A problem that solvers compete on.

    Attributes
    ----------
    name : str
        What solvers and data sets call it by.
    prepare : callable
        From the case to what solvers get; not timed.
    figures : callable
        From that and what a solver returned to figures by their names, such as the largest
        violation; not timed.
    """

    name: str
    prepare: Callable[[Case], Any] = field(default=lambda case: case)
    figures: Callable[[Any, Solved], dict[str, Any]] = field(default=lambda problem, solved: {})
