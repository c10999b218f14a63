"""Points on several curved manifolds side by side."""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_random_state

from srsg.datasets.lifting import check_counts, lifted, shares
from srsg.types import FloatArray, RandomState

START, END = 2 * np.pi, 4 * np.pi
"""Angles of a roll: one turn that does not start at the centre, where the rolls would meet."""


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
    check_counts(n_samples=(n_samples, 1), n_manifolds=(n_manifolds, 1), n_features=(n_features, 3))
    if kind not in ("loops", "rolls"):
        raise ValueError(f"kind={kind!r} must be 'loops' or 'rolls'.")
    if not gap > 0:
        raise ValueError(f"gap={gap} must be positive.")
    rng = check_random_state(random_state)
    counts = shares(n_samples, n_manifolds)
    if kind == "loops":
        parts = [_loop(rng, count, gap * place) for place, count in enumerate(counts)]
    else:
        parts = [_roll(rng, count, place, n_manifolds, gap) for place, count in enumerate(counts)]
    X = lifted(np.vstack(parts), n_features, noise, rng)
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
    turned = angle + 2 * np.pi * place / n_rolls
    width = growth * END
    return np.column_stack(
        [
            growth * angle * np.cos(turned),
            growth * angle * np.sin(turned),
            rng.uniform(0, width, count),
        ]
    )
