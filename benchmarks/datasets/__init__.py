"""Data sets of the benchmark, one file each; a file lists its own in ``DATASETS``."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from benchmarks.case import Case
from benchmarks.solvers import Solver
from paper.datasets import load_dataset


@dataclass(frozen=True)
class Dataset:
    """A data set and the objectives that are measured on it.

    Attributes
    ----------
    name : str
        As the tables show it.
    load : callable
        Returns the points and the number of clusters, from the folder of data if it needs one;
        raises FileNotFoundError if they are not there.
    objectives : tuple of str
        What is measured.
    peers : bool
        Whether others are measured on it too.
    quick : bool
        Whether ``--quick`` takes it.
    """

    name: str
    load: Callable[[Path | None], Case]
    objectives: tuple[str, ...]
    peers: bool = True
    quick: bool = False

    def takes(self, solver: Solver) -> bool:
        if solver.peer and not self.peers:
            return False
        return solver.objective in self.objectives and (not solver.on or self.name in solver.on)


def of_the_paper(
    name: str,
    objectives: tuple[str, ...],
    *,
    file: str | None = None,
    first: int | None = None,
    peers: bool = True,
) -> Dataset:
    """A data set of the folder of data, or its first rows."""

    def load(folder: Path | None) -> Case:
        data = load_dataset(file or name, folder=folder)
        return Case(name, data.X[:first], data.n_clusters)

    return Dataset(name, load, objectives, peers=peers)
