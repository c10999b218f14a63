"""What the estimators share that code every unit-norm point over the others."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any, ClassVar

from numpy.typing import NDArray
from scipy import sparse

from srsg.engines import Engine
from srsg.estimators.base import AT_LEAST_ONE, POSITIVE, GraphClusterer
from srsg.neighbors import nearest_neighbors
from srsg.points import Points, root_mean_square_length, unit_points
from srsg.solvers.codes import symmetrized
from srsg.types import IntArray


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

    def _prepared(self, X: NDArray | sparse.csr_array) -> NDArray:
        if not hasattr(self, "affine_"):  # new points get the coordinate of the fitted ones
            length = root_mean_square_length(X) if self.affine is True else float(self.affine)
            self.affine_ = length
        return unit_points(X, constant=self.affine_).x

    def _points(self, engine: Engine) -> Points:
        return engine.points(self.fit_X_)

    def _build_graph(self, points: Points, engine: Engine) -> None:
        self._code(points, engine)
        self.affinity_matrix_ = self._affinity()

    def _codes_of_new(self, new: NDArray, engine: Engine) -> sparse.csr_array:
        return self._code_new(self._points(engine), Points(new), engine)

    def _nearest_fitted(self, new: NDArray, count: int, engine: Engine) -> IntArray:
        return nearest_neighbors(self._points(engine), count, queries=Points(new), engine=engine)

    def _affinity(self) -> sparse.csr_array:
        return symmetrized(self.codes_)


def check_neighbor_count(n_neighbors: int, n_points: int) -> None:
    if n_neighbors >= n_points:
        raise ValueError(
            f"n_neighbors={n_neighbors} must be smaller than the number of points, "
            f"n_samples={n_points}."
        )
