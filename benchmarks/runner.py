"""Runs all solvers of a data set in turns, so that every ratio comes from the same minutes."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import cycle
from typing import Any

import numpy as np
from scipy import sparse

from benchmarks.case import Case
from benchmarks.discovery import all_objectives
from benchmarks.objectives import Solved
from benchmarks.solvers import Solver


@dataclass
class Runs:
    """A solver at work on a case: its times, each for all points, and its last result."""

    solver: Solver
    state: Any
    order: Iterator[int]
    n_points: int
    seconds: list[float] = field(default_factory=list)
    points: int = 0
    solved: Solved | None = None

    @classmethod
    def start(cls, solver: Solver, problem: Any, n_points: int) -> Runs:
        order = np.random.default_rng(0).permutation(n_points).tolist()
        return cls(solver, solver.setup(problem), cycle(order), n_points)

    def once(self, budget: float) -> None:
        """One run; a solver of single points gets as many of them as fit into the budget."""
        self.solved = None  # results are large
        start = time.perf_counter()
        if self.solver.solve is not None:
            self.solved = Solved(list(range(self.n_points)), self.solver.solve(self.state))
            elapsed, self.points = time.perf_counter() - start, self.n_points
            self.seconds.append(elapsed)
            return
        rows: list[int] = []
        codes: list[Any] = []
        elapsed = 0.0
        while not rows or (elapsed < budget and len(rows) < self.n_points):
            rows.append(next(self.order))
            codes.append(sparse.csr_array(self.solver.solve_one(self.state, rows[-1])[None]))
            elapsed = time.perf_counter() - start
        self.points += len(rows)
        self.seconds.append(elapsed * self.n_points / len(rows))
        self.solved = Solved(rows, sparse.vstack(codes, format="csr"))

    def summary(self, figures: dict[str, Any]) -> dict[str, Any]:
        return {
            "objective": self.solver.objective,
            "solver": self.solver.name,
            "peer": self.solver.peer,
            "seconds": self.seconds,
            "points": self.points,
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
