"""Most of the points that correlate with a vector, found without a look at all points.

A faiss index sorts the points into cells around the centres of K-means. A search looks into the
few cells whose centres correlate most with the vector. It only selects points: the caller computes
their correlations again, in float64.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from math import ceil, isqrt
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from srsg.files.errors import needed
from srsg.points import Points
from srsg.running import Engine, thread_pools
from srsg.types import IntArray

CELLS_OF_ROOT = 2
"""Number of cells, as a multiple of the square root of n: searching the centres then takes about as
long as searching the points."""

LEAST_PROBES = 16
"""Cells that a search looks into; more, if these hold too few points."""

HELD_TO_FOUND = 8
"""The cells of a search should hold this many times as many points as it returns."""

TRAINED_PER_CELL, TRAINING_ROUNDS, SEED = 40, 10, 0
"""K-means uses this many points per cell and this many rounds. Its seed is fixed, so that the
candidates depend on the points alone."""

NONE = -1
"""The index where a search found nothing more."""


class SearchResult(NamedTuple):
    """The points found for every vector, and their correlations with it."""

    ids: IntArray
    strength: NDArray[np.float32]


@dataclass(frozen=True)
class CandidateIndex:
    """Points in cells, for searches that look into a few cells only.

    Attributes
    ----------
    cells : faiss.IndexIVFScalarQuantizer
        Holds the points in half precision: half the memory, two thirds of the time.
    n_probes : int
        Cells that a search looks into.

    Examples
    --------
    >>> import numpy as np
    >>> from srsg.coding.candidates import CandidateIndex
    >>> from srsg.points import unit_points
    >>> index = CandidateIndex.of(unit_points([[1.0, 0.0], [1.0, 0.1], [-1.0, 0.2]]), 2)
    >>> index.search(np.array([[1.0, 0.0]]), np.array([0]), 2).ids
    array([[1, 2]])
    """

    cells: Any
    n_probes: int

    @classmethod
    def of(cls, points: Points, n_candidates: int) -> Self:
        """An index for searches of about ``n_candidates`` points each."""
        faiss = check_faiss()
        # K-means takes at least as many points as it has centres.
        n_cells = min(CELLS_OF_ROOT * isqrt(points.n), points.n)
        # Cells of average size that hold as many points as a search should look at.
        held = ceil(HELD_TO_FOUND * n_candidates * n_cells / points.n)
        kind = f"IVF{n_cells},SQfp16"
        with one_thread():
            cells = faiss.index_factory(points.x.shape[1], kind, faiss.METRIC_INNER_PRODUCT)
            cells.by_residual = False  # the points themselves, not their offsets from the centres
            cells.cp.seed, cells.cp.niter = SEED, TRAINING_ROUNDS
            cells.cp.min_points_per_centroid = 1  # else faiss warns about small data
            cells.cp.max_points_per_centroid = TRAINED_PER_CELL
            x = np.ascontiguousarray(points.x32)
            cells.train(x)
            cells.add(x)
        return cls(cells, min(max(LEAST_PROBES, held), n_cells))

    def search(
        self, vectors: NDArray[np.floating], own: IntArray, count: int, *, least: int = 0
    ) -> SearchResult:
        """For each vector, ``count`` points of large correlation with it, largest first.

        The point ``own[p]`` is left out for vector p. Where fewer than ``least`` points are found,
        the search is repeated in all cells.
        """
        found = self._search(vectors, own, count, self.n_probes)
        short = np.flatnonzero((found.ids != NONE).sum(axis=1) < least)
        if short.size:
            more = self._search(vectors[short], own[short], count, self.cells.nlist)
            found.ids[short], found.strength[short] = more
        return found

    def _search(
        self, vectors: NDArray[np.floating], own: IntArray, count: int, n_probes: int
    ) -> SearchResult:
        options = check_faiss().SearchParametersIVF(nprobe=n_probes)
        wanted = np.ascontiguousarray(vectors, dtype=np.float32)
        # One more than wanted, since the point itself may be among them. Each row then drops
        # exactly one entry, the point itself or else the last, so all keep the same length.
        with one_thread():
            strength, ids = self.cells.search(wanted, count + 1, params=options)
        left_out = ids == own[:, None]
        left_out[:, -1] |= ~left_out.any(axis=1)
        shape = (len(vectors), count)
        return SearchResult(ids[~left_out].reshape(shape), strength[~left_out].reshape(shape))


def strongest_of(searches: Sequence[SearchResult], count: int) -> IntArray:
    """The ``count`` points of largest correlation in several searches, largest first.

    A search with a vector and one with its negative together find the points of largest absolute
    correlation: correlations that are negative in one are positive in the other.
    """
    ids = np.concatenate([found.ids for found in searches], axis=1)
    strength = np.concatenate([found.strength for found in searches], axis=1)
    # Points without a positive correlation belong to the search with the negative vector.
    nothing = strength <= 0
    ids[nothing], strength[nothing] = NONE, 0
    # Ties by index, so that the order does not depend on how faiss came across the points.
    order = np.lexsort((ids, -strength))[:, :count]
    return np.take_along_axis(ids, order, axis=1)


def one_thread() -> AbstractContextManager[Any]:
    """Keep faiss to the calling thread: its results may depend on the number of threads."""
    return thread_pools("openmp").limit(limits=1)


def check_faiss() -> Any:
    """The library for searches, or a one-line error that says how to get it."""
    return needed("faiss", "n_candidates needs faiss", "approximate")


def check_candidates(n_candidates: int, n_neighbors: int, run: Engine) -> None:
    """Raise an error if codes over so many candidates cannot be found here."""
    check_faiss()
    if run.on_cluster:
        raise ValueError(
            "n_candidates needs an index of all points in this process: it requires "
            "engine='threads'."
        )
    if n_candidates < n_neighbors:
        raise ValueError(
            f"n_candidates={n_candidates} must be at least n_neighbors={n_neighbors}, which are "
            "found among them."
        )
