"""What all graph estimators do with points they have not been fitted on."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from srsg.coding.local_scaling import of_moderate_size
from srsg.coding.neighbors import Searchable
from srsg.estimators.confidence import ConfidenceMixin
from srsg.estimators.fitting import checked_input, engine_of, is_dask
from srsg.explaining.assignment import FALLBACK_NEIGHBORS, cluster_shares, nearest_shares
from srsg.explaining.explanation import beside_the_best, rows_adding_to_one
from srsg.points import UnitRows, name_rows
from srsg.running import Engine, serial_linear_algebra
from srsg.running.progress import announce_compiling, progress_for
from srsg.running.warnings import warn_user
from srsg.types import FloatArray, IntArray, Matrix


@dataclass(frozen=True)
class NewPoints:
    """New points in the form that is coded, their codes and what follows from these."""

    points: Any
    codes: sparse.csr_array
    shares: FloatArray
    labels: NDArray[np.intp]


def check_novelty(novelty: float | None) -> None:
    """Refuse anything that is neither None nor a share."""
    number = isinstance(novelty, Real) and not isinstance(novelty, bool)
    if novelty is not None and not (number and 0 < novelty < 1):
        raise ValueError(f"novelty={novelty!r} must be a share between 0 and 1, such as 0.05.")


class NewPointsMixin(ConfidenceMixin, ClassNamePrefixFeaturesOutMixin, TransformerMixin):
    """Codes new points over the fitted ones, ``fit_X_``, and finds their clusters by the codes.

    An estimator writes :meth:`_codes_of_new`.
    """

    @abstractmethod
    def _codes_of_new(self, new: UnitRows, engine: Engine) -> sparse.csr_array:
        """Codes over ``fit_X_`` of new points, which are prepared as those are."""

    def _votes(self, codes: sparse.csr_array) -> sparse.csr_array:
        """What of the codes decides on the clusters."""
        return codes

    def transform(self, X: Matrix) -> sparse.csr_array:
        """Code new points over all fitted ones.

        A fitted point is treated as a new one, too, and coded mostly by itself. See ``codes_`` for
        its code over the others.

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

    def predict(self, X: Matrix, novelty: float | None = None) -> NDArray[np.intp]:
        """The clusters of new points: where most of their codes' mass lies.

        Parameters
        ----------
        X : array, sparse matrix or DataFrame of shape (n_new, n_features)
            One new point per row.
        novelty : float or None
            A share between 0 and 1, such as 0.05: points that are explained worse than this share
            of the fitted points belong to none of the clusters, and get the label -1. Of new
            points that are like the fitted ones, about this share gets it too. None gives every
            point a cluster.

        Returns
        -------
        ndarray of shape (n_new,)
        """
        check_novelty(novelty)
        found = self._assigned(X)
        return found.labels if novelty is None else self._without_novel(found, novelty)

    def predict_shares(self, X: Matrix) -> FloatArray:
        """How much of the codes of new points, ``sum |z|``, lies in each cluster.

        Where a code is empty they are the shares of the clusters among the five nearest fitted
        points. A row of zeros in a method that scales points to unit length has no direction: its
        shares are those that the clusters have of the fitted points, and its cluster is the
        largest.

        Parameters
        ----------
        X : array, sparse matrix or DataFrame of shape (n_new, n_features)
            One new point per row.

        Returns
        -------
        ndarray of shape (n_new, n_clusters_)
            Rows add up to one. :meth:`predict` takes the largest share.
        """
        return self._assigned(X).shares

    def predict_confidence(self, X: Matrix) -> FloatArray:
        """How sure the clusters of new points are, from 0 to 1.

        The memberships of the fitted points that a code uses, weighted by their shares of it, times
        how well the point is explained; see ``confidence_`` for that of the fitted points.

        Parameters
        ----------
        X : array, sparse matrix or DataFrame of shape (n_new, n_features)
            One new point per row.

        Returns
        -------
        ndarray of shape (n_new,)
        """
        return self._confidence_of(self._assigned(X))

    def predict_with_confidence(
        self, X: Matrix, novelty: float | None = None
    ) -> tuple[NDArray[np.intp], FloatArray]:
        """What :meth:`predict` and :meth:`predict_confidence` return, for the work of one.

        Parameters
        ----------
        X : array, sparse matrix or DataFrame of shape (n_new, n_features)
            One new point per row.
        novelty : float or None
            As in :meth:`predict`. A label of -1 keeps the confidence of the best cluster.

        Returns
        -------
        labels, confidence : ndarray of shape (n_new,)
        """
        check_novelty(novelty)
        found = self._assigned(X)
        labels = found.labels if novelty is None else self._without_novel(found, novelty)
        return labels, self._confidence_of(found)

    def novelty_score(self, X: Matrix) -> FloatArray:
        """How little the clusters explain new points: 0 is entirely, 1 not at all.

        Parameters
        ----------
        X : array, sparse matrix or DataFrame of shape (n_new, n_features)
            One new point per row.

        Returns
        -------
        ndarray of shape (n_new,)
            Compare with ``1 - explained_``, the same of the fitted points.
        """
        return 1.0 - self._explained_new(self._assigned(X))

    def _assigned(self, X: Matrix) -> NewPoints:
        """New points with their codes and clusters."""
        check_is_fitted(self, "labels_")
        new, engine = self._new_points(X)
        with announce_compiling(engine.progress):
            codes = self._codes_of_new(new, engine)
        shares = cluster_shares(self._votes(codes), self.labels_, self.n_clusters_)
        zero = self._without_direction(new)
        if zero.any():
            warn_of_zero_rows(np.flatnonzero(zero))
            shares[zero] = self._equal.cluster_shares(self.labels_, self.n_clusters_)
        # A code is empty where lam is too large for it, or where a kernel underflows.
        empty = np.flatnonzero(shares.sum(axis=1) == 0)
        if empty.size:
            count = min(FALLBACK_NEIGHBORS, len(self.labels_))
            nearest = self._nearest_fitted(new[empty], count, engine)
            shares[empty] = nearest_shares(nearest, self.labels_, self.n_clusters_)
        return NewPoints(new, codes, shares, np.argmax(shares, axis=1))

    def _explained_new(self, found: NewPoints) -> FloatArray:
        fitted = self.fit_X_.compute() if is_dask(self.fit_X_) else self.fit_X_
        return self._explained(found.points, found.codes, found.labels, fitted)

    def _without_novel(self, found: NewPoints, novelty: float) -> NDArray[np.intp]:
        """The labels, -1 for points that are explained worse than nearly all fitted ones."""
        # The fitted points say what is usual, so no threshold has to be chosen.
        least = np.quantile(self.explained_, novelty)
        return np.where(self._explained_new(found) < least, -1, found.labels)

    def _confidence_of(self, found: NewPoints) -> FloatArray:
        weights = rows_adding_to_one(abs(self._votes(found.codes)))
        memberships = weights @ self._soft_labels()
        own = memberships[np.arange(len(found.labels)), found.labels]
        return own * beside_the_best(self._explained_new(found), self.explained_)

    def _new_points(self, X: Matrix) -> tuple[UnitRows, Engine]:
        """New points as :meth:`_prepared` returns them, and the engine that codes them."""
        checked = checked_input(self, X, reset=False)
        engine = engine_of(self, progress_for(self.verbose), checked)
        return self._prepared(checked), engine

    def _nearest_fitted(self, new: UnitRows, count: int, engine: Engine) -> IntArray:
        """The nearest fitted points of new ones."""
        # The points are as large as the user's, and which are nearest does not depend on that.
        fitted = Searchable.of(of_moderate_size(self.fit_X_))
        with serial_linear_algebra():
            moderate = of_moderate_size(new, like=self.fit_X_)
            return fitted.nearest(moderate, np.full(new.shape[0], -1), count)

    def _without_direction(self, new: UnitRows) -> NDArray[np.bool_]:
        """Which new points are rows of zeros in a method that knows points by their direction."""
        return np.zeros(new.shape[0], bool)

    @property
    def _n_features_out(self) -> int:
        return self.fit_X_.shape[0]


def warn_of_zero_rows(zero: IntArray) -> None:
    """Say what happens to rows of zeros, given their numbers."""
    warn_user(
        f"X has {zero.size} row(s) of zeros, which have no direction: rows {name_rows(zero)}. "
        "They have no code and no edge, and get the label of the largest cluster.",
        UserWarning,
    )
