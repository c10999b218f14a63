"""What a method of coding is: its parameters as one value, and two functions.

A coder makes codes of points, and codes of new points over fitted ones. All else follows from what
it returns: the graph, labels, new points, confidence, files. :func:`build_graph` runs it.
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.utils.sparsefuncs import mean_variance_axis

from srsg.coding.candidates import check_candidates
from srsg.coding.kept import arrays_of_coded, coded_from_arrays, rules_of_coded, sizes_of_coded
from srsg.coding.neighbors import euclidean_lists, moderate_exponent, nearest_neighbors
from srsg.graph import Coded, FittedGraph, symmetrized
from srsg.points import (
    EqualPoints,
    Points,
    UnitRows,
    is_read_only,
    name_rows,
    of_any_length,
    root_mean_square_length,
    row_lengths,
    take_rows,
    unit_points,
    zero_digest,
)
from srsg.running import Engine
from srsg.running.config import CODE_BYTES, NEIGHBOR_BYTES
from srsg.running.warnings import made_dense, warn_user
from srsg.types import FloatArray, IntArray, RandomState

MOSTLY_FILLED = 0.25
"""Above this share of non-zeros, sparse points are made dense: they would take more than a third of
the memory of dense ones, and more than twice the time. The time is equal at a share of 0.1."""

NARROW = 1e-3
"""Points in a cone this narrow, as a root mean square distance from their mean direction, no longer
show what the columns said: distances within it are too small for the tolerance of the codes."""


@dataclass(frozen=True, kw_only=True)
class Coder(ABC):
    """The base of all coders.

    Attributes
    ----------
    n_neighbors : int
        Nearest neighbours of each point that are found along the way.
    affine : bool or float
        The constant coordinate appended to every point before it is scaled to unit length; True
        takes the root mean square length of the points.
    n_candidates : int or None
        Candidates that a code may use, for methods with such codes; None means all points.
    random_state : int, RandomState or None
        Draws the sample that is certified, for codes over candidates.
    """

    n_neighbors: int = 5
    affine: bool | float = False
    n_candidates: int | None = None
    random_state: RandomState = None

    unit: ClassVar[bool] = True
    """Whether points are scaled to unit length and only distinct ones are coded; otherwise the
    coder gets all points as they are."""

    has_points: ClassVar[bool] = True
    """Whether there are points, and not only a graph of them."""

    keeps_loops: ClassVar[bool] = False
    """Whether edges between equal points stay, as a loop, when these become one vertex."""

    copies_count: ClassVar[bool] = True
    """Whether a point that occurs several times counts as often in the cut."""

    results: ClassVar[tuple[str, ...]] = ("codes", "neighbors")
    """What :meth:`code` makes, by the names of :mod:`srsg.coding.kept`: a file has no more and no
    less."""

    on_cluster: ClassVar[bool] = False
    """Whether points may be on the workers of a cluster."""

    @abstractmethod
    def code(self, points: Points, run: Engine) -> Coded:
        """Code every point over the others."""

    @abstractmethod
    def code_new(self, fitted: FittedGraph, new: Points, run: Engine) -> sparse.csr_array:
        """Code new points over the fitted ones: over the distinct ones, if only these are coded."""

    def check(self, n_points: int, run: Engine) -> None:
        """Raise a ValueError if a parameter needs more points, or another engine."""
        check_neighbor_count(self.n_neighbors, n_points)
        if self.n_candidates is not None:
            check_candidates(self.n_candidates, self.n_neighbors)

    def result_bytes(self, n_points: int) -> float:
        """Memory for the code and the neighbours of one point, with all copies of them."""
        return CODE_BYTES + NEIGHBOR_BYTES * min(self.n_neighbors, n_points)

    def why_dense(self) -> str:
        """Why sparse points are made dense; empty if they may stay sparse."""
        return "" if self.n_candidates is None else "an index of candidates needs dense points"

    def edges(self, codes: sparse.csr_array) -> sparse.csr_array:
        """The directed graph that codes make: row i has the edges that point i chose."""
        return codes

    def votes(self, codes: sparse.csr_array) -> sparse.csr_array:
        """The part of a code that decides the cluster of a new point."""
        return codes

    def agreement_graph(self, fitted: FittedGraph) -> sparse.csr_array:
        """The graph whose edges are weighed by agreement, see :mod:`srsg.cutting.embedding`."""
        return symmetrized(fitted.equal.weigh_rows(fitted.codes))

    def is_consistent(self, coded: Coded, points: Points, run: Engine) -> bool:
        """Whether codes from a store have the certificates that came with them."""
        return True

    def find_equal(self, points: Points, run: Engine) -> EqualPoints:
        """Which points are equal in every bit."""
        equal = EqualPoints.from_digests(run.row_digests(points))
        return replace(equal, row_weights=points.weights)


def check_neighbor_count(n_neighbors: int, n_points: int) -> None:
    """Raise a ValueError if there are too few points for this many neighbours."""
    if n_neighbors >= n_points:
        raise ValueError(
            f"n_neighbors={n_neighbors} must be smaller than the number of points, "
            f"n_samples={n_points}."
        )


def build_graph(
    coder: Coder, X: Any, run: Engine, weights: FloatArray | None = None
) -> FittedGraph:
    """Prepare the points, code them, and make the graph of their codes.

    Parameters
    ----------
    coder : Coder
        The method.
    X : ndarray or csr_array of shape (n, n_features), or ShardedPoints
        Validated points, or points on the workers of a cluster.
    run : Engine
        Where the work runs, what it shows and what it keeps.
    weights : ndarray of shape (n,) or None
        How many times each point counts; None means once.

    Returns
    -------
    FittedGraph

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from srsg.coding.coder import build_graph
    >>> from srsg.estimators.l1_graph import L1Coder
    >>> from srsg.running import ThreadEngine
    >>> build_graph(L1Coder(lam=0.1), load_digits().data[:100], ThreadEngine()).codes.shape
    (100, 100)
    """
    coder.check(X.shape[0], run)
    if isinstance(X, Points):  # on the workers of a cluster
        return graph_of_points(coder, X, X.lazy_rows(), 0.0, run)
    rows, constant = prepared(coder, X, on_cluster=run.on_cluster, weights=weights)
    graph = graph_of_points(coder, Points(rows, weights=weights), rows, constant, run)
    return replace(graph, lengths=row_lengths(X)) if coder.unit else graph


def graph_of_points(
    coder: Coder, points: Points, rows: Any, constant: float, run: Engine
) -> FittedGraph:
    """The graph of prepared points; ``rows`` are these points as the graph keeps them."""
    if not coder.unit:
        equal = coder.find_equal(points, run)
        return FittedGraph.of(coder, rows, equal, _coded_or_kept(coder, points, run))
    digests = run.row_digests(points)
    equal = EqualPoints.from_digests(digests, zero_digest(points))
    equal = replace(equal, row_weights=points.weights)
    if not equal.first.size:
        raise ValueError("X has rows of zeros only, which have no direction.")
    if equal.zero_rows.size:
        warn_of_zero_rows(equal.zero_rows)
    if not (points.in_shards and equal.all_differ):
        # Points on workers are placed again only to leave copies out.
        points = distinct_points(rows, equal, digests, run)
    _warn_of_narrow_cone(points, constant)
    return FittedGraph.of(coder, rows, equal, _coded_or_kept(coder, points, run), constant)


def distinct_points(rows: Any, equal: EqualPoints, digests: bytes | None, run: Engine) -> Points:
    """The distinct points, where the engine can use them."""
    if equal.all_differ and not is_read_only(rows):
        return replace(run.points(rows), digests=digests)
    # Read-only points, as joblib maps those of a model from a file, are copied: numba would compile
    # all kernels again for them.
    return run.points(take_rows(rows, equal.first))


def prepared(
    coder: Coder,
    X: NDArray | sparse.csr_array,
    *,
    fitted: FittedGraph | None = None,
    on_cluster: bool = False,
    weights: FloatArray | None = None,
) -> tuple[UnitRows, float]:
    """Validated points in the form that is coded, and the constant coordinate they got.

    New points take the form of the ``fitted`` ones.
    """
    if not coder.has_points:
        return X, 0.0
    if not coder.unit:
        return of_any_length(made_dense(X, "distances need dense points")), 0.0
    if sparse.issparse(X) and (reason := _why_dense(coder, X, fitted, on_cluster)):
        X = made_dense(X, reason)
    elif fitted is not None and sparse.issparse(fitted.points):
        X = sparse.csr_array(X)
    if fitted is not None:
        constant = fitted.constant
    else:
        constant = float(coder.affine)
        if coder.affine is True:
            constant = root_mean_square_length(X, weights)
    return unit_points(X, constant=constant, keep_zero_rows=True).x, constant


def _why_dense(
    coder: Coder, X: sparse.csr_array, fitted: FittedGraph | None, on_cluster: bool
) -> str:
    """Why these sparse points are made dense; empty if they stay sparse."""
    if fitted is not None:
        return "" if sparse.issparse(fitted.points) else "the fitted points are dense"
    if on_cluster:
        return "workers of a cluster hold dense points"
    if reason := coder.why_dense():
        return reason
    filled = X.nnz / (X.shape[0] * X.shape[1])
    return f"{filled:.0%} of its values are not zero" if filled > MOSTLY_FILLED else ""


def _warn_of_narrow_cone(points: Points, constant: float) -> None:
    """Warn if all points have nearly the same direction, because of a large shift of the data."""
    if points.in_shards:
        return
    # For unit vectors the mean squared distance from the mean is 1 - |mean|^2; computed from the
    # differences themselves, since that subtraction would lose all digits.
    some = points.x[:: max(1, points.x.shape[0] // 1000)]
    if sparse.issparse(some):
        squared = mean_variance_axis(some, axis=0)[1].sum()
    else:
        mean = some.mean(axis=0, dtype=np.float64)
        squared = sum(float(np.sum((row - mean) ** 2)) for row in some) / len(some)
    spread = float(np.sqrt(squared))
    if 0 < spread < NARROW:
        advice = "" if constant else ", and set affine=True"
        warn_user(
            f"All points have nearly the same direction (they differ by {spread:.1g} of their "
            "length): a shift of the data far larger than its spread hides the clusters. Centre "
            f"the columns first, for example with StandardScaler{advice}.",
            UserWarning,
        )


def new_codes(fitted: FittedGraph, new: UnitRows, run: Engine) -> sparse.csr_array:
    """Codes of new points, which are prepared, over all fitted points."""
    coder = fitted.coder
    if not coder.unit:
        return coder.code_new(fitted, Points(new), run)
    given = np.flatnonzero(~without_direction(new))
    if not len(given):
        return sparse.csr_array((new.shape[0], fitted.n))
    codes = coder.code_new(fitted, Points(new[given]), run)
    codes = fitted.equal.spread_columns(codes)
    n_new = new.shape[0]
    if len(given) == n_new:
        return codes
    # Rows of zeros have no direction to code, so their codes are empty.
    lengths = np.zeros(n_new + 1, codes.indptr.dtype)
    lengths[given + 1] = np.diff(codes.indptr)
    shape = (n_new, codes.shape[1])
    return sparse.csr_array((codes.data, codes.indices, np.cumsum(lengths)), shape=shape)


def without_direction(rows: UnitRows) -> NDArray[np.bool_]:
    """Which of some points are rows of zeros."""
    if sparse.issparse(rows):
        return np.asarray(np.diff(rows.indptr) == 0)
    return np.asarray(~rows.any(axis=1))


def nearest_fitted(fitted: FittedGraph, new: UnitRows, count: int, run: Engine) -> IntArray:
    """The nearest fitted points of new ones."""
    if fitted.coder.unit:
        points = fitted_points(fitted, run)
        nearest = nearest_neighbors(points, min(count, points.n), queries=Points(new), engine=run)
        return fitted.equal.first[nearest]
    points = run.points(fitted.points, unit=False)
    # The points are as large as the user's, and which are nearest does not depend on that.
    exponent = moderate_exponent(points.largest)
    return euclidean_lists(points, count, exponent=exponent, queries=Points(new), engine=run).index


def fitted_points(fitted: FittedGraph, run: Engine) -> Points:
    """The distinct fitted points, where the engine can use them."""
    return distinct_points(fitted.points, fitted.equal, None, run)


def warn_of_zero_rows(zero: IntArray) -> None:
    """Say what happens to rows of zeros, given their numbers."""
    warn_user(
        f"X has {zero.size} row(s) of zeros, which have no direction: rows {name_rows(zero)}. "
        "They have no code and no edge, and get the label of the largest cluster.",
        UserWarning,
    )


def _coded_or_kept(coder: Coder, points: Points, run: Engine) -> Coded:
    """What the coder makes of the points, from the store if it is there."""
    if not run.store.keeps:
        return coder.code(points, run)
    # The text of a coder names its type and all its parameters.
    keep = run.store.of("graph", coder, lambda: run.fingerprint(points))
    rules, sizes = rules_of_coded(coder), sizes_of_coded(coder, points.n)
    make = partial(coded_from_arrays, coder, np.arange(points.n))
    for coded in keep.load("graph", rules, sizes, make):
        if coder.is_consistent(coded, points, run):
            return coded
        warn_user(
            "A graph in the folder of store= has codes that do not match its certificates: it is "
            "built again. Delete the folder if you see this warning again.",
            UserWarning,
        )
    coded = coder.code(points, run)
    keep.save("graph", arrays_of_coded(coded))
    return coded
