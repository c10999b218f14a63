"""Small data near subspaces, from the package's own generator."""

from __future__ import annotations

from srsg.datasets import make_union_of_subspaces
from srsg.points import unit_points


def near_planes(seed, n_points=24, n_features=8, n_subspaces=3, noise=0.01):
    """Unit vectors near random planes, one plane after another, and the plane of each."""
    X, y = make_union_of_subspaces(
        n_points,
        n_subspaces=n_subspaces,
        dimension=2,
        n_features=n_features,
        noise=noise,
        random_state=seed,
    )
    return unit_points(X).x, y
