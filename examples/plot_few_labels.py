"""
A few labels, spread over the graph
===================================

Suppose that three images of each digit have a label, and 1,767 images have none. A graph that joins
similar images can carry the labels over to the others. This is what the l1-graph was first made
for.

Label spreading (Zhou et al., 2004) on any ``affinity_matrix_`` means solving one sparse linear
system, ``(I - alpha D^-1/2 W D^-1/2) F = Y``. Every point takes the label that reaches it with the
most weight.
"""

import matplotlib.pyplot as plt
import numpy as np
from scipy import sparse
from scipy.sparse.linalg import splu
from sklearn.datasets import load_digits
from sklearn.semi_supervised import LabelSpreading

from srsg import SRSG, L1Graph

UNKNOWN = -1


def spread(affinity: sparse.csr_array, known: np.ndarray, alpha: float = 0.95) -> np.ndarray:
    """Labels of all points, given those that are not UNKNOWN."""
    degree = np.maximum(affinity.sum(axis=1), 1e-12)
    scale = sparse.diags_array(1 / np.sqrt(degree))
    system = sparse.eye_array(len(known)) - alpha * (scale @ affinity @ scale)
    classes = np.unique(known[known != UNKNOWN])
    evidence = (known[:, None] == classes).astype(float)
    return classes[splu(sparse.csc_array(system)).solve(evidence).argmax(axis=1)]


def with_few_labels(y: np.ndarray, per_class: int) -> np.ndarray:
    """The labels of a few points of each class, UNKNOWN for the others."""
    rng = np.random.default_rng(0)
    known = np.full(len(y), UNKNOWN)
    for label in np.unique(y):
        known[rng.choice(np.flatnonzero(y == label), per_class, replace=False)] = label
    return known


# %%
# The graphs are built once, without labels. After that, each number of known labels takes only one
# small linear system.

X, y = load_digits(return_X_y=True)
graphs = {
    "SRSG": SRSG(10).fit_graph(X).affinity_matrix_,
    "l1-graph": L1Graph(10).fit_graph(X).affinity_matrix_,
}
PER_CLASS = [1, 2, 3, 5, 10, 20]
shares: dict[str, list[float]] = {}
for per_class in PER_CLASS:
    known = with_few_labels(y, per_class)
    asked = known == UNKNOWN
    found = {name: spread(graph, known) for name, graph in graphs.items()}
    neighbours = LabelSpreading(kernel="knn", n_neighbors=5).fit(X, known)
    found["scikit-learn, 5 neighbours"] = neighbours.transduction_
    for name, labels in found.items():
        shares.setdefault(name, []).append(float(np.mean(labels[asked] == y[asked])))

print("digits, 3 labels of each class known: share of the others found")
for name, values in shares.items():
    print(f"  {name:<28}{values[PER_CLASS.index(3)]:.4f}")

# %%
# The fewer labels there are, the more a good graph helps.

figure, ax = plt.subplots(figsize=(7, 4), layout="constrained")
for (name, values), marker in zip(shares.items(), "osD", strict=True):
    ax.plot(PER_CLASS, values, f"{marker}-", label=name)
ax.set(
    xscale="log",
    xticks=PER_CLASS,
    xticklabels=PER_CLASS,
    xlabel="known labels of each digit",
    ylabel="share of the others found",
    title="Labels spread over three graphs",
)
ax.legend(frameon=False)
