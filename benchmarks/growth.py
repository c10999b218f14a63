"""How the time of the codes grows with the number of points and of features.

Subspaces of dimension 5, with noise a tenth as long as the points. Each has 100 points whatever n
is, so codes keep their length, and only the number of points that each is compared with grows.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from benchmarks import bad_cases
from benchmarks.case import LAM, N_NEIGHBORS
from benchmarks.timing import alternating
from srsg.coding import L1Codes, l1_codes
from srsg.datasets import make_union_of_subspaces
from srsg.points import Points, unit_points

FEATURES = 100
SIZES = (1000, 2000, 4000, 8000, 16_000, 32_000, 64_000)
DIMENSIONS = (50, 100, 200, 400, 800)
POINTS = 8000
QUICK_SIZES, QUICK_DIMENSIONS, QUICK_POINTS = (200, 400, 800), (20, 40, 80), 200
JUDGED = (8000, 64_000)
"""The sizes between which the time of a pair of points is to stay the same."""

Shape = tuple[int, int]


def made_up(shape: Shape) -> np.ndarray:
    n_points, n_features = shape
    X, _ = make_union_of_subspaces(
        n_points,
        n_subspaces=n_points // 100,
        dimension=5,
        n_features=n_features,
        noise=0.1 / np.sqrt(n_features),
        random_state=0,
    )
    return unit_points(X).x


def codes(x: np.ndarray) -> L1Codes:
    return l1_codes(Points(x), LAM, n_neighbors=N_NEIGHBORS)


def measure(rounds: int, quick: bool) -> dict[str, Any]:
    """Times over rounds that go through all shapes."""
    if quick:
        sizes, dimensions, n_points = QUICK_SIZES, QUICK_DIMENSIONS, QUICK_POINTS
    else:
        sizes, dimensions, n_points = SIZES, DIMENSIONS, POINTS
    shapes: list[Shape] = [(n, FEATURES) for n in sizes]
    shapes += [(n_points, d) for d in dimensions if (n_points, d) not in shapes]
    data = {shape: made_up(shape) for shape in shapes}
    nonzeros = {}
    codes(data[shapes[0]])  # compiles

    def run(shape: Shape) -> None:
        found = codes(data[shape])
        nonzeros[shape] = found.codes.nnz / shape[0]

    times = alternating({shape: partial(run, shape) for shape in shapes}, rounds, warm=False)
    rows = [{"n": n, "d": d, "seconds": times[n, d], "nonzeros": nonzeros[n, d]} for n, d in shapes]
    return {
        "bad_cases": bad_cases.measure(quick),
        "with_n": [row for row in rows if row["d"] == FEATURES and row["n"] in sizes],
        "with_d": sorted(
            (row for row in rows if row["n"] == n_points and row["d"] in dimensions),
            key=lambda row: row["d"],
        ),
    }


def per_pair(row: dict[str, Any]) -> list[float]:
    """Nanoseconds for a pair of points."""
    return [t / row["n"] ** 2 * 1e9 for t in row["seconds"]]


def slope(rows: list[dict[str, Any]], axis: str) -> float:
    """Of the logarithm of the time over the logarithm of n or d."""
    times = [np.median(row["seconds"]) for row in rows]
    return float(np.polyfit(np.log([row[axis] for row in rows]), np.log(times), 1)[0])
