"""What there is to run: every file of ``datasets``, ``objectives`` and ``solvers`` adds to it."""

from __future__ import annotations

import pkgutil
from importlib import import_module
from importlib.util import find_spec
from types import ModuleType
from typing import Any

from benchmarks import datasets, objectives, solvers
from benchmarks.datasets import Dataset
from benchmarks.objectives import Objective
from benchmarks.solvers import Solver


def all_datasets() -> dict[str, Dataset]:
    return {dataset.name: dataset for dataset in _collected(datasets, "DATASETS")}


def all_objectives() -> dict[str, Objective]:
    return {objective.name: objective for objective in _collected(objectives, "OBJECTIVES")}


def all_solvers() -> list[Solver]:
    """Ours first, in the order of their names."""
    return sorted(_collected(solvers, "SOLVERS"), key=lambda s: (s.peer, s.objective, s.name))


def is_there(solver: Solver) -> bool:
    return solver.needs is None or find_spec(solver.needs) is not None


def _collected(package: ModuleType, name: str) -> list[Any]:
    modules = (
        import_module(f"{package.__name__}.{found.name}")
        for found in pkgutil.iter_modules(package.__path__)
    )
    return [item for module in modules for item in module.__dict__[name]]
