"""
Choosing gamma and K
====================

SRSG has two parameters of its own: ``gamma``, the price of using a point that the neighbours do not
use, and ``n_neighbors`` (the paper's K), whose opinion counts. Start with the defaults,
0.1 and 5. This page shows what the two do, and how to look at them on your own data.
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
# With the labels at hand we can draw how the accuracy depends on each of the two. "Paper" is
# :meth:`srsg.SRSG.paper`; the default adds the graph it started from, which softens every cut.

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
figure.suptitle("Accuracy on 600 digits")

# %%
# Without labels
# --------------
# You will not have labels. What you can compute is how much of a graph survives, and how well its
# clusters are found again on a sample of the points. Both need no labels. A gamma at which hardly
# any edge is left cuts too hard.

for gamma in GAMMAS:
    model = SRSG(10, gamma=gamma, random_state=0).fit(X)
    half = rng.permutation(len(X))[: len(X) // 2]
    again = SRSG(10, gamma=gamma, random_state=0).fit(X[half]).labels_
    kept = model.codes_.nnz / model.init_codes_.nnz
    stable = clustering_accuracy(model.labels_[half], again)
    print(f"gamma {gamma:<5} keeps {kept:.0%} of the edges; clusters found again {stable:.2f}")

# %%
# :class:`srsg.StabilitySearch` does this properly, for any candidates you give it:
# ``StabilitySearch({"0.1": SRSG(gamma=0.1), "1": SRSG(gamma=1.0)}, n_clusters=10)``.
