"""SRSG, the l1-graph and K-means side by side on data that ship with scikit-learn.

Prints accuracy, NMI and seconds, and leaves a picture of the two graphs in demo/affinity.png.
"""

from __future__ import annotations

import time
from pathlib import Path

import matplotlib

matplotlib.use("agg")

import matplotlib.pyplot as plt
from sklearn.cluster import KMeans
from sklearn.datasets import load_breast_cancer, load_digits

from srsg import SRSG, L1Graph, plot
from srsg.metrics import clustering_accuracy, normalized_mutual_info

PICTURE = Path("demo") / "affinity.png"
DATA = {"digits": load_digits, "breast cancer": load_breast_cancer}


def main() -> None:
    print("compiling (first run only) ...", flush=True)
    warm_up = load_digits().data[:50]
    SRSG(2).fit(warm_up)

    print(f"{'data':<15}{'method':<12}{'accuracy':>9}{'NMI':>9}{'seconds':>9}")
    figure, rows = plt.subplots(2, 2, figsize=(10, 10.6), layout="constrained")
    for (name, load), axes in zip(DATA.items(), rows, strict=True):
        X, y = load(return_X_y=True)
        k = len(set(y))
        methods = {
            "SRSG": SRSG(k, random_state=0),
            "l1-graph": L1Graph(k, random_state=0),
            "K-means": KMeans(k, n_init=10, random_state=0),
        }
        for method, model in methods.items():
            start = time.perf_counter()
            labels = model.fit_predict(X)
            seconds = time.perf_counter() - start
            scores = clustering_accuracy(y, labels), normalized_mutual_info(y, labels)
            print(f"{name:<15}{method:<12}{scores[0]:>9.4f}{scores[1]:>9.4f}{seconds:>9.2f}")
        for ax, method in zip(axes, ("l1-graph", "SRSG"), strict=True):
            plot.affinity(methods[method].affinity_matrix_, y, ax)
            ax.set_title(f"{method} on {name}\n{ax.get_title()}", fontsize=11)
    figure.suptitle("Affinity matrices; edges between different true classes in red")
    PICTURE.parent.mkdir(exist_ok=True)
    figure.savefig(PICTURE, dpi=110)
    print(f"the graphs: {PICTURE}")


if __name__ == "__main__":
    main()
