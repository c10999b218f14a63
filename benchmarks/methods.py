"""Each method against the obvious way to do it with scikit-learn, side by side.

    python -m benchmarks.methods [--points 300] [--runs 3]

On scikit-learn's digits, all cores for both. The peers solve the same problems one point after
the other, to a tolerance that is generous to them; ours are exact. SMCE has its own benchmark.
"""

from __future__ import annotations

import argparse
import os
import sys
import warnings
from collections.abc import Callable

import numpy as np
from sklearn.cluster import SpectralClustering
from sklearn.datasets import load_digits
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import ElasticNet, Lasso, orthogonal_mp

from benchmarks.timing import medians
from srsg import (
    ElasticNetGraph,
    L1Graph,
    LaplacianL1Graph,
    LocalScalingSpectralClustering,
    OMPGraph,
)
from srsg.coding.local_scaling import local_scaling
from srsg.coding.neighbors import nearest_neighbors
from srsg.points import unit_points

Task = Callable[[], object]
TOLERANCE = {"fit_intercept": False, "tol": 1e-6, "max_iter": 10**5}


def over_others(X: np.ndarray, solve: Callable[[np.ndarray, int], np.ndarray]) -> np.ndarray:
    """Codes by a solver that gets the other points and the number of the point."""
    codes = np.zeros((len(X), len(X)))
    for i in range(len(X)):
        others = np.delete(np.arange(len(X)), i)
        codes[i, others] = solve(X[others], i)
    return codes


def lasso_loop(X: np.ndarray, lam: float = 0.1) -> np.ndarray:
    model = Lasso(alpha=lam / (2 * X.shape[1]), **TOLERANCE)
    return over_others(X, lambda A, i: model.fit(A.T, X[i]).coef_)


def elastic_net_loop(X: np.ndarray, lam: float = 0.1) -> np.ndarray:
    model = ElasticNet(alpha=lam / (2 * X.shape[1]), l1_ratio=0.9, **TOLERANCE)
    return over_others(X, lambda A, i: model.fit(A.T, X[i]).coef_)


def omp_loop(X: np.ndarray) -> np.ndarray:
    return over_others(X, lambda A, i: orthogonal_mp(A.T, X[i], n_nonzero_coefs=5))


def laplacian_loop(X: np.ndarray, lam: float = 0.1, gamma: float = 0.2) -> np.ndarray:
    """One sweep: the pull of the neighbours as further rows of a Lasso."""
    n_points, n_features = X.shape
    S = np.zeros((n_points, n_points))
    np.put_along_axis(S, nearest_neighbors(unit_points(X), 5), 1.0, axis=1)
    weights = gamma * (S + S.T)
    codes = lasso_loop(X, lam)
    model = Lasso(alpha=lam / (2 * (n_features + n_points - 1)), **TOLERANCE)
    for i in range(n_points):
        others = np.delete(np.arange(n_points), i)
        root = np.sqrt(weights[i].sum())
        target = np.concatenate([X[i], (weights[i] @ codes)[others] / root])
        codes[i, others] = model.fit(
            np.vstack([X[others].T, root * np.eye(len(others))]), target
        ).coef_
    return codes


def spectral(X: np.ndarray) -> np.ndarray:
    model = SpectralClustering(10, affinity="precomputed", n_init=10, random_state=0)
    return model.fit_predict(local_scaling(X, 7))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--points", type=int, default=300)
    parser.add_argument("--runs", type=int, default=3)
    options = parser.parse_args()
    warnings.simplefilter("ignore", ConvergenceWarning)
    raw = load_digits().data[: options.points]
    X = unit_points(raw).x
    pairs: dict[str, tuple[Task, Task]] = {
        "l1-graph": (lambda: L1Graph().fit_graph(X), lambda: lasso_loop(X)),
        "elastic net": (
            lambda: ElasticNetGraph(lam=0.1, l1_ratio=0.9).fit_graph(X),
            lambda: elastic_net_loop(X),
        ),
        "OMP": (lambda: OMPGraph(n_nonzero=5).fit_graph(X), lambda: omp_loop(X)),
        "Laplacian l1-graph": (
            lambda: LaplacianL1Graph(max_sweeps=1).fit_graph(X),
            lambda: laplacian_loop(X),
        ),
        "spectral clustering": (
            lambda: LocalScalingSpectralClustering(10, random_state=0).fit(raw),
            lambda: spectral(raw),
        ),
    }
    print(f"digits, {len(X)} x {X.shape[1]}, {os.cpu_count()} cores, median of {options.runs}")
    for name, (ours, theirs) in pairs.items():
        times = medians({"ours": ours, "theirs": theirs}, options.runs)
        ratio = times["theirs"] / times["ours"]
        print(
            f"  {name:<22}ours {times['ours']:7.3f} s, scikit-learn {times['theirs']:7.3f} s: "
            f"{ratio:6.1f} times"
        )
        sys.stdout.flush()


if __name__ == "__main__":
    main()
