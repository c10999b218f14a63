"""
A few known labels
==================

Suppose that a few images of each digit have a label, and all others have none. ``known_labels``
takes what is known: the images of a class become one vertex of the graph, and every other image
goes to the class that a random walk along the edges reaches soonest.

The labels are an argument of their own. ``y`` stays ignored, as by every clusterer, so that a
comparison without labels cannot use them by accident.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits
from sklearn.semi_supervised import LabelSpreading

from srsg import SRSG, L1Graph

UNKNOWN = -1


def with_few_labels(y: np.ndarray, per_class: int) -> np.ndarray:
    """The labels of a few points of each class, UNKNOWN for the others."""
    rng = np.random.default_rng(0)
    known = np.full(len(y), UNKNOWN)
    for label in np.unique(y):
        known[rng.choice(np.flatnonzero(y == label), per_class, replace=False)] = label
    return known


# %%
# The graphs are built once, without labels. After that, each set of known labels takes only one
# cut of the graph: ``fit_labels``. Cluster i is the class ``known_classes_[i]``.

X, y = load_digits(return_X_y=True)
models = {
    "SRSG": SRSG(10, random_state=0).fit_graph(X),
    "l1-graph": L1Graph(10, random_state=0).fit_graph(X),
}
PER_CLASS = [1, 2, 3, 5, 10, 20]
shares: dict[str, list[float]] = {}
for per_class in PER_CLASS:
    known = with_few_labels(y, per_class)
    asked = known == UNKNOWN
    found = {}
    for name, model in models.items():
        labels = model.fit_labels(known_labels=known).labels_
        found[name] = model.known_classes_[labels]
    neighbours = LabelSpreading(kernel="knn", n_neighbors=5).fit(X, known)
    found["scikit-learn's LabelSpreading"] = neighbours.transduction_
    for name, labels in found.items():
        shares.setdefault(name, []).append(float(np.mean(labels[asked] == y[asked])))

print("digits, 3 labels of each class known: share of the others found")
for name, values in shares.items():
    print(f"  {name:<30}{values[PER_CLASS.index(3)]:.4f}")

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
    title="A few labels, and the graph does the rest",
)
ax.legend(frameon=False)
