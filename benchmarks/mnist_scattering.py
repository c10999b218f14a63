"""MNIST as scattering features, clustered by elastic-net codes: accuracy, time and memory.

``python -m benchmarks.mnist_scattering --data DIR`` takes all 70,000 images; ``--points N`` takes N
random ones. Time is CPU time over that of a blocked float32 product of all coded points with each
other, measured in the same run.
"""

from __future__ import annotations

import argparse
import resource
import time
from pathlib import Path

import numpy as np
from sklearn.decomposition import PCA

from paper.datasets import load_dataset
from srsg import cluster_graph
from srsg.coding import L1Codes, l1_codes
from srsg.cutting.embedding import agreement
from srsg.features import Scattering
from srsg.graph import symmetrized
from srsg.metrics import scores
from srsg.points import unit_points

N_DIGITS = 10

N_COMPONENTS = 500
"""Principal components that are coded, as in the literature on these features."""

LAM, L1_RATIO = 0.03, 0.9

EIGENVECTORS_PER_CLUSTER = 2
"""With one per cluster two digits merge; this many were chosen on 6,000 and 20,000 images."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True, help="folder with MNIST.npz")
    parser.add_argument("--points", type=int, default=70_000)
    parser.add_argument("--lam", type=float, default=LAM)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    data = load_dataset("MNIST", folder=options.data)
    rows = np.sort(np.random.default_rng(options.seed).permutation(len(data.X))[: options.points])
    X, y = data.X[rows].astype(np.float32), data.y[rows]
    start = peak_memory()
    x, features_time = timed(lambda: Scattering((28, 28)).fit_transform(X))
    x, pca_time = timed(lambda: principal_components(x, options.seed))
    product_time = product_seconds(x)
    codes, graph_time = timed(lambda: elastic_net_codes(x, options.lam))
    labels, label_time = timed(lambda: clusters(codes, options.seed))
    found = scores(y, labels)
    print(f"{len(y):,} images: " + ", ".join(f"{name} {found[name]:.4f}" for name in found))
    times = {
        "features": features_time,
        "principal components": pca_time,
        "graph": graph_time,
        "labels": label_time,
        "all": features_time + pca_time + graph_time + label_time,
    }
    print(f"CPU time over that of one blocked float32 product ({product_time:.1f} s here):")
    for name, seconds in times.items():
        print(f"  {name}: {seconds / product_time:.2f}")
    print(f"largest violation of a code: {codes.kkt_violation.max():.2g}")
    print(f"peak memory above the start: {(peak_memory() - start) / 1e9:.2f} GB")


def elastic_net_codes(x: np.ndarray, lam: float) -> L1Codes:
    """The codes of :class:`srsg.ElasticNetGraph`, with a looser tolerance."""
    weights = {"lam": lam * L1_RATIO, "ridge": lam * (1 - L1_RATIO) / 2}
    return l1_codes(unit_points(x), **weights, n_neighbors=5, tol=1e-3)


def clusters(codes: L1Codes, seed: int) -> np.ndarray:
    """Clusters by ratio cut and commute times, of the graph weighed by agreement."""
    return cluster_graph(
        agreement(symmetrized(codes.codes)),
        N_DIGITS,
        neighbors=codes.neighbors,
        cut="ratio",
        n_eigenvectors=N_DIGITS * EIGENVECTORS_PER_CLUSTER,
        random_state=seed,
    )


def principal_components(x: np.ndarray, seed: int) -> np.ndarray:
    """The features without their mean, along their principal axes."""
    pca = PCA(min(N_COMPONENTS, *x.shape), svd_solver="covariance_eigh", random_state=seed)
    return pca.fit_transform(x).astype(np.float32)


def product_seconds(x: np.ndarray, block: int = 4096) -> float:
    """CPU time of all inner products in float32, by blocks: from a tenth of the blocks."""
    starts = range(0, len(x), block)[: max(1, len(x) // block // 10)]
    rows = sum(len(x[start : start + block]) for start in starts)
    seconds = timed(lambda: [x[start : start + block] @ x.T for start in starts])[1]
    return seconds * len(x) / rows


def timed(run):
    """What a function returns, and the CPU time that it took."""
    start = time.process_time()
    result = run()
    return result, time.process_time() - start


def peak_memory() -> float:
    """Bytes that this process has held at most."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


if __name__ == "__main__":
    main()
