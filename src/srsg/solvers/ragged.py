"""Rows of different lengths, one after the other: as sweeps by parts hold their problems."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from srsg.kernels.parts import Problems
from srsg.types import IntArray


def ragged(rows: Sequence[IntArray]) -> tuple[IntArray, IntArray]:
    """Where each row starts, and all of them one after the other."""
    starts = np.concatenate(([0], np.cumsum([len(row) for row in rows]))).astype(np.int64)
    return starts, np.concatenate([*rows, np.empty(0, np.int64)])


def joined(problems: Sequence[Problems]) -> Problems:
    """Problems of single points, one after the other."""
    starts, index = ragged([each.index for each in problems])
    sizes = np.diff(starts)
    nothing = np.empty(0)
    return Problems(
        starts,
        index,
        np.concatenate([nothing, *(each.b for each in problems)]),
        np.cumsum(sizes**2) - sizes**2,
        np.concatenate([nothing, *(each.gram for each in problems)]),
        np.concatenate([nothing, *(each.power for each in problems)]),
    )


def single(problems: Problems) -> list[Problems]:
    """The problems of each point alone."""
    found = []
    for p in range(len(problems.power)):
        cut = slice(problems.starts[p], problems.starts[p + 1])
        size = cut.stop - cut.start
        place = problems.places[p]
        found.append(
            Problems(
                np.array([0, size]),
                problems.index[cut],
                problems.b[cut],
                np.zeros(1, np.int64),
                problems.gram[place : place + size**2],
                problems.power[p : p + 1],
            )
        )
    return found
