"""Facts for the page: arguments checked, and everything that is read from the model.

What a search has learnt is read in :mod:`srsg.report.evidence`.
"""

import inspect
from collections.abc import Sequence
from copy import copy
from dataclasses import replace
from functools import cached_property
from math import prod
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse
from scipy.optimize import linear_sum_assignment
from sklearn.exceptions import NotFittedError
from sklearn.metrics.cluster import contingency_matrix
from sklearn.pipeline import Pipeline

from srsg.estimators import PreparedClusterer
from srsg.explaining.clusters import Explanation, explain
from srsg.explaining.confidence import Confidence, confidence
from srsg.explaining.layout import plane
from srsg.explaining.unwrapping import best_of, clusterer_of
from srsg.metrics import scores
from srsg.registry import methods
from srsg.running.warnings import made_dense
from srsg.search import StabilitySearch
from srsg.types import FloatArray, IntArray, Matrix

EIGENVALUES_UP_TO = 10_000
"""With more points, the eigenvalues after the last one used would take too long for a page."""

FURTHER_EIGENVALUES = 8

MOST_DRAWN, FEWEST = 50_000, 20
"""Points of a model without a graph that are drawn, and those of each cluster in any case: more
would slow the page down, and show no more."""

FEW_UNNAMED = 20
"""With more columns that have no names, differences between clusters are not put into words."""

SCALED = {"standard": "standardised columns", "minmax": "columns scaled to the range 0 to 1"}


class Confusion(NamedTuple):
    """Numbers of points of each class in each cluster.

    Attributes
    ----------
    table : ndarray of shape (n_classes, n_clusters)
        Clusters in the order of the classes they are matched with.
    clusters : ndarray of shape (n_clusters,)
        The cluster of each column.
    classes : ndarray of shape (n_clusters,)
        The class that each column is matched with; -1 for none.
    """

    table: IntArray
    clusters: IntArray
    classes: IntArray


class Facts:
    """A fitted model and its data, as the page shows them.

    Attributes
    ----------
    given : estimator
        The fitted model as it was given: a clusterer, a pipeline that ends in one, or a search.
    model : estimator
        The clusterer in it.
    X : ndarray of shape (n, d)
        As it was given, before the steps of a pipeline.
    cluster : ndarray of shape (n,)
        Position of each point's cluster in ``cluster_names``.
    cluster_names, class_names, feature_names : list of str
    classes : ndarray of shape (n,) or None
        Position of each point's true class in ``class_names``.
    row_ids : list of str or None
    image_shape : tuple of int or None
    confidence : Confidence
    sizes : ndarray of shape (n_clusters,)
        Numbers of points in the clusters, of all points.
    named : bool
        Whether columns have names, or are so few that their numbers will do.
    rows : ndarray of shape (n,)
        The positions of these points among all of the model.
    """

    def __init__(
        self,
        model: Any,
        X: Matrix,
        *,
        y: ArrayLike | None = None,
        class_names: Sequence[str] | None = None,
        image_shape: Sequence[int] | None = None,
        feature_names: Sequence[str] | None = None,
        row_ids: Sequence[Any] | None = None,
        certainty: Confidence | None = None,
        explanation: Explanation | None = None,
    ) -> None:
        self.given, self.model = model, clusterer_of(model)
        # A search may have labelled more points than the graph in it has.
        labels = getattr(model, "labels_", self.learnt("labels_"))
        if labels is None:
            raise NotFittedError(f"model, a {type(model).__name__}, has no labels_: fit it first.")
        self.X = _checked_points(X)
        n_points, n_features = self.X.shape
        true = None if y is None else np.asarray(y)
        distinct, classes = np.unique([] if true is None else true, return_inverse=True)
        if class_names is None:
            class_names = distinct.tolist()
        self.named = not (
            feature_names is None and explanation is None and not hasattr(X, "columns")
        )
        self.named |= n_features <= FEW_UNNAMED
        if feature_names is None:
            feature_names = getattr(X, "columns", [f"feature {j}" for j in range(n_features)])
        _check_lengths(
            ("X", self.X, len(labels), "labels_ of the model"),
            ("y", true, n_points, "rows of X"),
            ("class_names", class_names, len(distinct), "classes in y"),
            ("row_ids", row_ids, n_points, "rows of X"),
            ("feature_names", feature_names, n_features, "columns of X"),
        )
        # Labels of other estimators may have gaps, as those with noise at -1 do.
        names, self.cluster = np.unique(labels, return_inverse=True)
        self.cluster_names, self.n_clusters = [str(name) for name in names], len(names)
        self.sizes = np.bincount(self.cluster)
        self.classes = None if true is None else classes
        self.class_names = [str(name) for name in class_names]
        self.feature_names = [str(name) for name in feature_names]
        self.row_ids = None if row_ids is None else [str(row) for row in row_ids]
        self.image_shape = _checked_shape(image_shape, n_features)
        self.confidence = certainty or confidence(model, self.X)
        self._explanation = explanation
        self.whole, self.rows = self, np.arange(len(self.cluster))

    def drawn(self) -> "Facts":
        """The points that are drawn: those of the graph, or some of a model without one."""
        rows = self._drawn_rows()
        if rows is None:
            return self
        some, sure = copy(self), self.confidence
        some.X, some.cluster, some.rows = self.X[rows], self.cluster[rows], rows
        some.classes = None if self.classes is None else self.classes[rows]
        some.row_ids = [self.row(row) for row in rows.tolist()]
        some.confidence = replace(sure, values=sure.values[rows], centrality=sure.centrality[rows])
        return some

    def _drawn_rows(self) -> IntArray | None:
        if self.search is not None and self.search.approximation_ is not None:
            return self.search.approximation_.rows
        if self.learnt("affinity_matrix_") is not None or len(self.X) <= MOST_DRAWN:
            return None
        order = np.random.default_rng(0).permutation(len(self.X))
        members = [order[self.cluster[order] == place] for place in range(self.n_clusters)]
        # Some of every cluster, however small it is.
        return np.unique(np.concatenate([order[:MOST_DRAWN], *(m[:FEWEST] for m in members)]))

    def row(self, point: int) -> str:
        """The name of a point."""
        return f"row {point}" if self.row_ids is None else self.row_ids[point]

    def members(self, cluster: int) -> NDArray[np.intp]:
        return np.flatnonzero(self.cluster == cluster)

    @cached_property
    def explanation(self) -> Explanation:
        """What the clusters are; of all points, if these are only some."""
        if self.whole is not self:
            return self.whole.explanation
        return self._explanation or explain(
            self.given, self.X, names=self.feature_names, certainty=self.confidence
        )

    @cached_property
    def scores(self) -> dict[str, float]:
        """Agreement with the true classes, by name; empty if they are unknown."""
        if self.classes is None:
            return {}
        values = scores(self.classes, self.cluster)
        return {"accuracy": values.pop("AC"), **values}

    @cached_property
    def confusion(self) -> Confusion:
        """The table of classes and clusters, matched."""
        table = contingency_matrix(self.classes, self.cluster)
        classes, clusters = linear_sum_assignment(-table)
        # If there are more clusters than classes, those left over come last.
        rest = np.setdiff1d(np.arange(self.n_clusters), clusters)
        order = np.concatenate([clusters, rest])
        own = np.concatenate([classes, np.full(len(rest), -1)])
        return Confusion(table[:, order], order, own)

    def learnt(self, name: str) -> Any:
        """An attribute that the model may have, or None."""
        return getattr(self.model, name, None)

    @property
    def search(self) -> StabilitySearch | None:
        """The search that chose the model, if one did."""
        return self.given if isinstance(self.given, StabilitySearch) else None

    @property
    def method(self) -> str:
        """The name of the method for people."""
        own = type(self.model).__name__
        titles = {method.path.rsplit(":")[-1]: method.title for method in methods().values()}
        return titles.get(own, own)

    @property
    def method_in_full(self) -> str:
        """The method, the steps before it, and the search that chose it."""
        best = best_of(self.given)
        words = [self.method]
        if isinstance(best, Pipeline) and len(best.steps) > 1:
            words.append(f"after {', '.join(type(step).__name__ for _, step in best.steps[:-1])}")
        if isinstance(best, PreparedClusterer):
            words += [f"of {SCALED[best.scale]}"] if best.scale else []
            words += ["with gaps filled in"] if best.impute else []
        if self.search is not None:
            words.append("(chosen by StabilitySearch)")
        return " ".join(words)

    def parameters(self) -> tuple[dict[str, str], list[str]]:
        """The model's parameters in words, and the names of those that are not the default."""
        if not hasattr(self.model, "get_params"):
            return {}, []
        signature = inspect.signature(type(self.model).__init__).parameters
        values = {k: _in_words(v) for k, v in self.model.get_params(deep=False).items()}
        # Compared as text, because arrays cannot be compared to a single truth value.
        defaults = {name: _in_words(parameter.default) for name, parameter in signature.items()}
        return values, [name for name, value in values.items() if value != defaults.get(name)]

    @cached_property
    def plane(self) -> tuple[FloatArray, str]:
        """Coordinates of the points on the map, and a sentence that says what they are."""
        return plane(self.given, self.X)

    @cached_property
    def eigenvalues(self) -> tuple[FloatArray, int] | None:
        """Leading eigenvalues, and how many of them were used."""
        values = self.learnt("eigenvalues_")
        if values is None:
            return None
        n_points, used = len(self.X), len(values)
        count = min(used + FURTHER_EIGENVALUES, n_points - 1)
        spectrum = self.learnt("spectrum")
        if spectrum is not None and n_points <= EIGENVALUES_UP_TO and count > used:
            values = np.concatenate([values, spectrum(count)[used:]])
        return values, used


def _in_words(value: Any) -> str:
    if isinstance(value, np.ndarray) or sparse.issparse(value):
        return f"array of shape {value.shape}"
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "..."


def _checked_points(X: Matrix) -> NDArray:
    points = made_dense(X, "the report shows values of dense points")
    if points.ndim != 2:
        raise ValueError(f"X must have two dimensions, got shape {points.shape}.")
    if points.dtype.kind not in "biuf":
        raise ValueError(
            f"X must have numbers only, got {points.dtype}; encode its categories first."
        )
    return points


def _check_lengths(*arguments: tuple[str, Any, int, str]) -> None:
    for name, values, expected, counted in arguments:
        if values is not None and len(values) != expected:
            raise ValueError(
                f"{name} has {len(values)} entries, but there are {expected} {counted}."
            )


def _checked_shape(image_shape: Sequence[int] | None, n_features: int) -> tuple[int, ...] | None:
    if image_shape is None:
        return None
    shape = tuple(int(side) for side in image_shape)
    if len(shape) not in (2, 3) or shape[2:] not in ((), (1,), (3,)) or prod(shape) != n_features:
        raise ValueError(
            f"image_shape={shape} must be (height, width), or (height, width, 3) for colours, and "
            f"its product {n_features}, the number of columns of X."
        )
    return shape
