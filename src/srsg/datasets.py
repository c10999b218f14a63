"""Synthetic data: points on several subspaces, on curved manifolds, and on two linked knots."""

from typing import Literal

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_random_state

from srsg.types import FloatArray, RandomState

__all__ = ["make_noisy_manifolds", "make_trefoil_knots", "make_union_of_subspaces", "trefoil_knot"]

START, END = 2 * np.pi, 4 * np.pi
"""Angles of a roll: one turn that does not start at the centre, where the rolls would meet."""

SHIFT = np.array([-4.0, 0.0, 0.0])
"""Moves the second knot, rotated about the first axis, so that it is linked once with the first and
as far from it as possible: 0.73, against 1.21 between strands of one knot."""


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
    _check_at_least(1, n_samples=n_samples, n_subspaces=n_subspaces, dimension=dimension)
    _check_at_least(0, overlap=overlap, outliers=outliers)
    if overlap >= dimension:
        raise ValueError(f"overlap={overlap} must be below dimension={dimension}.")
    needed = 2 * dimension - overlap if n_subspaces > 1 else dimension
    if n_features < needed:
        raise ValueError(f"n_features={n_features} must be at least {needed} for these subspaces.")
    rng = check_random_state(random_state)
    shared = rng.standard_normal((n_features, overlap))
    parts = []
    for count in _shares(n_samples, n_subspaces):
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


def make_noisy_manifolds(
    n_samples: int = 300,
    *,
    n_manifolds: int = 2,
    kind: Literal["loops", "rolls"] = "loops",
    gap: float = 0.5,
    n_features: int = 50,
    noise: float = 0.0,
    random_state: RandomState = None,
) -> tuple[FloatArray, NDArray[np.intp]]:
    """Curved manifolds that lie next to each other, embedded in a space of many dimensions.

    Parameters
    ----------
    n_samples : int
        Points on all manifolds together.
    n_manifolds : int
        Number of manifolds.
    kind : "loops" or "rolls"
        Loops are closed curves about two units wide with three bulges, one above the other.
        Rolls are sheets that are rolled up together around one axis: seen from above, each is a
        spiral.
    gap : float
        Distance between one manifold and the next: exactly for loops, along the radius for rolls.
    n_features : int
        Dimensions, at least three: a random orthonormal map embeds the three in them.
    noise : float
        Standard deviation of the Gaussian noise on every feature.
    random_state : int, RandomState or None
        Places on the manifolds, the map and the noise.

    Returns
    -------
    X : ndarray of shape (n_samples, n_features)
        The points of one manifold after those of the other.
    y : ndarray of shape (n_samples,)
        The manifold of each point, from 0.

    Examples
    --------
    >>> from srsg.datasets import make_noisy_manifolds
    >>> X, y = make_noisy_manifolds(90, n_manifolds=3, kind="rolls", noise=0.01, random_state=0)
    >>> X.shape, [int((y == label).sum()) for label in range(3)]
    ((90, 50), [30, 30, 30])
    """
    _check_at_least(1, n_samples=n_samples, n_manifolds=n_manifolds)
    _check_at_least(3, n_features=n_features)
    if kind not in ("loops", "rolls"):
        raise ValueError(f"kind={kind!r} must be 'loops' or 'rolls'.")
    if not gap > 0:
        raise ValueError(f"gap={gap} must be positive.")
    rng = check_random_state(random_state)
    counts = _shares(n_samples, n_manifolds)
    if kind == "loops":
        parts = [_loop(rng, count, gap * place) for place, count in enumerate(counts)]
    else:
        parts = [_roll(rng, count, place, n_manifolds, gap) for place, count in enumerate(counts)]
    X = _lifted(np.vstack(parts), n_features, noise, rng)
    return X, np.repeat(np.arange(n_manifolds), counts)


def _loop(rng: np.random.RandomState, count: int, height: float) -> FloatArray:
    angle = rng.uniform(0, 2 * np.pi, count)
    radius = 1 + 0.3 * np.cos(3 * angle)
    return np.column_stack([radius * np.cos(angle), radius * np.sin(angle), np.full(count, height)])


def _roll(
    rng: np.random.RandomState, count: int, place: int, n_rolls: int, gap: float
) -> FloatArray:
    # The spirals start at equally spaced angles, so the growth over one turn is divided evenly
    # among them. The length of a spiral grows with the square of its angle, so the root spreads
    # points evenly.
    growth = gap * n_rolls / (2 * np.pi)
    angle = np.sqrt(rng.uniform(START**2, END**2, count))
    radius, turned = growth * angle, angle + 2 * np.pi * place / n_rolls
    height = rng.uniform(0, growth * END, count)
    return np.column_stack([radius * np.cos(turned), radius * np.sin(turned), height])


def make_trefoil_knots(
    n_samples: int = 200,
    *,
    n_features: int = 100,
    noise: float = 0.0,
    random_state: RandomState = None,
) -> tuple[FloatArray, NDArray[np.intp]]:
    """Two trefoil knots, linked with each other: curved manifolds that no subspace separates.

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
    _check_at_least(3, n_features=n_features)
    rng = check_random_state(random_state)
    counts = _shares(n_samples, 2)
    x, y, z = trefoil_knot(counts[1]).T
    turned = np.column_stack([x, -z, y]) + SHIFT
    points = np.vstack([trefoil_knot(counts[0]), turned])
    return _lifted(points, n_features, noise, rng), np.repeat([0, 1], counts)


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


def _lifted(
    points: FloatArray, n_features: int, noise: float, rng: np.random.RandomState
) -> FloatArray:
    """The points after a random orthonormal map into ``n_features`` dimensions, with noise."""
    map_up, _ = np.linalg.qr(rng.standard_normal((n_features, points.shape[1])))
    return points @ map_up.T + noise * rng.standard_normal((len(points), n_features))


def _shares(n_samples: int, n_parts: int) -> list[int]:
    """How many samples each part gets: equal shares, the first parts one more if needed."""
    return [len(part) for part in np.array_split(np.arange(n_samples), n_parts)]


def _check_at_least(least: int, **counts: int) -> None:
    """Refuse parameters below their least value."""
    for name, value in counts.items():
        if value < least:
            raise ValueError(f"{name}={value} must be at least {least}.")
