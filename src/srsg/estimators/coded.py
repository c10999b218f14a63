"""What the estimators share that code every unit-norm point over the others.

:class:`CodeClusterer` is the base of them all. The other classes add one thing each: l1 codes with
certificates, edges weighed by agreement, codes post-processed before they make a graph.
"""

from __future__ import annotations

from abc import abstractmethod
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.utils import check_random_state

from srsg.coding import ApproximateCodes, L1Codes, approximate_l1_codes, l1_codes
from srsg.coding.candidates import check_faiss
from srsg.coding.neighbors import nearest_neighbors
from srsg.cutting.affinity import largest_codes, nearest_codes, unit_codes
from srsg.cutting.weights import agreement
from srsg.estimators.base import AT_LEAST_ONE, POSITIVE, GraphClusterer
from srsg.estimators.hooks import SpectralGraph
from srsg.estimators.kept_graphs import certificates_are_true, same_matrix
from srsg.estimators.new_points import warn_of_zero_rows
from srsg.explaining.explanation import (
    explained_by_directions,
    weight_of_negatives,
    within_own_cluster,
)
from srsg.kernels.codes import symmetrized
from srsg.points import (
    EqualPoints,
    Points,
    UnitRows,
    root_mean_square_length,
    take_rows,
    unit_points,
    zero_digest,
)
from srsg.running import Engine
from srsg.running.warnings import made_dense
from srsg.types import FloatArray, Graph, IntArray

SHARES = (0.5, 0.9, 0.99, 1.0)
"""The quantiles of the violations that are reported."""

OF_PAIRS = {"codes_", "init_codes_"}
"""What is learnt of every pair of points, by row and column."""

OF_POINTS = {"kkt_violation_", "dual_gap_", "residual_", "lam_"}
"""What is learnt of every point: one number for each, or for those that were certified."""


MOSTLY_FILLED = 0.25
"""Above this share of non-zeros, sparse points are made dense: they would take more than a third of
the memory of dense ones, and more than twice the time. The time is equal at a share of 0.1."""


class CodeClusterer(GraphClusterer):
    """Base of the estimators that code every unit-norm point over the others.

    A subclass writes :meth:`_code`, which sets ``codes_`` and ``neighbors_``, and
    :meth:`_code_new`.
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **GraphClusterer._parameter_constraints,
        "n_neighbors": [AT_LEAST_ONE],
        "affine": ["boolean", POSITIVE],
        "max_memory": [AT_LEAST_ONE, str, None],
    }

    # Two or three points code any other there, so that noise falls into many components.
    _components_of_few_columns = False
    n_neighbors: int
    affine: bool | float
    max_memory: int | str | None
    affine_: float
    codes_: sparse.csr_array

    @abstractmethod
    def _code(self, points: Points, engine: Engine) -> None:
        """Learn ``codes_`` and ``neighbors_``."""

    @abstractmethod
    def _code_new(self, points: Points, new: Points, engine: Engine) -> sparse.csr_array:
        """Codes of new points over all fitted ones."""

    def _check_size(self, n_points: int) -> None:
        check_neighbor_count(self.n_neighbors, n_points)

    def _prepared(self, X: NDArray | sparse.csr_array) -> UnitRows:
        if sparse.issparse(X) and (reason := self._needs_dense(X)):
            X = made_dense(X, reason)
        elif sparse.issparse(getattr(self, "fit_X_", None)):
            # New points take the form of the fitted ones.
            X = sparse.csr_array(X)
        if not hasattr(self, "affine_"):  # new points get the coordinate of the fitted ones
            length = root_mean_square_length(X) if self.affine is True else float(self.affine)
            self.affine_ = length
        return unit_points(X, constant=self.affine_, keep_zero_rows=True).x

    def _places(self, x: NDArray) -> tuple[NDArray, int]:
        """Unit points; a point and its mirror image, which have the same code, in one place.

        The products of the coordinates are the same for both. With the constant coordinate no
        point has its mirror image among the others, and lengths are not lost.
        """
        if self.affine_:
            return x, self.n_features_in_
        products = (x[:, :, None] * x[:, None, :]).reshape(len(x), -1)
        return products, self.n_features_in_ - 1

    def _find_equal(self, points: Points, engine: Engine) -> EqualPoints:
        # Digests find the points that are equal in every bit, sketches those that rounding made
        # differ.
        equal = EqualPoints.from_digests(engine.row_digests(points), zero_digest(points))
        if not equal.first.size:
            raise ValueError("X has rows of zeros only, which have no direction.")
        if equal.zero_rows.size:
            warn_of_zero_rows(equal.zero_rows)
        return equal.with_near(engine.row_sketches(points), points.dtype)

    def _points_to_code(self, points: Points, equal: EqualPoints, engine: Engine) -> Points:
        # Points on the workers stay there; only to leave copies out are they placed again.
        if points.in_shards and equal.all_differ:
            return points
        return self._distinct_points(equal, engine)

    def _needs_dense(self, X: sparse.csr_array) -> str:
        """Why these sparse points are not coded as they are; empty if they are."""
        if hasattr(self, "fit_X_"):  # new points become what the fitted ones are
            return "" if sparse.issparse(self.fit_X_) else "the fitted points are dense"
        engine = getattr(self, "engine", "threads")
        if not (isinstance(engine, str) and engine == "threads"):
            return "workers of a cluster hold dense points"
        if getattr(self, "approximate", False):
            return "approximate=True searches an index of dense points"
        filled = X.nnz / (X.shape[0] * X.shape[1])
        return f"{filled:.0%} of its values are not zero" if filled > MOSTLY_FILLED else ""

    def _points(self, engine: Engine) -> Points:
        return self._distinct_points(self._equal, engine)

    def _distinct_points(self, equal: EqualPoints, engine: Engine) -> Points:
        """The distinct points, where the engine can use them."""
        return engine.points(
            self.fit_X_ if equal.all_differ else take_rows(self.fit_X_, equal.first)
        )

    def _neighbor_count(self, points: Points) -> int:
        """Neighbours of each point, as many as there are distinct points for."""
        return min(self.n_neighbors, points.n - 1)

    def _build_graph(self, points: Points, engine: Engine) -> None:
        self._code(points, engine)
        self.affinity_matrix_ = symmetrized(self._edges())

    def _edges(self) -> sparse.csr_array:
        """The directed graph that the codes make: row i has the edges that point i chose."""
        return self.codes_

    def _graph_is_consistent(self, points: Points, engine: Engine) -> bool:
        return same_matrix(self.affinity_matrix_, symmetrized(self._edges())) and (
            certificates_are_true(self, self._weights_of_codes(), points, engine)
        )

    def _weights_of_codes(self) -> tuple[Any, Any] | None:
        """The weights of the l1 norm and of the squared l2 norm that ``codes_`` minimise.

        None if ``kkt_violation_`` is not that of ``codes_``, or does not follow from them alone.
        """
        return None

    def _spread_to_equal(self, equal: EqualPoints) -> None:
        # Every point brings the edges of its code; those it is used by go to the first of its kind.
        self.affinity_matrix_ = symmetrized(equal.spread_codes(self._edges()))
        # Which of these there are depends on the estimator.
        learnt = self.__dict__
        for name in OF_PAIRS & learnt.keys():
            learnt[name] = equal.spread_codes(learnt[name])
        for name in OF_POINTS & learnt.keys():
            if np.shape(learnt[name]) == equal.first.shape:
                learnt[name] = equal.spread(learnt[name])
        if learnt.get("certified_") is not None:
            of_all = len(learnt["certified_"]) == len(equal.first)
            learnt["certified_"] = (
                np.arange(equal.n) if of_all else equal.first[learnt["certified_"]]
            )
        self.neighbors_ = equal.spread_neighbors(self.neighbors_)

    def _codes_of_new(self, new: UnitRows, engine: Engine) -> sparse.csr_array:
        given = np.flatnonzero(~self._without_direction(new))
        codes = self._code_new(self._points(engine), Points(new[given]), engine)
        codes = self._equal.spread_columns(codes)
        n_new = new.shape[0]
        if len(given) == n_new:
            return codes
        # Rows of zeros have no direction to code, so their codes are empty.
        lengths = np.zeros(n_new + 1, codes.indptr.dtype)
        lengths[given + 1] = np.diff(codes.indptr)
        shape = (n_new, codes.shape[1])
        return sparse.csr_array((codes.data, codes.indices, np.cumsum(lengths)), shape=shape)

    def _without_direction(self, new: UnitRows) -> NDArray[np.bool_]:
        if sparse.issparse(new):
            return np.asarray(np.diff(new.indptr) == 0)
        return np.asarray(~new.any(axis=1))

    def _nearest_fitted(self, new: UnitRows, count: int, engine: Engine) -> IntArray:
        points, count = self._points(engine), min(count, len(self._equal.first))
        nearest = nearest_neighbors(points, count, queries=Points(new), engine=engine)
        return self._equal.first[nearest]

    def _explained(
        self, points: Any, codes: sparse.csr_array, labels: NDArray[np.intp], fitted: Any
    ) -> FloatArray:
        own = within_own_cluster(codes, labels, self.labels_)
        return explained_by_directions(points, own, fitted, weight_of_negatives(self.codes_))


class CertifiedClusterer(CodeClusterer):
    """Base of the estimators that code every point by eq. (1), over all points or candidates."""

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **CodeClusterer._parameter_constraints,
        "approximate": ["boolean"],
        "n_candidates": [AT_LEAST_ONE],
    }

    # Parameters of every subclass.
    lam: float
    approximate: bool
    n_candidates: int
    engine: Any

    certified_: IntArray | None
    kkt_violation_: FloatArray | None
    dual_gap_: FloatArray | None
    kkt_quantiles_: dict[float, float] | None

    def _check_size(self, n_points: int) -> None:
        super()._check_size(n_points)
        if self.approximate:
            check_faiss()
            if self.engine != "threads":
                raise ValueError(
                    "approximate=True searches an index of all points in this process: take it "
                    "with engine='threads'."
                )
            if self.n_candidates < self.n_neighbors:
                raise ValueError(
                    f"n_candidates={self.n_candidates} must be at least n_neighbors="
                    f"{self.n_neighbors}, which are found among them."
                )

    def _l1_codes(self, points: Points, engine: Engine, **exact: Any) -> L1Codes | ApproximateCodes:
        """The codes of all points, their neighbours, and the certificates, which it keeps.

        ``exact`` are options of the codes over all points.
        """
        options: dict[str, Any] = {"n_neighbors": self._neighbor_count(points), "engine": engine}
        result: L1Codes | ApproximateCodes
        if self.approximate:
            result = approximate_l1_codes(
                points,
                self.lam,
                n_candidates=self.n_candidates,
                random_state=check_random_state(self.random_state),
                **options,
            )
            self.certified_ = result.certified
        else:
            result = l1_codes(points, self.lam, **options, **exact)
            self.certified_ = np.arange(points.n)
        self.kkt_violation_, self.dual_gap_ = result.kkt_violation, result.dual_gap
        self.kkt_quantiles_ = {
            share: float(np.quantile(result.kkt_violation, share)) for share in SHARES
        }
        return result


class AgreementClusterer(CodeClusterer):
    """Base of the estimators with the parameters ``affinity`` and ``n_components``.

    With "agreement" the spectral step works on the graph of the codes with its edges weighed by
    what their neighbours agree on (:func:`srsg.cutting.weights.agreement`), and takes the ratio
    cut. With any other value it takes the normalised cut of ``affinity_matrix_``.
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **CodeClusterer._parameter_constraints,
        "n_components": [AT_LEAST_ONE, None],
    }

    affinity: str

    def _check_size(self, n_points: int) -> None:
        super()._check_size(n_points)
        if self.n_components is None:
            return
        if self.n_components > n_points:
            raise ValueError(
                f"n_components={self.n_components} exceeds the number of points, "
                f"n_samples={n_points}."
            )
        if self.assign_labels != "kmeans":
            raise ValueError(
                f"n_components needs assign_labels='kmeans': {self.assign_labels!r} finds one "
                "cluster for each eigenvector."
            )

    def _graph_of_codes(self) -> sparse.csr_array:
        """The graph whose edges are weighed by agreement."""
        return self.affinity_matrix_

    def _spectral_graph(self, engine: Engine) -> SpectralGraph:
        if self.affinity != "agreement":
            return super()._spectral_graph(engine)
        merged = self._merged(self._graph_of_codes(), "ratio")
        return merged._replace(graph=agreement(merged.graph, engine=engine))

    def _counted_graph(self, graph: Graph) -> Graph:
        # Edges that lose their weight for lack of agreement must not count as one more cluster.
        return self._merged(self._graph_of_codes()).graph if self.affinity == "agreement" else graph


class PostprocessedClusterer(CodeClusterer):
    """Base of the estimators whose published results rest on post-processed codes."""

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **CodeClusterer._parameter_constraints,
        "normalize": ["boolean"],
        "keep_largest": [AT_LEAST_ONE, None],
        "code_neighbors": [AT_LEAST_ONE, None],
    }

    normalize: bool
    keep_largest: int | None
    code_neighbors: int | None

    def _votes(self, codes: sparse.csr_array) -> sparse.csr_array:
        return codes if self.keep_largest is None else largest_codes(codes, self.keep_largest)

    def _edges(self) -> sparse.csr_array:
        codes = self._votes(self.codes_)
        if self.normalize:
            codes = unit_codes(codes)
        if self.code_neighbors is not None:
            return nearest_codes(codes, self.code_neighbors)
        return codes


def check_neighbor_count(n_neighbors: int, n_points: int) -> None:
    if n_neighbors >= n_points:
        raise ValueError(
            f"n_neighbors={n_neighbors} must be smaller than the number of points, "
            f"n_samples={n_points}."
        )
