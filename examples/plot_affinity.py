"""A picture of the l1-graph beside SRSG's, on data that ship with scikit-learn.

Run as ``python examples/plot_affinity.py [PICTURE]``.
"""

from __future__ import annotations

import sys

import matplotlib

matplotlib.use("agg")

import matplotlib.pyplot as plt
from sklearn.datasets import load_breast_cancer, load_digits

from srsg import SRSG, L1Graph, plot

DATA = {"digits": load_digits, "breast cancer": load_breast_cancer}


def main(picture: str) -> None:
    figure, rows = plt.subplots(2, 2, figsize=(10, 10.6), layout="constrained")
    for (name, load), axes in zip(DATA.items(), rows, strict=True):
        X, y = load(return_X_y=True)
        for ax, (method, model) in zip(
            axes, {"l1-graph": L1Graph(), "SRSG": SRSG()}.items(), strict=True
        ):
            plot.affinity(model.fit_graph(X).affinity_matrix_, y, ax)
            ax.set_title(f"{method} on {name}\n{ax.get_title()}", fontsize=11)
    figure.suptitle("Affinity matrices; edges between different true classes in red")
    figure.savefig(picture, dpi=110)
    print(f"the graphs: {picture}")


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "affinity.png")
