"""Two linked trefoil knots."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_random_state

from srsg.datasets.lifting import lifted
from srsg.types import FloatArray, RandomState

SHIFT = np.array([-4.0, 0.0, 0.0])
"""Moves the second knot, rotated about the first axis, so that it is linked once with the first and
as far from it as possible: 0.73, against 1.21 between strands of one knot."""


def make_trefoil_knots(
    n_samples: int = 200,
    *,
    n_features: int = 100,
    noise: float = 0.0,
    random_state: RandomState = None,
) -> tuple[FloatArray, NDArray[np.intp]]:
    """Two trefoil knots, linked with each other: curved manifolds that no subspace tells apart.

    Knots about five units wide lie in three dimensions, and a random orthonormal map embeds them in
    a space of more dimensions, as in the paper of SMCE (Elhamifar and Vidal, 2011).

    Parameters
    ----------
    n_samples : int
        Points on both knots together.
    n_features : int
        Dimensions, at least three.
    noise : float
        Standard deviation of the Gaussian noise on every feature.
    random_state : int, RandomState or None
        The map and the noise.

    Returns
    -------
    X : ndarray of shape (n_samples, n_features)
        The points of one knot after those of the other, each in order along its knot.
    y : ndarray of shape (n_samples,)
        The knot of each point, 0 or 1.

    Examples
    --------
    >>> from srsg.datasets import make_trefoil_knots
    >>> X, y = make_trefoil_knots(201, random_state=0)
    >>> X.shape, int((y == 0).sum())
    ((201, 100), 101)
    """
    if n_features < 3:
        raise ValueError(f"n_features={n_features} must be at least 3: knots need room.")
    rng = check_random_state(random_state)
    second = n_samples // 2
    first = n_samples - second
    x, y, z = trefoil_knot(second).T
    turned = np.column_stack([x, -z, y]) + SHIFT
    points = np.vstack([trefoil_knot(first), turned])
    return lifted(points, n_features, noise, rng), np.repeat([0, 1], [first, second])


def trefoil_knot(n_points: int) -> FloatArray:
    """Points along one knot in three dimensions.

    Examples
    --------
    >>> from srsg.datasets import trefoil_knot
    >>> trefoil_knot(100).shape
    (100, 3)
    """
    t = 2 * np.pi * np.arange(n_points) / n_points
    return np.column_stack(
        [np.sin(t) + 2 * np.sin(2 * t), np.cos(t) - 2 * np.cos(2 * t), np.sin(-3 * t)]
    )
