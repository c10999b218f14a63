"""What solves it: our solvers and others, one file each; a file lists its own in ``SOLVERS``."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Solver:
    """One way to solve an objective.

    Attributes
    ----------
    objective : str
        The name of the objective.
    name : str
        As the tables show it.
    solve : callable or None
        From what ``setup`` returned to the result for all points.
    solve_one : callable or None
        Instead of ``solve``, from what ``setup`` returned and the number of a point to its code,
        a vector. It gets as many points, in random order, as a few seconds allow, and its time
        is scaled to all of them.
    setup : callable
        From the objective's problem to what ``solve`` gets; not timed, which favours the solver.
    needs : str or None
        The package that it needs.
    peer : bool
        Whether it is someone else's solver.
    on : tuple of str
        The data sets it runs on; on all if empty.
    """

    objective: str
    name: str
    solve: Callable[[Any], Any] | None = None
    solve_one: Callable[[Any, int], Any] | None = None
    setup: Callable[[Any], Any] = field(default=lambda problem: problem)
    needs: str | None = None
    peer: bool = False
    on: tuple[str, ...] = ()

    @property
    def key(self) -> str:
        return f"{self.objective}: {self.name}"
