"""The clusterer inside a model: at the end of a pipeline, or chosen by a search."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.pipeline import Pipeline

from srsg.types import Matrix


def clusterer_of(model: Any) -> Any:
    """The clusterer itself, inside a pipeline, a search or a :class:`PreparedClusterer`.

    Examples
    --------
    >>> from sklearn.cluster import KMeans
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> from srsg.explaining.unwrapping import clusterer_of
    >>> clusterer_of(make_pipeline(StandardScaler(), KMeans(3)))
    KMeans(n_clusters=3)
    """
    model = best_of(model)
    if isinstance(model, Pipeline):
        return clusterer_of(model.steps[-1][1])
    # A PreparedClusterer, fitted or not.
    inner = getattr(model, "clusterer_", getattr(model, "clusterer", None))
    return model if inner is None else clusterer_of(inner)


def best_of(model: Any) -> Any:
    """The best estimator of a fitted search; any other model as it is."""
    return getattr(model, "best_estimator_", model)


def points_as_clustered(model: Any, X: Matrix) -> Any:
    """The points as the clusterer gets them, after all other steps of its pipeline.

    Sparse points stay sparse.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.cluster import KMeans
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import MinMaxScaler
    >>> from srsg.explaining.unwrapping import points_as_clustered
    >>> X = np.array([[0.0], [4.0], [8.0]])
    >>> model = make_pipeline(MinMaxScaler(), KMeans(2, n_init=1)).fit(X)
    >>> points_as_clustered(model, X).ravel()
    array([0. , 0.5, 1. ])
    """
    model = best_of(model)
    with columns_by_position():
        if isinstance(model, Pipeline) and len(model.steps) > 1:
            X = model[:-1].transform(X)
            model = model.steps[-1][1]
        if hasattr(model, "columns_"):
            return points_as_clustered(model.clusterer_, model.prepared(X))
    return X if sparse.issparse(X) else np.asarray(X)


@contextmanager
def columns_by_position() -> Iterator[None]:
    """Silence scikit-learn's warnings that only one of model and X has feature names.

    For callers that have matched the columns. A search, for one, knows the names but fits its
    best estimator on an array, which has none.
    """
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="X (has|does not have valid) feature names")
        yield
