"""Points that make codes expensive: how much longer they take than the product of all pairs.

    python -m benchmarks.bad_cases [--quick] [--write FILE]

Each time is that of the exact l1 codes, over that of one blocked float32 product of the same
points, which any exact method has to compute. Times are processor seconds on one thread, so that
other programs on the machine count as little as possible.
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning

from benchmarks.case import LAM, N_NEIGHBORS
from srsg.coding import l1_codes
from srsg.datasets import make_union_of_subspaces
from srsg.points import BLOCK_SIZE, Points, row_slices, unit_points
from srsg.running import ThreadEngine

FEATURES = 100
TINY_LAM = 1e-6


@dataclass(frozen=True)
class BadCase:
    """A name, the points for a number of them, how many, and how they are coded."""

    name: str
    make: Callable[[int], NDArray[np.floating]]
    n_points: int
    quick: int
    options: dict[str, float]


def subspaces(n_points: int) -> NDArray[np.floating]:
    """Ordinary points, as in the benchmark of growth: what the others are to be compared with."""
    return make_union_of_subspaces(
        n_points,
        n_subspaces=max(2, n_points // 100),
        dimension=5,
        n_features=FEATURES,
        noise=0.1 / np.sqrt(FEATURES),
        random_state=0,
    )[0]


def near_duplicates(n_points: int) -> NDArray[np.floating]:
    """Ten copies of every point, apart by less than float32 can tell."""
    copies = np.repeat(subspaces(n_points // 10), 10, axis=0)
    return copies + 1e-9 * np.random.default_rng(0).standard_normal(copies.shape)


def rings(n_points: int) -> NDArray[np.floating]:
    """Two circles about different centres: every point lies between its two neighbours."""
    rng = np.random.default_rng(0)
    angle = rng.uniform(0, 2 * np.pi, n_points)
    far = (np.arange(n_points) % 2)[:, None]
    circle = np.column_stack([np.cos(angle), np.sin(angle), np.zeros(n_points)])
    circle[:, 1:] = np.where(far, circle[:, :0:-1] + 1.0, circle[:, 1:])
    return circle @ rng.standard_normal((3, FEATURES)) + rng.standard_normal(FEATURES)


def one_hub(n_points: int) -> NDArray[np.floating]:
    """One point that lies close to all others, so that all of them use it."""
    rng = np.random.default_rng(0)
    hub = rng.standard_normal(FEATURES)
    X = hub + 0.7 * rng.standard_normal((n_points, FEATURES))
    X[0] = hub
    return X


def few_features(n_points: int) -> NDArray[np.floating]:
    return np.random.default_rng(0).standard_normal((n_points, 3))


def many_features(n_features: int) -> NDArray[np.floating]:
    """Few points; it is the number of features that is given."""
    return np.random.default_rng(0).standard_normal((300, n_features))


CASES = (
    BadCase("ordinary points", subspaces, 8000, 500, {}),
    BadCase("near-duplicates", near_duplicates, 8000, 500, {}),
    BadCase("two rings", rings, 8000, 500, {}),
    BadCase("one hub", one_hub, 8000, 500, {}),
    BadCase("3 features", few_features, 100_000, 1000, {}),
    BadCase("300 points, many features", many_features, 100_000, 2000, {}),
    BadCase("tol = 0", subspaces, 8000, 500, {"tol": 0.0}),
    BadCase(f"lam = {TINY_LAM:g}", subspaces, 200, 60, {"lam": TINY_LAM}),
)


def measure(quick: bool) -> list[dict[str, Any]]:
    """One line per case: sizes, times, and what the certificates and the warning say."""
    engine = ThreadEngine(1)
    run(unit_points(subspaces(200)), {}, engine)  # compiles
    return list(_lines(quick, engine))


def _lines(quick: bool, engine: ThreadEngine) -> Iterator[dict[str, Any]]:
    for case in CASES:
        points = unit_points(case.make(case.quick if quick else case.n_points))
        product = processor_seconds(lambda points=points: all_products(points))
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always", ConvergenceWarning)
            start = time.process_time()
            codes = run(points, case.options, engine)
            taken = time.process_time() - start
        yield {
            "name": case.name,
            "n": points.n,
            "d": points.n_features,
            "product": product,
            "codes": taken,
            "ratio": taken / product,
            "nonzeros": codes.codes.nnz / points.n,
            "violation": float(codes.kkt_violation.max()),
            "warning": str(caught[0].message) if caught else "",
        }


def run(points: Points, options: dict[str, float], engine: ThreadEngine) -> Any:
    options = {"lam": LAM, "n_neighbors": N_NEIGHBORS} | options
    return l1_codes(points, engine=engine, **options)


def all_products(points: Points) -> None:
    room = np.empty((min(BLOCK_SIZE, points.n), points.n), np.float32)
    for rows in row_slices(points.n, BLOCK_SIZE):
        points.correlations(points.x[rows], room)


def processor_seconds(task: Callable[[], object]) -> float:
    start = time.process_time()
    task()
    return time.process_time() - start


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(
        "python -m benchmarks.bad_cases", description=__doc__.splitlines()[0]
    )
    parser.add_argument("--quick", action="store_true", help="few points")
    parser.add_argument("--write", type=Path, help="a Markdown page to write")
    options = parser.parse_args(arguments)
    rows, notes = [], []
    print("\n".join(TABLE))
    for line in measure(options.quick):
        rows.append(
            f"| {line['name']} | {line['n']:,} x {line['d']:,} | {line['ratio']:.1f} | "
            f"{line['nonzeros']:.1f} | {line['violation']:.0e} |"
        )
        print(rows[-1], line["warning"], flush=True)
        if line["warning"]:
            notes.append(f"- {line['name']}: {line['warning']}")
    if options.write:
        warned = ["", "Warnings of the run:", "", *notes] if notes else []
        page = [*PAGE, *TABLE, *rows, *warned]
        options.write.write_text("\n".join(page) + "\n", encoding="utf-8")


TABLE = (
    "| points | n x d | codes over the product | entries per code | largest violation |",
    "|---|---:|---:|---:|---:|",
)
PAGE = (
    "# Points that make codes expensive",
    "",
    "Written by `python -m benchmarks.bad_cases --write FILE`; do not edit. The time of the exact "
    "l1 codes over that of one blocked float32 product of the same points, which any exact method "
    "has to compute: processor seconds on one thread. With few features the product is cheap, and "
    "looking at its entries is not; with few points the small problems are what takes time.",
    "",
)


if __name__ == "__main__":
    main()
