"""Made-up data of two or three columns, in three lists.

The rules were settled on the first alone, but for that of thin shapes, which came after the second
had been seen. The third was drawn when nothing was changed any more.

Each family is a function from a number of points and a generator to the points; its number of
clusters is known, and 1 for noise.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray
from sklearn import datasets


class Family(NamedTuple):
    name: str
    n_clusters: int
    draw: Callable[[int, Generator], NDArray]


def _seed(rng: Generator) -> int:
    return int(rng.integers(2**31))


def _ball(n: int, dimension: int, rng: Generator) -> NDArray:
    directions = rng.standard_normal((n, dimension))
    directions /= np.linalg.norm(directions, axis=1, keepdims=True)
    return directions * rng.random((n, 1)) ** (1 / dimension)


def _groups(count: int, dimension: int, spread: float) -> Callable[[int, Generator], NDArray]:
    """Round groups whose centres are at least four standard deviations apart."""

    def draw(n: int, rng: Generator) -> NDArray:
        while True:
            centers = rng.uniform(-10, 10, (count, dimension))
            apart = np.linalg.norm(centers[:, None] - centers, axis=2) + 99 * np.eye(count)
            if apart.min() > 4 * spread:
                break
        return centers[np.arange(n) % count] + spread * rng.standard_normal((n, dimension))

    return draw


def _moons(noise: float) -> Callable[[int, Generator], NDArray]:
    return lambda n, rng: datasets.make_moons(n, noise=noise, random_state=_seed(rng))[0]


def _rings(n: int, rng: Generator) -> NDArray:
    return datasets.make_circles(n, noise=0.05, factor=0.5, random_state=_seed(rng))[0]


SETTLED_ON = [
    Family("noise: square", 1, lambda n, rng: rng.random((n, 2))),
    Family("noise: disc", 1, lambda n, rng: _ball(n, 2, rng)),
    Family("noise: cube", 1, lambda n, rng: rng.random((n, 3))),
    Family("noise: one Gaussian, 2 columns", 1, lambda n, rng: rng.standard_normal((n, 2))),
    Family("noise: one Gaussian, 3 columns", 1, lambda n, rng: rng.standard_normal((n, 3))),
    Family("two moons, noise 0.05", 2, _moons(0.05)),
    Family("two moons, noise 0.1", 2, _moons(0.1)),
    Family("two rings", 2, _rings),
    Family("3 groups, 2 columns", 3, _groups(3, 2, 1.0)),
    Family("5 groups, 2 columns", 5, _groups(5, 2, 1.0)),
    Family("5 wide groups, 2 columns", 5, _groups(5, 2, 1.5)),
    Family("3 wide groups, 3 columns", 3, _groups(3, 3, 2.0)),
    Family("6 groups, 3 columns", 6, _groups(6, 3, 1.0)),
]


def _spirals(arms: int) -> Callable[[int, Generator], NDArray]:
    def draw(n: int, rng: Generator) -> NDArray:
        turn = np.pi * (0.5 + 2 * rng.random(n))
        angle = turn + 2 * np.pi * (np.arange(n) % arms) / arms
        points = turn[:, None] * np.column_stack([np.cos(angle), np.sin(angle)])
        return points + 0.2 * rng.standard_normal((n, 2))

    return draw


def _stretched(n: int, rng: Generator) -> NDArray:
    centers = np.array([[0.0, 0.0], [5.0, 0.0], [10.0, 0.0]])
    points = rng.standard_normal((n, 2)) * [0.8, 3.0] + centers[np.arange(n) % 3]
    return points @ [[0.6, -0.6], [-0.4, 0.8]]


def _uneven(n: int, rng: Generator) -> NDArray:
    """Groups of very different sizes and widths."""
    which = rng.choice(4, n, p=[0.5, 0.25, 0.15, 0.1])
    centers = np.array([[0.0, 0.0], [8.0, 0.0], [0.0, 8.0], [9.0, 9.0]])
    widths = np.array([1.5, 1.0, 0.7, 0.4])
    return centers[which] + widths[which, None] * rng.standard_normal((n, 2))


def _towns(n: int, rng: Generator) -> NDArray:
    """Latitudes and longitudes around five towns, to two decimals."""
    towns = np.array([[48.9, 2.35], [52.5, 13.4], [40.4, -3.7], [41.9, 12.5], [59.3, 18.1]])
    spread = np.array([0.9, 0.6, 0.7, 0.5, 0.4])
    town = rng.choice(5, n, p=[0.3, 0.2, 0.2, 0.15, 0.15])
    return np.round(towns[town] + spread[town, None] * rng.standard_normal((n, 2)), 2)


def _linked_rings(n: int, rng: Generator) -> NDArray:
    """Two rings in space, each through the middle of the other."""
    angle, second = 2 * np.pi * rng.random(n), np.arange(n) % 2 == 1
    along, across, nothing = np.cos(angle), np.sin(angle), np.zeros(n)
    flat, upright = (along, across, nothing), (along + 1, nothing, across)
    points = np.where(second[:, None], np.column_stack(upright), np.column_stack(flat))
    return points + 0.05 * rng.standard_normal((n, 3))


def _ball_in_shell(n: int, rng: Generator) -> NDArray:
    inner = _ball(n, 3, rng)
    outer = inner / np.linalg.norm(inner, axis=1, keepdims=True) * 2.2
    points = np.where(np.arange(n)[:, None] % 2 == 0, 0.8 * inner, outer)
    return points + 0.05 * rng.standard_normal((n, 3))


def _circle(n: int, rng: Generator) -> NDArray:
    angle = 2 * np.pi * rng.random(n)
    points = np.column_stack([np.cos(angle), np.sin(angle)])
    return points + 0.1 * rng.standard_normal((n, 2))


def _leaning(n: int, rng: Generator) -> NDArray:
    return rng.standard_normal((n, 2)) @ np.linalg.cholesky([[1.0, 0.9], [0.9, 1.0]]).T


CONFIRMED_ON = [
    Family("noise: t distribution, 2 columns", 1, lambda n, rng: rng.standard_t(3, (n, 2))),
    Family("noise: t distribution, 3 columns", 1, lambda n, rng: rng.standard_t(5, (n, 3))),
    Family("noise: exponential", 1, lambda n, rng: rng.exponential(size=(n, 2))),
    Family("noise: triangle", 1, lambda n, rng: rng.dirichlet(np.ones(3), n)[:, :2]),
    Family("noise: leaning Gaussian", 1, _leaning),
    Family("noise: ball, 3 columns", 1, lambda n, rng: _ball(n, 3, rng)),
    Family("one ring", 1, _circle),
    Family("two spirals", 2, _spirals(2)),
    Family("three spirals", 3, _spirals(3)),
    Family("stretched groups", 3, _stretched),
    Family("groups of four sizes", 4, _uneven),
    Family("towns", 5, _towns),
    Family("linked rings, 3 columns", 2, _linked_rings),
    Family("ball in a shell, 3 columns", 2, _ball_in_shell),
]


def _strands(paths: list[Callable[[NDArray], NDArray]], noise: float) -> Callable:
    """Points along curves, each a function from 0 to 1."""

    def draw(n: int, rng: Generator) -> NDArray:
        places, which = rng.random(n), np.arange(n) % len(paths)
        points = np.stack([path(places) for path in paths])[which, np.arange(n)]
        return points + noise * rng.standard_normal(points.shape)

    return draw


def _wave(height: float) -> Callable[[NDArray], NDArray]:
    return lambda place: np.column_stack([10 * place, np.sin(6 * place) + height])


def _helix(turn: float) -> Callable[[NDArray], NDArray]:
    def path(place: NDArray) -> NDArray:
        angle = 3 * np.pi * place + turn
        return np.column_stack([np.cos(angle), np.sin(angle), 3 * place])

    return path


def _ring(radius: float) -> Callable[[NDArray], NDArray]:
    def path(place: NDArray) -> NDArray:
        angle = 2 * np.pi * place
        return radius * np.column_stack([np.cos(angle), np.sin(angle)])

    return path


def _heavy_tails(n: int, rng: Generator) -> NDArray:
    centers = 9 * np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]])
    return centers[np.arange(n) % 4] + rng.standard_t(5, (n, 3))


LAST = [
    Family("noise: Laplace", 1, lambda n, rng: rng.laplace(size=(n, 2))),
    Family("noise: half of a ball", 1, lambda n, rng: np.abs(_ball(n, 3, rng))),
    Family("two waves", 2, _strands([_wave(0), _wave(2)], 0.1)),
    Family("three waves", 3, _strands([_wave(0), _wave(2), _wave(4)], 0.2)),
    Family("two helices, 3 columns", 2, _strands([_helix(0), _helix(np.pi)], 0.05)),
    Family("three rings", 3, _strands([_ring(1), _ring(3), _ring(5)], 0.15)),
    Family("groups with heavy tails, 3 columns", 4, _heavy_tails),
]
