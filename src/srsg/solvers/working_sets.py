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
from srsg.solvers.codes import padded, resized
from srsg.types import FloatArray, IntArray


@dataclass(frozen=True)
class WorkingSets(Sized):
    """Query ``rows[p]`` is coded over the points in row p of ``codes``, in order of joining."""

    rows: IntArray
    codes: Codes
    penalty: Penalty

    @classmethod
    def empty(cls, half_lam: FloatArray, ridge: FloatArray) -> Self:
        """For all queries, with nothing in the working sets."""
        n_points = len(half_lam)
        index = np.empty((n_points, 0), np.int64)
        codes = Codes(index, index.astype(float), index.sum(axis=1))
        return cls(np.arange(n_points), codes, Penalty(half_lam, ridge, index.astype(float)))

    def __len__(self) -> int:
        return len(self.rows)

    def __getitem__(self, chosen: slice | NDArray) -> Self:
        return type(self)(
            self.rows[chosen],
            Codes(*(part[chosen] for part in self.codes)),
            Penalty(*(part[chosen] for part in self.penalty)),
        )

    def with_room(self, more: int) -> Self:
        """A copy in which every working set can take ``more`` points."""
        return self._of_width(self.width + more)

    def with_members(self, index: IntArray, count: IntArray) -> Self:
        """A copy in which the first ``count[p]`` of ``index[p]`` have joined working set p."""
        grown = self.with_room(int(count.max(initial=0)))
        size = grown.codes.size
        for k in range(int(count.max(initial=0))):
            joins = np.flatnonzero(count > k)
            grown.codes.index[joins, size[joins] + k] = index[joins, k]
        size += count
        return grown

    def members(self) -> IntArray:
        """All points in the working sets, more than once and in no order."""
        used = np.arange(self.codes.index.shape[1]) < self.codes.size[:, None]
        return self.codes.index[used]

    def _of_width(self, width: int) -> Self:
        penalty = self.penalty._replace(pull=padded(self.penalty.pull, width))
        return type(self)(self.rows, resized(self.codes, width), penalty)

    @property
    def width(self) -> int:
        return int(self.codes.size.max(initial=0))

    @classmethod
    def concatenate(cls, parts: Sequence[Self]) -> Self:
        width = max(part.width for part in parts)
        parts = [part._of_width(width) for part in parts]
        rows = np.concatenate([part.rows for part in parts])
        codes = zip(*(part.codes for part in parts), strict=True)
        penalties = zip(*(part.penalty for part in parts), strict=True)
        return cls(
            rows, Codes(*map(np.concatenate, codes)), Penalty(*map(np.concatenate, penalties))
        )

    def without(self, rows: Sequence[IntArray]) -> Self:
        """Those of other rows."""
        return self[~np.isin(self.rows, np.concatenate(rows))] if rows else self

    def arrays(self) -> dict[str, NDArray]:
        """All of it by name."""
        return {"rows": self.rows, **self.codes._asdict(), **self.penalty._asdict()}

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, NDArray], prefix: str) -> Self:
        """The same from arrays whose names start in some way."""
        codes = Codes(*(arrays[prefix + name] for name in Codes._fields))
        penalty = Penalty(*(arrays[prefix + name] for name in Penalty._fields))
        return cls(arrays[prefix + "rows"], codes, penalty)

    def blocks(self, block_size: int) -> list[Self]:
        return [self[start : start + block_size] for start in range(0, len(self), block_size)]
