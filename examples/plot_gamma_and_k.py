"""
Choosing gamma and K
====================

SRSG has two parameters of its own. ``gamma`` is the price of using a point that the neighbours do
not use, and ``n_neighbors`` (K in the paper) is the number of neighbours that are asked. The
defaults, 0.1 and 5, are a good start. This page shows what the two parameters do, and how to judge
them on your own data.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits

from srsg import SRSG, L1Graph, plot
from srsg.metrics import clustering_accuracy

X, y = load_digits(return_X_y=True)
rng = np.random.default_rng(0)
some = rng.permutation(len(X))[:600]
X, y = X[some], y[some]

GAMMAS = [0.01, 0.03, 0.1, 0.3, 1.0]
NEIGHBORS = [2, 3, 5, 7, 10, 15]


def accuracy(model) -> float:
    return clustering_accuracy(y, model.fit(X).labels_)


# %%
# Here we know the labels, so we can plot the accuracy for different values of each parameter.
# "SRSG, paper" is :meth:`srsg.SRSG.paper`. The default also keeps the l1-graph that it started
# from.

figure, axes = plt.subplots(1, 2, figsize=(10, 4), sharey=True, layout="constrained")
l1 = accuracy(L1Graph(10, random_state=0))
for ax, parameter, values in (
    (axes[0], "gamma", GAMMAS),
    (axes[1], "n_neighbors", NEIGHBORS),
):
    found = {
        "SRSG": [accuracy(SRSG(10, random_state=0, **{parameter: v})) for v in values],
        "SRSG, paper": [accuracy(SRSG.paper(10, random_state=0, **{parameter: v})) for v in values],
        "l1-graph": l1,
    }
    plot.sensitivity(values, found, parameter=parameter, ax=ax)
axes[0].legend(loc="lower left", bbox_to_anchor=(0, 0.05), frameon=False)
axes[1].get_legend().remove()
figure.suptitle("Accuracy on 600 digits")

# %%
# Without labels
# --------------
# On your own data you will not have labels. But you can compute how many edges survive, and how
# well the clusters are found again on a sample of the points. If hardly any edges are left, gamma
# is too large.

for gamma in GAMMAS:
    model = SRSG(10, gamma=gamma, random_state=0).fit(X)
    half = rng.permutation(len(X))[: len(X) // 2]
    again = SRSG(10, gamma=gamma, random_state=0).fit(X[half]).labels_
    kept = model.codes_.nnz / model.init_codes_.nnz
    stable = clustering_accuracy(model.labels_[half], again)
    print(f"gamma {gamma:<5} keeps {kept:.0%} of the edges; clusters found again {stable:.2f}")

# %%
# :class:`srsg.StabilitySearch` does this properly, with several samples, for any candidates:
# ``StabilitySearch({"0.1": SRSG(gamma=0.1), "1": SRSG(gamma=1.0)}, n_clusters=10)``.
