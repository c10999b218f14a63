"""Points on several subspaces, the setting of subspace clustering."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_random_state

from srsg.datasets.lifting import check_counts, shares
from srsg.types import FloatArray, RandomState


def make_union_of_subspaces(
    n_samples: int = 150,
    *,
    n_subspaces: int = 3,
    dimension: int = 3,
    n_features: int = 30,
    noise: float = 0.0,
    overlap: int = 0,
    outliers: int = 0,
    random_state: RandomState = None,
) -> tuple[FloatArray, NDArray[np.intp]]:
    """Unit vectors in random subspaces, and outliers in none.

    Parameters
    ----------
    n_samples : int
        Points in all subspaces together.
    n_subspaces : int
        Number of subspaces.
    dimension : int
        Dimension of each.
    n_features : int
        Dimension of the surrounding space: at least ``2 * dimension - overlap``, so that there is
        room for two subspaces.
    noise : float
        Standard deviation of the Gaussian noise on every feature of the points.
    overlap : int
        Dimension of the subspace that all of them share, which is also the intersection of any two:
        0 to ``dimension - 1``.
    outliers : int
        Further points, uniform on the unit sphere, of label -1.
    random_state : int, RandomState or None
        Subspaces, points and noise.

    Returns
    -------
    X : ndarray of shape (n_samples + outliers, n_features)
        The points, subspace by subspace; the outliers come last.
    y : ndarray of shape (n_samples + outliers,)
        The subspace of each point from 0, or -1.

    Examples
    --------
    >>> import numpy as np
    >>> from srsg.datasets import make_union_of_subspaces
    >>> X, y = make_union_of_subspaces(90, overlap=1, outliers=5, random_state=0)
    >>> X.shape, [int((y == label).sum()) for label in (0, 1, 2, -1)]
    ((95, 30), [30, 30, 30, 5])
    >>> [int(np.linalg.matrix_rank(X[(y == 0) | (y == k)])) for k in (0, 1)]
    [3, 5]
    """
    check_counts(
        n_samples=(n_samples, 1),
        n_subspaces=(n_subspaces, 1),
        dimension=(dimension, 1),
        overlap=(overlap, 0),
        outliers=(outliers, 0),
    )
    if overlap >= dimension:
        raise ValueError(f"overlap={overlap} must be below dimension={dimension}.")
    needed = 2 * dimension - overlap if n_subspaces > 1 else dimension
    if n_features < needed:
        raise ValueError(f"n_features={n_features} must be at least {needed} for these subspaces.")
    rng = check_random_state(random_state)
    shared = rng.standard_normal((n_features, overlap))
    parts = []
    for count in shares(n_samples, n_subspaces):
        own = rng.standard_normal((n_features, dimension - overlap))
        basis, _ = np.linalg.qr(np.hstack([shared, own]))
        parts.append(_on_sphere(rng, count, dimension) @ basis.T)
    points = np.vstack(parts)
    points += noise * rng.standard_normal(points.shape)
    X = np.vstack([points, _on_sphere(rng, outliers, n_features)])
    return X, np.repeat([*range(n_subspaces), -1], [*map(len, parts), outliers])


def _on_sphere(rng: np.random.RandomState, count: int, dimension: int) -> FloatArray:
    directions = rng.standard_normal((count, dimension))
    return directions / np.linalg.norm(directions, axis=1, keepdims=True)
