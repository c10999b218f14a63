"""Agreement of two labellings, by the paper's two measures and others."""

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import linear_sum_assignment
from scipy.stats import entropy
from sklearn.metrics import (
    adjusted_mutual_info_score,
    adjusted_rand_score,
    mutual_info_score,
    normalized_mutual_info_score,
)
from sklearn.metrics.cluster import contingency_matrix

from srsg.weights import checked_weights


def clustering_accuracy(
    y_true: ArrayLike, y_pred: ArrayLike, *, sample_weight: ArrayLike | None = None
) -> float:
    """Share of points whose cluster is matched with their class, under the best matching.

    Every cluster is matched with at most one class (Kuhn-Munkres). The formula printed in the paper
    is the share of points that do not match; its tables have the share that does, as here.

    Parameters
    ----------
    y_true, y_pred : array-like of shape (n,)
        Classes and clusters, of any names and numbers.
    sample_weight : array-like of shape (n,) or None
        How many times each point counts; None means once.

    Returns
    -------
    float
        Between 0 and 1.

    Examples
    --------
    >>> from srsg.metrics import clustering_accuracy
    >>> clustering_accuracy([0, 0, 1, 1], ["b", "b", "a", "b"])
    0.75
    """
    table = _table(*_checked(y_true, y_pred), sample_weight)
    classes, clusters = linear_sum_assignment(-table)
    return float(table[classes, clusters].sum() / table.sum())


def normalized_mutual_info(
    y_true: ArrayLike, y_pred: ArrayLike, *, sample_weight: ArrayLike | None = None
) -> float:
    """Mutual information divided by the larger of the two entropies.

    Parameters
    ----------
    y_true, y_pred : array-like of shape (n,)
        Classes and clusters, of any names and numbers.
    sample_weight : array-like of shape (n,) or None
        How many times each point counts; None means once.

    Returns
    -------
    float
        Between 0 and 1.

    Examples
    --------
    >>> from srsg.metrics import normalized_mutual_info
    >>> normalized_mutual_info([0, 0, 1, 1], [1, 1, 0, 0])
    1.0
    """
    true, pred = _checked(y_true, y_pred)
    if sample_weight is None:
        return float(normalized_mutual_info_score(true, pred, average_method="max"))
    table = _table(true, pred, sample_weight)
    if min(table.shape) == 1:
        return float(max(table.shape) == 1)
    shares = table / table.sum()
    largest = max(entropy(shares.sum(axis=0)), entropy(shares.sum(axis=1)))
    return float(mutual_info_score(None, None, contingency=table) / largest)


def adjusted_mutual_info(
    y_true: ArrayLike, y_pred: ArrayLike, *, sample_weight: ArrayLike | None = None
) -> float:
    """Mutual information above chance, divided by its largest possible value above chance.

    Unrelated labels score about 0 whatever the numbers of clusters, so scores with different
    numbers can be compared. Unlike in :func:`sklearn.metrics.adjusted_mutual_info_score`, two
    labellings of one cluster each share nothing.

    Parameters
    ----------
    y_true, y_pred : array-like of shape (n,)
        Two labellings of the same points.
    sample_weight : array-like of shape (n,) or None
        How many times each point counts, in whole numbers, since chance is one of single points;
        None means once.

    Returns
    -------
    float
        At most 1; 0 where one of the two has a single cluster.

    Examples
    --------
    >>> from srsg.metrics import adjusted_mutual_info
    >>> round(adjusted_mutual_info([0, 0, 1, 1] * 5, [1, 1, 0, 0] * 5), 6)
    1.0
    >>> round(adjusted_mutual_info([0, 0, 1, 1] * 5, [0, 1, 0, 1] * 5), 3)
    -0.041
    """
    true, predicted = _checked(y_true, y_pred)
    if sample_weight is not None:
        weights = checked_weights(sample_weight, len(true))
        times = np.ones(len(true), int) if weights is None else weights.astype(int)
        if weights is not None and (times != weights).any():
            raise ValueError("sample_weight must be whole numbers here: chance counts points.")
        true, predicted = np.repeat(true, times), np.repeat(predicted, times)
    if min(len(np.unique(true)), len(np.unique(predicted))) == 1:
        return 0.0
    return float(adjusted_mutual_info_score(true, predicted, average_method="max"))


def scores(
    y_true: ArrayLike, y_pred: ArrayLike, *, sample_weight: ArrayLike | None = None
) -> dict[str, float]:
    """All measures by their short names: accuracy, NMI, adjusted Rand index.

    ``sample_weight`` says how many times each point counts; None means once.

    Examples
    --------
    >>> from srsg.metrics import scores
    >>> scores([0, 0, 1, 1], [1, 1, 0, 0])
    {'AC': 1.0, 'NMI': 1.0, 'ARI': 1.0}
    """
    true, pred = _checked(y_true, y_pred)
    return {
        "AC": clustering_accuracy(true, pred, sample_weight=sample_weight),
        "NMI": normalized_mutual_info(true, pred, sample_weight=sample_weight),
        "ARI": _adjusted_rand(true, pred, sample_weight),
    }


def _adjusted_rand(true: NDArray, pred: NDArray, sample_weight: ArrayLike | None) -> float:
    """The adjusted Rand index of Hubert and Arabie (1985)."""
    if sample_weight is None:
        return float(adjusted_rand_score(true, pred))
    table = _table(true, pred, sample_weight)
    # Pairs of points in one place: within cells, rows, columns and all.
    sums = table, table.sum(axis=1), table.sum(axis=0), table.sum()
    both, in_true, in_pred, pairs = (float((each * (each - 1)).sum() / 2) for each in sums)
    expected, most = in_true * in_pred / (pairs or 1.0), (in_true + in_pred) / 2
    return 1.0 if most == expected else (both - expected) / (most - expected)


def _table(true: NDArray, pred: NDArray, sample_weight: ArrayLike | None) -> NDArray:
    """How many points each class shares with each cluster."""
    weights = checked_weights(sample_weight, len(true))
    if weights is None:
        return contingency_matrix(true, pred)
    classes, row = np.unique(true, return_inverse=True)
    clusters, column = np.unique(pred, return_inverse=True)
    shape = len(classes), len(clusters)
    cells = np.bincount(row * shape[1] + column, weights, shape[0] * shape[1])
    return cells.reshape(shape)


def _checked(y_true: ArrayLike, y_pred: ArrayLike) -> tuple[np.ndarray, np.ndarray]:
    true, pred = np.asarray(y_true), np.asarray(y_pred)
    if true.ndim != 1 or true.shape != pred.shape:
        raise ValueError(
            f"y_true and y_pred must be one-dimensional and of equal length, got shapes "
            f"{true.shape} and {pred.shape}."
        )
    if not true.size:
        raise ValueError("y_true and y_pred are empty.")
    return true, pred
