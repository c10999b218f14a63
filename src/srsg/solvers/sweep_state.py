"""The state of the sweeps between two of them: what a checkpoint keeps."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Self

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from srsg.engines.checkpoint import Checkpoint
from srsg.kernels.sweep import SweepOutcome


@dataclass
class SweepState:
    """All that the result is made of so far, and that another fit can start from."""

    codes: sparse.csr_array
    ever_cut: NDArray[np.bool_]
    objective: list[float] = field(default_factory=list)
    n_iter: int = 0
    n_let_in: int = 0
    converged: bool = False

    @property
    def n_sweeps(self) -> int:
        return len(self.objective) - 1

    def note(self, value: float, outcome: SweepOutcome, tol: float) -> None:
        """Take over what a sweep ended with, except the codes."""
        self.converged = abs(value - self.objective[-1]) < tol or not outcome.changed.any()
        self.objective.append(value)
        self.ever_cut |= outcome.cut
        self.n_iter = max(self.n_iter, int(outcome.iterations.max()))
        self.n_let_in += int(outcome.let_in.sum())

    def arrays(self) -> dict[str, NDArray]:
        """All of it, as arrays by name."""
        codes = {name: getattr(self.codes, name) for name in ("indptr", "indices", "data")}
        counts = np.array([self.n_iter, self.n_let_in, self.converged])
        objective = np.array(self.objective)
        return {**codes, "cut": self.ever_cut, "objective": objective, "counts": counts}

    @classmethod
    def kept_last(cls, keep: Checkpoint, init_codes: sparse.csr_array) -> Self:
        """The state after the last sweep in the checkpoint, or before the first sweep."""
        kept = max(keep.load("sweep"), key=lambda each: len(each["objective"]), default=None)
        if kept is None:
            return cls(init_codes, np.zeros(init_codes.shape[0], bool))
        parts = (kept["data"], kept["indices"], kept["indptr"])
        n_iter, n_let_in, converged = kept["counts"].tolist()
        return cls(
            sparse.csr_array(parts, shape=init_codes.shape),
            kept["cut"],
            kept["objective"].tolist(),
            n_iter,
            n_let_in,
            bool(converged),
        )
