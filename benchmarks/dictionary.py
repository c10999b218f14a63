"""What solvers that code one point after the other work on."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cached_property
from typing import Self

import numpy as np

from benchmarks.case import Case


class Dictionary:
    """All points as columns, of which the point that is coded is set to zero.

    Nothing is copied for a point, as deleting its column would.
    """

    def __init__(self, x: np.ndarray) -> None:
        self.x = x
        self.atoms = np.asfortranarray(x.T.copy())

    @classmethod
    def of(cls, case: Case) -> Self:
        return cls(case.points.x)

    @classmethod
    def with_gram(cls, case: Case) -> Self:
        dictionary = cls.of(case)
        _ = dictionary.gram  # not timed
        return dictionary

    @property
    def n_features(self) -> int:
        return self.x.shape[1]

    @cached_property
    def gram(self) -> np.ndarray:
        return np.ascontiguousarray(self.x @ self.x.T)

    @contextmanager
    def without(self, i: int) -> Iterator[np.ndarray]:
        """The points as columns, without point i."""
        self.atoms[:, i] = 0
        yield self.atoms
        self.atoms[:, i] = self.x[i]

    @contextmanager
    def gram_without(self, i: int) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """The Gram matrix without point i, and the correlations with it."""
        kept = self.gram[:, i].copy()
        self.gram[i] = 0
        self.gram[:, i] = 0
        correlations = kept.copy()
        correlations[i] = 0
        yield self.gram, correlations
        self.gram[i] = kept
        self.gram[:, i] = kept
