"""How sure the labels of fitted points are, and which points are outliers: found on demand."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.utils.validation import check_is_fitted

from srsg.estimators.fitting import FitMixin, is_dask
from srsg.explaining.confidence import soft_labels
from srsg.explaining.explanation import beside_the_best, explained_by_distances, within_own_cluster
from srsg.explaining.outliers import outlier_scores
from srsg.types import FloatArray


class ConfidenceMixin(FitMixin):
    """Adds ``confidence_``, ``explained_`` and ``outlier_score_`` to a graph estimator.

    They are computed when they are first asked for, and forgotten by the next fit.
    """

    # A cached property keeps its value among the attributes, under its own name. Since that ends
    # with an underscore, the next fit drops it together with all else that was learnt.
    @cached_property
    def confidence_(self) -> FloatArray:
        """How sure the label of each fitted point is, from 0 to 1.

        The point's membership in its own cluster by distances in the embedding, see
        :func:`srsg.explaining.confidence.soft_labels`, times how well the members of its cluster
        explain it beside the best-explained tenth of the points.
        """
        check_is_fitted(self, "labels_")
        own = self._soft_labels()[np.arange(len(self.labels_)), self.labels_]
        return own * beside_the_best(self.explained_, self.explained_)

    @cached_property
    def explained_(self) -> FloatArray:
        """How well the members of its own cluster explain each fitted point, from 0 to 1.

        See :mod:`srsg.explaining.explanation`.
        """
        check_is_fitted(self, "labels_")
        points = self.fit_X_.compute() if is_dask(self.fit_X_) else self.fit_X_
        return self._explained(points, self._fitted_codes(), self.labels_, points)

    @cached_property
    def outlier_score_(self) -> FloatArray:
        """How far each fitted point is an outlier beside the others, from 0 to 1.

        It ranks the points, see :func:`srsg.explaining.outliers.outlier_scores`.
        """
        check_is_fitted(self, "labels_")
        return outlier_scores(self.explained_, self._fitted_codes())

    def _soft_labels(self) -> FloatArray:
        """Memberships of the fitted points in all clusters, shape (n, n_clusters_)."""
        return soft_labels(self.embedding_, self.labels_, self.n_clusters_)

    def _fitted_codes(self) -> sparse.csr_array:
        """The code of every fitted point over the others; its edges, where there are no codes."""
        codes = getattr(self, "codes_", None)
        if codes is not None:
            return codes
        edges = sparse.coo_array(self.affinity_matrix_)
        others = edges.row != edges.col
        entries = (edges.data[others], (edges.row[others], edges.col[others]))
        return sparse.csr_array(entries, shape=edges.shape)

    def _explained(
        self, points: Any, codes: sparse.csr_array, labels: NDArray[np.intp], fitted: Any
    ) -> FloatArray:
        """How well the members of their clusters explain points."""
        own = within_own_cluster(codes, labels, self.labels_)
        return explained_by_distances(points, own, fitted)
