"""Codes in the making: every point with the few points it is coded over."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray

from srsg.engines.sizes import Sized
from srsg.kernels.codes import Codes
from srsg.kernels.lasso import Penalty
from srsg.types import FloatArray, IntArray


@dataclass(frozen=True)
class WorkingSets(Sized):
    """Query ``rows[p]`` is coded over the points in row p of ``codes``, in order of joining."""

    rows: IntArray
    codes: Codes
    penalty: Penalty

    @classmethod
    def empty(cls, half_lam: FloatArray, ridge: FloatArray) -> Self:
        """Empty working sets for all queries."""
        n_rows = len(half_lam)
        return cls(np.arange(n_rows), Codes.empty(n_rows), Penalty(half_lam, ridge))

    def __len__(self) -> int:
        return len(self.rows)

    def __getitem__(self, chosen: slice | NDArray) -> Self:
        penalty = Penalty(self.penalty.half_lam[chosen], self.penalty.ridge[chosen])
        return type(self)(self.rows[chosen], self.codes.take(chosen), penalty)

    def copy(self) -> Self:
        """A copy whose codes can be changed, no wider than the longest of them."""
        return self._with(self.codes.resized(self.codes.longest))

    def with_members(self, index: IntArray, count: IntArray) -> Self:
        """A copy in which the first ``count[p]`` of ``index[p]`` have joined working set p."""
        most = int(count.max(initial=0))
        codes = self.codes.resized(self.codes.longest + most)
        for k in range(most):
            joins = np.flatnonzero(count > k)
            # The value stays whatever it was there before: any start leads to a minimiser.
            codes.index[joins, codes.size[joins] + k] = index[joins, k]
        return self._with(codes._replace(size=codes.size + count))

    def members(self) -> IntArray:
        """All points in the working sets, some more than once, in no particular order."""
        return self.codes.index[self.codes.used]

    def _with(self, codes: Codes) -> Self:
        return type(self)(self.rows, codes, self.penalty)

    @classmethod
    def concatenate(cls, parts: Sequence[Self]) -> Self:
        rows = np.concatenate([part.rows for part in parts])
        penalties = zip(*(part.penalty for part in parts), strict=True)
        codes = Codes.concatenate([part.codes for part in parts])
        return cls(rows, codes, Penalty(*map(np.concatenate, penalties)))

    def without(self, rows: Sequence[IntArray]) -> Self:
        """The working sets of all other rows."""
        return self[~np.isin(self.rows, np.concatenate(rows))] if rows else self

    def arrays(self) -> dict[str, NDArray]:
        """Everything in it, as arrays by name."""
        return {"rows": self.rows, **self.codes._asdict(), **self.penalty._asdict()}

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, NDArray], prefix: str) -> Self:
        """The same, made of the arrays whose names start with ``prefix``."""
        codes = Codes(*(arrays[prefix + name] for name in Codes._fields))
        penalty = Penalty(*(arrays[prefix + name] for name in Penalty._fields))
        return cls(arrays[prefix + "rows"], codes, penalty)

    def blocks(self, block_size: int) -> list[Self]:
        return [self[start : start + block_size] for start in range(0, len(self), block_size)]
