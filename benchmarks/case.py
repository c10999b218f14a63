"""A data set in the benchmark, and what several objectives start from."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from srsg.coding import L1Codes, auto_step, l1_codes
from srsg.points import Points, unit_points

LAM = 0.1
GAMMA = 0.1
N_NEIGHBORS = 5
ACCURACY = 1e-6
"""The violation of the optimality conditions that a code may have to count as exact."""


@dataclass(eq=False)
class Case:
    """Points with their number of clusters; what is computed here is not timed."""

    name: str
    X: np.ndarray
    n_clusters: int

    @cached_property
    def points(self) -> Points:
        return unit_points(self.X)

    @cached_property
    def l1(self) -> L1Codes:
        return l1_codes(self.points, LAM, n_neighbors=N_NEIGHBORS)

    @cached_property
    def step(self) -> float:
        return auto_step(self.l1.codes, LAM)

    def small(self, n_points: int = 300) -> Case:
        """A few of the points: enough to compile and to load whatever will run."""
        chosen = np.linspace(0, len(self.X) - 1, min(n_points, len(self.X))).astype(int)
        return Case(self.name, self.X[chosen], min(self.n_clusters, 5))
