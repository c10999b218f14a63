"""Most of the points that correlate with a vector, found without a look at all points.

A faiss index sorts the points into cells around the centres of K-means. A search looks into the
few cells whose centres correlate most with the vector. It only selects points: the caller computes
their correlations again, in float64.
"""

from __future__ import annotations

from contextlib import AbstractContextManager
from dataclasses import dataclass
from math import ceil, isqrt
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from srsg.files.errors import needed
from srsg.points import Points, blocks_of_rows
from srsg.running import Engine, ThreadEngine, thread_pools
from srsg.types import IntArray

FEWEST = 1000
"""Fewer points are all compared."""

FEATURES_PER_CODE, MANY_FEATURES = 4, 512
"""So many features of a point are kept as one number of four bits; half as many where there are
fewer features than this, because errors then cancel less."""

LEAST_PROBES, SCANNED = 16, 16_384
"""A search looks into so many cells, and into more if these hold fewer points than this. So its
time hardly grows with the number of points."""

TRAINED_PER_CELL, LEAST_TRAINED, TRAINING_ROUNDS, SEED = 40, 5000, 10, 0
"""K-means uses this many points per cell, at least so many in all, and this many rounds. Its
seed is fixed, so that the candidates depend on the points alone."""

ADDED_AT_ONCE = 2**16
"""Points that enter the index together."""

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
    cells : faiss.Index
        Holds the points in four bits for every few features. Instructions that look up many such
        numbers at once make a comparison several times as fast as a product in float32. The error
        is that of a random direction, which hardly correlates with a vector: most of the strongest
        are among those found.
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
    def of(cls, points: Points, n_candidates: int, engine: Engine | None = None) -> Self:
        """An index for searches of about ``n_candidates`` points each.

        Points that are on the workers of a cluster come here, a part at a time.
        """
        engine = (engine or ThreadEngine(1)).quiet()
        faiss, n_cells = check_faiss(), isqrt(points.n)
        width = _padded(np.empty((0, points.n_features))).shape[1]
        together = FEATURES_PER_CODE if width >= MANY_FEATURES else FEATURES_PER_CODE // 2
        n_codes = width // together
        kind = f"IVF{n_cells},PQ{n_codes}x4fs" if points.n >= FEWEST else "IVF1,Flat"
        with one_thread():
            cells = faiss.index_factory(width, kind, faiss.METRIC_INNER_PRODUCT)
            cells.by_residual = False  # the points themselves, not their offsets from the centres
            cells.cp.seed, cells.cp.niter = SEED, TRAINING_ROUNDS
            cells.cp.min_points_per_centroid = 1  # else faiss warns about small data
            cells.cp.max_points_per_centroid = TRAINED_PER_CELL
            if points.n >= FEWEST:
                cells.pq.cp.niter = TRAINING_ROUNDS
            # Training looks at no more points than this, evenly spread over all.
            step = max(1, points.n // max(TRAINED_PER_CELL * n_cells, LEAST_TRAINED))
            cells.train(_taken(points, np.arange(0, points.n, step), engine))
            # In parts of one size: the number of points may change the bits of a comparison.
            for rows in blocks_of_rows(points.n, ADDED_AT_ONCE):
                cells.add(_taken(points, rows, engine))
        scanned = max(SCANNED, 8 * n_candidates)
        return cls(cells, min(max(LEAST_PROBES, ceil(scanned * n_cells / points.n)), cells.nlist))

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
        wanted = _padded(vectors)
        # One more than wanted, since the point itself may be among them. Each row then drops
        # exactly one entry, the point itself or else the last, so all keep the same length.
        with one_thread():
            strength, ids = self.cells.search(wanted, count + 1, params=options)
        left_out = ids == own[:, None]
        left_out[:, -1] |= ~left_out.any(axis=1)
        shape = (len(vectors), count)
        return SearchResult(ids[~left_out].reshape(shape), strength[~left_out].reshape(shape))


def _taken(points: Points, rows: IntArray, engine: Engine) -> NDArray[np.float32]:
    """Some of the points, in this process."""
    [some] = engine.map_rows(np.asarray, points, [rows], label="points of the index")
    return _padded(some)


def _padded(x: NDArray[np.floating]) -> NDArray[np.float32]:
    """The rows in float32, with zeros up to a multiple of the features that are kept together."""
    width = -(-x.shape[1] // FEATURES_PER_CODE) * FEATURES_PER_CODE
    rows = np.zeros((len(x), width), np.float32)
    rows[:, : x.shape[1]] = x
    return rows


def one_thread() -> AbstractContextManager[Any]:
    """Keep faiss to the calling thread: its results may depend on the number of threads."""
    return thread_pools("openmp").limit(limits=1)


def check_faiss() -> Any:
    """The library for searches, or a one-line error that says how to get it."""
    return needed("faiss", "n_candidates needs faiss", "approximate")


def check_candidates(n_candidates: int, n_neighbors: int) -> None:
    """Raise an error if codes over so many candidates cannot be found here."""
    check_faiss()
    if n_candidates < n_neighbors:
        raise ValueError(
            f"n_candidates={n_candidates} must be at least n_neighbors={n_neighbors}, which are "
            "found among them."
        )
