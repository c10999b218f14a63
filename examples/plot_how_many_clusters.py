"""
How many clusters?
==================

If you do not give the number of clusters, srsg finds one. In tables, it clusters two random halves
of the points separately, for every number worth trying, and takes the number for which the two
halves agree on the most clusters. With 100 features or more it looks at the links between clusters
instead, and with two or three columns at the density (see :doc:`/guide/n-clusters`). This page
shows where halves work, and where they do not.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits

from srsg import SRSG
from srsg.datasets import make_union_of_subspaces

rng = np.random.default_rng(0)
subspaces, _ = make_union_of_subspaces(
    600, n_subspaces=6, dimension=4, n_features=40, noise=0.05, random_state=0
)
data = {
    "6 subspaces": subspaces,
    "digits (10 classes)": load_digits().data[:1200],
    "noise (no clusters)": rng.standard_normal((500, 30)),
}
models = {name: SRSG(n_clusters="auto", random_state=0).fit(X) for name, X in data.items()}
for name, model in models.items():
    best = ", ".join(map(str, model.best_counts(3)))
    print(f"{name:<20} found {model.n_clusters_:>2}; best three: {best}")
    print(f"{'':<20} structure found: {model.structure_found_}")

# %%
# The scores are the number of clusters that both halves find, minus those that only one finds.

figure, axes = plt.subplots(1, 3, figsize=(11, 3.6), layout="constrained")
for ax, (name, model) in zip(axes, models.items(), strict=True):
    ax.plot(model.cluster_counts_, model.cluster_count_scores_, "o-", markersize=4)
    ax.axhline(0, color="0.7", linewidth=1)
    ax.axvline(model.n_clusters_, color="C3", linestyle="--", linewidth=1)
    ax.set(title=name, xlabel="number of clusters")
axes[0].set_ylabel("clusters found by both halves\nless those found by one")

# %%
# On subspaces there is one clear peak, at the true number. On digits the peak is near ten, and ten
# is the next best: some digits are written in two ways, and some pairs look alike. On noise no
# score is above zero, and ``structure_found_`` is False. Look at the whole curve and not only at
# its peak, and remember that data can have clusters at several scales. To try another number, use
# ``model.relabel(8)``, which costs next to nothing because it uses the same graph.
