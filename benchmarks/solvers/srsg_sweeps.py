"""Our sweeps."""

from benchmarks.objectives.sweeps import Start
from benchmarks.solvers import Solver

SOLVERS = [
    Solver("sweeps", "srsg", Start.ours),
    Solver("one sweep", "srsg", lambda start: start.ours().codes),
]
