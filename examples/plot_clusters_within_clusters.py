"""
Clusters within clusters
========================

How many clusters there are is often a matter of how closely one looks. Every fitted graph has a
tree: ``labels_`` is one of its cuts, and fewer clusters merge these, more split them.
"""

import matplotlib.pyplot as plt
import numpy as np
from scipy.cluster import hierarchy
from sklearn.datasets import load_digits

from srsg import SRSG, plot

X, y = load_digits(return_X_y=True)
X, y = X[:900], y[:900]
model = SRSG(n_clusters=10, random_state=0).fit(X)

# %%
# A box is a cluster, as wide as it has points. It reaches from the height at which its parts merge
# to that at which it is merged itself. At 0.5 two clusters are joined as strongly as by chance.

figure, ax = plt.subplots(figsize=(9, 4), layout="constrained")
plot.tree(model, ax=ax)

# %%
# Which clusters merge first, and the digits that most of their points show:

digit = np.array([np.bincount(y[model.labels_ == c]).argmax() for c in range(10)])
before = model.labels_
for n_clusters in (9, 8, 7, 6):
    now = model.relabel(n_clusters, nested=True)
    groups = [np.unique(model.labels_[now == c]) for c in range(n_clusters)]
    together = [digit[group].tolist() for group in groups if len(group) > 1]
    print(f"with {n_clusters} clusters, these digits are one: {together}")

# %%
# For SciPy the tree is a linkage matrix, whose observations are the leaves, or with ``points=True``
# all points.

figure, ax = plt.subplots(figsize=(9, 3), layout="constrained")
hierarchy.dendrogram(model.tree_.linkage(), ax=ax)
ax.set(xlabel="leaf of the tree", ylabel="height")

# %%
# Some points lie between clusters. ``memberships_`` has up to five for each point, and they add up
# to one: here are the points whose two largest are closest to each other.

memberships = model.memberships_.toarray()
first, second = np.sort(memberships, axis=1)[:, [-1, -2]].T
between = np.argsort(first - second)[:12]
figure, axes = plt.subplots(1, 12, figsize=(10, 1.5), layout="constrained")
for ax, point in zip(axes, between, strict=True):
    likely = np.argsort(-memberships[point])[:2]
    ax.imshow(X[point].reshape(8, 8), cmap="gray_r")
    ax.set(xticks=[], yticks=[], title=" or ".join(map(str, digit[likely])))
plt.show()
