"""What the page says about a fitted model: arguments checked, numbers computed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import prod
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import linear_sum_assignment
from sklearn.exceptions import NotFittedError
from sklearn.metrics.cluster import contingency_matrix
from sklearn.pipeline import Pipeline

from srsg.estimators import PreparedClusterer
from srsg.explaining.confidence import Confidence, confidence
from srsg.explaining.unwrapping import best_of, clusterer_of
from srsg.metrics import scores
from srsg.registry import methods
from srsg.running.warnings import made_dense
from srsg.search import StabilitySearch
from srsg.types import FloatArray, IntArray, Matrix

EIGENVALUES_UP_TO = 10_000
"""With more points, the eigenvalues after the last one used would take too long for a page."""

FURTHER_EIGENVALUES = 8

SCALED = {"standard": "standardised columns", "minmax": "columns scaled to the range 0 to 1"}


@dataclass(frozen=True)
class Confusion:
    """How many points of each class are in each cluster.

    Attributes
    ----------
    table : ndarray of shape (n_classes, n_clusters)
        Clusters in the order of the classes they are matched with.
    clusters : ndarray of shape (n_clusters,)
        The cluster of every column.
    classes : ndarray of shape (n_clusters,)
        The class that every column is matched with; -1 for none.
    """

    table: IntArray
    clusters: IntArray
    classes: IntArray


@dataclass(frozen=True)
class Findings:
    """A fitted model, its data and what is known about them.

    Attributes
    ----------
    given : estimator
        The fitted model as it was given: a clusterer, a pipeline that ends in one, or a search.
    model : estimator
        The clusterer in it.
    X : ndarray of shape (n, d)
        As it was given, before the steps of a pipeline.
    cluster : ndarray of shape (n,)
        Place of each point's cluster in ``cluster_names``.
    cluster_names, class_names, feature_names : list of str
    classes : ndarray of shape (n,) or None
        Place of each point's true class in ``class_names``.
    row_ids : list of str or None
    image_shape : tuple of int or None
    title : str
    seconds : float or None
    confidence : Confidence
    methods : list of dict
        Methods that were compared on the same points; empty if there were none.
    """

    given: Any
    model: Any
    X: NDArray
    cluster: IntArray
    cluster_names: list[str]
    classes: IntArray | None
    class_names: list[str]
    feature_names: list[str]
    row_ids: list[str] | None
    image_shape: tuple[int, ...] | None
    title: str
    seconds: float | None
    confidence: Confidence
    methods: list[dict[str, Any]]

    def learnt(self, name: str) -> Any:
        """An attribute that the model may have, or None."""
        return getattr(self.model, name, None)

    def row(self, point: int) -> str:
        """The name of a point."""
        return f"row {point}" if self.row_ids is None else self.row_ids[point]

    def members(self, cluster: int) -> NDArray[np.intp]:
        return np.flatnonzero(self.cluster == cluster)

    @property
    def n_clusters(self) -> int:
        return len(self.cluster_names)

    @property
    def method(self) -> str:
        """The method's name for people."""
        own = type(self.model).__name__
        titles = {m.path.rsplit(":")[-1]: m.title for m in methods().values()}
        return titles.get(own, own)

    @property
    def search(self) -> StabilitySearch | None:
        """The search that chose the model, if one did."""
        return self.given if isinstance(self.given, StabilitySearch) else None

    @property
    def method_in_full(self) -> str:
        """The method, what was done to the points before it, and who chose it."""
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

    @cached_property
    def scores(self) -> dict[str, float]:
        """Agreement with the true classes, by name; empty where they are not known."""
        if self.classes is None:
            return {}
        found = scores(self.classes, self.cluster)
        return {"accuracy": found.pop("AC"), **found}

    @cached_property
    def confusion(self) -> Confusion:
        """The table of classes and clusters, matched."""
        table = contingency_matrix(self.classes, self.cluster)
        classes, clusters = linear_sum_assignment(-table)
        # More clusters than classes: those left over come last.
        rest = np.setdiff1d(np.arange(self.n_clusters), clusters)
        order = np.concatenate([clusters, rest])
        own = np.concatenate([classes, np.full(len(rest), -1)])
        return Confusion(table[:, order], order, own)

    @cached_property
    def eigenvalues(self) -> tuple[FloatArray, int] | None:
        """Leading eigenvalues, and how many of them were used."""
        own = self.learnt("eigenvalues_")
        if own is None:
            return None
        used = len(own)
        return np.concatenate([own, self._further(own)]), used

    def _further(self, own: FloatArray) -> FloatArray:
        n_points, used = len(self.X), len(own)
        count = min(used + FURTHER_EIGENVALUES, n_points - 1)
        spectrum = getattr(self.model, "spectrum", None)
        if spectrum is None or n_points > EIGENVALUES_UP_TO or count <= used:
            return np.empty(0)
        return spectrum(count)[used:]


def find(
    model: Any,
    X: Matrix,
    *,
    y: ArrayLike | None = None,
    class_names: Sequence[str] | None = None,
    image_shape: Sequence[int] | None = None,
    feature_names: Sequence[str] | None = None,
    row_ids: Sequence[Any] | None = None,
    title: str | None = None,
    seconds: float | None = None,
    methods: Sequence[Mapping[str, Any]] = (),
) -> Findings:
    """Check the arguments of :func:`srsg.report.write_report` and collect what they say."""
    clusterer = clusterer_of(model)
    if getattr(clusterer, "labels_", None) is None:
        raise NotFittedError(f"model, a {type(model).__name__}, has no labels_: fit it first.")
    if feature_names is None:
        feature_names = getattr(X, "columns", None)
    data = made_dense(X, "the report shows values of dense points")
    if data.ndim != 2:
        raise ValueError(f"X must have two dimensions, got shape {data.shape}.")
    if data.dtype.kind not in "biuf":
        raise ValueError(
            f"X must have numbers only, got {data.dtype}; encode its categories first."
        )
    n_points, n_features = data.shape
    _check_length("X", n_points, len(clusterer.labels_), "labels_ of the model")
    # Labels of other estimators may have gaps, as those with noise at -1 do.
    names, cluster = np.unique(clusterer.labels_, return_inverse=True)
    classes, known = None, np.empty(0)
    if y is not None:
        true = np.asarray(y)
        _check_length("y", len(true), n_points, "rows of X")
        known, classes = np.unique(true, return_inverse=True)
    if class_names is not None:
        _check_length("class_names", len(class_names), len(known), "classes in y")
    if row_ids is not None:
        _check_length("row_ids", len(row_ids), n_points, "rows of X")
    if feature_names is not None:
        _check_length("feature_names", len(feature_names), n_features, "columns of X")
    return Findings(
        given=model,
        model=clusterer,
        X=data,
        cluster=cluster,
        cluster_names=[str(name) for name in names],
        classes=classes,
        class_names=[str(name) for name in (known if class_names is None else class_names)],
        feature_names=[
            str(name)
            for name in (
                (f"feature {j}" for j in range(n_features))
                if feature_names is None
                else feature_names
            )
        ],
        row_ids=None if row_ids is None else [str(row) for row in row_ids],
        image_shape=_checked_shape(image_shape, n_features),
        title="Clustering report" if title is None else str(title),
        seconds=seconds,
        confidence=confidence(model, data),
        methods=[dict(row) for row in methods],
    )


def _check_length(name: str, length: int, expected: int, of: str) -> None:
    if length != expected:
        raise ValueError(f"{name} has {length} entries, but there are {expected} {of}.")


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
