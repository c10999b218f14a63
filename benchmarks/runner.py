"""Runs all solvers of a data set in turns, so that every ratio comes from the same minutes."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import cycle
from typing import Any, Self

import numpy as np
from scipy import sparse

from benchmarks.case import Case
from benchmarks.discovery import all_objectives
from benchmarks.objectives import Solved
from benchmarks.solvers import Solver


@dataclass
class Runs:
    """A solver at work on a case: its times, each for all points, and what it found."""

    solver: Solver
    state: Any
    n_points: int
    order: Iterator[int]
    seconds: list[float] = field(default_factory=list)
    rows: list[int] = field(default_factory=list)
    codes: list[sparse.csr_array] = field(default_factory=list)
    result: Any = None

    @classmethod
    def start(cls, solver: Solver, problem: Any, n_points: int) -> Self:
        order = np.random.default_rng(0).permutation(n_points).tolist()
        return cls(solver, solver.setup(problem), n_points, cycle(order))

    def once(self, budget: float) -> None:
        """One run; a solver of single points gets as many of them as fit into the budget."""
        if self.solver.solve is None:
            self._some_points(self.solver.solve_one, budget)
            return
        self.result = None  # that of the round before may be large
        start = time.perf_counter()
        self.result = self.solver.solve(self.state)
        self.seconds.append(time.perf_counter() - start)

    def _some_points(self, solve_one: Callable[[Any, int], Any], budget: float) -> None:
        found = []
        start = time.perf_counter()
        elapsed = 0.0
        while not found or (elapsed < budget and len(found) < self.n_points):
            row = next(self.order)
            found.append((row, solve_one(self.state, row)))
            elapsed = time.perf_counter() - start
        self.seconds.append(elapsed * self.n_points / len(found))
        self.rows += [row for row, _ in found]
        self.codes += [sparse.csr_array(code[None]) for _, code in found]

    @property
    def solved(self) -> Solved:
        if self.codes:
            return Solved(self.rows, sparse.vstack(self.codes, format="csr"))
        return Solved(list(range(self.n_points)), self.result)

    def summary(self, figures: dict[str, Any]) -> dict[str, Any]:
        return {
            "objective": self.solver.objective,
            "solver": self.solver.name,
            "peer": self.solver.peer,
            "seconds": self.seconds,
            "scaled_from": len(self.rows) or None,
            **figures,
        }


def run_case(case: Case, solvers: list[Solver], rounds: int, budget: float) -> dict[str, Any]:
    """Times and figures of every solver on the case, by its key."""
    for_all(case.small(), solvers, 1, 0.0)  # compiles and loads what will run
    found = for_all(case, solvers, rounds, budget)
    return {
        "n_points": len(case.X),
        "n_features": case.X.shape[1],
        "n_clusters": case.n_clusters,
        "runs": found,
    }


def for_all(case: Case, solvers: list[Solver], rounds: int, budget: float) -> dict[str, Any]:
    objectives = all_objectives()
    used = {solver.objective for solver in solvers}
    problems = {name: objectives[name].prepare(case) for name in used}
    runs = [Runs.start(solver, problems[solver.objective], len(case.X)) for solver in solvers]
    for _ in range(rounds):
        for run in runs:
            run.once(budget)
    found = {}
    for run in runs:
        objective = objectives[run.solver.objective]
        figures = objective.figures(problems[objective.name], run.solved)
        found[run.solver.key] = run.summary(figures)
    return found
