"""Points of few dimensions, embedded in a space of many."""

from __future__ import annotations

import numpy as np

from srsg.types import FloatArray


def lifted(
    points: FloatArray, n_features: int, noise: float, rng: np.random.RandomState
) -> FloatArray:
    """The points after a random orthonormal map into ``n_features`` dimensions, with noise."""
    map_up, _ = np.linalg.qr(rng.standard_normal((n_features, points.shape[1])))
    return points @ map_up.T + noise * rng.standard_normal((len(points), n_features))


def shares(n_samples: int, n_parts: int) -> list[int]:
    """How many samples each part gets: equal shares, the first parts one more if needed."""
    return [len(part) for part in np.array_split(np.arange(n_samples), n_parts)]


def check_counts(**counts: tuple[int, int]) -> None:
    """Refuse a parameter below its least value; ``name=(value, least)``."""
    for name, (value, least) in counts.items():
        if value < least:
            raise ValueError(f"{name}={value} must be at least {least}.")
