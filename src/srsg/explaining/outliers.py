"""Outliers: points that their clusters do not explain, and that no other point needs."""

from __future__ import annotations

import numpy as np
from scipy import sparse
from scipy.stats import rankdata

from srsg.explaining.explanation import rows_adding_to_one
from srsg.types import FloatArray

N_STEPS = 1000
"""Steps of the random walk, as in the paper by You et al."""


def visits(
    codes: sparse.csr_array, n_steps: int = N_STEPS, weights: FloatArray | None = None
) -> FloatArray:
    """How often a random walk along the codes visits each point.

    From a point, the walk goes to one of the points of its code, in proportion to the absolute
    coefficients. Inliers are coded by inliers, outliers by any point: so walks leave the outliers
    and do not return (You, Robinson and Vidal 2017).

    Parameters
    ----------
    codes : csr_array of shape (n, n)
        One code per row.
    n_steps : int
        Steps. The walk starts at any point; from one with an empty code it goes to any point.
    weights : ndarray of shape (n,) or None
        How many points each row stands for; None means one.

    Returns
    -------
    ndarray of shape (n,)
        Mean over the steps, for each of the points; 1 if all were alike.

    References
    ----------
    C. You, D. P. Robinson and R. Vidal. Provable self-representation based outlier detection in a
    union of subspaces. CVPR, 2017.

    Examples
    --------
    >>> from scipy import sparse
    >>> from srsg.explaining.outliers import visits
    >>> visits(sparse.csr_array([[0.0, 0.5, 0.0], [0.8, 0.0, 0.0], [0.1, 0.1, 0.0]])).round(2)
    array([1.5, 1.5, 0. ])
    """
    points = np.ones(codes.shape[0]) if weights is None else weights
    step = rows_adding_to_one(abs(codes))
    stuck = np.diff(step.indptr) == 0
    back = sparse.csr_array(step.T)
    place, total, anywhere = points, np.zeros(len(points)), points / points.sum()
    for _ in range(n_steps):
        place = back @ place + place[stuck].sum() * anywhere
        total += place
    return total / n_steps / points


def outlier_scores(
    explained: FloatArray, codes: sparse.csr_array, weights: FloatArray | None = None
) -> FloatArray:
    """Outlier scores.

    Two percentiles, averaged: the share of the points that are explained better, and the share
    that a random walk along the codes comes by more often.

    Parameters
    ----------
    explained : ndarray of shape (n,)
        How well its cluster explains each point, see :mod:`srsg.explaining.explanation`.
    codes : csr_array of shape (n, n)
        One code per row.
    weights : ndarray of shape (n,) or None
        How many points each row stands for; None means one.

    Returns
    -------
    ndarray of shape (n,)
        From 0 to 1, about one half on average: they rank the points, and do not say whether there
        are outliers at all.

    Examples
    --------
    >>> import numpy as np
    >>> from scipy import sparse
    >>> from srsg.explaining.outliers import outlier_scores
    >>> codes = sparse.csr_array([[0.0, 0.5, 0.0], [0.8, 0.0, 0.0], [0.1, 0.1, 0.0]])
    >>> int(outlier_scores(np.array([0.9, 1.0, 0.5]), codes).argmax())
    2
    """
    n_points = len(explained) if weights is None else weights.sum()
    # Rounding must not rank equal points differently.
    both = (-explained.round(12), -visits(codes, weights=weights).round(12))
    worse, rarer = (_ranks(values, weights) for values in both)
    return (worse + rarer - 2) / (2 * max(n_points - 1, 1))


def _ranks(values: FloatArray, weights: FloatArray | None) -> FloatArray:
    """Places in rising order from 1 on, the mean place for ties; each row counts by its weight."""
    if weights is None:
        return rankdata(values)
    place = np.unique(values, return_inverse=True)[1]
    sizes = np.bincount(place, weights)
    return (np.cumsum(sizes) - sizes / 2 + 0.5)[place]
