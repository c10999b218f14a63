"""One matrix product, which compares every point with every other: the limit of the codes."""

from benchmarks.objectives import Objective

OBJECTIVES = [Objective("product")]
