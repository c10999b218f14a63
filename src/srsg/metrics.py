"""Agreement of two labellings, by the paper's two measures and others."""

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import linear_sum_assignment
from sklearn.metrics import (
    adjusted_mutual_info_score,
    adjusted_rand_score,
    normalized_mutual_info_score,
)
from sklearn.metrics.cluster import contingency_matrix


def clustering_accuracy(y_true: ArrayLike, y_pred: ArrayLike) -> float:
    """Share of points whose cluster is matched with their class, under the best matching.

    Every cluster is matched with at most one class (Kuhn-Munkres). The formula printed in the paper
    is the share of points that do not match; its tables have the share that does, as here.

    Parameters
    ----------
    y_true, y_pred : array-like of shape (n,)
        Classes and clusters, of any names and numbers.

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
    table = contingency_matrix(*_checked(y_true, y_pred))
    classes, clusters = linear_sum_assignment(-table)
    return float(table[classes, clusters].sum() / table.sum())


def normalized_mutual_info(y_true: ArrayLike, y_pred: ArrayLike) -> float:
    """Mutual information divided by the larger of the two entropies.

    Parameters
    ----------
    y_true, y_pred : array-like of shape (n,)
        Classes and clusters, of any names and numbers.

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
    score = normalized_mutual_info_score(*_checked(y_true, y_pred), average_method="max")
    return float(score)


def adjusted_mutual_info(y_true: ArrayLike, y_pred: ArrayLike) -> float:
    """Mutual information above chance, divided by its largest possible value above chance.

    Unrelated labels score about 0 whatever the numbers of clusters, so scores with different
    numbers can be compared. Unlike in :func:`sklearn.metrics.adjusted_mutual_info_score`, two
    labellings of one cluster each share nothing.

    Parameters
    ----------
    y_true, y_pred : array-like of shape (n,)
        Two labellings of the same points.

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
    if min(len(np.unique(true)), len(np.unique(predicted))) == 1:
        return 0.0
    return float(adjusted_mutual_info_score(true, predicted, average_method="max"))


def scores(y_true: ArrayLike, y_pred: ArrayLike) -> dict[str, float]:
    """All measures by their short names: accuracy, NMI, adjusted Rand index.

    Examples
    --------
    >>> from srsg.metrics import scores
    >>> scores([0, 0, 1, 1], [1, 1, 0, 0])
    {'AC': 1.0, 'NMI': 1.0, 'ARI': 1.0}
    """
    true, pred = _checked(y_true, y_pred)
    return {
        "AC": clustering_accuracy(true, pred),
        "NMI": normalized_mutual_info(true, pred),
        "ARI": float(adjusted_rand_score(true, pred)),
    }


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
