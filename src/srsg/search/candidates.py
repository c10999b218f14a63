"""Which clusterers a search compares: it depends on the columns."""

from __future__ import annotations

from collections.abc import Iterable
from enum import Enum
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.stats import spearmanr
from sklearn.cluster import KMeans
from sklearn.pipeline import Pipeline
from sklearn.utils.sparsefuncs import mean_variance_axis

from srsg.counting.counts import FEW_FEATURES, MANY_FEATURES
from srsg.estimators import (
    SRSG,
    L1Graph,
    LocalScalingSpectralClustering,
    NeighborGraph,
    PreparedClusterer,
    RidgeGraph,
)
from srsg.explaining.unwrapping import clusterer_of
from srsg.running.progress import quietly
from srsg.types import FloatArray

MOST_FOR_DISTANCES = 10_000
"""Up to this many points, all distances fit into memory."""

UNEQUAL = 10.0
"""Few columns share a unit if their standard deviations differ by at most this factor."""

ONE_UNIT = 1 / 4
"""Columns share a unit if the variance is spread over at least this share of them."""

LEAST_COMPONENTS, FALLING = 10, -0.95
"""So many columns or more whose variances fall from left to right, by rank correlation, are taken
for principal components, which share one unit."""

FEW_DIMENSIONS, NOISE, ENOUGH_FOR_AXES, MOST_FOR_EXACT = 12, 1e-3, 300, 2000
"""Points in one unit lie in few dimensions if this many principal components, half of the columns
or fewer, leave at most this share of the variance, as trajectories of points on a few moving bodies
do: at most 2e-5 in each of 156 films, at least 4e-3 in 30 other sets. Exact codes then tell the
bodies apart; they take long for more points than the last number."""

SPARSE, ENOUGH_FOR_CODES = 15.0, 1000
"""l1 codes with so many entries or fewer in the mean are sparse, and so many points, evenly spread
over all, tell. Left-out families of data decide alike for 9 to 18 entries."""

Candidates = list[tuple[str, Any]]


class Columns(Enum):
    """Kinds of columns."""

    MANY = "many features"
    COMPONENTS = "principal components"
    DIMENSIONS = "points in a few dimensions, nearly without noise"
    FEW = "a table of few columns"
    FEW_IN_SEVERAL_UNITS = "a table of few columns with different units"
    ONE_UNIT = "a table whose columns share one unit"
    SEVERAL_UNITS = "a table whose columns have different units"
    PREPARED = "a table whose columns have been standardised"

    @property
    def of_a_table(self) -> bool:
        """Whether the columns are those of a table: each may be all that tells clusters apart."""
        return self not in (Columns.MANY, Columns.COMPONENTS)


def look_at_columns(X: NDArray | sparse.csr_array, *, exact: bool = True) -> Columns:
    """Tell images and spectra from tables, and tables in one unit from others.

    With different units, a few columns of large numbers have most of the variance. For variances v,
    ``(sum v)^2 / sum v^2`` is the number of columns if all are equal, and 1 if a single one varies.
    ``exact`` lets points in few dimensions be a kind of their own, which exact codes suit.

    Examples
    --------
    >>> import numpy as np
    >>> from srsg.search.candidates import look_at_columns
    >>> X = np.random.default_rng(0).standard_normal((50, 8))
    >>> look_at_columns(X).value
    'a table whose columns share one unit'
    >>> look_at_columns(X * 10.0 ** np.arange(8)).value
    'a table whose columns have different units'
    """
    if exact and in_few_dimensions(X):
        return Columns.DIMENSIONS
    if X.shape[1] >= MANY_FEATURES:
        return Columns.MANY
    if X.shape[1] <= FEW_FEATURES and X.shape[0] <= MOST_FOR_DISTANCES:
        return Columns.FEW if shares_one_unit(X) else Columns.FEW_IN_SEVERAL_UNITS
    if X.shape[1] >= LEAST_COMPONENTS and spearmanr(variances(X), range(X.shape[1]))[0] < FALLING:
        return Columns.COMPONENTS
    return Columns.ONE_UNIT if shares_one_unit(X) else Columns.SEVERAL_UNITS


def shares_one_unit(X: NDArray | sparse.csr_array) -> bool:
    """Whether the variance is spread over many columns, not concentrated in a few.

    Examples
    --------
    >>> import numpy as np
    >>> from srsg.search.candidates import shares_one_unit
    >>> X = np.random.default_rng(0).standard_normal((50, 8))
    >>> shares_one_unit(X), shares_one_unit(X * 10.0 ** np.arange(8))
    (True, False)
    """
    variance = variances(X)
    variance = variance[variance > 0]
    if not variance.size:
        return True
    if ONE_UNIT * len(variance) <= 1:  # too few columns for the measure below
        return bool(variance.max() <= UNEQUAL**2 * variance.min())
    spread = variance.sum() ** 2 / (variance**2).sum()
    return bool(spread >= ONE_UNIT * len(variance))


def in_few_dimensions(X: NDArray | sparse.csr_array) -> bool:
    """Whether points in one unit lie in few dimensions, nearly without noise.

    Examples
    --------
    >>> import numpy as np
    >>> from srsg.search.candidates import in_few_dimensions
    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_normal((50, 6)) @ rng.standard_normal((6, 40))
    >>> in_few_dimensions(X), in_few_dimensions(X + rng.standard_normal(X.shape) / 2)
    (True, False)
    """
    n_points, n_features = X.shape
    few = min(n_points, n_features) >= 2 * FEW_DIMENSIONS
    if sparse.issparse(X) or not few or n_points > MOST_FOR_EXACT or not shares_one_unit(X):
        return False
    rows = np.linspace(0, n_points - 1, min(n_points, ENOUGH_FOR_AXES)).astype(int)
    centred = X[rows] / (abs(X).max() or 1.0)
    spectrum = np.linalg.svd(centred - centred.mean(axis=0), compute_uv=False) ** 2
    return bool(spectrum[FEW_DIMENSIONS:].sum() <= NOISE * spectrum.sum())


def variances(X: NDArray | sparse.csr_array) -> FloatArray:
    """Variances of the columns, relative to the largest value."""
    scaled = X / (abs(X).max() or 1.0)  # so that the squares of huge numbers stay finite
    return mean_variance_axis(scaled, axis=0)[1] if sparse.issparse(scaled) else scaled.var(axis=0)


def has_sparse_codes(X: NDArray | sparse.csr_array, n_jobs: int | None = None) -> bool:
    """Whether few points explain each point, as on objects and faces, not on embedded texts.

    Near points are then often of different clusters, and a graph of nearest neighbours joins these
    in every sample alike: its stability is no evidence.

    Examples
    --------
    >>> import numpy as np
    >>> from srsg.datasets import make_union_of_subspaces
    >>> from srsg.search.candidates import has_sparse_codes
    >>> has_sparse_codes(make_union_of_subspaces(90, random_state=0)[0])
    True
    >>> has_sparse_codes(1 + np.random.default_rng(0).standard_normal((90, 200)))
    False
    """
    rows = np.linspace(0, X.shape[0] - 1, min(X.shape[0], ENOUGH_FOR_CODES)).astype(int)
    with quietly():
        codes = L1Graph(n_jobs=n_jobs).fit_graph(X[rows]).codes_
    return codes.nnz <= SPARSE * len(rows)


def auto_candidates(columns: Columns, options: dict[str, Any]) -> Candidates:
    """The clusterers to compare; the first of several wins ties.

    ``options`` are parameters for all graphs, such as ``n_jobs``.
    """
    if not columns.of_a_table:
        # The cheapest first. None of them is stable by nature: K-means is, and often wrong.
        graphs = {"knn": NeighborGraph, "ridge": RidgeGraph, "srsg": SRSG}
        return [(name, graph(**options)) for name, graph in graphs.items()]
    if columns is Columns.DIMENSIONS:
        return [("ssc", L1Graph.ssc(**options))]
    if columns is Columns.FEW:
        return [("sc", LocalScalingSpectralClustering(**options))]
    if columns is Columns.FEW_IN_SEVERAL_UNITS:
        distances = LocalScalingSpectralClustering(**options)
        return [("sc, standardised", _standardized(distances))]
    if columns is Columns.PREPARED:
        return [
            ("knn, by distances", NeighborGraph(metric="euclidean", **options)),
            ("kmeans", KMeans(n_init=10)),
        ]
    # After standardising, the mean point is the origin: without the constant coordinate a point
    # and its mirror image would get the same code.
    affine_srsg = _standardized(SRSG(affine=True, **options))
    if columns is Columns.SEVERAL_UNITS:
        # The lengths of raw points would depend on a few columns of large numbers alone.
        return [
            ("srsg, standardised, affine", affine_srsg),
            ("kmeans, standardised", _standardized(KMeans(n_init=10))),
        ]
    return [
        ("srsg", SRSG(**options)),
        ("srsg, standardised, affine", affine_srsg),
        ("ridge, standardised, affine", _standardized(RidgeGraph(affine=True, **options))),
        ("kmeans", KMeans(n_init=10)),
    ]


def _standardized(clusterer: Any) -> PreparedClusterer:
    return PreparedClusterer(clusterer, scale="standard")


def checked_candidates(pairs: Iterable[Any]) -> Candidates:
    """The user's candidates, or an error that names the one that cannot be compared."""
    candidates: Candidates = []
    for pair in pairs:
        if not isinstance(pair, (tuple, list)) or len(pair) != 2:
            raise ValueError(
                f"candidates must be pairs of a name and a clusterer, or a mapping; got {pair!r}."
            )
        name, estimator = str(pair[0]), pair[1]
        if any(name == other for other, _ in candidates):
            raise ValueError(f"candidates: two of them are called {name!r}.")
        empty = isinstance(estimator, Pipeline) and not estimator.steps
        if empty or not hasattr(clusterer_of(estimator), "n_clusters"):
            raise ValueError(
                f"candidates: {name!r} has no parameter n_clusters for the search to set."
            )
        if not hasattr(estimator, "fit_predict"):
            raise ValueError(f"candidates: {name!r} has no method fit_predict.")
        candidates.append((name, estimator))
    if not candidates:
        raise ValueError("candidates is empty: give at least one clusterer.")
    return candidates
