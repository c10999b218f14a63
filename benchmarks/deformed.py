"""Deformed digits: as many labelled pictures as one likes, made from those of MNIST.

As in infiMNIST (Loosli, Canu and Bottou, 2007), every picture is one of MNIST, moved along a smooth
random field of displacements. The first copies are the pictures as they are.
"""

from __future__ import annotations

import numpy as np
from scipy.ndimage import gaussian_filter, map_coordinates

SMOOTH, PIXELS = 4.0, 1.5
"""Width of the filter that makes a field smooth, and its mean displacement, in pixels."""

FIELDS = 500
"""Fields to draw from, each with either sign in either direction: new ones for every picture would
take longer than the clustering."""


def deformed_digits(
    pictures: np.ndarray, labels: np.ndarray, n_points: int, seed: int = 0
) -> tuple[np.ndarray, np.ndarray]:
    """So many pictures, and their labels; the same for the same seed.

    Parameters
    ----------
    pictures : ndarray of shape (n, height, width)
    labels : ndarray of shape (n,)
    n_points : int
    seed : int

    Returns
    -------
    X : ndarray of shape (n_points, height * width)
        Bytes.
    y : ndarray of shape (n_points,)
    """
    rng = np.random.default_rng(seed)
    fields = smooth_fields(rng, FIELDS, pictures.shape[1:])
    grid = np.indices(pictures.shape[1:])
    n_given = len(pictures)
    X = np.empty((n_points, *pictures.shape[1:]), np.uint8)
    X[:n_given] = pictures[:n_points]
    source = np.arange(n_points) % n_given
    chosen = rng.integers(0, FIELDS, n_points)
    sign = rng.choice([-1.0, 1.0], (n_points, 2))
    for i in range(n_given, n_points):
        moved = grid + sign[i, :, None, None] * fields[chosen[i]]
        X[i] = map_coordinates(pictures[source[i]], moved, order=1, mode="constant")
    return X.reshape(n_points, -1), labels[source]


def smooth_fields(rng: np.random.Generator, count: int, shape: tuple[int, ...]) -> np.ndarray:
    """Displacements of every pixel in two directions, of the same mean length."""
    noise = rng.standard_normal((count, 2, *shape))
    fields = gaussian_filter(noise, (0, 0, SMOOTH, SMOOTH))
    length = np.sqrt((fields**2).sum(axis=1)).mean(axis=(1, 2))
    return PIXELS * fields / length[:, None, None, None]
