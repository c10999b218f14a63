"""A clusterer together with its columns: their names, their scale and what fills their gaps."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClusterMixin, clone
from sklearn.impute import KNNImputer
from sklearn.preprocessing import MinMaxScaler, StandardScaler
from sklearn.utils import Tags
from sklearn.utils._param_validation import HasMethods, StrOptions
from sklearn.utils.validation import check_is_fitted, validate_data

from srsg.estimators.base import ACCEPTED, learn, noted_input
from srsg.explaining.confidence import predict_with_confidence
from srsg.explaining.described import Described
from srsg.files.rules import ColumnRule, feature_names, weights_of_parts
from srsg.points import name_rows
from srsg.running.warnings import made_dense
from srsg.types import FloatArray, Matrix
from srsg.weights import checked_weights, weighted_quantile

SIMILAR_ROWS = 5
"""Rows that a gap is filled from, with ``impute="knn"``."""

Scale = Literal["standard", "minmax"] | None
Impute = Literal["median", "knn"] | None


@dataclass(frozen=True)
class Columns:
    """How columns are scaled and their gaps are filled: ``(X - offset) / factor``, then ``fill``.

    Attributes
    ----------
    offset, factor : ndarray of shape (n_features,) or None
        None leaves the columns as they are.
    fill : ndarray of shape (n_features,) or None
        Medians of the scaled columns, which fill gaps.
    similar : ndarray of shape (n_samples, n_features) or None
        Scaled rows, gaps included, of which the most similar ones fill gaps.

    Examples
    --------
    >>> import numpy as np
    >>> from srsg.estimators.prepared import Columns
    >>> columns = Columns.learnt(np.array([[1.0], [3.0], [np.nan]]), "standard", "median")
    >>> columns.applied(np.array([[3.0], [np.nan]])).ravel()
    array([1., 0.])
    """

    offset: FloatArray | None = None
    factor: FloatArray | None = None
    fill: FloatArray | None = None
    similar: FloatArray | None = None

    @classmethod
    def learnt(
        cls,
        X: NDArray,
        scale: Scale,
        impute: Impute,
        rules: Sequence[ColumnRule] | None = None,
        weights: FloatArray | None = None,
    ) -> Self:
        """The columns of a table; values that are NaN are missing."""
        offset = factor = fill = similar = None
        empty = np.flatnonzero(np.isnan(X).all(axis=0))
        if empty.size:
            raise ValueError(f"X has no values in columns {name_rows(empty)}: leave them out.")
        # Before gaps are filled: which rows are most alike depends on the scale. Both scalers
        # ignore what is missing.
        if scale == "standard":
            standard = StandardScaler().fit(X, sample_weight=weights)
            offset, factor = standard.mean_, standard.scale_
            if rules is not None:
                part, weight = weights_of_parts(rules)
                variance = np.bincount(part, standard.var_)[part] / weight
                factor = np.where(variance > 0, np.sqrt(variance), 1.0)
        elif scale == "minmax":
            extent = MinMaxScaler().fit(X)
            offset = extent.data_min_
            factor = np.where(extent.data_range_ > 0, extent.data_range_, 1.0)
        scaled = cls(offset, factor).applied(X)
        if impute == "median":
            fill = np.nanmedian(scaled, axis=0)
            if weights is not None:
                there = ~np.isnan(scaled.T)
                pairs = zip(scaled.T, there, strict=True)
                fill = np.array([weighted_quantile(x[k], 0.5, weights[k]) for x, k in pairs])
        elif impute == "knn":
            similar = scaled
        return cls(offset, factor, fill, similar)

    def applied(self, X: Any) -> Any:
        """Rows as the clusterer gets them."""
        if self.offset is not None and self.factor is not None:
            # In two steps and in the precision of X, as StandardScaler does: the same bits.
            dtype = np.float32 if X.dtype == np.float32 else np.float64
            X = X - self.offset.astype(dtype)
            X = X / self.factor.astype(dtype)
        if self.fill is not None:
            return np.where(np.isnan(X), self.fill, X)
        if self.similar is not None:
            return KNNImputer(n_neighbors=SIMILAR_ROWS).fit(self.similar).transform(X)
        return X

    def undone(self, X: NDArray) -> NDArray:
        """Scaled rows in the units of the table."""
        return X if self.offset is None else X * self.factor + self.offset


class PreparedClusterer(Described, ClusterMixin, BaseEstimator):
    """A clusterer that scales columns and fills their gaps first, and does so with new points too.

    Parameters
    ----------
    clusterer : estimator
        A clusterer with the parameter ``n_clusters``.
    scale : {"standard", "minmax"} or None
        "standard" gives columns mean 0 and standard deviation 1, "minmax" the range 0 to 1.
    impute : {"median", "knn"} or None
        How missing values (NaN) are filled: by the median of the column, or from the five most
        similar rows. None refuses them.
    rules : sequence of ColumnRule or None
        ``rules`` of a table that :func:`srsg.files.read_points` returned. With "standard", all
        numbers that were made of one column of the file then have a variance of 1 together, so
        that a category of many levels or a date counts as much as one number.

    Attributes
    ----------
    clusterer_ : estimator
        The fitted clusterer.
    columns_ : Columns
        How columns are scaled and filled.
    labels_ : ndarray of shape (n,)
    n_features_in_ : int

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from srsg import SRSG, PreparedClusterer
    >>> X = load_wine().data
    >>> model = PreparedClusterer(SRSG(3, affine=True, random_state=0), scale="standard").fit(X)
    >>> model.predict(X[:3]).tolist() == model.labels_[:3].tolist()
    True
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "clusterer": [HasMethods(["fit", "get_params"])],
        "scale": [StrOptions({"standard", "minmax"}), None],
        "impute": [StrOptions({"median", "knn"}), None],
        "rules": [list, tuple, None],
    }

    clusterer_: Any
    columns_: Columns

    def __init__(
        self,
        clusterer: Any,
        *,
        scale: Scale = None,
        impute: Impute = None,
        rules: Sequence[ColumnRule] | None = None,
    ) -> None:
        self.clusterer = clusterer
        self.scale = scale
        self.impute = impute
        self.rules = rules

    def fit(
        self,
        X: Matrix,
        y: None = None,
        sample_weight: ArrayLike | None = None,
        **known: ArrayLike | None,
    ) -> Self:
        """Learn the columns, and fit the clusterer on what they become.

        Parameters
        ----------
        X : array, sparse matrix or DataFrame of shape (n_samples, n_features)
            One point per row.
        y : None
            Ignored.
        sample_weight : array-like of shape (n_samples,) or None
            How many times each row counts, for means, variances and medians of the columns and for
            the clusterer; None means once. Not with ``impute="knn"``, which looks at single rows.
        **known : array-like
            ``known_labels``, ``must_link`` and ``cannot_link``, for a clusterer that takes them.

        Returns
        -------
        self
        """
        rows, learnt, options = self._learnt(X, sample_weight)
        learn(self, {**learnt, "clusterer_": clone(self.clusterer).fit(rows, **options, **known)})
        return self

    def fit_graph(self, X: Matrix, y: None = None, sample_weight: ArrayLike | None = None) -> Self:
        """Learn the columns and only the graph, for a clusterer that builds one.

        Parameters
        ----------
        X : array, sparse matrix or DataFrame of shape (n_samples, n_features)
            One point per row.
        y : None
            Ignored.
        sample_weight : array-like of shape (n_samples,) or None
            How many times each row counts, for means, variances and medians of the columns and for
            the clusterer; None means once. Not with ``impute="knn"``, which looks at single rows.

        Returns
        -------
        self
        """
        rows, learnt, options = self._learnt(X, sample_weight)
        learn(self, {**learnt, "clusterer_": clone(self.clusterer).fit_graph(rows, **options)})
        return self

    def fit_labels(self) -> Self:
        """Cluster the graph of the last fit with the present parameters of ``clusterer``.

        Returns
        -------
        self
        """
        check_is_fitted(self, "clusterer_")
        parameters = clone(self.clusterer).get_params(deep=False)
        self.clusterer_.set_params(**parameters).fit_labels()
        return self

    def predict(self, X: Matrix, novelty: float | None = None) -> NDArray[np.intp]:
        """The clusters of new points.

        Parameters
        ----------
        X : array, sparse matrix or DataFrame of shape (n_new, n_features)
            One new point per row.
        novelty : float or None
            A share such as 0.05: points that are explained worse than this share of the fitted
            ones get the label -1. Only for estimators of this package.

        Returns
        -------
        ndarray of shape (n_new,)
        """
        rows = self.prepared(X)
        if novelty is None:
            return self.clusterer_.predict(rows)
        return predict_with_confidence(self.clusterer_, rows, novelty=novelty)[0]

    def prepared(self, X: Matrix) -> Any:
        """New points as the clusterer gets them.

        Parameters
        ----------
        X : array, sparse matrix or DataFrame of shape (n_new, n_features)
            One new point per row.

        Returns
        -------
        array or csr_array of shape (n_new, n_features)
        """
        check_is_fitted(self, "clusterer_")
        checked = validate_data(self, X, **self._accepted(), reset=False)
        return self.columns_.applied(self._as_needed(checked))

    @property
    def labels_(self) -> NDArray[np.intp]:
        """The labels of the fitted points."""
        check_is_fitted(self, "clusterer_")
        return self.clusterer_.labels_

    def _learnt(
        self, X: Matrix, sample_weight: ArrayLike | None
    ) -> tuple[Any, dict[str, Any], dict[str, Any]]:
        """The points as the clusterer gets them, what was learnt on the way, and their weights."""
        self._validate_params()
        checked, names = noted_input(self, X, **self._accepted())
        weights = checked_weights(sample_weight, checked.shape[0])
        if weights is not None and self.impute == "knn":
            raise ValueError("sample_weight cannot be combined with impute='knn': use 'median'.")
        checked, columns = self._as_needed(checked), Columns()
        n_made = checked.shape[1] if self.rules is None else len(feature_names(self.rules))
        if n_made != checked.shape[1]:
            raise ValueError(f"rules make {n_made} columns, and X has {checked.shape[1]}.")
        if self.scale is not None or self.impute is not None:
            columns = Columns.learnt(checked, self.scale, self.impute, self.rules, weights)
        options = {} if weights is None else {"sample_weight": weights}
        return columns.applied(checked), {**names, "columns_": columns}, options

    def _accepted(self) -> dict[str, Any]:
        return ACCEPTED | {"ensure_all_finite": "allow-nan" if self.impute is not None else True}

    def _as_needed(self, X: Any) -> Any:
        if self.scale is None and self.impute is None:
            return X
        return made_dense(X, "columns that are scaled or filled are dense")

    def __sklearn_tags__(self) -> Tags:
        tags: Tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.allow_nan = self.impute is not None
        return tags
