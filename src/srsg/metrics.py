"""Agreement of labels, by the paper's two measures and others, and calibration of confidence."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import linear_sum_assignment
from sklearn.metrics import adjusted_rand_score, normalized_mutual_info_score
from sklearn.metrics.cluster import contingency_matrix


def clustering_accuracy(y_true: ArrayLike, y_pred: ArrayLike) -> float:
    """Share of points whose cluster is matched with their class, under the best matching.

    Every cluster is matched with at most one class (Kuhn-Munkres). The formula printed in the paper
    is the share of mismatched points; its tables have the matched share, as here.

    Parameters
    ----------
    y_true, y_pred : array-like of shape (n,)
        Known classes and found clusters, of any names and numbers.

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


def matched_points(y_true: ArrayLike, y_pred: ArrayLike) -> NDArray[np.bool_]:
    """Which points are in the cluster that is matched with their class, under the best matching.

    Parameters
    ----------
    y_true, y_pred : array-like of shape (n,)
        Known classes and found clusters, of any names and numbers.

    Returns
    -------
    ndarray of bool of shape (n,)
        Their share is :func:`clustering_accuracy`.

    Examples
    --------
    >>> from srsg.metrics import matched_points
    >>> matched_points([0, 0, 1, 1], ["b", "b", "a", "b"])
    array([ True,  True,  True, False])
    """
    true, found = (np.unique(each, return_inverse=True)[1] for each in _checked(y_true, y_pred))
    classes, clusters = linear_sum_assignment(-contingency_matrix(true, found))
    class_of = np.full(found.max(initial=-1) + 1, -1)
    class_of[clusters] = classes
    return class_of[found] == true


def calibration_error(right: ArrayLike, confidence: ArrayLike, n_bins: int = 10) -> float:
    """The expected calibration error: how far confidence is from the share of right labels.

    Parameters
    ----------
    right : array-like of bool of shape (n,)
        Whether the label of each point is right, such as by :func:`matched_points`.
    confidence : array-like of shape (n,)
        From 0 to 1.
    n_bins : int
        Bins of equal width.

    Returns
    -------
    float
        The mean over the bins of ``|mean confidence - share right|``, weighted by their points.

    Examples
    --------
    >>> from srsg.metrics import calibration_error
    >>> calibration_error([True, True, True, False], [0.75, 0.75, 0.75, 0.75])
    0.0
    >>> calibration_error([True, True, True, False], [1.0, 1.0, 1.0, 1.0])
    0.25
    """
    correct, sure = np.asarray(right, dtype=float), np.asarray(confidence, dtype=float)
    if correct.shape != sure.shape:
        raise ValueError(
            f"right and confidence must have the same shape, got {correct.shape} and {sure.shape}."
        )
    # A confidence of 1 belongs to the last bin.
    place = np.minimum((sure * n_bins).astype(int), n_bins - 1)
    gaps = np.bincount(place, sure - correct, minlength=n_bins)
    return float(np.abs(gaps).sum() / max(len(sure), 1))


def normalized_mutual_info(y_true: ArrayLike, y_pred: ArrayLike) -> float:
    """Mutual information divided by the larger of the two entropies.

    Parameters
    ----------
    y_true, y_pred : array-like of shape (n,)
        Known classes and found clusters, of any names and numbers.

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
    """Mutual information above chance, divided by the most that it could be above chance.

    Labels that have nothing to do with each other score about 0 whatever the numbers of clusters,
    so scores with different numbers can be compared. The chance level of R and C clusters on n
    points is taken as ``(R - 1)(C - 1) / 2n``, the first term of its expansion. That costs nothing,
    while the cost of the exact level, in :func:`sklearn.metrics.adjusted_mutual_info_score`, grows
    with R, C and n.

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
    -0.037
    """
    table = contingency_matrix(*_checked(y_true, y_pred)).astype(np.float64)
    n_points, rows, columns = table.sum(), table.sum(axis=1), table.sum(axis=0)
    largest = max(_entropy(rows / n_points), _entropy(columns / n_points))
    if min(table.shape) == 1:
        return 0.0
    used = table > 0
    ratio = table[used] * n_points / np.outer(rows, columns)[used]
    shared = float((table[used] / n_points * np.log(ratio)).sum())
    # The first term overshoots where there are nearly as many clusters as points.
    chance = min((len(rows) - 1) * (len(columns) - 1) / (2 * n_points), 0.9 * largest)
    return float((shared - chance) / (largest - chance))


def _entropy(shares: np.ndarray) -> float:
    return -float((shares * np.log(shares)).sum())


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
