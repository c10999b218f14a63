"""Codes in the making: every point with the few points it is coded over."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray

from srsg.codes import resized
from srsg.kernels.codes import Codes
from srsg.types import IntArray


@dataclass(frozen=True)
class WorkingSets:
    """Point ``rows[p]`` is coded over the points in row p of ``codes``, in order of joining."""

    rows: IntArray
    codes: Codes

    @classmethod
    def empty(cls, n_points: int) -> Self:
        index = np.empty((n_points, 0), np.int64)
        return cls(np.arange(n_points), Codes(index, index.astype(float), index.sum(axis=1)))

    def __len__(self) -> int:
        return len(self.rows)

    def __getitem__(self, chosen: slice | NDArray) -> Self:
        return type(self)(self.rows[chosen], Codes(*(part[chosen] for part in self.codes)))

    def with_room(self, more: int) -> Self:
        """A copy in which every working set can take ``more`` points."""
        return type(self)(self.rows, resized(self.codes, self.width + more))

    @property
    def width(self) -> int:
        return int(self.codes.size.max(initial=0))

    @classmethod
    def concatenate(cls, parts: Sequence[Self]) -> Self:
        width = max(part.width for part in parts)
        codes = [resized(part.codes, width) for part in parts]
        rows = np.concatenate([part.rows for part in parts])
        return cls(rows, Codes(*(np.concatenate(columns) for columns in zip(*codes, strict=True))))

    def blocks(self, block_size: int) -> list[Self]:
        return [self[start : start + block_size] for start in range(0, len(self), block_size)]
