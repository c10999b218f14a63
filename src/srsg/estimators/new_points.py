"""What all graph estimators do with points they have not been fitted on."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from srsg.engines import Engine, serial_linear_algebra
from srsg.graph.assignment import FALLBACK_NEIGHBORS, cluster_shares, nearest_shares
from srsg.neighbors import Searchable
from srsg.types import FloatArray, IntArray, Matrix


class NewPointsMixin(ClassNamePrefixFeaturesOutMixin, TransformerMixin):
    """Codes new points over the fitted ones, ``fit_X_``, and finds their clusters by the codes.

    An estimator writes :meth:`_codes_of_new`.
    """

    fit_X_: NDArray  # noqa: N815 - X is a matrix
    labels_: NDArray[np.intp]
    n_clusters_: int

    @abstractmethod
    def _codes_of_new(self, new: NDArray, engine: Engine) -> sparse.csr_array:
        """Codes over ``fit_X_`` of new points, which are prepared as those are."""

    def _votes(self, codes: sparse.csr_array) -> sparse.csr_array:
        """What of the codes decides on the clusters."""
        return codes

    @abstractmethod
    def _prepared(self, X: NDArray | sparse.csr_array) -> NDArray: ...

    @abstractmethod
    def _checked(self, X: Matrix, **options: Any) -> NDArray | sparse.csr_array: ...

    @abstractmethod
    def _engine(self) -> Engine: ...

    def transform(self, X: Matrix) -> sparse.csr_array:
        """Code new points over all fitted ones.

        A fitted point is coded as a new one too: by itself, mostly. See ``codes_`` for its code
        over the others.

        Parameters
        ----------
        X : array, sparse matrix or DataFrame of shape (n_new, n_features)
            One new point a row.

        Returns
        -------
        csr_array of shape (n_new, n_samples)
            Row i is the code of new point i.
        """
        return self._coded(X)[1]

    def predict(self, X: Matrix) -> NDArray[np.intp]:
        """The clusters of new points: where most of their codes' mass lies.

        Parameters
        ----------
        X : array, sparse matrix or DataFrame of shape (n_new, n_features)
            One new point a row.

        Returns
        -------
        ndarray of shape (n_new,)
        """
        return np.argmax(self.predict_confidence(X), axis=1)

    def predict_confidence(self, X: Matrix) -> FloatArray:
        """How much of the codes of new points, ``sum |z|``, lies in each cluster.

        These are shares, which nothing has calibrated to be probabilities. Where a code is empty
        they are those of the clusters among the five nearest fitted points.

        Parameters
        ----------
        X : array, sparse matrix or DataFrame of shape (n_new, n_features)
            One new point a row.

        Returns
        -------
        ndarray of shape (n_new, n_clusters_)
            Rows add up to one.
        """
        check_is_fitted(self, "labels_")
        new, codes = self._coded(X)
        shares = cluster_shares(self._votes(codes), self.labels_, self.n_clusters_)
        empty = np.flatnonzero(shares.sum(axis=1) == 0)
        if empty.size:
            nearest = self._nearest_fitted(new[empty], min(FALLBACK_NEIGHBORS, len(self.labels_)))
            shares[empty] = nearest_shares(nearest, self.labels_, self.n_clusters_)
        return shares

    def _coded(self, X: Matrix) -> tuple[NDArray, sparse.csr_array]:
        """New points as :meth:`_prepared` returns them, and their codes."""
        check_is_fitted(self, "fit_X_")
        new = self._prepared(self._checked(X, reset=False))
        return new, self._codes_of_new(new, self._engine())

    def _nearest_fitted(self, new: NDArray, count: int) -> IntArray:
        """The nearest fitted points of new ones."""
        fitted = Searchable.of(self.fit_X_.astype(np.float64, copy=False))
        with serial_linear_algebra():
            return fitted.nearest(new.astype(np.float64), np.full(len(new), -1), count)

    @property
    def _n_features_out(self) -> int:
        return len(self.fit_X_)
