"""Time of SMCE's codes against the plain way: ADMM in NumPy, point by point.

    python -m benchmarks.smce [--points 500] [--runs 3]

On scikit-learn's digits, one thread each. ADMM is the method of SMCE's authors, with as many
iterations as bring its worst objective as close to the minimum as ``--accuracy`` says; ours is
exact. All ratios come from alternating runs on one machine.
"""

from __future__ import annotations

import argparse
from functools import partial

import numpy as np
from sklearn.datasets import load_digits
from sklearn.neighbors import NearestNeighbors
from threadpoolctl import threadpool_limits

from benchmarks.timing import medians
from srsg.coding import smce_codes
from srsg.running import ThreadEngine

N_NEIGHBORS = 15


def problems(X: np.ndarray) -> list[tuple[np.ndarray, np.ndarray]]:
    """Directions and relative distances of every point."""
    search = NearestNeighbors(n_neighbors=N_NEIGHBORS).fit(X)
    distances, neighbors = search.kneighbors()
    return [
        ((X[near] - x) / far[:, None], far / far.sum())
        for x, near, far in zip(X, neighbors, distances, strict=True)
    ]


def admm(Y: np.ndarray, q: np.ndarray, lam: float, rho: float, n_iterations: int) -> np.ndarray:
    inverse = np.linalg.inv(Y @ Y.T + rho * np.eye(len(q)))
    ones = inverse.sum(axis=1)
    z = np.zeros(len(q))
    v = np.zeros(len(q))
    for _ in range(n_iterations):
        free = rho * inverse @ (z - v)
        c = free + (1 - free.sum()) / ones.sum() * ones
        z = np.sign(c + v) * np.maximum(np.abs(c + v) - lam / rho * q, 0)
        v += c - z
    return c


def plain(X: np.ndarray, lam: float, rho: float, n_iterations: int) -> np.ndarray:
    """Objectives of the codes by ADMM."""
    return np.array(
        [objective(Y, q, admm(Y, q, lam, rho, n_iterations), lam) for Y, q in problems(X)]
    )


def objective(Y: np.ndarray, q: np.ndarray, c: np.ndarray, lam: float) -> float:
    return lam * np.sum(q * np.abs(c)) + 0.5 * np.sum((c @ Y) ** 2)


def least(X: np.ndarray, lam: float) -> np.ndarray:
    """Objectives of our codes."""
    result = smce_codes(X, lam, n_neighbors=N_NEIGHBORS)
    codes = result.codes.toarray()
    rows = zip(problems(X), codes, result.neighbors, strict=True)
    return np.array([objective(Y, q, c[near], lam) for (Y, q), c, near in rows])


def best_admm(X: np.ndarray, lam: float, accuracy: float) -> tuple[float, int]:
    """The step and iterations that reach the accuracy soonest, so that ADMM is at its best."""
    target = least(X, lam)
    n_iterations = 25
    while n_iterations < 20_000:
        for rho in (0.1, 1.0, 10.0):
            if (plain(X, lam, rho, n_iterations) - target).max() <= accuracy:
                return rho, n_iterations
        n_iterations = n_iterations * 5 // 4
    raise SystemExit(f"ADMM does not reach {accuracy} in 20,000 iterations.")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--points", type=int, default=500)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--accuracy", type=float, default=1e-6)
    options = parser.parse_args()
    X = load_digits().data[: options.points]
    engine = ThreadEngine(1)
    print(f"digits, {len(X)} points, median of {options.runs} alternating runs, one thread")
    with threadpool_limits(1):
        for lam in (0.1, 10.0):
            rho, n_iterations = best_admm(X, lam, options.accuracy)
            tasks = {
                "ours": partial(smce_codes, X, lam, engine=engine),
                "ADMM": partial(plain, X, lam, rho, n_iterations),
            }
            times = medians(tasks, options.runs)
            gap = smce_codes(X, lam).dual_gap.max()
            missing = (plain(X, lam, rho, n_iterations) - least(X, lam)).max()
            print(
                f"  lam {lam:<5} ours {times['ours']:.3f} s (gap {gap:.0e}), ADMM "
                f"{times['ADMM']:.3f} s ({n_iterations} iterations, rho {rho}, {missing:.0e} "
                f"off): {times['ADMM'] / times['ours']:.0f} times"
            )


if __name__ == "__main__":
    main()
