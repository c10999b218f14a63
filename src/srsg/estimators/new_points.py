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
from srsg.engines.progress import progress_for
from srsg.estimators.fitting import engine_of
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
    verbose: bool | int

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

    def transform(self, X: Matrix) -> sparse.csr_array:
        """Code new points over all fitted ones.

        A fitted point is coded as a new one too: by itself, mostly. See ``codes_`` for its code
        over the others.

        Parameters
        ----------
        X : array, sparse matrix or DataFrame of shape (n_new, n_features)
            One new point per row.

        Returns
        -------
        csr_array of shape (n_new, n_samples)
            Row i is the code of new point i.
        """
        check_is_fitted(self, "fit_X_")
        new, engine = self._new_points(X)
        return self._codes_of_new(new, engine)

    def predict(self, X: Matrix) -> NDArray[np.intp]:
        """The clusters of new points: where most of their codes' mass lies.

        Parameters
        ----------
        X : array, sparse matrix or DataFrame of shape (n_new, n_features)
            One new point per row.

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
            One new point per row.

        Returns
        -------
        ndarray of shape (n_new, n_clusters_)
            Rows add up to one.
        """
        check_is_fitted(self, "labels_")
        new, engine = self._new_points(X)
        codes = self._codes_of_new(new, engine)
        shares = cluster_shares(self._votes(codes), self.labels_, self.n_clusters_)
        empty = np.flatnonzero(shares.sum(axis=1) == 0)
        if empty.size:
            count = min(FALLBACK_NEIGHBORS, len(self.labels_))
            nearest = self._nearest_fitted(new[empty], count, engine)
            shares[empty] = nearest_shares(nearest, self.labels_, self.n_clusters_)
        return shares

    def _new_points(self, X: Matrix) -> tuple[NDArray, Engine]:
        """New points as :meth:`_prepared` returns them, and the engine that codes them."""
        checked = self._checked(X, reset=False)
        engine = engine_of(self, progress_for(self.verbose), checked)
        return self._prepared(checked), engine

    def _nearest_fitted(self, new: NDArray, count: int, engine: Engine) -> IntArray:
        """The nearest fitted points of new ones."""
        fitted = Searchable.of(self.fit_X_.astype(np.float64, copy=False))
        with serial_linear_algebra():
            return fitted.nearest(new.astype(np.float64), np.full(len(new), -1), count)

    @property
    def _n_features_out(self) -> int:
        return len(self.fit_X_)
